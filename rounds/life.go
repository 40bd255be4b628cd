package rounds

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// life is one process of a node.
//
// Invariant: seen has ascending ranges, with at least one number between any two.
type life struct {
	place       int   // among the processes of its node, by their beginnings
	earlier     int   // how many of senders are before it
	next        *life // the process that came after it, nil for none
	node        uint64
	incarnation string
	existed     *existence
	seen        []span
	lost        uint64    // the numbers missing between those of the first range, which stands for several then
	holes       []Gap     // the last of these
	quiet       []span    // the numbers of the messages that it sent in records which are not kept
	quietKinds  []string  // their kinds
	debug       bool      // it writes records of level debug
	started     bool      // it wrote a record of its start
	text        bool      // its records were text, and their numbers are made up
	exposed     bool      // by its records, nothing authenticated who wrote to it
	from        time.Time // wall time of the record with the lowest number
	until       time.Time // of the record with the highest number
	lead        int64     // by how many µs its hybrid clock was ahead of its own clock in the record that came first
	inOrder     bool      // whether marks is sorted by number
	top         mark      // of the highest number
	highest     uint64    // the highest term in its records
	voted       uint64    // the highest that it was in, or voted in
	numbered    uint64    // the highest number of a message that it sent
	lists

	told   []LifeEvent // what happened to it before forgot, and is kept
	forgot time.Time

	saves     savings   // what its records tell of what is saved
	candidacy candidacy // what they tell of its first candidacy

	lease    time.Duration // for how long a lease ran at most when the process wrote of it
	ownLease bool          // it tells so of a lease that it had itself, from when it asked for the votes on
	ledLease bool          // it tells so of any lease that it had itself
	granted  time.Duration // the same of the leases of others, from when it read that it was asked for its vote on

	question  mark   // in which it was last asked for its vote
	candidate uint64 // by this node

	asked    mark        // when it last asked for votes
	free     mark        // when it first would vote for another node since it last followed one: no promise bound it
	woke     []time.Time // when it had just woken, by its own word
	unheeded []mark      // when it led, and no majority answered it
	lent     []lent      // the promises that it kept for lent leases
	releases []release   // the words of leaders that they lead no more
	spent    []uint64    // the terms that it won without leading them, since it had to end a split first
	merged   bool        // whether beliefs is in the order of the records
	unsorted bool        // whether happenings is not

	stancesInEvents bool // only its events tell whether it is eligible, and not each record

	setBefore time.Duration // by how much the clock was set before it began
	settings  []setting     // of the clock since
}

// lists are the long ones of a process.
type lists struct {
	marks      []mark // of each record
	beliefs    []belief
	stances    []stance
	voting     []voting
	happenings []happening
	sent       []sending // in the records that are held, by the numbers of the messages
}

// sending is the number of a message that a process sent, and to which node.
type sending struct{ n, to uint64 }

// sortSent sorts what the process sent, which mostly is sorted.
func (l *life) sortSent() {
	byNumber := func(a, b sending) int { return cmp.Compare(a.n, b.n) }
	if !slices.IsSortedFunc(l.sent, byNumber) {
		slices.SortFunc(l.sent, byNumber)
	}
}

// emptyLists returns lists with the memory of those of a forgotten process, if there is one.
func (g *group) emptyLists() lists {
	last := len(g.spareLists) - 1
	if last < 0 {
		return lists{marks: make([]mark, 0, 16), beliefs: make([]belief, 0, 4)} // nearly always as many
	}
	empty := g.spareLists[last]
	g.spareLists = g.spareLists[:last]
	return empty
}

// recycleLists takes the lists of a process that is forgotten.
func (g *group) recycleLists(l *life) {
	if max(cap(l.marks), cap(l.happenings)) > mostSpare {
		return
	}
	clear(l.beliefs) // so that what they refer to can be freed
	clear(l.stances)
	clear(l.happenings)
	g.spareLists = append(g.spareLists, lists{
		l.marks[:0], l.beliefs[:0], l.stances[:0], l.voting[:0], l.happenings[:0], l.sent[:0],
	})
	l.lists = lists{}
}

