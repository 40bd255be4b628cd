package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/rounds"
)

// death is the kill of a node. No record tells of it.
type death struct {
	node proto.NodeID
	at   time.Time // just before the signal
}

// onItsWay is how long a message may still take to arrive after all nodes agree. Usually it takes
// milliseconds.
const onItsWay = time.Second

// election is the rounds of the terms up to the one that the leader won, in order. Only the last round
// always has a winner: on a busy machine the candidates of a term may miss their majority.
type election []*rounds.Round

// last returns the round that the leader won.
func (e election) last() *rounds.Round { return e[len(e)-1] }

// election builds, from the nodes' records, the election that began at the time since or later and ended
// with the given term. It waits until the records say when each of the nodes came to believe in the
// winner. Nodes write their records independently, so a message's receiver may write before its sender.
// Therefore election waits a moment for missing records.
func (d demo) election(
	ctx context.Context, since time.Time, term proto.Term, dead death, nodes ...proto.NodeID,
) (e election, err error) {
	agreed := func() bool {
		e = findElection(d.cluster.Records(), since, term, dead)
		return e != nil && !agreedAt(e.last(), nodes).IsZero()
	}
	without := func(open rounds.Delivery) func() bool {
		return func() bool {
			return agreed() && !slices.ContainsFunc(e.last().Messages, func(m rounds.Message) bool {
				return m.Delivery == open && !slices.Contains(renewals, m.Kind)
			})
		}
	}
	if err := d.cluster.Wait(ctx, agreed); err != nil {
		return nil, fmt.Errorf("read the round of term %d from the nodes' records: %w", term, err)
	}
	bounded, cancel := context.WithTimeout(ctx, onItsWay)
	defer cancel()
	for _, open := range []rounds.Delivery{rounds.Unsent, rounds.Unseen} {
		_ = d.cluster.Wait(bounded, without(open)) // else the diagram marks them
	}
	return e, nil
}

// renewals lists the kinds of messages that renew a lease. Apart from a leader's first one, they
// belong to a leadership that goes on. A node decides nothing when it sends one, so the demo does not
// wait for its record.
var renewals = []string{proto.KindHeartbeat.String(), proto.KindHeartbeatReply.String()}

// findElection returns the rounds of lower terms that began at the time since or later, and the round of the
// given term. It returns nil if nobody won that term. The parameter dead is the kill before the election.
func findElection(records []trace.Record, since time.Time, term proto.Term, dead death) (e election) {
	b := rounds.NewBuilder()
	for _, rec := range records {
		b.Add(&rec)
	}
	b.Death("", uint64(dead.node), dead.at)
	for _, g := range b.History().Groups {
		e = nil
		for _, r := range g.Rounds {
			won := r.Term == uint64(term) && r.Winner != nil
			if won || r.Term < uint64(term) && !r.Split.Began.Before(since) {
				e = append(e, r)
			}
			if won {
				return e
			}
		}
	}
	return nil
}

// agreedAt returns when the last of the nodes came to believe in the winner; zero if this time is
// not known for each of the nodes.
func agreedAt(r *rounds.Round, nodes []proto.NodeID) (last time.Time) {
	for _, id := range nodes {
		at := believed(r, id)
		if at.IsZero() {
			return at
		}
		last = testcluster.Later(last, at)
	}
	return last
}

// believed returns when a node came to believe in the winner; zero if it never did.
func believed(r *rounds.Round, id proto.NodeID) time.Time {
	for _, p := range r.Participants {
		if p.Node == uint64(id) {
			return p.BelievedAt
		}
	}
	return time.Time{}
}

// inShort returns the round for a small screen: only the steps that sent a message, gave evidence
// or changed a belief. It keeps only those reasons that are causes, since the arrows show the
// effects.
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
		st.Detail, st.Why = "", st.Causes()
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
	}) || slices.ContainsFunc(r.Cause.Detections, func(w rounds.Detection) bool { return w.Ref == ref })
}
