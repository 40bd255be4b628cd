package rounds

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
)

// candidacy is what the records of a process tell of the first time at which it stood.
type candidacy struct {
	claim mark   // in which it first became a candidate
	timer bool   // as a timer was due, and not as it was answered
	bound uint64 // the first record in which it followed a leader or voted for another node, 0 for none
	ahead uint64 // the first in which it asked the voters before its turn, 0 for none
}

func (c *candidacy) note(rec *trace.Record, reasons []reason, m mark) {
	binds, ahead := rec.Leader != 0, false
	for i := range reasons {
		why := &reasons[i]
		stands, asks := decided[algorithms.Stands](why)
		_, votes := decided[algorithms.Votes](why)
		binds = binds || votes
		if !asks {
			continue
		}
		cause := why.from(0)
		_, early := decided[algorithms.Ahead](&cause)
		ahead = ahead || early
		if stands.Cause == algorithms.Self && (c.claim.seq == 0 || m.seq < c.claim.seq) {
			c.claim, c.timer = m, rec.Event == "timeout"
		}
	}
	if binds && (c.bound == 0 || m.seq < c.bound) {
		c.bound = m.seq
	}
	if ahead && (c.ahead == 0 || m.seq < c.ahead) {
		c.ahead = m.seq
	}
}

// waited reports whether the process became a candidate as soon as its own voter might vote, which it might not before
// since it had just started. It had asked the others, as it was its turn, and nothing else can have bound its voter.
func (c *candidacy) waited(l *life) bool {
	before := func(seq uint64) bool { return seq > 0 && seq < c.claim.seq }
	return c.claim.seq > 0 && c.timer && !before(c.bound) && !before(c.ahead) &&
		!l.text && l.first() == 1 && l.wholeFrom(1) >= c.claim.seq
}
