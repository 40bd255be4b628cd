package rounds

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// group collects the records of one cluster under one algorithm.
type group struct {
	key        groupKey
	guarantee  string
	records    int
	newest     time.Time // wall time of the record that came last
	nodes      map[uint64]*member
	open       map[uint64]*log // the terms that are not built yet
	latest     *log            // of the record that came last, nil if it is not open
	clock      int64           // the highest reading of the hybrid clock, in µs
	past       *past           // nil unless rounds are built while records come in
	bounds     *Bounds         // nil if all rounds are built at the end
	held       int             // the records that are kept of open terms
	strays     []receipt       // in records of built rounds, of messages that may be of open ones
	tried      int             // how many of them there were after the last attempt to keep fewer
	deaths     []death
	left       farewells
	ups        *greetings
	eras       *Eras
	ending     bool                 // no more records come
	lines      map[uint64]time.Time // of each node the last that is no record
	recovered  recovered
	existed    []*existence           // all processes, also those that are forgotten
	spare      []*entry               // entries of built rounds, to be used again
	spareLogs  []*log                 // empty logs of built rounds, too
	spareLists []lists                // of processes that are forgotten, too
	room       []sentMessage          // memory for what entries sent
	former     map[string]formerShape // by the shape of sentences without codes
	reasonRoom []reason               // memory for reasons
	argRoom    []trace.Arg            // and for their arguments
	brief      bool                   // rounds keep no steps and messages. All rounds then use one scratch.
	scratch    scratch
	top        uint64    // the highest term there is
	last       time.Time // the corrected time of the last record
	logsEnd    time.Time // of the last record, or of a later line of a node

	changesUntold bool // see incidents

	// What is known once all records of some rounds are there.
	pairing     *pairing
	delays      delays // of the pairs that are certain
	doubtful    delays // of all pairs
	paths       *paths
	linked      bool // messages compare the clocks of all nodes
	fix         clockFix
	offs        map[[2]uint64]time.Duration // what apart returned since its grounds changed
	attrs       map[uint64]*int64           // the attribute by which each node is ranked
	voters      map[uint64]bool             // who was asked for votes, and who asked
	asked       map[uint64][]asking         // of each
	all         []uint64                    // see everybody; nil until it is asked for
	heard       map[uint64][]time.Time      // when others received a message of each, corrected
	maybeHeard  map[uint64][]time.Time      // when they may have received one late, as they wake, but need not have
	stale       map[uint64][]time.Time      // when they read one that is surely late, as they had just woken
	answered    map[uint64][]time.Time      // the same of its answers to questions for its vote
	joins       map[uint64][]time.Time      // when each came into the view of another, corrected
	early       map[[2]uint64]bool          // nodes that saw another one before that began, each by its own clock
	away        map[uint64][]absence        // of the nodes for which they were looked for
	silent      map[uint64][]absence        // those of them in which the node was silent, the same
	slow        map[*life][]slowReceipt
	asks        map[*life][]time.Time  // when each process received a question for its vote, corrected
	named       map[string]time.Time   // when another node first read a message of a process, by its incarnation
	orphans     map[uint64][]time.Time // until when messages were sent whose sends are in no record, by the sender
	lived       map[*life][]LifeEvent
	drops       map[uint64][]*drop    // by the node that they are about
	dropsBy     map[[2]uint64][]*drop // by the node that has them, and the one that they are about
	unlogged    map[uint64][]*drop    // the first proofs of the end of each process of a node that is in no log
	leaderships map[leadershipKey]*Leadership
	list        []*Leadership // in the order of their beginnings
	lacks       *bool         // see lacksSome; nil until it is asked for
	leaseTime   time.Duration // for how long a lease runs at most, by any clock; 0 if no record says it
	byLeader    map[uint64][]*Leadership
	byTerm      map[uint64][]*Leadership
	unbegun     map[uint64][]unseenReign // by the node that tells of them, in the order of time
	// blamed has, for each lost leader, when the round that its loss caused was called: no later round has the
	// evidence before that as its cause.
	blamed map[uint64]time.Time
	// called has initiators of the last round's term: those that called an election after the
	// winner of that round was elected, because that winner was gone.
	called []Initiator
	unfit  bool            // some process was not eligible for a while, by its own word
	unread map[string]bool // the codes of reasons that this version does not know
}

