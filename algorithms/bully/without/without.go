// Package without has the mutants of the bully algorithm: each lacks one rule. See internal/mutant.
package without

import (
	_ "embed" // the stories
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/bully"
	"github.com/ringleader-dev/ringleader/internal/mutant"
	"github.com/ringleader-dev/ringleader/proto"
)

var (
	//go:embed start.txt
	start string
	//go:embed once.txt
	once string
)

// Rules returns the rules of the bully that can be left out.
func Rules() []mutant.Rule {
	return []mutant.Rule{
		{
			Name: "bully-start",
			Sentence: "A process that receives an Election message replies with OK message, and starts its own " +
				"leader election protocol",
			Of:       "bully",
			Prevents: "whoever was told OK waits for a leader that nobody becomes, and asks again, and again",
			Takes:    idle, Story: start,
		},
		{
			Name: "bully-once",
			Sentence: "A process that receives an Election message replies with OK message, and starts its own " +
				"leader election protocol (unless it has already done so)",
			Of: "bully",
			Prevents: "each ELECTION makes every higher process send its own anew: with each process their number " +
				"doubles",
			Takes: restless, Story: once,
		},
	}
}

// idle replies with OK to a lower process that calls an election, and leaves it at that.
func idle(c algorithms.Config, real algorithms.Machine) algorithms.Machine {
	m := &mutant.Machine{Machine: real, Self: c.Self}
	m.Hides = func(ev algorithms.Event) bool {
		b, ok := mutant.Received[bully.Election](ev)
		return ok && m.Leader != m.Self && m.Peer(m.Self).Above(b.Candidate)
	}
	m.Undo = func(_ time.Time, ev algorithms.Event, out *algorithms.Output) {
		if m.Hides(ev) {
			msg := ev.(algorithms.Receive).Message
			m.Reserve(msg.Term, out)
			mutant.Send(out, proto.Message{From: m.Self, To: msg.From, Term: msg.Term, Body: bully.OK{}})
		}
	}
	return m
}

// restless starts its own election at each ELECTION that it answers with OK, whether it has done so or not.
func restless(c algorithms.Config, real algorithms.Machine) algorithms.Machine {
	m := &mutant.Machine{Machine: real, Self: c.Self}
	m.Undo = func(_ time.Time, ev algorithms.Event, out *algorithms.Output) {
		if _, ok := mutant.Received[bully.Election](ev); !ok || !mutant.Sends[bully.OK](*out) ||
			mutant.Sends[bully.Election](*out) || out.Leader.ID != 0 {
			return
		}
		self := m.Peer(m.Self)
		for _, p := range m.View {
			if p.Rank().Compare(self.Rank()) > 0 {
				mutant.Send(out, proto.Message{
					From: m.Self, To: p.ID, Term: out.Leader.Term, Body: bully.Election{Candidate: self},
				})
			}
		}
	}
	return m
}
