package rounds_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
)

// trueRun is a simulated run of which all is known.
type trueRun struct {
	name    string
	seed    uint64
	leased  bool
	result  sim.Result
	truth   sim.Truth
	records []trace.Record   // of all levels, in the order and with the times of the run
	sent    map[uint64]sends // by their terms, by all of these
}

// simulateTruly makes a run. In every other one the failure detector is never wrong.
func simulateTruly(t *testing.T, e catalog.Entry, seed uint64) *trueRun {
	t.Helper()
	run := &trueRun{name: e.Name, seed: seed, leased: e.Leased}
	if e.Leased && !e.OwnLease {
		run.name += " with lease"
	}
	o := sim.Options{
		Algorithm: sim.Algorithm{
			Name: e.Name, Guarantee: e.Guarantee, Preempt: e.Preempt, New: e.New, Agreement: e.Agreement,
			Leased: e.Leased, OwnLease: e.OwnLease, Promise: e.Promise, Recovers: e.Recovers,
		},
		Seed: seed, TraceJSON: true, TraceAll: true, Truth: &run.truth,
	}
	if seed%2 == 1 {
		o.Detector = sim.Perfect
	}
	var log bytes.Buffer
	o.Trace = &log
	var err error
	if run.result, err = sim.Run(o); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(log.Bytes()) {
		if rec, err := trace.Parse(line); err == nil { // not a note about the cluster
			run.records = append(run.records, run.real(rec))
		}
	}
	return run
}

// real returns the record as a real node with a right clock writes it: with the label of its cluster, with
// the time of its own clock also for the end of a lease, and with the evidence of a real detector.
func (run *trueRun) real(rec trace.Record) trace.Record {
	rec.Cluster = "truth"
	if !rec.ValidUntil.IsZero() {
		rec.ValidUntil = run.truth.TrueTime(proto.NodeID(rec.Node), rec.ValidUntil)
	}
	var words []string
	for part := range strings.SplitSeq(rec.Evidence, ", ") {
		gone, isGone := strings.CutPrefix(part, "gone ")
		if !isGone {
			continue
		}
		for id := range strings.FieldsSeq(gone) {
			words = append(words, run.evidence(rec.Node, id, rec.Time))
		}
	}
	rec.Evidence = strings.Join(words, ", ")
	return rec
}

// evidence returns what a real detector writes when it loses a node. If it is in reach and no process runs there,
// the links were closed and dials are refused.
func (run *trueRun) evidence(observer uint64, id string, at time.Time) string {
	node, err := strconv.ParseUint(id, 10, 64)
	if err == nil && run.trouble(observer, node, at) == "dead" {
		return "link-closed " + id + ", dial-refused " + id
	}
	return "unreachable " + id
}

// trouble says why the observer may have held the node for gone at that time: the direct link was cut, its process
// was dead or paused, or the observer's detector was wrong. It returns "" if it had no reason.
func (run *trueRun) trouble(observer, node uint64, at time.Time) string {
	during := func(from, until time.Time) bool {
		return !from.After(at) && (until.IsZero() || !until.Before(at))
	}
	switch {
	case slices.ContainsFunc(run.truth.Cuts, func(c sim.CutLink) bool {
		there := uint64(c.Source) == observer && uint64(c.Target) == node
		back := uint64(c.Source) == node && uint64(c.Target) == observer
		return (there || back) && during(c.From, c.Until)
	}):
		return "cut off"
	case run.process(node, at) == nil, run.process(node, at) != run.process(node, at.Add(-1)): // or it starts just then
		return "dead"
	case slices.ContainsFunc(run.truth.Pauses, func(p sim.Paused) bool {
		return uint64(p.Node) == node && during(p.From, p.Until)
	}):
		return "paused"
	case slices.ContainsFunc(run.truth.Lies, func(l sim.Deception) bool {
		return uint64(l.Observer) == observer && uint64(l.Target) == node && during(l.From, l.Until)
	}):
		return "well, and the detector wrong"
	}
	return ""
}

// process returns the process that the node ran at that time; nil if there was none.
func (run *trueRun) process(node uint64, at time.Time) *sim.Process {
	for i, p := range run.truth.Processes {
		if uint64(p.Node) == node && !p.From.After(at) && (p.Until.IsZero() || p.Until.After(at)) {
			return &run.truth.Processes[i]
		}
	}
	return nil
}

