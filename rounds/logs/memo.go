package logs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// memo fills in what text leaves out: terms, numbers, message ids, the
// algorithm.
type memo struct {
	nodes   map[uint64]*person
	algo    string
	office  bool           // somebody speaks of one, or of Raft's elections
	raft    bool           // somebody speaks of those
	last    time.Time      // the time of the last line
	waiting []trace.Record // until the algorithm shows
	// sent and received count the messages of each "from:KIND>to".
	sent, received map[string]int
}

// person is one node of the text.
type person struct {
	seq, term, leader uint64
	session           int
	last              time.Time
}

// maxWaiting bounds how many records wait for the first message of theirs that
// tells the algorithm.
const maxWaiting = 10_000

func newMemo() *memo {
	return &memo{nodes: map[uint64]*person{}, sent: map[string]int{}, received: map[string]int{}}
}

func (m *memo) person(id uint64) *person {
	p := m.nodes[id]
	if p == nil {
		p = &person{session: 1}
		m.nodes[id] = p
	}
	return p
}

// restart begins another life of the node.
func (m *memo) restart(id uint64) {
	p := m.person(id)
	if p.seq > 0 {
		p.session++
		p.seq, p.leader = 0, 0
	}
}

// timeOfDay is an instant on a day without a date, which is taken to be the first
// of 1970; past midnight, the next.
func (m *memo) timeOfDay(node uint64, clock string) time.Time {
	at, err := time.Parse("2006-01-02 15:04:05.000", "1970-01-01 "+clock)
	if err != nil {
		return time.Time{}
	}
	p := m.person(node)
	last := p.last
	if last.IsZero() {
		last = m.last // the nodes' lines are mixed, or one node's follow another's
	}
	const halfDay = 12 * time.Hour
	for at.Add(halfDay).Before(last) {
		at = at.Add(2 * halfDay)
	}
	p.last, m.last = at, at
	return at
}

// add hands the record over, or keeps it until the algorithm is known.
func (m *memo) add(d *draft, to Sink) {
	if d.event == "start" {
		m.restart(d.node)
	}
	rec := m.record(d)
	if m.algo == "" {
		m.algo = algorithmOf(rec)
	}
	m.waiting = append(m.waiting, rec)
	if m.algo != "" || len(m.waiting) >= maxWaiting {
		m.flush(to)
	}
}

func (m *memo) flush(to Sink) {
	for i := range m.waiting {
		rec := &m.waiting[i]
		rec.Algo = m.algo
		if rec.Guarantee == "best-effort" && (m.algo == "zookeeper" || m.algo == "consensus") {
			rec.Guarantee = "quorum"
		}
		to.AddText(rec)
	}
	m.waiting = nil
}

// algorithmOf tells the algorithm by its messages, "" when it does not show.
func algorithmOf(rec trace.Record) string {
	words := rec.Detail
	for _, s := range rec.Sent {
		words += " " + s
	}
	switch {
	case speaksOfRaft(words):
		return "raft"
	case strings.Contains(strings.Join(rec.Why, " "), "this server's turn"):
		return "chubby"
	case containsAny(words, "NEW_LEADER", "COMMIT", "WATCH", "EXISTS"):
		return "zookeeper"
	case containsAny(words, "PREPARE", "PROMISE", "ACCEPT", "CHOSEN", "ENQUIRY"):
		return "consensus"
	case strings.Contains(words, "ID self"), strings.Contains(words, " ID>"):
		return "broadcast"
	case strings.Contains(words, "ELECTION collected"), strings.Contains(words, "COORDINATOR round"):
		return "tokenring"
	case strings.Contains(words, "PROBE"), strings.Contains(words, "REPLY phase"):
		return "hs"
	case strings.Contains(words, "CANDIDATE round"), strings.Contains(words, "CANDIDATE>"):
		return "franklin"
	case strings.Contains(words, "HALT candidate"), strings.Contains(words, "HALT>"),
		strings.Contains(words, "LEADER leader"), strings.Contains(words, " LEADER>"),
		strings.Contains(words, "NOT_NORM"):
		return "stoller"
	case strings.Contains(words, "ARE_YOU_COORDINATOR"), strings.Contains(words, "INVITATION"),
		strings.Contains(words, "READY leader"), strings.Contains(words, " READY>"):
		return "invitation"
	case strings.Contains(words, "ELECTED"), strings.Contains(words, "ELECTION best"):
		return "ring"
	case strings.Contains(words, "COORDINATOR"), strings.Contains(words, "ELECTION candidate"):
		return "bully"
	}
	return ""
}

