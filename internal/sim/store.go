package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// A model of a store on which leadership stands: one election, of which the first entry leads. It knows
// whose entry is whose, whatever the candidates believe.

// storePlan says how the store of a cluster behaves.
type storePlan struct {
	Store    bool
	Queues   bool          // candidates queue; otherwise there is one entry
	Way      time.Duration // the longest time that a request, or an answer, is under way
	Lost     permille      // the share of requests and of answers that are lost
	Straggle permille      // the share of requests that come up to two TTLs late
	Silent   permille      // the share of requests that it does not even refuse while it answers nobody
	Stale    permille      // the share of looks that are answered from an old state
	Untold   permille      // the share of changes that a node is not told of
	Lag      time.Duration // the longest time by which an entry ends late
	DriftPPM int64         // of the clock of the store
	Skip     int64         // the largest gap between two tokens
	First    proto.Term    // the token before the first
}

// plainStore returns a plan in which the store is fast, and nothing is lost.
func plainStore(delta time.Duration) storePlan {
	return storePlan{Way: delta / 4}
}

func (p leasePlan) storeLines() []string {
	return []string{
		fmt.Sprintf("TTL %v, await leases %v, brief %v, unproven deaths %v, proofs within %v, work stops within %v",
			p.Promise, p.Keep, p.Brief, p.Unproven, p.Proof, p.Drain),
		fmt.Sprintf("a store that queues %v, a way takes up to %v, %v lost, %v up to two TTLs late, stale %v, "+
			"changes not told %v, away without a word %v",
			p.Queues, p.Way, p.Lost, p.Straggle, p.Stale, p.Untold, p.Silent),
		fmt.Sprintf("entries end up to %v late, its clock drifts by %d ppm, tokens from %d in steps of up to %d",
			p.Lag, p.DriftPPM, p.First, 1+p.Skip),
	}
}

// shelf is the state of the store.
//
// Invariants: 1. tokens rise from each entry to the next, unless the store was set back. 2. An entry is
// in lost if it was taken away although its time was not over, and not because its process is dead.
type shelf struct {
	entries []kept
	keys    int
	tokens  proto.Term
	highest proto.Term // of all tokens that were ever given
	past    [][]kept   // the last states, the oldest first
	away    int        // how many faults keep it from answering at present
	cut     map[proto.NodeID]int
	lost    map[proto.Leadership]bool
	setBack bool // it has once forgotten its tokens
}

// kept is an entry in the store.
type kept struct {
	algorithms.Entry
	by   *life         // whose it is; nil for a stranger's
	ends time.Duration // true time before which the store keeps it
}

// pastStates is how many old states a stale answer may come from.
const pastStates = 4

// first returns the first entry; the zero one if there is none.
func (h *shelf) first() kept {
	if len(h.entries) == 0 {
		return kept{}
	}
	return h.entries[0]
}

func (h *shelf) own(l *life) int {
	return slices.IndexFunc(h.entries, func(k kept) bool { return k.by == l })
}

// lostEntry reports whether the process lost its entry of that term by no fault of the nodes: an operator
// removed it, or the store forgot it. Then two may lead, and only tokens help.
func (c *cluster) lostEntry(l *life, term proto.Term) bool {
	return c.shelf != nil && l != nil && c.shelf.lost[proto.Leadership{Term: term, Incarnation: l.incarnation}]
}

