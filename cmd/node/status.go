package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

func statusCommand() *cli.Command {
	return &cli.Command{
		Name:  "status",
		Usage: "ask a node about itself and its cluster",
		Flags: askFlags(),
		Action: func(ctx *cli.Context) error {
			_, err := ask(ctx, httpapi.Client.Status, writeStatus)
			return err
		},
	}
}

func writeStatus(w io.Writer, s httpapi.Status) error {
	ready := "yes"
	if !s.Ready {
		ready = "no: " + s.NotReady
	}
	stands := ""
	if s.Ineligible != "" {
		stands = "stands     no: " + s.Ineligible + "\n"
	}
	if s.Lent > 0 {
		stands += fmt.Sprintf("lent       %s: no other node leads before the end of that\n",
			words.Plural(s.Lent, "lease"))
	}
	if s.Recovery != "" {
		stands += "votes      no: " + s.Recovery + "\n"
	}
	watches := ""
	if len(s.Voters) > 0 {
		voters := proto.IDRanges(s.Voters) + ", confirmed by a leader"
		if s.VotersConfirmed == nil || !*s.VotersConfirmed {
			voters = proto.IDRanges(s.Voters) + ", not confirmed by a leader yet"
		}
		watches = fmt.Sprintf("voters     %s\nwatches    %s\n", voters, cmp.Or(joinIDs(s.Watched), "nobody"))
	}
	if s.Store != nil {
		watches = "store      " + storeLine(*s.Store, s.Leader) + "\n"
	}
	switch {
	case s.Security != "":
		watches += "security   " + s.Security + ": it believes whoever can send packets to it\n"
	case s.CredentialsRefused != "":
		watches += "security   " + s.CredentialsRefused + "\n"
	case !s.CredentialsExpire.IsZero():
		watches += "security   " + expiry(s.CredentialsExpire, time.Now()) + "\n"
	}
	for _, is := range s.Differ {
		watches += "differs    " + is + "\n"
	}
	for _, u := range s.Unmet {
		watches += "unmet      " + u.Why + "\n"
	}
	_, err := fmt.Fprintf(w, "node       %v of cluster %s\n"+
		"role       %s\nleader     %s\nalgorithm  %s\nguarantee  %s\nalive      %s\n%sready      %s\n%s",
		s.Self, s.Cluster, s.Role, leadershipLine(s.Leadership), s.Algorithm,
		s.Guarantee.InWords(), joinIDs(s.Alive), watches, ready, stands)
	if err == nil && s.Split != nil {
		_, err = fmt.Fprintf(w, "split      %s\n", s.Split)
	}
	return err
}

// expiry says until when a certificate is valid.
func expiry(until, now time.Time) string {
	at := until.UTC().Format(time.RFC3339)
	if now.After(until) {
		return "the certificate EXPIRED on " + at
	}
	days := words.Plural(int(until.Sub(now).Hours()/24), "day")
	return fmt.Sprintf("the certificate is valid until %s, for %s", at, days)
}

// storeLine says what the node knows of its store.
func storeLine(s httpapi.Store, leader proto.NodeID) string {
	switch {
	case s.Failed != "":
		return fmt.Sprintf("%s: no answer since %s: %s", s.URL, s.Since.Format(time.TimeOnly), s.Failed)
	case s.At.IsZero():
		return s.URL + ": no answer yet"
	case s.Holder == "":
		return s.URL + ": nobody leads there"
	case leader != 0 && s.Foreign: // it has not asked the store since
		return fmt.Sprintf("%s: the first entry there is of %s, with token %d, which node %v has to see yet", s.URL,
			s.Holder, s.Token, leader)
	case leader == 0 && !s.Foreign: // nobody hears it lead
		return fmt.Sprintf("%s: the first entry there is of %s, with token %d", s.URL, s.Holder, s.Token)
	}
	return fmt.Sprintf("%s: %s leads there, with token %d", s.URL, s.Holder, s.Token)
}

// joinIDs returns the ids with spaces between them, like "1 2 3".
func joinIDs(ids []proto.NodeID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = id.String()
	}
	return strings.Join(words, " ")
}
