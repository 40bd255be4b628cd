package bench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/rounds"
)

// errNoRound says that the records do not tell of a round, although the nodes
// agreed on its result.
var errNoRound = errors.New("no such round in the nodes' records")

// Election is how a result came about.
type Election struct {
	Noticed time.Time // the first evidence, or, where nobody had any, the call
	Won     time.Time // the winner's own belief
	Agreed  time.Time // the last node's belief in the winner
	// Messages were sent in the result's term until Agreed. Where rounds failed around
	// an office, their terms are above the one that it then gives, and it is in their
	// records that it is given: then these are all messages since the leader was lost.
	Messages int
	Bytes    int // of these, as frames; 0 where the records do not tell
}

// ReadElection reads, out of what the nodes of one machine wrote, how result came
// about after since. lost is the leader that was taken away, 0 for none. More than one
// term may have passed: the time of rounds that failed counts, their messages do not.
func ReadElection(
	records []trace.Record, since time.Time, result testcluster.Belief, lost proto.NodeID,
) (e Election, err error) {
	b := rounds.NewBuilder()
	for _, rec := range records {
		// A node writes only what decided something. It may have seen lost come
		// back since it last wrote of it, so what it wrote before says nothing.
		if !rec.Time.Before(since) {
			b.Add(&rec)
		}
	}
	groups := b.History().Groups
	for _, g := range groups { // all nodes are of one
		i := slices.IndexFunc(g.Rounds, func(r *rounds.Round) bool {
			return r.Term == uint64(result.Term)
		})
		if i < 0 {
			continue
		}
		r := g.Rounds[i]
		if r.Winner == nil || r.Winner.Node != uint64(result.Leader) || r.Winner.At.IsZero() {
			continue
		}
		clock := newOneClock(g)
		e.Won, e.Agreed = clock.at(r.Winner.Node, r.Winner.At), clock.lastBelief(r)
		e.Noticed = clock.firstSign(g, lost, e.Won)
		e.Messages, e.Bytes = sentBy(r, e.Agreed, sizesOf(records))
		return e, nil
	}
	return besideRounds(groups, records, since, result, lost)
}

// besideRounds is ReadElection of a term that an office gave while the terms of rounds
// had gone on.
func besideRounds(
	groups []*rounds.Group, records []trace.Record, since time.Time, result testcluster.Belief, lost proto.NodeID,
) (e Election, err error) {
	believed := map[uint64]bool{}
	for _, rec := range records {
		if rec.Time.Before(since) || believed[rec.Node] || rec.Leader != uint64(result.Leader) ||
			rec.Token != uint64(result.Term) {
			continue
		}
		believed[rec.Node] = true
		if rec.Node == rec.Leader {
			e.Won = rec.Time
		}
		e.Agreed = later(e.Agreed, rec.Time)
	}
	if e.Won.IsZero() {
		return e, fmt.Errorf("how node %v came to lead term %d: %w", result.Leader, result.Term, errNoRound)
	}
	each := sizesOf(records)
	for _, g := range groups {
		e.Noticed = newOneClock(g).firstSign(g, lost, e.Won)
		for _, r := range g.Rounds {
			messages, bytes := sentBy(r, e.Agreed, each)
			e.Messages, e.Bytes = e.Messages+messages, e.Bytes+bytes
		}
	}
	return e, nil
}

// oneClock takes back, by node, what package rounds corrected: where all nodes
// run on one machine their clocks do not differ, even if a message seems to
// arrive before it was sent by the microseconds that a record takes.
type oneClock map[uint64]time.Duration

func newOneClock(g *rounds.Group) oneClock {
	c := oneClock{}
	for _, clock := range g.Clocks {
		c[clock.Node] = clock.Offset
	}
	return c
}

func (c oneClock) at(node uint64, t time.Time) time.Time { return t.Add(c[node]) }

// firstSign is the first evidence against lost that any node still has, the end
// of a belief in it, or the first call for an election, whichever came first; at
// the latest, there was a sign when the winner won.
func (c oneClock) firstSign(g *rounds.Group, lost proto.NodeID, won time.Time) time.Time {
	first := won
	sign := func(node uint64, t time.Time) {
		if at := c.at(node, t); !t.IsZero() && at.Before(first) {
			first = at
		}
	}
	for _, n := range g.Nodes {
		for _, gone := range n.Gone {
			if gone.ID == uint64(lost) && n.ID != uint64(lost) {
				sign(n.ID, gone.At)
			}
		}
	}
	for _, r := range g.Rounds {
		sign(r.Cause.Witness, r.Cause.At)
		for _, st := range r.Steps {
			if lost != 0 && st.Prev == uint64(lost) && st.Ref.Node != uint64(lost) {
				sign(st.Ref.Node, st.At)
			}
		}
	}
	return first
}

// lastBelief is when the last node came to believe in the winner.
func (c oneClock) lastBelief(r *rounds.Round) (last time.Time) {
	for _, p := range r.Participants {
		if at := c.at(p.Node, p.BelievedAt); !p.BelievedAt.IsZero() && at.After(last) {
			last = at
		}
	}
	return last
}

// sizes are how many bytes each record's Step sent.
type sizes map[rounds.Ref]int

func sizesOf(records []trace.Record) sizes {
	all := sizes{}
	for _, rec := range records {
		all[rounds.Ref{Node: rec.Node, Session: rec.Session, Seq: rec.Seq}] = rec.SentBytes
	}
	return all
}

// sentBy counts what was sent until an instant: a leader repeats itself for
// those who missed it, which is no longer the round.
func sentBy(r *rounds.Round, end time.Time, each sizes) (messages, bytes int) {
	steps := map[int]bool{}
	for _, m := range r.Messages {
		if m.SendStep < 0 || r.Steps[m.SendStep].Wall.After(end) {
			continue
		}
		messages++
		if !steps[m.SendStep] {
			steps[m.SendStep] = true
			bytes += each[r.Steps[m.SendStep].Ref]
		}
	}
	return messages, bytes
}
