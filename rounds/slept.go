package rounds

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/proto"
)

// slowReceipt is a message that a process received long after it was sent. Times are corrected.
type slowReceipt struct {
	sent, got time.Time
	asks      bool // it asks for a vote
}

// together is how soon after it woke a process reads the messages that came while it slept.
const together = 200 * time.Millisecond

// noteSlow keeps the messages of the term that were received long after they were sent, and the questions for votes.
func (g *group) noteSlow(t *log) {
	for _, e := range t.entries {
		if slices.Contains(askKinds, e.msg) {
			g.asks[e.life] = append(g.asks[e.life], g.fix.at(e.Ref.Node, e.Wall))
		}
		if e.cause == nil {
			continue
		}
		sent, got := g.fix.at(e.cause.Ref.Node, e.cause.Wall), g.fix.at(e.Ref.Node, e.Wall)
		if elapsed(sent, got) <= maxTransit { // nearly always
			continue
		}
		if off := g.apart(e.cause.Ref.Node, e.Ref.Node); off != unbounded && got.Sub(sent) > maxTransit+off {
			g.slow[e.life] = append(g.slow[e.life], slowReceipt{sent, got, slices.Contains(askKinds, e.msg)})
		}
	}
}

// answerKinds are the kinds of messages with which voters answer what a candidate has just asked. The names of version
// 0.1 come last.
var answerKinds = append(slices.Clone(voteKinds), proto.KindPreVoteReply.String(), "ANSWER", "DENY")

// noteHeard keeps when each node was heard of. What a process reads as it wakes tells nothing: it may be old. Only the
// record of its send tells when that was. But the process that sent it had begun by then.
func (g *group) noteHeard(t *log) {
	for _, e := range t.entries {
		at := g.fix.at(e.Ref.Node, e.Wall)
		g.named[e.sender] = earliest(g.named[e.sender], at)
		switch {
		case e.msgID == "":
			continue
		case e.cause != nil:
			at = g.fix.at(e.cause.Ref.Node, e.cause.Wall)
		case !slices.Contains(answerKinds, e.msg) && e.life.wokeBefore(at, g.fix):
			if e.life.debug {
				g.stale[e.from] = append(g.stale[e.from], at)
			} else { // it need not have slept
				g.maybeHeard[e.from] = append(g.maybeHeard[e.from], at)
			}
			continue
		}
		g.hear(e.from, e.msg, at)
	}
	for _, got := range t.folded {
		g.named[got.sender] = earliest(g.named[got.sender], g.fix.at(got.to, got.wall))
		g.hear(got.from, got.kind, g.fix.at(got.to, got.wall))
	}
}

// hear keeps when a node was heard of by a message of a kind.
func (g *group) hear(id uint64, kind string, at time.Time) {
	g.heard[id] = append(g.heard[id], at)
	if slices.Contains(answerKinds, kind) {
		g.answered[id] = append(g.answered[id], at)
	}
}

// wokeBefore reports whether the process may have woken just before the time t: it had written nothing for long.
func (l *life) wokeBefore(t time.Time, fix clockFix) bool {
	t = t.Add(-together)
	before, ok := l.before(t, fix)
	return ok && t.Sub(fix.at(l.node, before.wall)) > maxTransit
}

// sleptSince returns since when at the latest the process slept, if it woke at about the time t: it read then what was
// sent long before, or was asked for its vote again, which it had not answered before, and it had written nothing in
// between. It returns zero if no record shows that it slept.
func (g *group) sleptSince(l *life, t time.Time) (since time.Time) {
	slow, asks := g.slow[l], g.asks[l]
	if len(slow)+len(asks) == 0 { // nearly always
		return since
	}
	before, wrote := l.before(t.Add(-together), g.fix)
	for _, r := range slow {
		fresh := !wrote || r.sent.After(g.fix.at(l.node, before.wall))
		if fresh && r.got.Sub(t).Abs() <= together {
			since = earliest(since, r.sent)
		}
	}
	now := func(at time.Time) bool { return at.Sub(t).Abs() <= together }
	if asked, ok := g.firstAsked(l.node, g.fix.at(l.node, before.wall)); ok && wrote && t.Sub(asked.at) > maxTransit &&
		slices.ContainsFunc(asks, now) && !g.answeredBetween(l.node, asked.at, t) {
		since = earliest(since, asked.at)
	}
	return since
}

// answeredBetween reports whether others got an answer of the voter after they asked it, and before it may have woken.
func (g *group) answeredBetween(id uint64, asked, woke time.Time) bool {
	at := firstAfter(g.answered[id], asked)
	return !at.IsZero() && at.Before(woke.Add(-together))
}

// wakes reports whether the reasons of one record show that the process has just woken: it says so, or two of its
// timers were due at once, that of a lease and the one that waits for longer, until it asks the voters.
func wakes(reasons []reason) bool {
	if decides[algorithms.Woke](reasons) {
		return true
	}
	expired, late := expires(reasons)
	return late > 0 || expired && slices.ContainsFunc(reasons, func(why reason) bool {
		return decides[algorithms.Waited]([]reason{why.from(0)})
	})
}

// mayHaveSlept reports whether the process may have woken at about the time t, so that what it noticed then may have
// been so for long.
func (g *group) mayHaveSlept(l *life, t time.Time) bool {
	return l != nil && (!g.sleptSince(l, t).IsZero() || slices.ContainsFunc(l.woke, func(at time.Time) bool {
		return g.fix.at(l.node, at).Sub(t).Abs() <= together
	}))
}

// sleptThrough reports whether the cause is only that a node had heard nothing of the leader, which may have slept
// then.
func (c *Cause) sleptThrough(g *group) bool {
	m := g.nodes[c.Node]
	return c.Kind == LeaderSilent && c.Evidence == "" && m != nil &&
		g.mayHaveSlept(m.byIncarnation[c.Ref.Incarnation], c.At)
}

// wokeFrom returns when a lease had ended at the latest whose end the process noticed at the time t. That is t, unless
// the process had slept: it cannot have renewed the lease, or promised it again, since then.
func (g *group) wokeFrom(l *life, t time.Time) time.Time {
	since := g.sleptSince(l, t)
	if longest := g.leaseTime; !since.IsZero() && longest > 0 && since.Add(longest).Before(t) {
		return since.Add(longest)
	}
	return t
}

// longestLease returns for how long a lease runs at most: the longest time that a record says, by a clock that may be
// faster than others. It returns 0 if no record says it. Where no leader tells it, its voters do: a part of it, from
// when what was sent as it began to run had come. A message takes no fourth of a lease.
func (g *group) longestLease() (longest time.Duration) {
	whole, led, granted := false, false, time.Duration(0)
	for _, m := range g.nodes {
		for _, l := range m.lives {
			longest, granted = max(longest, l.lease), max(granted, l.granted)
			whole, led = whole || l.ownLease, led || l.ledLease
		}
	}
	if !whole {
		longest = max(longest, granted)
	}
	if !led {
		longest += longest / 4
	}
	return catalog.LeaseByAnyClock(longest)
}
