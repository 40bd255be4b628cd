package sim

import (
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// readmission is S7: a voter whose disk was lost is as good as none until others
// have told it what it may have voted in.
type readmission struct{ backs map[proto.NodeID]*comeback }

// comeback is one life of a voter that lost its disk, until it votes again.
type comeback struct {
	began time.Time // by its own clock
	// longest is the longest promise that it may have made as part of a majority:
	// such as it is configured with, or as those have made who tell it.
	longest time.Duration
	asked   map[uint64]time.Time       // when the questions of a nonce first left
	told    map[proto.NodeID]time.Time // when the question had left that was answered
	voted   proto.Term                 // the highest that those told of
}

func (*readmission) invariant() Invariant {
	return Invariant{"readmission", "a voter that lost its disk grants, claims and tells nothing " +
		"before its longest promise is over and enough voters, asked after that, told it " +
		"what they voted in; then it votes in higher terms only; no other is told that it lost its disk"}
}

func (k *readmission) check(s *step) string {
	id := s.node.id
	if s.out.Forgot {
		return "is told that it lost its disk, and did not"
	}
	if _, ok := s.ev.(algorithms.Start); ok {
		delete(k.backs, id)
		if s.node.lost {
			k.backs[id] = &comeback{
				began: s.now, longest: s.node.promise,
				asked: map[uint64]time.Time{}, told: map[proto.NodeID]time.Time{},
			}
		}
	}
	b := k.backs[id]
	if b == nil {
		return ""
	}
	b.listen(s)
	if !s.node.lost { // it saved something in this Step
		delete(k.backs, id)
		return b.judge(s)
	}
	for _, m := range s.out.Send {
		if speaks(m.Body) {
			return fmt.Sprintf("sends %s of term %d", m.Body, m.Term)
		}
	}
	return ""
}

// judge is what is wrong with how it comes back.
func (b *comeback) judge(s *step) string {
	told, need := 0, len(s.cluster.Voters)-len(s.cluster.Voters)/2
	for _, at := range b.told {
		if !at.Before(b.began.Add(b.longest)) {
			told++
		}
	}
	if told < need {
		return fmt.Sprintf("is back on the word of %d, %d are needed", told, need)
	}
	if vote := s.node.disk.Vote; vote.ID == 0 && vote.Term < b.voted {
		return fmt.Sprintf("is back in term %d, others voted in %d", vote.Term, b.voted)
	}
	return ""
}

// speaks reports whether a message is a voter's word.
func speaks(b proto.Body) bool {
	switch b := b.(type) {
	case proto.Standing:
		return true
	case proto.Answer:
		return b.Yes
	}
	return sayingOf(b).does(grants | claims | renews)
}

// listen notes questions and answers.
func (b *comeback) listen(s *step) {
	if ev, ok := s.ev.(algorithms.Receive); ok {
		a, ok := ev.Body.(proto.Standing)
		at, asked := b.asked[a.Nonce]
		if ok && asked && a.Session == s.node.life.session {
			if at.After(b.told[ev.From]) { // no late answer to an older question
				b.told[ev.From] = at
			}
			b.voted = max(b.voted, ev.Term)
			b.longest = max(b.longest, a.Promise)
		}
	}
	for _, m := range s.out.Send {
		if q, ok := m.Body.(proto.Return); ok {
			if _, known := b.asked[q.Nonce]; !known {
				b.asked[q.Nonce] = s.now
			}
		}
	}
}
