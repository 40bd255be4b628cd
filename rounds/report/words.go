package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// clockTime is the time of day, as the records have it.
const clockTime = "15:04:05.000"

func clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(clockTime)
}

// node is "node 3".
func node(id uint64) string { return fmt.Sprintf("node %d", id) }

// nodes is "node 3", "nodes 3 and 4", "nodes 1, 2 and 3".
func nodes(ids []uint64) string {
	if len(ids) == 1 {
		return node(ids[0])
	}
	return "nodes " + list(ids)
}

// list is "1, 2 and 3".
func list(ids []uint64) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = fmt.Sprint(id)
	}
	return and(words)
}

// and is "a, b and c".
func and(words []string) string {
	switch n := len(words); n {
	case 0:
		return "none"
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// upper makes the first letter of a sentence a capital.
func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// its is "its" of one and "their" of more.
func its(n int) string {
	if n == 1 {
		return "its"
	}
	return "their"
}

// were is "was" of one and "were" of more.
func were(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// in are the participants with one of the parts.
func in(r *rounds.Round, parts ...rounds.Part) (ids []uint64) {
	for _, p := range r.Participants {
		if slices.Contains(parts, p.Part) {
			ids = append(ids, p.Node)
		}
	}
	return ids
}

// evidenceWords say what a piece of evidence means.
var evidenceWords = map[string]string{
	"link-closed":      "its connection was closed",
	"dial-refused":     "nothing listens at its address any more",
	"link-reset":       "its connection broke",
	"heartbeat-missed": "it answers no heartbeats",
	"unreachable":      "it cannot be reached",
	"other-session":    "another process answers at its address",
	"gossip-dead":      "gossip declared it dead",
	"left":             "it said good-bye",
	"proven-dead":      "its process is proven dead",
}

// meaning puts the evidence against a node into words: "its connection was
// closed and nothing listens at its address any more".
func meaning(evidence string, id uint64) string {
	var words []string
	for piece := range strings.SplitSeq(evidence, ", ") {
		kind, about, _ := strings.Cut(piece, " ")
		if w := evidenceWords[kind]; w != "" && about == fmt.Sprint(id) && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return evidence
	}
	return and(words)
}

// clusterName is how a group is called.
func clusterName(cluster, algorithm string, run int) string {
	name := "cluster " + cluster
	switch {
	case cluster == "" && run > 0:
		name = fmt.Sprintf("simulated run %d", run)
	case cluster == "":
		name = "a cluster without a label"
	}
	return name + ", " + algorithm
}