// member has the processes of one node while records come in.
type member struct {
	lives         []*life
	byIncarnation map[string]*life
	apart         []*life   // that ended while another one went on as the node
	silent        []*life   // that said that they run, and wrote no record: see greetings
	senders       []*life   // all of these, by their beginnings
	forgotten     forgotten // what is left of processes that are no longer in lives
	current       *life
	// See noteHidden: a process is in no log, or a former one sent messages that no record shows.
	hidden, former bool
	// The belief of the last record that came in.
	term, leader uint64
	followed     uint64        // the highest term of a leader that it named
	clockSet     time.Duration // by how much the clock was set, by the last record that came in
	setForward   time.Duration // the most of that
}

// log holds the records of one term until its round is built.
type log struct {
	term    uint64
	entries []*entry
	// folded has the receipts that changed nothing. Nothing else of their records is kept.
	folded []receipt
	clock  int64 // the highest reading of the entries, in µs
	led    bool  // somebody leads it
	calm   int   // how many entries there were at the last call of Ended with calm
	quiet  int   // how many such calls came since there were as many
}

// leased reports whether leaders have a lease, by the guarantee in their records.
func leased(guarantee string) bool { return algorithms.Guarantee(guarantee).Leases() }

func newGroup(key groupKey, brief bool) *group {
	return &group{
		key: key, nodes: map[uint64]*member{}, open: map[uint64]*log{}, brief: brief, scratch: newScratch(),
		delays: delays{}, doubtful: delays{}, fix: clockFix{}, offs: map[[2]uint64]time.Duration{},
		attrs:  map[uint64]*int64{},
		blamed: map[uint64]time.Time{}, unread: map[string]bool{}, voters: map[uint64]bool{},
		former: map[string]formerShape{},
	}
}

// restarts reports whether rec begins another simulated run: all records of one run
// are in the order of its clock.
func (g *group) restarts(rec *trace.Record) bool { return rec.Time.Before(g.newest) }

func (g *group) add(rec *trace.Record) {
	m := g.nodes[rec.Node]
	if m == nil {
		m = &member{byIncarnation: map[string]*life{}}
		g.nodes[rec.Node] = m
	}
	l := m.life(rec, g)
	rec = m.unset(l, rec)
	if l.existed == nil {
		l.existed = &existence{life: process{g.key, l.node, l.incarnation}}
		if g.key.run == 0 {
			g.ups.wroteRecord(l)
		}
		g.existed = append(g.existed, l.existed)
	}
	l.text, l.exposed = l.text || rec.FromText, l.exposed || rec.Security == trace.Unauthenticated
	if !l.count(rec.Seq) {
		return // it came before
	}
	g.records++
	g.newest = rec.Time
	if g.guarantee == "" || leased(rec.Guarantee) { // text may tell late that leaders have leases
		g.guarantee = rec.Guarantee
	}
	settled := m.term == rec.RoundTerm() && m.leader == rec.Leader && rec.Leader != 0
	m.term, m.leader = rec.RoundTerm(), rec.Leader
	g.recovered.note(rec, l.ref(rec.Seq))
	chatter := settled && isChatter(rec)
	reasons, why := g.reasonsOf(rec)
	term := termOf(rec, reasons, m.followed)
	m.followed = max(m.followed, rec.LeaderTerm())
	l.add(rec, reasons, term)
	l.existed.note(rec)
	g.unfit = g.unfit || rec.Ineligible != "" || rec.Event == "eligible"
	if chatter {
		l.sendQuietly(rec.Sent)
	}
	t := g.log(term)
	if t == nil {
		if rec.MsgID != "" {
			g.stray(receiptOf(rec))
		}
		if !chatter {
			g.late(rec, l, reasons, why, term)
		}
		return
	}
	if chatter {
		g.held += t.fold(rec)
		return
	}
	g.held++
	e := g.entry()
	e.fill(rec, l, reasons, why)
	e.sent = g.parseAll(rec.Sent)
	e.log = t
	g.clock = max(g.clock, e.micros())
	t.entries = append(t.entries, e)
	t.clock = max(t.clock, e.micros())
	t.led = t.led || e.Leader != 0 && (!leased(rec.Guarantee) || e.Change != "" || e.Token == term)
}

