package lease

import (
	"cmp"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// Bar takes the host's word on whether this node may lead. One that may not votes and
// follows as ever.
func (p *Party) Bar(ev algorithms.Eligible) {
	p.Barred = ""
	if !ev.OK {
		p.Barred = cmp.Or(ev.Why, "no reason was given")
	}
}

// Ineligible is why this node is not eligible, "" if it is.
func (p *Party) Ineligible() string {
	if p.Barred == "" && p.misled {
		return p.list.state.List.String() + " are not those of the cluster"
	}
	if p.Barred == "" && !p.Recess.IsZero() {
		return "three " + p.Words.Attempts + " in a row failed"
	}
	return p.Barred
}

// Stands reports whether this node would lead.
func (p *Party) Stands() bool { return !p.Resigned && p.Ineligible() == "" }

// failuresToRecess is how many attempts of a node may fail in a row before another is to
// try. "After three, mark oneself ineligible for a while so that the nominators skip
// one."
const failuresToRecess = 3

// TakeRecess lets others try, and reports it, after every third attempt in a row that
// failed: a node whose attempts fail though it stands first may be the reason why nobody
// leads. It may as well be the network: how long the next attempt waits goes on to grow.
// Where no other could stand there is nobody to leave it to.
func (p *Party) TakeRecess() bool {
	s := &p.Stand
	if s.Failed == 0 || s.Failed%failuresToRecess != 0 || !p.anotherStands() {
		return false
	}
	p.Why("%d %s in a row failed -> do not stand for %v, others may",
		s.Failed, p.Words.Attempts, RecessOf(p.Cfg.Promise))
	p.Recess = p.Now.Add(RecessOf(p.Cfg.Promise))
	return true
}

// EndRecess ends a recess whose time is over, or in which no other could stand any more, and
// reports it.
func (p *Party) EndRecess() bool {
	switch {
	case p.Recess.IsZero():
		return false
	case !p.Now.Before(p.Recess):
		p.Why("others had time to try -> stand again")
	case !p.anotherStands():
		p.Why("no other could stand any more -> stand again")
	default:
		return false
	}
	p.Recess = time.Time{}
	return true
}

// anotherStands reports whether another voter is alive and eligible, as far as is known.
func (p *Party) anotherStands() bool {
	for other := range p.others {
		if !other.Ineligible {
			return true
		}
	}
	return false
}
