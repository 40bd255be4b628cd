package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/rounds"
)

// death is a kill that no record can tell of.
type death struct {
	node proto.NodeID
	at   time.Time // just before the signal
}

// onItsWay bounds how long a message may still be on its way when all agree:
// what arrives at all takes milliseconds.
const onItsWay = time.Second

// round reads the round of a term from the nodes' records, once those say when each of
// the nodes came to believe in the winner. Nodes write side by side, so that the
// receiver's record of a message may come before the sender's: it waits a moment for
// those, and for the receipts.
func (d demo) round(
	ctx context.Context, term proto.Term, dead death, nodes ...proto.NodeID,
) (r *rounds.Round, err error) {
	without := func(open rounds.Fate) func() bool {
		return func() bool {
			r = findRound(d.cluster.Records(), term, dead)
			return agreedAt(r, nodes) != (time.Time{}) && !slices.ContainsFunc(r.Messages, func(m rounds.Message) bool {
				return m.Fate == open && m.Kind != renewal
			})
		}
	}
	agreed := func() bool {
		r = findRound(d.cluster.Records(), term, dead)
		return agreedAt(r, nodes) != (time.Time{})
	}
	if err := d.cluster.Wait(ctx, agreed); err != nil {
		return nil, fmt.Errorf("read the round of term %d from the nodes' records: %w", term, err)
	}
	bounded, cancel := context.WithTimeout(ctx, onItsWay)
	defer cancel()
	for _, open := range []rounds.Fate{rounds.Unsent, rounds.Unseen} {
		_ = d.cluster.Wait(bounded, without(open)) // else the diagram marks them
	}
	return r, nil
}

// renewal is of the office that is left, not of the round; who sends it has
// decided nothing, so that no record of it is looked for.
var renewal = proto.KindRenew.String()

// findRound is the round of a term that somebody won, nil for none.
func findRound(records []trace.Record, term proto.Term, dead death) *rounds.Round {
	b := rounds.NewBuilder()
	for _, rec := range records {
		b.Add(&rec)
	}
	b.Death("", uint64(dead.node), dead.at)
	for _, g := range b.History().Groups {
		for _, r := range g.Rounds {
			if r.Term == uint64(term) && r.Winner != nil {
				return r
			}
		}
	}
	return nil
}

// agreedAt is when the last of the nodes came to believe in the winner; zero while that
// is not known of all of them.
func agreedAt(r *rounds.Round, nodes []proto.NodeID) (last time.Time) {
	if r == nil {
		return last
	}
	for _, id := range nodes {
		at := believed(r, id)
		if at.IsZero() {
			return at
		}
		if at.After(last) {
			last = at
		}
	}
	return last
}

// believed is when a node came to believe in the winner, zero for never.
func believed(r *rounds.Round, id proto.NodeID) time.Time {
	for _, p := range r.Participants {
		if p.Node == uint64(id) {
			return p.BelievedAt
		}
	}
	return time.Time{}
}

// inShort is the round for a small screen: the steps that sent something, found
// out something or changed a belief, and of the reasons only the causes, since
// the arrows show what came of them.
func inShort(r *rounds.Round) *rounds.Round {
	short := *r
	short.Steps, short.Aftermath = nil, 0
	for i, st := range r.Steps {
		counted := len(st.Sent) > 0 && r.Messages[st.Sent[0]].Counted
		if !counted && (i >= r.Aftermath || !isNews(r, st.Ref)) {
			continue
		}
		if i < r.Aftermath {
			short.Aftermath++
		}
		st.Detail, st.Why = "", causes(st.Why)
		short.Steps = append(short.Steps, st)
	}
	short.Messages = slices.Clone(r.Messages)
	for i := range short.Messages {
		short.Messages[i].Detail = ""
	}
	return &short
}

// isNews reports whether a record is a node's first evidence, or its first
// belief in the winner.
func isNews(r *rounds.Round, ref rounds.Ref) bool {
	return slices.ContainsFunc(r.Participants, func(p rounds.Participant) bool {
		return p.Believed == ref
	}) || slices.ContainsFunc(r.Cause.Witnesses, func(w rounds.Witness) bool { return w.Ref == ref })
}

// causes are what stands before the arrows of the reasons. That a node adopts
// the term which it is told goes without saying.
func causes(why []string) (causes []string) {
	for _, reason := range why {
		cause, decision, _ := strings.Cut(reason, " -> ")
		if decision != "adopt it" {
			causes = append(causes, cause)
		}
	}
	return causes
}
