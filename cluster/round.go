package cluster

import (
	"context"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/trace"
)

// Round is one election as the nodes' own records tell it.
type Round struct {
	Since   time.Time   // what started it: a signal, a start
	Notices []Notice    // who noticed the death and how, the first first
	Steps   []RoundStep // those that sent something or won, in causal order
	Changes []Change    // who came to believe in the leader, the first first
	Result  Belief

	dropped time.Time // the first survivor no longer believed in the dead leader
}

// Notice is a node's first evidence that another one is gone.
type Notice struct {
	Node     uint64
	At       time.Time
	Evidence string
}

// RoundStep is what a node sent at once, and why.
type RoundStep struct {
	Node uint64
	At   time.Time
	Why  []string
	Sent []string // "KIND>to#msg_id"
}

// Change is a node's first belief in the result of the round.
type Change struct {
	Node uint64
	At   time.Time
}

// ReadRound finds the round that led to result after since, once the records
// of all its messages are there: nodes must log at level debug. dead is the
// node that is gone, 0 for none.
func (c *Cluster) ReadRound(
	ctx context.Context, since time.Time, result Belief, dead proto.NodeID,
) (Round, error) {
	err := c.Wait(ctx, func() bool { return complete(c.Records(), since, result.Term) })
	return c.RoundSoFar(since, result, dead), err
}

// RoundSoFar is ReadRound on the records that have been read by now, at
// whatever level nodes log: all that decides something is of level info.
func (c *Cluster) RoundSoFar(since time.Time, result Belief, dead proto.NodeID) Round {
	return readRound(c.Records(), since, result, dead)
}

// readRound finds the round in records in causal order.
func readRound(
	records []trace.Record, since time.Time, result Belief, dead proto.NodeID,
) Round {
	r := Round{Since: since, Result: result}
	for _, rec := range records {
		if rec.Time.Before(since) {
			continue
		}
		if dead != 0 && rec.Node != uint64(dead) {
			r.notice(rec, dead)
		}
		if rec.Term == uint64(result.Term) {
			r.addStep(rec)
		}
	}
	return r.untilAgreed()
}

// complete reports whether the sender of every message that was received in
// the round's term has told of it: nodes write their records side by side, so
// that the receiver's may come first.
func complete(records []trace.Record, since time.Time, term proto.Term) bool {
	sent := make(map[string]bool)
	for _, rec := range records {
		for _, s := range rec.Sent {
			_, _, msgID, _ := trace.SentID(s)
			sent[msgID] = true
		}
	}
	return !slices.ContainsFunc(records, func(rec trace.Record) bool {
		return rec.Term == uint64(term) && !rec.Time.Before(since) &&
			rec.MsgID != "" && !sent[rec.MsgID]
	})
}

// notice notes what rec tells about the death: a node learned from its own
// detectors that dead is gone, or does not believe in it any more.
func (r *Round) notice(rec trace.Record, dead proto.NodeID) {
	learned := rec.Event == "peers" && !slices.Contains(rec.Alive, uint64(dead))
	known := slices.ContainsFunc(r.Notices, func(n Notice) bool { return n.Node == rec.Node })
	if learned && !known {
		r.Notices = append(r.Notices, Notice{rec.Node, rec.Time, rec.Evidence})
	}
	drops := rec.PrevLeader != nil && *rec.PrevLeader == uint64(dead)
	if drops && (r.dropped.IsZero() || rec.Time.Before(r.dropped)) {
		r.dropped = rec.Time
	}
}

// addStep adds what a step of the round's term sent, and the node's belief in
// its result if it is the first time. The winner's step counts even when there
// is nobody to tell.
func (r *Round) addStep(rec trace.Record) {
	believes := rec.Leader == uint64(r.Result.Leader)
	first := believes && r.Believed(proto.NodeID(rec.Node)).IsZero()
	if len(rec.Sent) > 0 || first && rec.Node == rec.Leader {
		r.Steps = append(r.Steps, RoundStep{rec.Node, rec.Time, rec.Why, rec.Sent})
	}
	if first {
		r.Changes = append(r.Changes, Change{rec.Node, rec.Time})
	}
}

// untilAgreed drops what was sent after the last node agreed: a leader repeats
// itself for those who missed it, which is no longer the round.
func (r Round) untilAgreed() Round {
	end := r.Agreed()
	r.Steps = slices.DeleteFunc(r.Steps, func(s RoundStep) bool { return s.At.After(end) })
	return r
}

// Agreed is when the last node came to believe in the result.
func (r Round) Agreed() time.Time {
	var last time.Time
	for _, c := range r.Changes {
		if c.At.After(last) {
			last = c.At
		}
	}
	return last
}

// Won is when the winner came to believe in itself.
func (r Round) Won() time.Time { return r.Believed(r.Result.Leader) }

// Believed is when a node came to believe in the result, zero for never.
func (r Round) Believed(id proto.NodeID) time.Time {
	for _, c := range r.Changes {
		if c.Node == uint64(id) {
			return c.At
		}
	}
	return time.Time{}
}

// Messages is how many messages were sent in the round.
func (r Round) Messages() int {
	sum := 0
	for _, s := range r.Steps {
		sum += len(s.Sent)
	}
	return sum
}

// Detect is the time from what started the round to the first evidence of it.
func (r Round) Detect() time.Duration { return r.noticed().Sub(r.Since) }

// Elect is the time from the first evidence to the winner's own belief.
func (r Round) Elect() time.Duration { return r.Won().Sub(r.noticed()) }

// Announce is the time from there to the last node's belief.
func (r Round) Announce() time.Duration { return r.Agreed().Sub(r.Won()) }

// noticed is when the first node noticed; at the latest, the winner did when
// it won.
func (r Round) noticed() time.Time {
	first := r.Won()
	if !r.dropped.IsZero() && r.dropped.Before(first) {
		first = r.dropped
	}
	for _, n := range r.Notices {
		if n.At.Before(first) {
			first = n.At
		}
	}
	return first
}
