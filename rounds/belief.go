package rounds

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// belief is whom a process believed to lead, from one record to another.
type belief struct {
	first, last mark
	// leader led term; 0 is nobody. unsettled says that the first record does not name the term: it is the one
	// that the process named before.
	leader, term uint64
	unsettled    bool
	until        time.Time // the latest end of a lease in the records, by the process's clock
	turn         turn      // how the belief before this one ended
	heard        heartbeat // the last one of the leader in the records, zero for none
	sent         []string  // what the first record sent, if it begins to lead
}

// heartbeat is the receipt of a HEARTBEAT.
type heartbeat struct {
	by     mark
	number uint64 // of the message, among those of its sender
	sender string // the process that sent it, empty if the record does not name it
}

// turn says why a process changed its belief.
type turn struct {
	changed bool          // the record says that the belief changed in it
	was     uint64        // whom it believed in until then, by its own word; 0 if it does not say it
	term    uint64        // of the process before that record, or a later one
	exact   bool          // the record says it, and a process that led then led that term
	expired bool          // the lease that it believed in ended by itself
	late    time.Duration // how long before the record that was, if the process says so
	release bool          // the message with which the belief changed says that its sender leads no more
	over    uint64        // the term that it says so of, 0 if the record does not say it
	from    uint64        // the sender of the message with which the belief changed, 0 for none
	sender  string        // the process that sent it, empty if the record does not name it
	msgID   string        // of that message
	vote    bool          // that message is a vote
	handed  bool          // the leader gave up its term for another node, or because it was asked to
	to      uint64        // that other node, 0 for none
	taken   string        // whose entry in the store was the first in place of the leader's: "nobody"
}

// noteBelief adds what rec says about the leader to the process's beliefs.
func (l *life) noteBelief(rec *trace.Record, reasons []reason, m mark) {
	term, unsettled := leaderTerm(rec, reasons)
	heard := heartbeat{}
	beat := rec.Msg == proto.KindHeartbeat.String() && !decides[algorithms.Ignores](reasons)
	if beat && rec.Leader != 0 && rec.From == rec.Leader {
		heard = heartbeat{m, numberOf(rec.MsgID), rec.Sender}
	}
	if !rec.ValidUntil.IsZero() {
		l.noteLease(rec, m)
	}
	if slices.Contains(requestKinds, rec.Msg) {
		l.question, l.candidate = m, rec.From
	}
	if slices.ContainsFunc(rec.Sent, requestsVote) {
		l.asked = m
	}
	if n := len(l.beliefs); n > 0 {
		was := &l.beliefs[n-1]
		if unsettled && was.leader == rec.Leader {
			term = was.term
		}
		same := was.leader == rec.Leader && was.term == term
		if same && was.last.seq+1 == m.seq { // nearly always
			was.goOn(m, rec.ValidUntil, heard)
			return
		}
		l.merged = l.merged && was.last.seq < m.seq && !same
	} else {
		l.merged = true
	}
	l.beliefs = append(l.beliefs, belief{}) // which is long: it is not copied
	b := &l.beliefs[len(l.beliefs)-1]
	b.first, b.last, b.leader, b.term, b.unsettled = m, m, rec.Leader, term, unsettled
	b.until, b.heard = rec.ValidUntil, heard
	b.turn = turn{from: rec.From, sender: rec.Sender, msgID: rec.MsgID}
	b.turn.term, b.turn.exact = termBefore(rec, reasons)
	b.turn.vote = slices.Contains(voteKinds, rec.Msg)
	b.turn.expired, b.turn.late = expires(reasons)
	b.turn.release, b.turn.over = rec.Msg == proto.KindRelease.String(), releasedTerm(reasons)
	if b.turn.changed = rec.LeaderChange != ""; b.turn.changed && rec.PrevLeader != nil {
		b.turn.was = *rec.PrevLeader
	}
	b.turn.handed, b.turn.to = handsOver(reasons)
	b.turn.taken = takenBy(reasons)
	if b.leader == l.node {
		b.sent = rec.Sent
	}
}

