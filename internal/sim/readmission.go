package sim

import (
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// readmission checks a voter that has no saved vote, since it may have lost its disk. Such a voter
// must not vote until others have told it what it may have voted, until there was an instant at
// which no voter had voted, or until an operator has given it a first term.
type readmission struct {
	backs   map[proto.NodeID]*comeback
	unvoted map[proto.NodeID]bool // the voter's present process started without a vote and has not voted
}

// comeback is one process of a voter that has no saved vote, until it votes.
type comeback struct {
	began time.Time // when it started, by its own clock
	// longest is the longest promise that it may have made as part of a majority: its configured one, or
	// a longer one that a voter named in an answer.
	longest time.Duration
	asked   map[uint64]time.Time       // when the questions with a nonce first left
	told    map[proto.NodeID]time.Time // for each voter that answered: when the question had left
	voted   proto.Term                 // the highest term in which a voter that answered has voted
	none    bool                       // at some instant since its start, no voter had voted
}

// saved reports whether the disk has a vote or a promise.
func (n *node) saved() bool { return n.disk.Vote.Term > 0 || n.disk.Promise > 0 }

func (k *readmission) check(s *step) string {
	id := s.node.id
	if !s.cluster.mayLead(id) {
		return ""
	}
	if _, ok := s.ev.(algorithms.Start); ok {
		delete(k.backs, id)
		k.unvoted[id] = s.saved().Vote.Term == 0
		if k.unvoted[id] && s.saved().Promise == 0 {
			k.backs[id] = &comeback{
				began: s.now, longest: s.node.promise,
				asked: map[uint64]time.Time{}, told: map[proto.NodeID]time.Time{},
			}
		}
	}
	k.look(s.cluster) // the only voter may vote in its first Step
	k.unvoted[id] = k.unvoted[id] && s.node.disk.Vote.ID == 0
	b := k.backs[id]
	if b == nil {
		return ""
	}
	b.listen(s)
	if s.node.saved() {
		delete(k.backs, id)
		k.unvoted[id] = k.unvoted[id] && b.none
		return b.judge(s)
	}
	for _, m := range s.out.Send {
		if speaks(m.Body) {
			return fmt.Sprintf("sends %s of term %d", m.Body, m.Term)
		}
	}
	return ""
}

// saved returns the state with which a process starts.
func (s *step) saved() algorithms.State { return s.ev.(algorithms.Start).Saved }

// look notes an instant at which all voters run and none has voted.
func (k *readmission) look(c *cluster) {
	if len(k.backs) == 0 {
		return
	}
	for _, id := range c.Voters {
		if c.node(id).life == nil || !k.unvoted[id] {
			return
		}
	}
	for _, b := range k.backs {
		b.none = true
	}
}

// judge returns what is wrong with the way in which the voter came back; "" if nothing is.
func (b *comeback) judge(s *step) string {
	told, need := 0, len(s.cluster.Voters)-len(s.cluster.Voters)/2
	for _, at := range b.told {
		if !at.Before(b.began.Add(b.longest)) {
			told++
		}
	}
	first := s.node.first
	switch {
	case b.none:
		return ""
	case first > 0 && told < need && s.now.Before(b.began.Add(b.longest)):
		return "is back on an operator's word before its longest promise is over"
	case first > 0 && told < need && s.node.disk.Vote.Term < first-1:
		return fmt.Sprintf("is back in term %d, an operator said %d", s.node.disk.Vote.Term, first)
	case first == 0 && told < need:
		return fmt.Sprintf("is back on the word of %d, %d are needed", told, need)
	}
	if vote := s.node.disk.Vote; vote.ID == 0 && vote.Term < b.voted {
		return fmt.Sprintf("is back in term %d, others voted in %d", vote.Term, b.voted)
	}
	return ""
}

// speaks reports whether a message tells what its sender votes or has voted.
func speaks(b proto.Body) bool {
	switch b := b.(type) {
	case proto.VoterState:
		return !b.Lost
	case proto.PreVoteReply:
		return b.Granted()
	}
	return sayingOf(b).does(grants | claims | renews)
}

// listen records the voter's questions, and the answers to them.
func (b *comeback) listen(s *step) {
	if ev, ok := s.ev.(algorithms.Receive); ok {
		a, ok := ev.Body.(proto.VoterState)
		at, asked := b.asked[a.Nonce]
		if ok && asked && !a.Lost && a.Incarnation == s.node.life.incarnation {
			if at.After(b.told[ev.From]) { // no late answer to an older question
				b.told[ev.From] = at
			}
			b.voted = max(b.voted, ev.Term)
			b.longest = max(b.longest, a.Promise)
		}
	}
	for _, m := range s.out.Send {
		if q, ok := m.Body.(proto.Recover); ok && q.Nonce > 0 {
			if _, known := b.asked[q.Nonce]; !known {
				b.asked[q.Nonce] = s.now
			}
		}
	}
}