// termOf returns the term whose round the record belongs to. Under a lease that need not be the node's own term: a
// node asks and votes in a term that it is not in yet, and answers in one while nobody leads; and an algorithm may
// nominate in later terms. followed is the highest term of a leader that the node named before.
func termOf(rec *trace.Record, reasons []reason, followed uint64) uint64 {
	if !leased(rec.Guarantee) {
		return rec.RoundTerm()
	}
	if rec.LeaderChange != "" && rec.Leader != 0 && rec.Token != 0 {
		return rec.Token
	}
	if isStore := rec.Event == storeEvent || rec.Event == storeChanged; isStore && len(reasons) == 0 {
		switch {
		case rec.Leader != 0:
			return rec.LeaderTerm()
		case rec.Event == storeEvent && rec.Term > followed:
			return rec.Term // the store tells of a leader that the node does not follow yet
		}
	}
	asked, stood := rec.RoundTerm(), uint64(0)
	for i := range reasons {
		why := &reasons[i]
		if follows, ok := decided[algorithms.Follows](why); ok && rec.LeaderChange != "" && rec.Leader != 0 {
			return why.term(follows.Term) // text has no token
		}
		if votes, ok := decided[algorithms.Votes](why); ok { // a vote decides more than an answer
			return why.term(votes.Term)
		}
		if stands, ok := decided[algorithms.Stands](why); ok {
			asked = why.term(stands.Term)
			stood = asked
		}
		answers, ok := decided[algorithms.Answers](why)
		late := ok && why.term(answers.Term) < stood // asked for long before
		if ok && answers.Term >= 0 && rec.Leader == 0 && !late {
			asked = why.term(answers.Term)
		}
	}
	return asked
}

// The events of records that tell what a store answered, and that something changed there.
const (
	storeEvent   = "store"
	storeChanged = "store-changed"
)

// entriesAtOnce is how many entries are allocated at a time.
const entriesAtOnce = 64

// entry returns an empty entry. It reuses an entry of a round that was already built, if one is spare;
// otherwise it allocates new ones.
func (g *group) entry() *entry {
	if len(g.spare) == 0 {
		entries := make([]entry, entriesAtOnce)
		for i := range entries {
			g.spare = append(g.spare, &entries[i])
		}
	}
	last := len(g.spare) - 1
	e := g.spare[last]
	g.spare = g.spare[:last]
	return e
}

// recycle takes back the entries of a round that was built.
func (g *group) recycle(t *log) {
	for _, e := range t.entries {
		*e = entry{}
	}
	g.spare = append(g.spare, t.entries...)
	g.held -= len(t.entries) + len(t.folded)
	delete(g.open, t.term)
	g.latest = nil
	if cap(t.entries)+cap(t.folded) <= mostSpare {
		clear(t.entries)
		clear(t.folded)
		g.spareLogs = append(g.spareLogs, &log{entries: t.entries[:0], folded: t.folded[:0]})
	}
}

// keepReceipts moves the receipts of the terms that are built to the open rounds that sent their messages.
func (g *group) keepReceipts(over []uint64) {
	built := map[*log]bool{}
	for _, term := range over {
		built[g.open[term]] = true
	}
	for i := range g.pairing.arrivals {
		if got := &g.pairing.arrivals[i]; got.by != nil && built[got.in] && !built[got.by.log] {
			got.by.log.keep(got.receipt)
			g.held++
		}
	}
}

// keep adds a receipt whose record is not kept.
func (t *log) keep(got receipt) { t.folded = append(t.folded, got) }

// stray keeps the receipt in a record whose round is built for the round of its message.
func (g *group) stray(got receipt) {
	if len(g.strays) >= 2*keepRecords {
		g.strays = keepLast(g.strays, keepRecords)
	}
	g.strays = append(g.strays, got)
}