// reading is what the inspector makes of the logs of a run.
type reading struct {
	variant
	run     *trueRun
	shown   []trace.Record               // the records of the logs, with true times
	byRef   map[rounds.Ref]*trace.Record // the same by their names
	last    map[string]*trace.Record     // the last record of each process in the logs, by incarnation
	shift   map[uint64]time.Duration     // how far each clock was ahead
	set     map[uint64]setting           // which clocks were set in the run
	group   *rounds.Group                // what the inspector says
	fix     map[uint64]rounds.Clock      // how far it says each clock was ahead
	sends   map[sim.Mail]*trace.Record   // the records that sent each message, with the receiver
	reign   map[reignKey]*sim.Reign      // the true leaderships
	terms   map[uint64][]*sim.Reign      // the same by term
	lives   map[string]*sim.Process      // the true processes, by incarnation
	clocks  map[stamp]proto.HLC          // the hybrid clock of each record in the logs
	refused map[uint64][]time.Time       // when processes that were to be a node refused to run, by the logs
	stood   time.Time                    // when the logs end, zero for the end of the run
	wrong   *errata
}

type reignKey struct {
	node, term  uint64
	incarnation string
}

// read gives the logs to the inspector.
func (run *trueRun) read(t *testing.T, v variant, d *rand.Rand) *reading {
	t.Helper()
	r := &reading{
		variant: v, run: run, byRef: map[rounds.Ref]*trace.Record{}, last: map[string]*trace.Record{},
		shift: map[uint64]time.Duration{}, set: map[uint64]setting{}, fix: map[uint64]rounds.Clock{},
		sends: map[sim.Mail]*trace.Record{},
		reign: map[reignKey]*sim.Reign{}, terms: map[uint64][]*sim.Reign{}, lives: map[string]*sim.Process{},
		refused: map[uint64][]time.Time{},
	}
	files := r.files(t, d)
	b := rounds.NewBuilder()
	for _, file := range files {
		if _, err := logs.Read(bytes.NewReader(file), b); err != nil {
			t.Fatal(err)
		}
	}
	h := b.History()
	r.group = &rounds.Group{}
	if len(h.Groups) > 0 {
		r.group = h.Groups[0]
	}
	if len(h.Groups) > 1 || slices.ContainsFunc(h.Notes, r.isFalse) {
		t.Fatalf("%s, seed %d, %s: %d groups, %q", run.name, run.seed, v.name, len(h.Groups), h.Notes)
	}
	for _, c := range r.group.Clocks {
		r.fix[c.Node] = c
	}
	r.index()
	return r
}

// isFalse reports whether a note is not true. Of one cluster with one algorithm there is one true note: "No record
// shows that nodes 1 and 2 and nodes 3 and 4 ever heard of each other". A run may begin with a cut network.
func (r *reading) isFalse(note string) bool {
	_, text, _ := strings.Cut(note, "shows that ")
	text, _, unmet := strings.Cut(text, " ever heard of each other")
	part := map[uint64]int{} // of each node; 0 if the note names it not
	for i, list := range strings.Split(text, "nodes ") {
		for id := range strings.FieldsSeq(strings.ReplaceAll(list, ",", " ")) {
			if n, err := strconv.ParseUint(id, 10, 64); err == nil {
				part[n] = i
			}
		}
	}
	return !unmet || slices.ContainsFunc(r.shown, func(rec trace.Record) bool {
		return slices.ContainsFunc(append(slices.Clip(rec.Alive), rec.From), func(id uint64) bool {
			return part[id]*part[rec.Node] != 0 && part[id] != part[rec.Node]
		})
	})
}

// index makes the truth quick to look up.
func (r *reading) index() {
	truth := &r.run.truth
	for i := range truth.Leaderships {
		one := &truth.Leaderships[i]
		r.reign[reignKey{uint64(one.Node), uint64(one.Term), one.Incarnation}] = one
		r.terms[uint64(one.Term)] = append(r.terms[uint64(one.Term)], one)
	}
	for i := range truth.Processes {
		r.lives[truth.Processes[i].Incarnation] = &truth.Processes[i]
	}
	for i := range r.shown {
		rec := &r.shown[i]
		r.byRef[rounds.Ref{Node: rec.Node, Incarnation: rec.Incarnation, Seq: rec.Seq}] = rec
		r.last[rec.Incarnation] = rec
		for _, sent := range rec.Sent {
			if _, to, id, err := trace.SentID(sent); err == nil {
				r.sends[mail(rec.Node, uint64(to), id, rec.Incarnation)] = rec
			}
		}
	}
}