// askStore begins the request that a node's Machine wants, unless that is under way. If the Machine wants
// another one, or none, it is not told what comes of the one before.
func (c *cluster) askStore(n *node, want *algorithms.Ask) {
	l := n.life
	if want == nil || l.ask != nil && l.ask.Number == want.Number {
		if want == nil {
			l.ask = nil
		}
		return
	}
	asked := *want
	l.ask = &asked
	c.spring(n, asked.Verb)
	way, ttl := c.dice.between(0, c.Way), n.promise
	if c.dice.chance(c.Straggle) {
		way += c.dice.between(0, 2*ttl)
	}
	if c.dice.chance(c.Lost) {
		return
	}
	at := c.now + way
	c.lastMail = max(c.lastMail, at)
	c.queue.plan(at, func() {
		if c.shelf.away > 0 || c.shelf.cut[n.id] > 0 {
			if !c.dice.chance(c.Silent) {
				c.answer(n, l, &asked, algorithms.Answered{Failed: "the store is away"})
			}
			return
		}
		c.answer(n, l, &asked, c.carryOut(n, l, asked, ttl))
	})
}

// answer brings the answer to a process, if that still waits for it. It may be lost.
func (c *cluster) answer(n *node, l *life, to *algorithms.Ask, is algorithms.Answered) {
	if c.dice.chance(c.Lost) {
		return
	}
	is.Number = to.Number
	c.queue.plan(c.now+c.dice.between(0, c.Way), func() {
		c.attend(n, l, func() {
			if l.ask != nil && l.ask.Number == is.Number {
				l.ask, l.asked = nil, to.Verb
				c.step(n, is, c.root)
			}
		})
	})
}

// carryOut does in the store what a process asked for. The process may be dead by now, or may have called
// the request back.
func (c *cluster) carryOut(n *node, l *life, ask algorithms.Ask, ttl time.Duration) (a algorithms.Answered) {
	h := c.shelf
	if ask.Verb == algorithms.AskLook && len(h.past) > 0 && c.dice.chance(c.Stale) {
		old := h.past[c.dice.IntN(len(h.past))]
		return (&shelf{entries: old}).read(l)
	}
	was := h.entries
	switch ask.Verb {
	case algorithms.AskStand, algorithms.AskRemove:
		c.remove(n, ask.Remove)
	}
	own := h.own(l)
	switch {
	case ask.Verb == algorithms.AskStand && own < 0 && (c.Queues || len(h.entries) == 0):
		own = len(h.entries)
		h.entries = append(slices.Clone(h.entries), c.entry(l, algorithms.Entry{ID: n.id, Incarnation: l.incarnation}))
		fallthrough
	case (ask.Verb == algorithms.AskStand || ask.Verb == algorithms.AskRenew) && own >= 0:
		h.entries = slices.Clone(h.entries)
		h.entries[own].Lent = h.entries[own].Lent || ask.Lent
		c.keep(&h.entries[own], ttl)
		a.Keeps = ttl
	case ask.Verb == algorithms.AskLeave && own >= 0 && h.entries[own].Key == ask.Remove.Key:
		c.left(n, l, h.entries[own])
		h.entries = slices.Delete(slices.Clone(h.entries), own, own+1)
	}
	c.changed(was)
	keeps := a.Keeps
	a = h.read(l)
	a.Keeps = keeps
	return a
}

// read returns what the store tells a process.
func (h *shelf) read(l *life) (a algorithms.Answered) {
	a.Holder = h.first().Entry
	if own := h.own(l); own >= 0 {
		a.Own = h.entries[own].Entry
	}
	return a
}

// entry returns a new entry with a new token.
func (c *cluster) entry(by *life, e algorithms.Entry) kept {
	h := c.shelf
	h.keys++
	h.tokens = max(h.tokens, c.First) + 1 + proto.Term(c.dice.Int64N(c.Skip+1))
	h.highest = max(h.highest, h.tokens)
	e.Key, e.Token = fmt.Sprint("key ", h.keys), h.tokens
	return kept{Entry: e, by: by}
}

// keep makes the store keep an entry for another TTL, by its own clock, and remove it some time after.
func (c *cluster) keep(k *kept, ttl time.Duration) {
	k.ends = max(k.ends, c.now+scale(ttl, million, million+c.DriftPPM))
	key, ends := k.Key, k.ends
	c.queue.plan(ends+c.dice.between(0, c.Lag), func() {
		was := c.shelf.entries
		c.shelf.entries = slices.DeleteFunc(slices.Clone(was), func(k kept) bool {
			return k.Key == key && k.ends == ends
		})
		c.changed(was)
	})
}