// speaksOfRaft reports whether there is a message that only Raft has.
func speaksOfRaft(words string) bool {
	return containsAny(words, "HEARTBEAT leader", "HEARTBEAT >")
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(s, word) })
}

// record is the draft with everything filled in.
func (m *memo) record(d *draft) trace.Record {
	if !m.raft && (speaksOfRaft(d.event) || slices.ContainsFunc(d.more, speaksOfRaft)) {
		m.raft, m.office = true, true
	}
	p := m.person(d.node)
	p.seq++
	rec := trace.Record{
		Level: d.level, Time: d.at, Node: d.node, Session: fmt.Sprintf("life %d", p.session),
		Seq: p.seq,
	}
	m.setEvent(&rec, d.event)
	was := *p
	for _, line := range d.more {
		m.setLine(&rec, p, line)
	}
	if p.term != was.term && rec.LeaderChange == "" && !m.office {
		p.leader = 0 // a term begins with nobody
	}
	rec.Guarantee = "best-effort"
	if m.office {
		rec.Guarantee = "lease"
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

// setEvent reads "receive OK from 3", "peers 1 2 3 (joined 3)", "campaign: x".
func (m *memo) setEvent(rec *trace.Record, what string) {
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

// number names the next message of a kind between two nodes.
func number(counts map[string]int, from uint64, kind string, to uint64) string {
	key := fmt.Sprintf("%d:%s.%d", from, kind, to)
	counts[key]++
	return fmt.Sprintf("%s.%d", key, counts[key])
}

func numbers(s string) (ids []uint64) {
	for word := range strings.FieldsSeq(s) {
		if id, err := strconv.ParseUint(word, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

var (
	burst  = pattern(`^([A-Z_]+) >((?: \d{1,20})+)$`)
	belief = pattern(
		`^= (?:(leads)|follows (\d{1,20})|(nobody) leads)(?:(?: in)? term (\d{1,20}))? \(([a-z-]+)\)$`)
	// inTerm are reasons that tell the term which the step is in.
	inTerm = pattern(
		`^term (\d{1,20}) is above \d+ -> adopt it$|` +
			` -> (?:call an election of|lead|take|ask the voters for) term (\d{1,20})$|` +
			`^\d+ asks for term (\d{1,20}) -> `)
	// inRaftTerm are those of Raft, whose heartbeats tell the term too.
	inRaftTerm = pattern(` in term (\d{1,20})$`)
)

// setLine reads one of the further lines: a reason, messages, a belief.
func (m *memo) setLine(rec *trace.Record, p *person, line string) {
	if b := burst().FindStringSubmatch(line); b != nil {
		for _, to := range numbers(b[2]) {
			id := number(m.sent, rec.Node, b[1], to)
			rec.Sent = append(rec.Sent, fmt.Sprintf("%s>%d#%s", b[1], to, id))
		}
		return
	}
	if b := belief().FindStringSubmatch(line); b != nil {
		setBelief(rec, p, b)
		return
	}
	if strings.HasPrefix(line, "split: ") {
		return // news, and no reason
	}
	rec.Why = append(rec.Why, line)
	m.office = m.office || strings.Contains(line, "the office")
	if t := inTerm().FindStringSubmatch(line); t != nil {
		p.term = max(p.term, parsed(t[1]), parsed(t[2]), parsed(t[3]))
	}
	if t := inRaftTerm().FindStringSubmatch(line); t != nil && m.raft {
		p.term = max(p.term, parsed(t[1]))
	}
}

func setBelief(rec *trace.Record, p *person, b []string) {
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

// parsed is the number that a pattern found, 0 for none.
func parsed(s string) uint64 {
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}