// mark says when a record was written, and about which terms.
type mark struct {
	seq   uint64
	own   uint64 // the process's own term, 0 if the record does not say it
	term  uint64 // of the record; that is the process's own term, or one that it asks for, by an older version
	round uint64 // the term of the round that the record is about
	wall  time.Time
	sent  uint64 // the number of the last message that it sent, plus one; 0 if it sent none
	read  bool   // it is of the receipt of a message
}

// span is the records first to last, both included.
type span struct{ first, last uint64 }

// after returns the first record written after t, by corrected time. It assumes that nobody ever
// set the process's clock back.
func (l *life) after(t time.Time, fix clockFix) (first mark, ok bool) {
	marks := l.sorted()
	i := sort.Search(len(marks), func(i int) bool { return fix.at(l.node, marks[i].wall).After(t) })
	if i == len(marks) {
		return mark{}, false
	}
	return marks[i], true
}

// before returns the last record written before t.
func (l *life) before(t time.Time, fix clockFix) (last mark, ok bool) {
	marks := l.sorted()
	i := sort.Search(len(marks), func(i int) bool { return !fix.at(l.node, marks[i].wall).Before(t) })
	if i == 0 {
		return mark{}, false
	}
	return marks[i-1], true
}

// numberOfMark compares the number of a record with another one.
func numberOfMark(m mark, seq uint64) int { return cmp.Compare(m.seq, seq) }

// termBefore returns the process's own term by the record before the one with this number, 0 if that does not say it.
func (l *life) termBefore(seq uint64) uint64 {
	marks := l.sorted()
	i, _ := slices.BinarySearchFunc(marks, seq, numberOfMark)
	if i == 0 {
		return 0
	}
	return marks[i-1].own
}

// silentAround reports whether the process wrote nothing for a time around t that is much longer than it was ever
// silent before: three times as long. And maxTransit is long: it was paused, or at level info it may have been.
func (l *life) silentAround(t time.Time, fix clockFix) bool {
	before, ok := l.before(t, fix)
	after, wrote := l.after(t, fix)
	if !ok || !wrote {
		return true
	}
	longest := time.Duration(0)
	marks := l.sorted()
	for i := 1; i < len(marks) && marks[i].seq <= before.seq; i++ {
		longest = max(longest, marks[i].wall.Sub(marks[i-1].wall))
	}
	silent := after.wall.Sub(before.wall)
	return silent > 3*longest || silent > maxTransit
}

// wroteNothing reports whether the process wrote nothing from one time to another, nor for a while around it.
func (l *life) wroteNothing(from, until time.Time, fix clockFix) bool {
	before, ok := l.before(from, fix)
	after, wrote := l.after(from.Add(-1), fix)
	if !ok || !wrote {
		return true
	}
	return fix.at(l.node, after.wall).After(until) && after.wall.Sub(before.wall) > together
}

// sorted returns the marks by number.
func (l *life) sorted() []mark {
	if !l.inOrder {
		slices.SortFunc(l.marks, func(a, b mark) int { return cmp.Compare(a.seq, b.seq) })
		l.inOrder = true
	}
	return l.marks
}

// add notes a record that was counted.
func (l *life) add(rec *trace.Record, reasons []reason, round uint64) {
	if rec.Seq == l.seen[0].first {
		l.from = rec.Time
	}
	if rec.Seq == l.seen[len(l.seen)-1].last {
		l.until = rec.Time
	}
	l.debug = l.debug || rec.Level == "debug"
	l.started = l.started || rec.Event == "start"
	l.noteSetting(rec)
	m := mark{rec.Seq, ownTerm(rec, reasons), rec.Term, round, rec.Time, 0, rec.MsgID != ""}
	if n := len(rec.Sent); n > 0 {
		_, id, _ := strings.Cut(rec.Sent[n-1], "#")
		m.sent = numberOf(id) + 1
		l.numbered = max(l.numbered, m.sent-1)
	}
	l.mark(m)
	l.noteBelief(rec, reasons, m)
	l.noteStance(rec, m)
	l.noteVoting(reasons, m)
	l.saves.note(rec, reasons)
	l.candidacy.note(rec, reasons, m)
	l.noteFree(rec, reasons, m)
	if !leased(rec.Guarantee) && rec.Leader != rec.Node && wins(reasons) {
		l.spent = append(l.spent, round)
	}
	if wakes(reasons) {
		l.woke = append(l.woke, rec.Time)
	}
	if decides[algorithms.Unheeded](reasons) {
		l.unheeded = append(l.unheeded, m)
	}
	l.noteHappening(rec, m)
	l.noteLent(rec, reasons, m)
	if term := releasedTerm(reasons); term != 0 && rec.Msg == proto.KindRelease.String() {
		l.releases = append(l.releases, release{m, leadershipKey{rec.From, term}})
	}
}