// placeStrays moves each stray receipt to the round of its message. Those whose messages do not come are dropped.
func (g *group) placeStrays() {
	g.strays = slices.DeleteFunc(g.strays, func(got receipt) bool {
		if same := g.pairing.same(&got); len(same) > 0 {
			same[len(same)-1].by.log.keep(got)
			g.held++
			return true
		}
		return g.clock-got.clock.Micros > settle.Microseconds()
	})
}

// mostSpare is how long lists are at most that are kept to be used again.
const mostSpare = 256

// fold drops a record that changed nothing, and remembers only that its message was received. It returns how many
// receipts it keeps.
func (t *log) fold(rec *trace.Record) int {
	if rec.MsgID == "" {
		return 0
	}
	t.keep(receiptOf(rec))
	return 1
}

// receiptOf returns what the record tells of the message that it received.
func receiptOf(rec *trace.Record) receipt {
	clock, _ := proto.ParseHLC(rec.HLC)
	return receipt{rec.MsgID, rec.Msg, rec.Sender, numberOf(rec.MsgID), rec.From, rec.Node, clock, rec.Time}
}

// log returns the log of a term, nil if its round was built already.
func (g *group) log(term uint64) *log {
	if g.latest != nil && g.latest.term == term { // nearly always
		return g.latest
	}
	t := g.open[term]
	if t == nil && !g.past.has(term) {
		t = &log{}
		if last := len(g.spareLogs) - 1; last >= 0 {
			t, g.spareLogs = g.spareLogs[last], g.spareLogs[:last]
		}
		t.term = term
		g.open[term] = t
	}
	g.latest = t
	return t
}

// life returns the process that wrote rec. If records name no incarnation, each start begins
// another process.
func (m *member) life(rec *trace.Record, g *group) *life {
	incarnation := rec.Incarnation
	if c := m.current; c != nil && c.incarnation == incarnation {
		if incarnation != "" || rec.Seq != 1 || rec.Event != "start" {
			return c
		}
	}
	if l := m.byIncarnation[incarnation]; l != nil && incarnation != "" {
		m.current = l
		return l
	}
	before := m.clockSet
	if c := m.current; c != nil && rec.Time.Before(c.from.Add(c.setBefore)) && rec.Time.Add(-before).Before(c.from) {
		before = c.setBefore // that one began later
	}
	m.current = &life{
		node: rec.Node, incarnation: strings.Clone(incarnation), setBefore: before, lists: g.emptyLists(),
	}
	if clock, err := proto.ParseHLC(rec.HLC); err == nil {
		m.current.lead = clock.Micros - rec.Time.Add(-m.clockSet-rec.ClockSet).UnixMicro()
	}
	m.lives = append(m.lives, m.current)
	m.byIncarnation[m.current.incarnation] = m.current
	return m.current
}

// at returns the last process that began no later than t, or nil if there is none.
func (m *member) at(t time.Time, fix clockFix) *life {
	if i := m.index(t, fix); i >= 0 {
		return m.lives[i]
	}
	return nil
}

// index returns the index in lives of the last process that began no later than t, -1 if there is none.
func (m *member) index(t time.Time, fix clockFix) int {
	return sort.Search(len(m.lives), func(i int) bool {
		return fix.at(m.lives[i].node, m.lives[i].from).After(t)
	}) - 1
}

// ownTerm returns the term that the node itself is in. It returns 0 if the record does not say it: under a lease,
// records until 2026-11 have the term that a candidate asks for in its place.
func ownTerm(rec *trace.Record, reasons []reason) uint64 {
	if !leased(rec.Guarantee) {
		return rec.Term
	}
	for i := range reasons {
		if votes, ok := decided[algorithms.Votes](&reasons[i]); ok {
			return reasons[i].term(votes.Term)
		}
	}
	return 0
}

// attr returns the node's last known attribute, nil if no record has it.
func (g *group) attr(id uint64) *int64 { return g.attrs[id] }

// current returns the node's last process, nil if no record is its own.
func (g *group) current(id uint64) *life {
	if m := g.nodes[id]; m != nil && len(m.lives) > 0 {
		return m.lives[len(m.lives)-1]
	}
	return nil
}
