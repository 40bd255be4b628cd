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

// errNoRound says that the records do not show the round, although the nodes agreed on its result.
var errNoRound = errors.New("no such round in the nodes' records")

// errMoved says that another node became the leader by itself just before the fault, so the fault
// missed the leader.
var errMoved = errors.New("another node came to lead by itself just before the fault")

// tries is how often Retry calls measure at most.
const tries = 3

// Retry calls measure, and calls it again if the fault missed the leader, since nothing was
// measured then: tries times at most. On a busy machine nodes may elect by themselves, because
// heartbeats come late.
func Retry(measure func() error) (err error) {
	for range tries {
		if err = measure(); !errors.Is(err, errMoved) {
			return err
		}
	}
	return err
}

// knownBefore reports whether a node believed in b before the time at.
func knownBefore(records []trace.Record, b testcluster.Belief, at time.Time) bool {
	return slices.ContainsFunc(records, func(rec trace.Record) bool {
		return rec.Time.Before(at) && rec.Leader == uint64(b.Leader) && rec.LeaderTerm() == uint64(b.Term)
	})
}

// Election says when an election made progress, and what it cost.
type Election struct {
	Noticed time.Time // when the first evidence came, or the call if no node had evidence
	Won     time.Time // when the winner itself believed that it leads
	Agreed  time.Time // when the last node believed that the winner leads
	// Messages counts the messages sent in the result's term until Agreed. If rounds failed and the
	// voters then elected in a lower term than those of the failed rounds, only the failed rounds
	// are recorded. Messages then counts all messages since the leader was lost.
	Messages int
	Bytes    int // the size of these messages as frames, in bytes; 0 if the records do not tell
}

// ReadElection reads from the records of nodes on one machine how an election after the time since
// came to its result. The parameter lost is the leader that was taken away, 0 for none. If rounds
// failed before, their time counts, but their messages do not. If a node believed in the result
// before since, the error is one for Retry.
func ReadElection(
	records []trace.Record, since time.Time, result testcluster.Belief, lost proto.NodeID,
) (e Election, err error) {
	if knownBefore(records, result, since) {
		return e, errMoved
	}
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

// besideRounds does what ReadElection does, for a term that the voters granted although rounds of
// higher terms had begun.
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
		e.Agreed = testcluster.Later(e.Agreed, rec.Time)
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

// oneClock holds, for each node, by how much package rounds corrected its clock. Here the
// correction is undone: nodes on one machine have the same clock, even if a message seems to arrive
// microseconds before it was sent, because writing a record takes time.
type oneClock map[uint64]time.Duration

func newOneClock(g *rounds.Group) oneClock {
	c := oneClock{}
	for _, clock := range g.Clocks {
		c[clock.Node] = clock.Offset
	}
	return c
}

func (c oneClock) at(node uint64, t time.Time) time.Time { return t.Add(c[node]) }

// firstSign returns the time of the first sign that the leader with the id lost is gone: evidence
// that a node still holds, the end of a belief in that leader, or a call for an election. If there
// is no sign, it returns won.
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
		sign(r.Cause.Node, r.Cause.At)
		for _, st := range r.Steps {
			if lost != 0 && st.Prev == uint64(lost) && st.Ref.Node != uint64(lost) {
				sign(st.Ref.Node, st.At)
			}
		}
	}
	return first
}

// lastBelief returns the time at which the last node came to believe that the winner leads.
func (c oneClock) lastBelief(r *rounds.Round) (last time.Time) {
	for _, p := range r.Participants {
		if at := c.at(p.Node, p.BelievedAt); !p.BelievedAt.IsZero() && at.After(last) {
			last = at
		}
	}
	return last
}

// sizes says how many bytes each record's Step sent.
type sizes map[rounds.Ref]int

func sizesOf(records []trace.Record) sizes {
	all := sizes{}
	for _, rec := range records {
		all[rounds.Ref{Node: rec.Node, Incarnation: rec.Incarnation, Seq: rec.Seq}] = rec.SentBytes
	}
	return all
}

// sentBy counts the messages sent until the time end, and their bytes. Later messages are the
// leader's repetitions, which are no part of the round.
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