// release is the receipt of a leader's word that it leads a term no more.
type release struct {
	mark
	led leadershipKey
}

// began returns the highest term in the first record, 0 if the process wrote none.
func (l *life) began() uint64 {
	if len(l.marks) == 0 {
		return 0
	}
	first := l.sorted()[0]
	return max(first.own, first.round)
}

// mark keeps m.
func (l *life) mark(m mark) {
	l.inOrder = (l.inOrder || len(l.marks) == 0) && m.seq > l.top.seq
	l.marks, l.highest = append(l.marks, m), max(l.highest, m.own, m.round)
	l.voted = max(l.voted, m.own, m.term)
	if m.seq > l.top.seq {
		l.top = m
	}
}

// count adds seq to the numbers seen. It returns false if seq was seen before.
func (l *life) count(seq uint64) bool {
	if n := len(l.seen); n > 0 && l.seen[n-1].last+1 == seq { // nearly always
		l.seen[n-1].last = seq
		return true
	}
	i, found := slices.BinarySearchFunc(l.seen, seq, compareSpan)
	if found {
		return false
	}
	l.seen = slices.Insert(l.seen, i, span{seq, seq})
	l.join(i)
	if i > 0 {
		l.join(i - 1)
	}
	return true
}

func compareSpan(s span, n uint64) int {
	switch {
	case s.last < n:
		return -1
	case s.first > n:
		return 1
	}
	return 0
}

// sendQuietly notes the numbers and the kinds of the messages that a record sent which is not kept.
func (l *life) sendQuietly(sent []string) {
	for _, s := range sent {
		kind, rest, _ := strings.Cut(s, ">")
		if !slices.Contains(l.quietKinds, kind) {
			l.quietKinds = append(l.quietKinds, strings.Clone(kind))
		}
		_, id, _ := strings.Cut(rest, "#")
		n := numberOf(id)
		if last := len(l.quiet) - 1; last >= 0 && l.quiet[last].last+1 == n { // nearly always
			l.quiet[last].last = n
		} else if i, found := slices.BinarySearchFunc(l.quiet, n, compareSpan); !found {
			l.quiet = slices.Insert(l.quiet, i, span{n, n})
		}
	}
}

// sentQuietly reports whether a record that is not kept sent the message of the number.
func (l *life) sentQuietly(n uint64) bool {
	if len(l.quiet) == 0 { // nearly always
		return false
	}
	_, sent := slices.BinarySearchFunc(l.quiet, n, compareSpan)
	return sent
}

// sentBy returns when the process before another one of its node had sent the message of the number, if it did: before
// a record that sent a later one, or before the next process began.
func (l *life) sentBy(n uint64) time.Time {
	if n > l.numbered && l.next != nil {
		return latest(l.until, l.next.from)
	}
	for _, m := range l.sorted() {
		if m.sent > n {
			return m.wall
		}
	}
	return l.until
}

// join merges range i and the next, if no number lies between them.
func (l *life) join(i int) {
	if i+1 < len(l.seen) && l.seen[i].last+1 == l.seen[i+1].first {
		l.seen[i].last = l.seen[i+1].last
		l.seen = slices.Delete(l.seen, i+1, i+2)
	}
}

// records counts the records.
func (l *life) records() int {
	n := uint64(0)
	for _, s := range l.seen {
		n += s.last - s.first + 1
	}
	return int(n - l.lost)
}

// missing counts the records that are missing between others.
func (l *life) missing() uint64 {
	return l.last() - l.first() + 1 - uint64(l.records())
}

// gaps returns the ranges of numbers that are missing.
func (l *life) gaps() []Gap {
	var gaps []Gap
	if len(l.seen) == 0 {
		return nil
	}
	if first := l.seen[0].first; first > 1 {
		gaps = append(gaps, Gap{Lost: first - 1})
	}
	gaps = append(gaps, l.holes...)
	for i := 1; i < len(l.seen); i++ {
		gaps = append(gaps, l.gapAt(i))
	}
	return gaps
}

