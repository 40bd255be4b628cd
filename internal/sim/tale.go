package sim

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/proto"
)

// Tale is what came of a scenario.
type Tale struct {
	// Sent are the messages since all had agreed, first or in the last command agree.
	Sent Counts
	// Leader is whom all follow at the end; zero if they do not agree.
	Leader proto.Leadership
	// Contested is how long more than one node led, and Two are the first two that did.
	Contested time.Duration
	Two       [2]proto.Leadership
	// Leaderless is how long nobody led.
	Leaderless time.Duration
	// Refused are the writes that the store refused, and Lost those that took the place of a later leader's.
	Refused, Lost []Write
}

// Write is the token of a write, and that of the write before it.
type Write struct {
	Token  proto.Term `json:"token"`
	Before proto.Term `json:"before"`
}

// Tale returns what came of the scenario so far.
func (p *Player) Tale() Tale {
	t := p.tale
	p.c.census.advance(p.c.now)
	t.Sent, t.Contested, t.Leaderless = p.c.tally.counts(), p.c.census.contested, p.c.census.leaderless
	t.Leader, _ = p.c.census.leadership()
	return t
}

// see notes the first two that lead at once.
func (t *Tale) see(s *step) {
	if s.out.Leader.ID != s.node.id || t.Two[0].Leader != 0 {
		return
	}
	for _, n := range s.cluster.nodes {
		if n != s.node && n.leads() && !n.life.lapsed {
			t.Two = [2]proto.Leadership{n.life.belief.Leadership(), s.out.Leader.Leadership()}
		}
	}
}

// write lets a node write to the store with the token of the lease that it believes to hold.
func (p *Player) write(n *node) {
	if n.life == nil {
		return
	}
	p.c.attend(n, n.life, func() {
		note := func(format string, args ...any) { p.c.trace.note(p.c.now, format, args...) }
		t, was, admit := fence.Token(n.life.belief.Leadership()), p.written, p.Admit
		if admit == nil {
			admit = fence.Admit
		}
		switch {
		case !n.leads():
			note("%d does not lead, and writes nothing", n.id)
			return
		case admit(was, t) != nil:
			note("%d writes with token %d -> the store: current token is %d, rejecting %d",
				n.id, t.Term, was.Term, t.Term)
			p.tale.Refused = append(p.tale.Refused, Write{t.Term, was.Term})
			return
		case t.Term < was.Term:
			p.tale.Lost = append(p.tale.Lost, Write{t.Term, was.Term})
			note("%d writes with token %d -> the store takes it, over the write with token %d", n.id, t.Term, was.Term)
		default:
			note("%d writes with token %d -> the store takes it", n.id, t.Term)
		}
		p.written = t
	})
}

// age makes the cluster an old one, in which all terms up to this one are over.
func (p *Player) age(term proto.Term) {
	for _, n := range p.c.nodes {
		if term > 0 {
			n.disk = algorithms.State{Term: term, Reserved: term, Vote: algorithms.Vote{Term: term}}
		}
	}
}

// Violations returns the rules that the scenario broke.
func (p *Player) Violations() []Violation { return p.c.violations }