// remove carries out the removal of a dead process's entry: of this very entry, and not if it is lent.
func (c *cluster) remove(by *node, e algorithms.Entry) {
	i := slices.IndexFunc(c.shelf.entries, func(k kept) bool { return k.Key == e.Key && !k.Lent })
	if i < 0 {
		return
	}
	k := c.shelf.entries[i]
	if k.by == nil || c.node(k.ID).life == k.by {
		c.violated(removesTheDead, by.id, fmt.Sprintf("removes the entry of %d with token %d", k.ID, k.Token))
	}
	c.shelf.entries = slices.Delete(slices.Clone(c.shelf.entries), i, i+1)
}

// left checks that nothing is done in the leadership of an entry that its own node removes.
func (c *cluster) left(n *node, l *life, k kept) {
	if n.life == l && (l.belief.ID == n.id && l.belief.Term == k.Token || slices.Contains(l.working, k.Token)) {
		c.violated(leavesLast, n.id, fmt.Sprintf("its entry with token %d goes while it works", k.Token))
	}
}

// changed notes a change of the entries: old answers may come from before it, and nodes are told.
func (c *cluster) changed(was []kept) {
	h := c.shelf
	if slices.EqualFunc(was, h.entries, func(a, b kept) bool { return a.Entry == b.Entry }) {
		return
	}
	h.past = append(h.past, was)
	if len(h.past) > pastStates {
		h.past = h.past[1:]
	}
	for _, n := range c.nodes {
		if h.away == 0 && h.cut[n.id] == 0 && !c.dice.chance(c.Untold) {
			c.hint(n)
		}
	}
}

// hint tells a node that the entries may have changed.
func (c *cluster) hint(n *node) {
	l := n.life
	if l == nil {
		return
	}
	at := c.now + c.dice.between(0, c.Way)
	c.lastMail = max(c.lastMail, at)
	c.queue.plan(at, func() { c.attend(n, l, func() { c.step(n, algorithms.StoreChanged{}, c.root) }) })
}

// takeAway removes the entries that are chosen, although their time is not over, and whatever their
// candidates do.
func (c *cluster) takeAway(chosen func(i int, k kept) bool) {
	h, i := c.shelf, -1
	was := h.entries
	h.entries = slices.DeleteFunc(slices.Clone(was), func(k kept) bool {
		i++
		if !chosen(i, k) {
			return false
		}
		if k.by != nil {
			h.lost[proto.Leadership{Term: k.Token, Incarnation: k.Incarnation}] = true
		}
		return true
	})
	c.changed(was)
}

// end ends a process that says that it must end.
func (c *cluster) end(n *node, why string) {
	if !c.shelf.setBack {
		c.violated(neverEnds, n.id, why)
	}
	c.trace.note(c.now, "%d ends: %s", n.id, why)
	c.crash(n)
	if c.healed { // by an answer of before, and whoever looks after it starts it again
		c.queue.plan(c.now+c.delta, func() { c.restart(n) })
	}
}

// healStore ends the faults of the store. If it forgot its tokens, its operator raises them above all.
func (c *cluster) healStore() {
	h := c.shelf
	if h == nil {
		return
	}
	h.away = 0
	clear(h.cut)
	c.Lost, c.Straggle, c.Stale, c.Untold, c.Lag, c.Way = 0, 0, 0, 0, 0, c.delta/4
	c.takeAway(func(_ int, k kept) bool { return h.setBack || k.by == nil })
	h.tokens = max(h.tokens, h.highest)
}