// gapAt returns the numbers missing before range i.
func (l *life) gapAt(i int) Gap {
	return Gap{After: l.ref(l.seen[i-1].last), Lost: l.seen[i].first - l.seen[i-1].last - 1}
}

// holesBetween returns the numbers that are missing between those of two records that were seen.
func (l *life) holesBetween(from, until uint64) (holes []span) {
	first, _ := slices.BinarySearchFunc(l.seen, from, compareSpan)
	for i := first + 1; i < len(l.seen) && l.seen[i].first <= until; i++ {
		holes = append(holes, span{l.seen[i-1].last + 1, l.seen[i].first - 1})
	}
	return holes
}

// cutBefore reports whether the records of the process just before the one with this number are missing.
func (l *life) cutBefore(seq uint64) bool {
	i, found := slices.BinarySearchFunc(l.seen, seq, compareSpan)
	return found && seq > 1 && l.seen[i].first == seq
}

// rangeOf returns the first number of those without a gap up to this one, which was seen.
func (l *life) rangeOf(seq uint64) uint64 {
	i, found := slices.BinarySearchFunc(l.seen, seq, compareSpan)
	if !found {
		return seq
	}
	return l.seen[i].first
}

// whole reports whether no record of the process is missing from the one with this number to its last.
func (l *life) whole(from uint64) bool {
	i, found := slices.BinarySearchFunc(l.seen, from, compareSpan)
	return found && i == len(l.seen)-1
}

// gapsBefore yields the ranges of missing numbers that end before one of the records of own.
func (l *life) gapsBefore(own span) iter.Seq[Gap] {
	return func(yield func(Gap) bool) {
		from, _ := slices.BinarySearchFunc(l.seen, own.first, compareSpan)
		for i := from; i < len(l.seen) && l.seen[i].first <= own.last; i++ {
			before := uint64(0)
			if i > 0 {
				before = l.seen[i-1].last
			}
			lost := l.seen[i].first - before - 1
			if l.seen[i].first >= own.first && lost > 0 && !yield(Gap{After: l.ref(before), Lost: lost}) {
				return
			}
		}
	}
}

// complete reports whether no number is missing from 1 on.
func (l *life) complete() bool { return len(l.seen) == 1 && l.seen[0].first == 1 && l.lost == 0 }

// surelyFirst reports whether no process of the node came before, with a log that is not here: the process wrote a
// record of its start, and nothing was saved then.
func (l *life) surelyFirst() bool { return l.started && l.existed.fresh() }

func (l *life) ref(seq uint64) Ref { return Ref{Node: l.node, Incarnation: l.incarnation, Seq: seq} }

// first returns the number of the first record, 0 if the process wrote none.
func (l *life) first() uint64 {
	if len(l.seen) == 0 {
		return 0
	}
	return l.seen[0].first
}

// last returns the number of the last record, 0 if the process wrote none.
func (l *life) last() uint64 {
	if len(l.seen) == 0 {
		return 0
	}
	return l.seen[len(l.seen)-1].last
}

// summary returns the process in the form that a History has.
func (l *life) summary(fix clockFix) Life {
	return Life{
		Incarnation: l.incarnation, First: l.ref(l.first()), Last: l.ref(l.last()),
		From: fix.at(l.node, l.from), Until: fix.at(l.node, l.until),
		Debug: l.debug, Gaps: l.timedGaps(fix), ClockSets: l.clockSets(fix),
	}
}

// timedGaps returns the gaps with the times of the records around them.
func (l *life) timedGaps(fix clockFix) []Gap {
	gaps := l.gaps()
	at := func(seq uint64) time.Time {
		marks := l.sorted()
		i, found := slices.BinarySearchFunc(marks, seq, numberOfMark)
		if !found {
			return time.Time{}
		}
		return fix.at(l.node, marks[i].wall)
	}
	for i := range gaps {
		gaps[i].From, gaps[i].Until = at(gaps[i].After.Seq), at(gaps[i].After.Seq+gaps[i].Lost+1)
	}
	return gaps
}

// byBeginning compares processes of one node by their first record. One that ended in the moment in which the other
// one began came first.
func byBeginning(a, b *life) int {
	return cmp.Or(a.from.Compare(b.from), a.until.Compare(b.until), cmp.Compare(a.incarnation, b.incarnation))
}
