package logs

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// pattern returns a function that returns a regular expression. The first call compiles it: every
// command contains this package, and a node never reads a log.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// note matches what a simulated run says of its cluster: "[  1.052] * 4 is dead".
var note = pattern(`\[ *(\d{1,9}\.\d{3})\] \* (?:(\d{1,20}) is dead|(start|crash) (\d{1,20}))\b`)

// stamp matches a time that docker or Kubernetes put before a line.
var stamp = pattern(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|[+-]\d\d:\d\d) `)

// escape matches the code of a colour on a terminal.
var escape = pattern("\x1b\\[[0-9;]*m")

// indent stands before all further lines of a record.
const indent = "            "

// maxOpen bounds the records that wait for further lines, and maxParts the lines of one
// record.
const maxOpen, maxParts = 1000, 10_000

// simBegin is the true time at which simulated runs begin.
var simBegin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// text reads records that are printed for people. Lines of several nodes may be mixed, if
// each line has the prefix of its node.
type text struct {
	open  map[string]*draft // by what stands before the line
	nodes map[string]uint64 // whose records have that before their lines, 0 if several nodes' have
	state *textState
	to    Sink
}

// draft is a record whose lines are coming in.
type draft struct {
	at    time.Time
	level string
	node  uint64
	event string
	more  []string
}

func newText(to Sink) text {
	return text{open: map[string]*draft{}, nodes: map[string]uint64{}, state: newTextState(), to: to}
}

// line takes one line. It returns true if the line is the first of a record.
func (t *text) line(line []byte) bool {
	if saysGoodbye(line) && t.goodbye(string(line)) || bytes.Contains(line, []byte(" is up")) && t.up(string(line)) {
		return false
	}
	if len(t.open) == 0 && !bytes.Contains(line, []byte("] * ")) && !bytes.Contains(line, []byte(" > ")) {
		return false
	}
	s := string(line)
	if strings.Contains(s, "\x1b") {
		s = escape().ReplaceAllString(s, "")
	}
	if h, ok := cutHead(s); ok {
		t.begin(h)
		return true
	}
	if strings.Contains(s, "] * ") {
		if m := note().FindStringSubmatch(s); m != nil {
			t.end()
			t.remark(m)
			return false
		}
	}
	t.goOn(s)
	return false
}

// begin opens a record.
func (t *text) begin(h head) {
	node, err := strconv.ParseUint(h.node, 10, 64)
	if err != nil {
		return
	}
	key := prefix(h.before)
	t.finish(key)
	if len(t.open) >= maxOpen {
		t.end()
	}
	d := &draft{node: node, event: h.event, level: "info"}
	if h.seconds != "" {
		d.at = simTime(h.seconds)
	} else {
		d.at = t.state.timeOfDay(node, h.clock)
		d.level = levels[h.level]
	}
	t.open[key] = d
	if was, known := t.nodes[key]; !known && len(t.nodes) < maxOpen {
		t.nodes[key] = node
	} else if was != node {
		t.nodes[key] = 0
	}
}

// goodbye reads the last line of a process: "15:04:05.000 INF the node resigned and left". It does not name the node,
// which is that of the records before it.
func (t *text) goodbye(s string) bool {
	s = escape().ReplaceAllString(s, "")
	for _, words := range lastWords {
		at := strings.Index(s, " "+words)
		if at < 0 {
			continue
		}
		clock, _, before, ok := cutClock(s[:at])
		node := t.nodes[prefix(before)]
		if !ok || node == 0 {
			continue
		}
		t.finish(prefix(before))
		t.to.Left(trace.Farewell{Node: node, Time: t.state.timeOfDay(node, clock), Message: words})
		return true
	}
	return false
}

// isUp matches the first line of a process.
var isUp = pattern(` node (\d{1,20}) is up\b(?:.* incarnation=([0-9a-f]+))?`)

// up reads the first line of a process, which names it. Not every process has a record of its start.
func (t *text) up(s string) bool {
	s = escape().ReplaceAllString(s, "")
	m := isUp().FindStringSubmatchIndex(s)
	if m == nil {
		return false
	}
	_, _, before, ok := cutClock(s[:m[0]])
	node, err := strconv.ParseUint(s[m[2]:m[3]], 10, 64)
	if !ok || err != nil {
		return false
	}
	t.finish(prefix(before))
	t.state.restart(node)
	if m[4] >= 0 {
		t.state.node(node).life = strings.Clone(s[m[4]:m[5]])
	}
	return true
}

// levels are the levels by their words on zerolog's console.
var levels = map[string]string{"DBG": "debug", "INF": "info", "WRN": "warn", "ERR": "error"}

func simTime(seconds string) time.Time {
	d, _ := time.ParseDuration(seconds + "s") // the pattern has checked it
	return simBegin.Add(d)
}

// prefix returns the text before a line without its time, which differs from line to line.
func prefix(s string) string {
	if strings.Contains(s, ":") {
		s = stamp().ReplaceAllString(s, "")
	}
	return strings.TrimRight(s, " ")
}

// goOn takes a further line of an open record.
func (t *text) goOn(s string) {
	at := strings.Index(s, indent)
	if at < 0 {
		return
	}
	d := t.open[prefix(s[:at])]
	if more := strings.TrimSpace(s[at:]); d != nil && len(d.more) < maxParts {
		d.more = append(d.more, strings.Clone(more))
	}
}

// remark reads a line in which a simulated run says that a node died, crashed or started.
func (t *text) remark(m []string) {
	if m[2] != "" {
		if node, err := strconv.ParseUint(m[2], 10, 64); err == nil {
			t.to.Death("", node, simTime(m[1]))
		}
		return
	}
	if node, err := strconv.ParseUint(m[4], 10, 64); err == nil {
		t.state.restart(node)
	}
}

// finish hands over the open record whose lines have the prefix key.
func (t *text) finish(key string) {
	d := t.open[key]
	if d == nil {
		return
	}
	delete(t.open, key)
	t.state.add(d, t.to)
}

// end hands over all open records.
func (t *text) end() {
	if len(t.open) == 0 {
		return // as after every line of JSON
	}
	for _, key := range slices.Sorted(maps.Keys(t.open)) {
		t.finish(key)
	}
}

// flush hands over everything.
func (t *text) flush() {
	t.end()
	t.state.flush(t.to)
}