// noteLease notes for how long a lease runs by the record. A follower has a part of it: what the leader had left as it
// sent its HEARTBEAT. Of the first one, it had the lease since before the follower read that it was asked for its vote.
func (l *life) noteLease(rec *trace.Record, m mark) {
	n := len(l.beliefs)
	from, begins := rec.Time, n == 0 || l.beliefs[n-1].leader != rec.Leader
	switch {
	case begins && rec.Leader == l.node:
		from, l.ownLease = l.leasedFrom(rec, m)
	case begins && rec.Leader == l.candidate && l.question.term == m.term &&
		elapsed(l.question.wall, rec.Time) <= maxTransit:
		l.granted = max(l.granted, rec.ValidUntil.Sub(l.question.wall))
	}
	l.lease, l.ledLease = max(l.lease, rec.ValidUntil.Sub(from)), l.ledLease || rec.Leader == l.node
}

// requestsVote reports whether the message that a record sent wants a vote.
func requestsVote(sent string) bool {
	kind, _, _ := strings.Cut(sent, ">")
	return slices.Contains(requestKinds, kind)
}

// leasedFrom returns when the lease of a node that has just won began to run at the latest that the record tells: when
// it last asked for votes, if it wrote down all since. At level info, and where records are missing, it is when it last
// asked for those of the term, as far as a record tells: the lease is no longer than from then on. known is false if no
// record tells when it asked, here and before.
func (l *life) leasedFrom(rec *trace.Record, m mark) (at time.Time, known bool) {
	whole := l.debug && l.rangeOf(rec.Seq) <= l.asked.seq
	if l.asked.seq > 0 && (whole || l.asked.round == m.round) {
		return l.asked.wall, true
	}
	return rec.Time, l.ownLease
}

// goOn makes the belief go on until the record last. A lease in the records since runs until the given time, and the
// last HEARTBEAT in them is the given one; both are zero for none.
func (b *belief) goOn(last mark, until time.Time, heard heartbeat) {
	b.last, b.until = last, latest(b.until, until)
	if heard.by.seq > 0 {
		b.heard = heard
	}
}

// promised returns the last record in which a follower promised its leader the lease again.
func (b *belief) promised() mark {
	if b.heard.by.seq > 0 {
		return b.heard.by
	}
	return b.first
}

// process returns the process of the leader, as it is named where the follower began to follow it, or heard of it last;
// empty if it is not named.
func (b *belief) process() string {
	if b.turn.from == b.leader && b.turn.sender != "" {
		return b.turn.sender
	}
	return b.heard.sender
}

// late reports whether the belief began before its first record, in one that is missing. before is the one before it,
// nil for none.
func (b *belief) late(before *belief) bool {
	return !b.turn.changed && b.first.seq > 1 && (before == nil || before.last.seq+1 < b.first.seq)
}

// leaderTerm returns the term that the record's leader leads. unsettled is true if the record does not say it.
func leaderTerm(rec *trace.Record, reasons []reason) (term uint64, unsettled bool) {
	switch {
	case rec.Leader == 0:
		return 0, false
	case rec.Led != 0 || rec.Token != 0 || !leased(rec.Guarantee):
		return rec.LeaderTerm(), false
	case rec.LeaderChange == "": // as text does not tell it
		return rec.Term, true
	}
	for i := range reasons {
		why := &reasons[i]
		if follows, ok := decided[algorithms.Follows](why); ok {
			return why.term(follows.Term), false
		}
		if leads, ok := decided[algorithms.Leads](why); ok {
			return why.term(leads.Term), false
		}
	}
	return rec.Term, false
}

// termBefore returns the term of the process before the record, if that says it, and else a later one. Under a lease, a
// process may enter another term than its own. Without one, a process that leads leads its own term.
func termBefore(rec *trace.Record, reasons []reason) (term uint64, exact bool) {
	for i := range reasons {
		if enters, ok := decided[algorithms.Enters](&reasons[i]); ok && !leased(rec.Guarantee) {
			return reasons[i].term(enters.Above), true
		}
	}
	return rec.Term, false
}

