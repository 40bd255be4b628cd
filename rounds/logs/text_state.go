package logs

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/trace"
)

// textState fills in what text leaves out: terms, numbers, message ids, the
// algorithm.
type textState struct {
	nodes   map[uint64]*textNode
	algo    string
	guess   string         // the algorithm by its messages
	leased  bool           // a sentence is about a lease
	raft    bool           // a sentence is about Raft's elections, in the words of the former release
	coded   bool           // a reason had its code
	last    time.Time      // the time of the last line
	waiting []trace.Record // records that wait until the algorithm is known
	// sent and received count the messages of each "from:KIND>to".
	sent, received map[string]int
}

// textNode is the state of one node, as far as the text was read.
type textNode struct {
	seq, term, leader uint64
	incarnation       int
	life              string // the incarnation in words
	last              time.Time
}

// maxWaiting bounds the records that wait until the algorithm is known.
const maxWaiting = 10_000

func newTextState() *textState {
	return &textState{nodes: map[uint64]*textNode{}, sent: map[string]int{}, received: map[string]int{}}
}

func (m *textState) node(id uint64) *textNode {
	p := m.nodes[id]
	if p == nil {
		p = &textNode{incarnation: 1, life: "life 1"}
		m.nodes[id] = p
	}
	return p
}

// restart begins another process of the node.
func (m *textState) restart(id uint64) {
	p := m.node(id)
	if p.seq > 0 {
		p.incarnation++
		p.life = fmt.Sprintf("life %d", p.incarnation)
		p.seq, p.leader = 0, 0
	}
}

// timeOfDay returns the time of a line that has no date. The first day is 1970-01-01, and each
// midnight begins the next one.
func (m *textState) timeOfDay(node uint64, clock string) time.Time {
	at, err := time.Parse("2006-01-02 15:04:05.000", "1970-01-01 "+clock)
	if err != nil {
		return time.Time{}
	}
	p := m.node(node)
	last := p.last
	if last.IsZero() {
		last = m.last // the lines of nodes are mixed, or those of one node follow another's
	}
	const halfDay = 12 * time.Hour
	for at.Add(halfDay).Before(last) {
		at = at.Add(2 * halfDay)
	}
	p.last, m.last = at, at
	return at
}

// add hands over the record of a draft, or keeps it until the algorithm is known.
func (m *textState) add(d *draft, to Sink) {
	if d.event == "start" {
		m.restart(d.node)
	}
	rec := m.record(d)
	if m.algo == "" {
		m.algo = m.algorithmOf(&rec)
	}
	m.waiting = append(m.waiting, rec)
	if m.algo != "" || len(m.waiting) >= maxWaiting {
		m.flush(to)
	}
}

func (m *textState) flush(to Sink) {
	m.algo = cmp.Or(m.algo, m.guess)
	for i := range m.waiting {
		rec := &m.waiting[i]
		rec.Algo = m.algo
		if entry, err := catalog.Lookup(m.algo); err == nil && rec.Guarantee != lease {
			rec.Guarantee = string(entry.Guarantee)
		}
		to.Add(rec)
	}
	m.waiting = nil
}

// record makes a complete record out of a draft.
func (m *textState) record(d *draft) trace.Record {
	m.speak(d)
	p := m.node(d.node)
	p.seq++
	rec := trace.Record{
		Level: d.level, Time: d.at, Node: d.node, Incarnation: p.life,
		Seq: p.seq, FromText: true,
	}
	m.setEvent(&rec, d.event)
	was := *p
	for _, line := range d.more {
		m.setLine(&rec, p, line)
	}
	if p.term != was.term && rec.LeaderChange == "" && !m.leased {
		p.leader = 0 // a term begins with nobody
	}
	rec.Guarantee = string(algorithms.BestEffort)
	if m.leased {
		rec.Guarantee = lease
	}
	if rec.LeaderChange != "" {
		rec.PrevLeader = &was.leader
	}
	rec.Term, rec.Leader, rec.Role = p.term, p.leader, roleOf(d.node, p.leader)
	return rec
}

func roleOf(node, leader uint64) trace.Role {
	switch leader {
	case 0:
		return trace.Looking
	case node:
		return trace.Leading
	}
	return trace.Following
}

// setEvent reads the event into rec: "receive OK from 3", "peers 1 2 3 (joined 3)", "campaign: x".
func (m *textState) setEvent(rec *trace.Record, what string) {
	word, rest, _ := strings.Cut(what, " ")
	switch word {
	case "receive":
		at := strings.LastIndex(rest, " from ")
		if at < 0 {
			break
		}
		rec.Detail = rest[:at]
		rec.From, _ = strconv.ParseUint(rest[at+len(" from "):], 10, 64)
		rec.Msg, _, _ = strings.Cut(rec.Detail, " ")
		rec.MsgID = number(m.received, rec.From, rec.Msg, rec.Node)
	case "peers":
		ids, evidence, _ := strings.Cut(rest, "(")
		rec.Evidence = strings.TrimSuffix(evidence, ")")
		rec.Alive = numbers(ids)
	default:
		word, rec.Detail, _ = strings.Cut(what, ": ")
	}
	rec.Event = word
}