// storeCheckers returns the checkers of the invariants of leadership by an entry in a store.
func storeCheckers() []checker {
	return []checker{
		{Invariant{"lease-ahead", "no Step ends with a leader whose lease has ended"}, leaseAhead},
		{Invariant{"one-holder", "at any instant of true time at most one process leads or still works as " +
			"the leader"}, (&oneHolder{}).check},
		{
			Invariant{"one-holder-a-term", "no term is ever held by two processes"},
			(&oneATokenATerm{oneATerm{"holds", map[proto.Term]proto.Incarnation{}}}).check,
		},
		{Invariant{"released-last", "a term is released when all work of its holder has stopped, and never " +
			"held or claimed after"}, (&releasedLast{}).check},
		{Invariant{"calm-preference", "a leader offers leadership to a better node at most once in four " +
			"promises, and ever more rarely while it does so again and again"}, (&calmPreference{}).check},
		{Invariant{"one-borrower", "while a lease that was lent has not ended, by whatever clock, no other " +
			"process leads or lends, and it ends before its leader's own"}, oneBorrower},
		{Invariant{"lend-ends", "who asks for a lease to lend is told what came of it, and what has not " +
			"ended has a timer"}, (&lendEnds{}).check},
		{Invariant{"first-entry", "who leads has the first entry in the store, and its lease ends, in true time, " +
			"before the store may forget that entry"}, firstEntry},
		{Invariant{"tokens-rise", "the token of each leader is above those of all leaders before, strangers " +
			"included, and is the highest that its node saved"}, (&tokensGrow{}).check},
		{
			Invariant{"only-the-store", "a node begins to lead only by an answer to its request for the lead, which " +
				"says that its entry is the first; by an answer which says that it is not, it leads no more"},
			onlyTheStore,
		},
		{removesTheDead, (&removes{}).check},
		{leavesLast, leavesAfterWork},
		{neverEnds, func(*step) string { return "" }},
		{Invariant{"could-lead", "who says that it would take over has just had an answer of the store"}, couldLead},
		{Invariant{"asks-calmly", "no process asks the store again and again"}, (&asksCalmly{}).check},
	}
}

var (
	removesTheDead = Invariant{"removes-the-dead", "a node removes the entry of another process only if that is " +
		"proven dead, and never one that it knows to be lent, or a stranger's"}
	leavesLast = Invariant{"leaves-last", "a node removes its own entry when all its work has stopped"}
	neverEnds  = Invariant{"never-ends", "on a store that keeps its tokens no node has to end"}
)

// oneATokenATerm is oneATerm as long as the store keeps its tokens.
type oneATokenATerm struct{ oneATerm }

func (k *oneATokenATerm) check(s *step) string {
	if s.cluster.shelf.setBack {
		return ""
	}
	return k.oneATerm.check(s)
}

func firstEntry(s *step) string {
	c := s.cluster
	if !s.claims() || s.out.Leader == s.prev() || c.lostEntry(s.node.life, s.out.Leader.Term) {
		return ""
	}
	first := c.shelf.first()
	until := s.node.clock.when(s.out.Leader.Until)
	switch {
	case first.by != s.node.life || first.Token != s.out.Leader.Term:
		return fmt.Sprintf("leads term %d, the first entry is of %d with token %d", s.out.Leader.Term,
			first.ID, first.Token)
	case until > first.ends:
		return fmt.Sprintf("leads term %d for %v longer than the store keeps its entry", first.Token, until-first.ends)
	}
	return ""
}

// tokensGrow is a storage to which each leader, and each stranger that leads, writes at once.
type tokensGrow struct{ highest proto.Term }