// releasedTerm returns the term that a leader gave up, by its word in one of the reasons, 0 for none.
func releasedTerm(reasons []reason) uint64 {
	for i := range reasons {
		if releases, ok := decided[algorithms.Releases](&reasons[i]); ok {
			return reasons[i].term(releases.Term)
		}
	}
	return 0
}

// left says what a leader did that gave up its term.
func (t *turn) left() string {
	if t.to != 0 {
		return "handed over"
	}
	return "stopped leading"
}

// handsOver reports whether one of the reasons says that the leader gives up its term for another node, or because
// it was asked to. It returns the other node, 0 if the reason names none.
func handsOver(reasons []reason) (handed bool, to uint64) {
	for i := range reasons {
		from := reasons[i].from(0)
		because, ok := decided[algorithms.Because](&from)
		if ok && because.Kind == HandOver && because.About == algorithms.Self {
			if len(from.args) > 0 {
				to = from.number(0)
			}
			return true, to
		}
	}
	return false, 0
}

// takenBy returns whose entry in the store is the first, if one of the reasons says that it is no longer the leader's.
func takenBy(reasons []reason) string {
	for i := range reasons {
		from := reasons[i].from(0)
		if says, ok := decided[algorithms.StoreSays](&from); ok && says.Kind == algorithms.StoreTaken {
			return cmp.Or(from.words(says.About), "nobody")
		}
	}
	return ""
}

// expires reports whether one of the reasons says that a lease ended by itself: that of the node, or that of
// the leader that it followed. A process checks this before anything else, also after it slept: then it may say how
// late it is.
func expires(reasons []reason) (expired bool, late time.Duration) {
	for i := range reasons {
		if _, ends := decided[algorithms.LeaseEnds](&reasons[i]); ends {
			return true, 0
		}
		from := reasons[i].from(0)
		if ends, ended := decided[algorithms.LeaseEnds](&from); ended {
			if ends.Late {
				late = time.Duration(from.number(0)) * time.Millisecond
			}
			return true, late
		}
	}
	return false, 0
}

// allBeliefs returns the beliefs in the order of the records. Each differs from the one before, or from the one that
// came between the two in records that are missing.
func (l *life) allBeliefs() []belief {
	if l.merged {
		return l.beliefs
	}
	slices.SortFunc(l.beliefs, func(a, b belief) int { return cmp.Compare(a.first.seq, b.first.seq) })
	merged := l.beliefs[:0]
	for _, b := range l.beliefs {
		if n := len(merged); n > 0 {
			was := &merged[n-1]
			if b.unsettled && was.leader == b.leader {
				b.term = was.term
			}
			if was.leader == b.leader && was.term == b.term && (b.turn.was == 0 || b.turn.was == b.leader) {
				was.goOn(b.last, b.until, b.heard)
				continue
			}
		}
		merged = append(merged, b)
	}
	l.beliefs, l.merged = merged, true
	return merged
}

// eachBelief calls f with each belief, and those before and after it; nil where there is none.
func (l *life) eachBelief(f func(b, before, next *belief)) {
	beliefs := l.allBeliefs()
	for i := range beliefs {
		var before, next *belief
		if i > 0 {
			before = &beliefs[i-1]
		}
		if i+1 < len(beliefs) {
			next = &beliefs[i+1]
		}
		f(&beliefs[i], before, next)
	}
}

// turnsAt reports whether the process changed its belief in the record with this number, as far as that says it.
func (l *life) turnsAt(seq uint64) bool {
	return slices.ContainsFunc(l.allBeliefs(), func(b belief) bool { return b.first.seq == seq && b.turn.changed })
}

// ledAt returns the term of the leader that the process believed in after the record with this number. It is 0 before
// the first record.
func (l *life) ledAt(seq uint64) uint64 {
	beliefs := l.allBeliefs()
	after := sort.Search(len(beliefs), func(i int) bool { return beliefs[i].first.seq > seq })
	if after == 0 {
		return 0
	}
	return beliefs[after-1].term
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