// mail names a message with the id "from:seq".
func mail(from, to uint64, id, incarnation string) sim.Mail {
	m := sim.Mail{From: proto.NodeID(from), To: proto.NodeID(to), Incarnation: incarnation}
	if _, err := fmt.Sscanf(id[strings.IndexByte(id, ':')+1:], "%d", &m.Seq); err != nil {
		m.Seq = 0
	}
	return m
}

// files returns the log of each node. It sets shown to the records that are in them.
func (r *reading) files(t *testing.T, d *rand.Rand) [][]byte {
	t.Helper()
	nodes := r.run.result.Nodes
	spoilt := uint64(1 + d.IntN(nodes))
	for id := range uint64(nodes) {
		if r.shifted() {
			r.shift[id+1] = time.Duration(d.Int64N(int64(2*r.off))) - r.off
		}
	}
	if r.variant.set > 0 {
		r.setClocks(d)
	}
	r.clocks = r.restamp()
	files, lines := make([]bytes.Buffer, nodes), make([][]trace.Record, nodes)
	seq := map[string]uint64{}
	if n := len(r.run.records); r.mid && n > 0 {
		first, last := r.run.records[0].Time, r.run.records[n-1].Time
		r.stood = first.Add(time.Duration(d.Int64N(int64(last.Sub(first)) + 1)))
	}
	began, terse := r.began(d), r.terse(d)
	for _, rec := range r.run.records {
		if r.mid && rec.Time.After(r.stood) {
			continue
		}
		if terse[rec.Node] && rec.Level == "debug" {
			continue
		}
		seq[rec.Incarnation]++
		rec.Seq = seq[rec.Incarnation]
		if rec.Time.Before(began) {
			continue
		}
		if r.run.former() {
			rec.Sender = ""
		}
		lines[rec.Node-1] = append(lines[rec.Node-1], rec)
	}
	for i := range lines {
		if r.lossy {
			lines[i] = slices.DeleteFunc(lines[i], func(trace.Record) bool { return d.IntN(10) == 0 })
		} else if uint64(i+1) == spoilt && len(lines[i]) > 0 {
			lines[i] = r.spoil(lines[i], d)
		}
		up := time.Time{}
		if uint64(i+1) == spoilt && (r.missing || r.tail || r.head || r.gap) { // the line may be missing as well
			up = r.run.truth.End
		}
		for n, rec := range lines[i] {
			if n > 0 && lines[i][n-1].Incarnation != rec.Incarnation {
				r.refuse(&files[i], &lines[i][n-1], rec.Time)
			}
			until := rec.Time
			if n > 0 && lines[i][n-1].Incarnation == rec.Incarnation { // the next process says so after that
				until = until.Add(-1)
			}
			r.greet(&files[i], uint64(i+1), &up, began, until)
			r.write(t, &files[i], rec)
		}
		if n := len(lines[i]); n > 0 && !r.tail {
			r.refuse(&files[i], &lines[i][n-1], r.logsEnd())
			r.greet(&files[i], uint64(i+1), &up, began, r.logsEnd())
		}
	}
	r.shown = merge(slices.Clone(lines))
	if at := len(files[spoilt-1].Bytes()); r.tail && at > 0 { // the last line is cut in its middle
		files[spoilt-1].Truncate(at - min(at, 20))
		r.forget(lines[spoilt-1])
	}
	out := make([][]byte, nodes)
	for i := range files {
		out[i] = files[i].Bytes()
	}
	return out
}

// logsEnd returns when the logs end that are whole.
func (r *reading) logsEnd() time.Time {
	if r.mid {
		return r.stood
	}
	return r.run.records[len(r.run.records)-1].Time
}