func (k *tokensGrow) check(s *step) string {
	if first := s.cluster.shelf.first(); first.by == nil {
		k.highest = max(k.highest, first.Token)
	}
	is := s.out.Leader
	if !s.claims() || s.prev().Leadership() == is.Leadership() {
		return ""
	}
	was := k.highest
	k.highest = max(was, is.Term)
	own := algorithms.Vote{Term: is.Term, ID: s.node.id, Incarnation: s.node.life.incarnation}
	switch vote := s.node.disk.Vote; {
	case is.Term <= was && !s.cluster.shelf.setBack && !s.cluster.lostEntry(s.node.life, is.Term):
		return fmt.Sprintf("takes token %d after %d", is.Term, was)
	case vote != own:
		return fmt.Sprintf("takes token %d, saved %d of %d", is.Term, vote.Term, vote.ID)
	}
	return ""
}

func onlyTheStore(s *step) string {
	ev, answered := s.ev.(algorithms.Answered)
	verb := s.node.life.asked
	answered = answered && ev.Failed == "" && (verb == algorithms.AskStand || verb == algorithms.AskRenew)
	begins := s.claims() && s.prev().Leadership() != s.out.Leader.Leadership()
	switch {
	case begins && (!answered || !ev.Held()):
		return fmt.Sprintf("takes token %d by %T %+v", s.out.Leader.Term, s.ev, s.ev)
	case s.claims() && answered && (!ev.Held() || ev.Own.Token != s.out.Leader.Term):
		return fmt.Sprintf("leads on with token %d, and was told of %d", s.out.Leader.Term, ev.Own.Token)
	}
	return ""
}

// removes records which processes were proven dead to each process.
type removes struct {
	proven table[map[proto.Incarnation]bool]
}

func (k *removes) check(s *step) string {
	proven := k.proven.at(s.node.life.number)
	if *proven == nil {
		*proven = map[proto.Incarnation]bool{}
	}
	switch ev := s.ev.(type) {
	case algorithms.PeerProvenDead:
		(*proven)[ev.Incarnation] = true
	case algorithms.PeerHeardAgain:
		delete(*proven, ev.Incarnation)
	}
	ask := s.out.Ask
	if ask == nil || ask.Remove.IsZero() || ask.Verb == algorithms.AskLeave {
		return ""
	}
	switch e := ask.Remove; {
	case e.ID == 0 || !(*proven)[e.Incarnation]:
		return fmt.Sprintf("asks to remove the entry of %d, which is not proven dead", e.ID)
	case e.Lent:
		return fmt.Sprintf("asks to remove the entry of %d, which is lent", e.ID)
	case s.cluster.Keep:
		return fmt.Sprintf("asks to remove the entry of %d, and is to await leases", e.ID)
	}
	return ""
}

func couldLead(s *step) string {
	ev, answered := s.ev.(algorithms.Answered)
	for _, m := range s.out.Send {
		reply, ok := m.Body.(proto.Reply)
		if ok && reply.No == proto.NoDecline && (!answered || ev.Failed != "") {
			return fmt.Sprintf("would take over from %d", m.To)
		}
	}
	return ""
}

func leavesAfterWork(s *step) string {
	ask := s.out.Ask
	if ask != nil && ask.Verb == algorithms.AskLeave && (s.claims() || len(s.node.life.working) > 0) {
		return fmt.Sprintf("works in %v, leads %d", s.node.life.working, s.out.Leader.ID)
	}
	return ""
}

// asksCalmly counts the asks of each process.
type asksCalmly struct{ lives table[uint64] }

// A process may ask burstOfAsks times, and then once in two Deltas: requests that fail at once are repeated
// at most as often as that.
const burstOfAsks = 30

func (k *asksCalmly) check(s *step) string {
	last := k.lives.at(s.node.life.number)
	if s.out.Ask == nil || s.out.Ask.Number == *last {
		return ""
	}
	was := *last
	*last = s.out.Ask.Number
	age := s.at - s.node.life.born
	switch {
	case *last != was+1:
		return fmt.Sprintf("ask %d after %d", *last, was)
	case *last > burstOfAsks+uint64(age/(2*s.cluster.delta)):
		return fmt.Sprintf("%d asks in %v", *last, age)
	}
	return ""
}
