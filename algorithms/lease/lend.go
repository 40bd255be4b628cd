package lease

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// A lease that is lent to a process outside is no part of what a proven death ends. So the
// voters know of it first: the leader asks for the promises anew in a round of questions
// that says so, and lends what a majority promised in that very round. Who promised in it
// keeps that promise whatever is proven, and is free before its end only by the RELEASE
// that follows when the last lease that was lent has ended or was given back.

// lending is a leader's part in it.
type lending struct {
	wanted bool   // by its host, which waits for what comes of it
	from   uint64 // the nonce of the first round that says so, zero for none yet
}

// Lend takes the host's wish for a lease to lend.
func (p *Party) Lend() {
	no := p.refusing(0)
	switch {
	case p.Stand.Phase != Leading && p.Belief.ID == 0:
		p.refuseLend(no.Nobody())
	case p.Stand.Phase != Leading:
		p.refuseLend(no.Elsewhere(p.Belief.ID))
	case p.Offering():
		p.refuseLend(no.UnderWay(p.Handing.to.ID))
	default:
		p.Stand.lend.wanted = true
	}
}

// LendDue reports whether a leader is to begin a round of questions for a lease that it
// lends. The round before has been answered: more rounds must not wait for answers than
// without lending.
func (p *Party) LendDue() bool {
	s := &p.Stand
	return s.lend.wanted && s.lend.from == 0 && s.Yes.Of(p.Voters)
}

// Lending reports whether the round of questions in progress is for a lease to lend.
func (p *Party) Lending() bool { return p.Stand.lend.from != 0 }

// lent lends the lease that a majority promised in a round of questions, until end and no
// later, if that round said so. Whoever borrows it counts by a clock of its own.
func (p *Party) lent(nonce uint64, end time.Time) {
	l := &p.Stand.lend
	if l.from == 0 || nonce < l.from {
		return
	}
	*l = lending{}
	p.Out.Lent = &algorithms.LendEnd{For: byAnyClock(end.Sub(p.Now)), Until: end}
}

// LoseLend ends a wish of a host whose node leads no more.
func (p *Party) LoseLend() {
	if p.Stand.lend.wanted {
		p.refuseLend(p.refusing(0).Lost())
	}
}

// refuseLend answers the host. It decides nothing, and gives no reason to the record: who
// works beside a node that does not lead may ask many times a second.
func (p *Party) refuseLend(why algorithms.Refusal) {
	p.Stand.lend = lending{}
	p.Out.Lent = &algorithms.LendEnd{Refused: why.String()}
}

// Renewed renews this voter's promise to the leader that asks for it. A lease that is lent
// makes that one last; renewals that say nothing of it take nothing from that.
func (p *Party) Renewed(lent bool) {
	p.Promise()
	if lent {
		p.Voter.Kept = p.Voter.Promise
	}
}