// greet writes for every process of every other node that began after the time up, and no later than until, that it is
// up: a node says so at every level. It sets up to until. A log that is spoilt may have lost it.
func (r *reading) greet(to *bytes.Buffer, node uint64, up *time.Time, began, until time.Time) {
	if (r.run.seed+node)%2 == 0 || up.After(until) {
		return
	}
	for _, p := range r.run.truth.Processes {
		if uint64(p.Node) != node || !p.From.After(*up) || p.From.After(until) || p.From.Before(began) {
			continue
		}
		at := r.wall(&trace.Record{Node: node, Incarnation: p.Incarnation, Time: p.From})
		if p.Incarnation == r.set[node].incarnation { // its clock was set when it was up
			at = p.From.Add(r.shift[node])
		}
		fmt.Fprintf(to, `{"level":"info","cluster":"truth","node":%d,"incarnation":%q,"algorithm":%q,"time":%q,`+
			`"message":"node %d is up"}`+"\n", node, p.Incarnation, strings.TrimSuffix(r.run.name, " with lease"),
			at.Format(time.RFC3339Nano), node)
	}
	*up = until
}

// refuse writes for every other process that ended before the time next that one was to be its node then, and refused
// to run. last is its last record.
func (r *reading) refuse(to *bytes.Buffer, last *trace.Record, next time.Time) {
	p := r.run.process(last.Node, last.Time)
	if p == nil || p.Until.IsZero() || (r.run.seed+last.Node)%2 == 0 {
		return
	}
	at := p.Until.Add(next.Sub(p.Until) / 2)
	if !p.Until.Before(at) || !at.Before(next) || r.run.process(last.Node, at) != nil {
		return
	}
	r.refused[last.Node] = append(r.refused[last.Node], at)
	fmt.Fprintf(to, `{"level":"error","cluster":"truth","node":%d,"error":"--voters","exit_code":4,"reason":"failed",`+
		`"time":%q,"message":"the node ended"}`+"\n", last.Node,
		r.wall(&trace.Record{Node: last.Node, Time: at}).Format(time.RFC3339Nano))
}

// began returns when the logs begin, zero for the beginning of the run.
func (r *reading) began(d *rand.Rand) time.Time {
	if !r.since || len(r.run.records) == 0 {
		return time.Time{}
	}
	first, last := r.run.records[0].Time, r.run.records[len(r.run.records)-1].Time
	if r.mid {
		last = r.stood
	}
	return first.Add(time.Duration(d.Int64N(int64(last.Sub(first)) + 1)))
}

// terse returns the nodes that write only records of level info and above.
func (r *reading) terse(d *rand.Rand) map[uint64]bool {
	nodes := map[uint64]bool{}
	for id := range uint64(r.run.result.Nodes) {
		nodes[id+1] = r.info && (!r.some || d.IntN(2) == 0)
	}
	return nodes
}

// spoil returns the records of a log that are left.
func (r *reading) spoil(all []trace.Record, d *rand.Rand) []trace.Record {
	switch at := d.IntN(len(all)); {
	case r.missing:
		return nil
	case r.tail:
		return all[:at+1]
	case r.head:
		return all[at:]
	case r.gap:
		return slices.Delete(all, at, at+d.IntN(len(all)-at))
	}
	return all
}

// forget removes the last of these records from those that are shown.
func (r *reading) forget(lines []trace.Record) {
	last := lines[len(lines)-1]
	for i := range r.shown {
		if r.shown[i].Incarnation == last.Incarnation && r.shown[i].Seq == last.Seq {
			r.shown = append(r.shown[:i:i], r.shown[i+1:]...)
			return
		}
	}
}

// write writes a record as the node's own clock has it.
func (r *reading) write(t *testing.T, to *bytes.Buffer, rec trace.Record) {
	t.Helper()
	shift := r.wall(&rec).Sub(rec.Time)
	if s := r.set[rec.Node]; rec.Incarnation == s.incarnation && !rec.Time.Before(s.at) {
		rec.ClockSet = s.by
	}
	rec.Time, rec.HLC = rec.Time.Add(shift), r.clocks[stamp{rec.Node, rec.Incarnation, rec.HLC}].String()
	if !rec.ValidUntil.IsZero() {
		rec.ValidUntil = rec.ValidUntil.Add(shift)
	}
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	if err := e.Encode(rec); err != nil {
		t.Fatal(err)
	}
}

// setting is by how much the clock of a node was set, when, and which process the node ran then. Those that it ran
// before may have ended in the same instant.
type setting struct {
	at          time.Time
	by          time.Duration
	incarnation string
	before      map[string]bool
}

