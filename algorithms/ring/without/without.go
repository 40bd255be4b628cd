// Package without has the mutants of the ring: each lacks one rule. See internal/mutant.
package without

import (
	_ "embed" // the stories
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/ring"
	"github.com/ringleader-dev/ringleader/internal/mutant"
	"github.com/ringleader-dev/ringleader/proto"
)

var (
	//go:embed forwarded.txt
	forwarded string
	//go:embed suppress.txt
	suppress string
)

// Rules returns the rules of the ring that can be left out.
func Rules() []mutant.Rule {
	return []mutant.Rule{
		{
			Name: "ring-forwarded",
			Sentence: "If the arrived attr is smaller and pi has not forwarded an election message earlier, it " +
				"overwrites the message with its own id:attr, and forwards it.",
			Of:       "ring",
			Prevents: "where links repeat messages their number doubles at every hop",
			Takes:    forgetful, Story: forwarded,
		},
		{
			Name:     "ring-suppress",
			Sentence: "Each process suppresses Election/Elected messages of any lower-id initiators",
			Of:       "ring",
			Prevents: "the election of every initiator runs, where one is enough",
			Takes:    permissive, Story: suppress,
		},
	}
}

// member is a process on the ring.
type member struct {
	mutant.Machine
	term       proto.Term            // of what follows
	successor  proto.NodeID          // to whom this process sent ELECTION last; 0 for nobody
	initiator  proto.NodeID          // the highest whose ELECTION this process sent
	overwrites map[proto.NodeID]bool // the lower initiators whose ELECTION it passed on
}

func newMember(c algorithms.Config, real algorithms.Machine) *member {
	return &member{Machine: mutant.Machine{Machine: real, Self: c.Self}}
}

// forgetful does not know what it has forwarded earlier: it puts itself in place of a lower one again, and
// forwards the message again.
func forgetful(c algorithms.Config, real algorithms.Machine) algorithms.Machine {
	m := newMember(c, real)
	m.Undo = func(_ time.Time, ev algorithms.Event, out *algorithms.Output) {
		m.follow(*out)
		b, ok := mutant.Received[ring.Election](ev)
		if ok && mutant.Gives(*out, "ring.below-passed", "ring.passed-before") {
			m.forward(b, out)
		}
	}
	return m
}

// permissive handles the ELECTION of a lower initiator as it handles the others, each for itself.
func permissive(c algorithms.Config, real algorithms.Machine) algorithms.Machine {
	m := newMember(c, real)
	m.Undo = func(now time.Time, ev algorithms.Event, out *algorithms.Output) {
		m.follow(*out)
		b, ok := mutant.Received[ring.Election](ev)
		if !ok || !mutant.Gives(*out, "ring.suppress") {
			return
		}
		switch self := m.Peer(m.Self); {
		case b.Best.Is(self): // it came all round
			msg := ev.(algorithms.Receive).Message
			b.Initiator = m.initiator
			msg.Body = b
			m.Also(now, algorithms.Receive{Message: msg}, out)
		case b.Best.Rank().Compare(self.Rank()) > 0 || !m.overwrites[b.Initiator]:
			m.overwrites[b.Initiator] = true
			m.forward(b, out)
		}
	}
	return m
}

// follow notes what this process sent round the ring in the term.
func (m *member) follow(out algorithms.Output) {
	if m.term != out.Leader.Term {
		m.term, m.successor, m.initiator, m.overwrites = out.Leader.Term, 0, 0, map[proto.NodeID]bool{}
	}
	for _, msg := range out.Send {
		if b, ok := msg.Body.(ring.Election); ok {
			m.successor, m.initiator = msg.To, max(m.initiator, b.Initiator)
		}
	}
}

// forward sends ELECTION on with the better one of its best and this process.
func (m *member) forward(b ring.Election, out *algorithms.Output) {
	if self := m.Peer(m.Self); self.Rank().Compare(b.Best.Rank()) > 0 {
		b.Best = self
	}
	if b.Hops++; m.successor != 0 {
		mutant.Send(out, proto.Message{From: m.Self, To: m.successor, Term: m.term, Body: b})
	}
}