// number makes up the id of the next message of a kind from one node to another.
func number(counts map[string]int, from uint64, kind string, to uint64) string {
	key := make([]byte, 0, 64)
	key = strconv.AppendUint(key, from, 10)
	key = append(append(key, ':'), kind...)
	key = strconv.AppendUint(append(key, '.'), to, 10)
	counts[string(key)]++
	return string(strconv.AppendInt(append(key, '.'), int64(counts[string(key)]), 10))
}

func numbers(s string) (ids []uint64) {
	for word := range strings.FieldsSeq(s) {
		if id, err := strconv.ParseUint(word, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// belief matches what a node believes since the record.
var belief = pattern(
	`^= (?:(leads)|follows (\d{1,20})|(nobody) leads)(?:(?: in)? term (\d{1,20}))? \(([a-z-]+)\)$`)

// cutBurst splits "KIND > 1 2 3".
func cutBurst(line string) (kind, receivers string, ok bool) {
	kind, receivers, ok = strings.Cut(line, " > ")
	if !ok || kind == "" || strings.Trim(kind, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
		return "", "", false
	}
	for id := range strings.SplitSeq(receivers, " ") {
		if rest, digits := cutDigits(id); rest != "" || !fits(digits) {
			return "", "", false
		}
	}
	return kind, receivers, true
}

// setLine reads one line of a record after its first line, and adds what the line says to rec: a reason, sent
// messages, or the node's belief about the leader.
func (m *textState) setLine(rec *trace.Record, p *textNode, line string) {
	if kind, receivers, ok := cutBurst(line); ok {
		for _, to := range numbers(receivers) {
			id := number(m.sent, rec.Node, kind, to)
			rec.Sent = append(rec.Sent, kind+">"+strconv.FormatUint(to, 10)+"#"+id)
		}
		return
	}
	if strings.HasPrefix(line, "= ") {
		if b := belief().FindStringSubmatch(line); b != nil {
			setBelief(rec, p, b)
			return
		}
	}
	if strings.HasPrefix(line, "split: ") {
		return // news, and no reason
	}
	sentence, told, ok := trace.CutLine(line)
	rec.Why, rec.Reasons = append(rec.Why, sentence), append(rec.Reasons, told)
	if !ok {
		m.former(p, line)
		return
	}
	m.coded = true
	m.leased = m.leased || strings.HasPrefix(told.Code, leaseReasons)
	p.term = max(p.term, termIn(told))
}

// lease is the guarantee of leaders under a lease. The codes of the reasons that nodes give only
// with this guarantee begin with leaseReasons.
const lease, leaseReasons = string(algorithms.Lease), "lease."

// declaring returns the names of the packages that declare reasons.
var declaring = sync.OnceValue(func() map[string]bool {
	of := map[string]bool{}
	for _, kind := range catalog.Reasons() {
		name, _, _ := strings.Cut(kind.Code, ".")
		of[name] = true
	}
	return of
})

// termIn returns the term of a node that gives the reason, or 0 if the reason does not tell the term.
func termIn(told trace.Reason) uint64 {
	kind := catalog.Reason(told.Code)
	if kind == nil {
		return 0
	}
	for _, decision := range kind.Decides {
		at := algorithms.Nobody
		switch d := decision.(type) {
		case algorithms.Enters:
			at = d.Term
		case algorithms.Opens:
			at = d.Term
		case algorithms.Wins:
			at = d.Term
		case algorithms.Stands:
			at = d.Term
		case algorithms.Votes:
			at = d.Term
		case algorithms.Answers:
			at = d.Term
		}
		if at >= 0 && int(at) < len(told.Args) {
			return told.Args[at].Number
		}
	}
	return 0
}

// algorithmOf returns the algorithm, if the record's reasons or messages show it, or else "".
func (m *textState) algorithmOf(rec *trace.Record) string {
	for i := range rec.Reasons {
		if name := givenBy(&rec.Reasons[i]); name != "" {
			return name
		}
	}
	m.guess = cmp.Or(m.guess, formerAlgorithm(rec))
	if m.coded {
		return "" // a code to come will tell
	}
	return m.guess
}

// givenBy returns the only algorithm that gives the reason or one of its causes, or "" if several give it. If
// the name in a code declares no reason in this program, it is an algorithm that this program does not have.
func givenBy(told *trace.Reason) string {
	of, _, _ := strings.Cut(told.Code, ".")
	if _, err := catalog.Lookup(of); err == nil || !declaring()[of] {
		return of
	}
	for _, arg := range told.Args {
		if arg.Is == trace.Cause {
			if name := givenBy(arg.Reason); name != "" {
				return name
			}
		}
	}
	return ""
}

func setBelief(rec *trace.Record, p *textNode, b []string) {
	switch {
	case b[1] != "":
		p.leader = rec.Node
	case b[2] != "":
		p.leader = parsed(b[2])
	default:
		p.leader = 0
	}
	p.term = max(p.term, parsed(b[4]))
	rec.LeaderChange = trace.Change(b[5])
}

// parsed returns the number that a pattern found, 0 for none.
func parsed(s string) uint64 {
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}