// setClocks sets the clocks of some nodes, each just before a record of level info.
func (r *reading) setClocks(d *rand.Rand) {
	for id := range uint64(r.run.result.Nodes) {
		var telling []*trace.Record
		for i := range r.run.records {
			if rec := &r.run.records[i]; rec.Node == id+1 && rec.Level != "debug" {
				telling = append(telling, rec)
			}
		}
		if len(telling) == 0 || d.IntN(2) == 0 {
			continue
		}
		at, before := telling[d.IntN(len(telling))], map[string]bool{}
		for _, rec := range r.run.records {
			if rec.Node == at.Node && rec.Incarnation == at.Incarnation {
				break
			}
			before[rec.Incarnation] = true
		}
		by := time.Duration(d.Int64N(int64(2*r.variant.set))) - r.variant.set
		r.set[id+1] = setting{at.Time, by, at.Incarnation, before}
	}
}

// wall returns what the node's own clock showed when it wrote the record.
func (r *reading) wall(rec *trace.Record) time.Time {
	at := rec.Time.Add(r.shift[rec.Node])
	if s, set := r.set[rec.Node]; set && !rec.Time.Before(s.at) && !s.before[rec.Incarnation] {
		return at.Add(s.by)
	}
	return at
}

// stamp names a record by its process and by what the hybrid clock showed in the run.
type stamp struct {
	node             uint64
	incarnation, hlc string
}

// receipt names the record of a receipt.
type receipt struct {
	node uint64
	id   string
	at   int64
}

// restamp returns what the hybrid clocks of the nodes show if their wall clocks are off.
func (r *reading) restamp() map[stamp]proto.HLC {
	sent := map[receipt]string{}
	for m, times := range r.run.truth.Receipts {
		for _, at := range times {
			sent[receipt{uint64(m.To), fmt.Sprintf("%d:%d", m.From, m.Seq), at.UnixNano()}] = m.Incarnation
		}
	}
	shows, posts, clocks := map[stamp]proto.HLC{}, map[sim.Mail]proto.HLC{}, map[string]proto.HLC{}
	for i := range r.run.records {
		rec := &r.run.records[i]
		wall, clock := r.wall(rec), clocks[rec.Incarnation]
		if rec.MsgID == "" {
			clock = clock.Tick(wall)
		} else {
			by := sent[receipt{rec.Node, rec.MsgID, rec.Time.UnixNano()}]
			clock = clock.Merge(posts[mail(rec.From, rec.Node, rec.MsgID, by)], wall)
		}
		clocks[rec.Incarnation] = clock
		shows[stamp{rec.Node, rec.Incarnation, rec.HLC}] = clock
		for _, sent := range rec.Sent {
			if _, to, id, err := trace.SentID(sent); err == nil {
				posts[mail(rec.Node, uint64(to), id, rec.Incarnation)] = clock
			}
		}
	}
	return shows
}

// former reports whether the logs of the run are as those of the release before, in which no receipt names the process
// that sent the message.
func (run *trueRun) former() bool { return run.seed%8 == 2 || run.seed%8 == 5 }

// merge returns all records in the order of true time.
func merge(lines [][]trace.Record) (all []trace.Record) {
	for {
		first := -1
		for i := range lines {
			if len(lines[i]) > 0 && (first < 0 || lines[i][0].Time.Before(lines[first][0].Time)) {
				first = i
			}
		}
		if first < 0 {
			return all
		}
		all, lines[first] = append(all, lines[first][0]), lines[first][1:]
	}
}

// ahead is how far the times that the inspector gives for a node's records are ahead of true time.
func (r *reading) ahead(node uint64) time.Duration { return r.shift[node] - r.fix[node].Offset }

// trueTime returns the true time that the inspector means with a time of a node's record.
func (r *reading) trueTime(node uint64, at time.Time) time.Time { return at.Add(-r.ahead(node)) }

// blur is how far corrected times of different nodes may be apart because of their clocks.
func (r *reading) blur() time.Duration {
	low, high := time.Duration(0), time.Duration(0)
	for i := range r.run.result.Nodes {
		by := r.ahead(uint64(i + 1))
		if i == 0 {
			low, high = by, by
		}
		low, high = min(low, by), max(high, by)
	}
	return high - low
}
