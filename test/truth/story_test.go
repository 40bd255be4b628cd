//go:build realtruth

package truth_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// storyFile is the name of the file that keeps a story.
const storyFile = "story.json"

// story is what truly happened in a run, by the clock of this machine.
type story struct {
	Plan      plan        `json:"plan"`
	Acts      []act       `json:"acts"`
	Processes []*process  `json:"processes"` // in the order of their beginnings
	Sightings []*sighting `json:"sightings"`
	Stalls    []span      `json:"stalls"` // when this machine had no processor for the test itself
	Stop      time.Time   `json:"stop"`   // when all nodes were told to stop
}

// act is what was done to a node, by a signal or by a request.
type act struct {
	At    time.Time `json:"at"`   // just before
	Done  time.Time `json:"done"` // when its effect was seen
	What  string    `json:"what"` // kill, stop, continue, start, terminate, transfer or resign
	Node  uint64    `json:"node"`
	To    uint64    `json:"to,omitempty"`
	Error string    `json:"error,omitempty"` // why the node refused
}

// process is one process of a node.
type process struct {
	Node        uint64    `json:"node"`
	Incarnation string    `json:"incarnation"`
	From        time.Time `json:"from"`
	Until       time.Time `json:"until"` // just before the signal that ended it
	Gone        time.Time `json:"gone"`  // when it had ended
	Killed      bool      `json:"killed"`
	Preempt     bool      `json:"preempt"`
	Pauses      []span    `json:"pauses,omitempty"`

	up time.Time // when it said that it runs; zero if it ended before
}

// span is a time. Until is zero if it did not end.
type span struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
}

// sighting is an answer of a node about the leader that it gave many times in a row. Each of First and Last is the
// time from a question to its answer.
type sighting struct {
	Node   uint64 `json:"node"`
	Leads  bool   `json:"leads"` // the node itself
	Leader uint64 `json:"leader"`
	Term   uint64 `json:"term"`
	First  span   `json:"first"`
	Last   span   `json:"last"`
}

func (s *story) save(t *testing.T, file string) {
	t.Helper()
	text, err := json.MarshalIndent(s, "", " ")
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func loadStory(t *testing.T, file string) *story {
	t.Helper()
	var s story
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

var greeting = regexp.MustCompile(`"incarnation":"([^"]+)".*"time":"([^"]+)","message":"node \d+ is up`)

// readGreetings notes when each process said that it runs, and the incarnation of one that wrote no records. One that
// was killed before that stays without.
func (s *story) readGreetings(t *testing.T, dir string) {
	t.Helper()
	for node := range uint64(s.Plan.Nodes) {
		for i, p := range s.processesOf(node + 1) {
			part := greeting.FindSubmatch(logOfLife(t, dir, node+1, i+1))
			if part == nil {
				continue
			}
			up, err := time.Parse(time.RFC3339Nano, string(part[2]))
			if err != nil {
				t.Fatal(err)
			}
			p.up, p.Incarnation = up, string(part[1])
		}
	}
}

// acts lists what was done.
func (s *story) acts(indent string) string {
	var out strings.Builder
	for _, a := range s.Acts {
		fmt.Fprintf(&out, "%s%s %s %d", indent, clock(a.At), a.What, a.Node)
		if a.To != 0 {
			fmt.Fprintf(&out, " to %d", a.To)
		}
		if a.Error != "" {
			fmt.Fprintf(&out, ": %s", a.Error)
		}
		fmt.Fprintln(&out)
	}
	fmt.Fprintf(&out, "%s%s stop all\n", indent, clock(s.Stop))
	for _, stall := range s.Stalls {
		fmt.Fprintf(&out, "%s%s this machine stalled for %v\n", indent, clock(stall.From), stall.length())
	}
	return out.String()
}

// clock writes a time of day as the inspector does.
func clock(at time.Time) string { return at.UTC().Format("15:04:05.000") }

// has reports whether a time is in the span.
func (s span) has(at time.Time) bool {
	return !at.Before(s.From) && (s.Until.IsZero() || !at.After(s.Until))
}

// meets returns for how long two spans have the same time.
func (s span) meets(other span) time.Duration {
	from, until := s.From, s.Until
	if other.From.After(from) {
		from = other.From
	}
	if until.IsZero() || !other.Until.IsZero() && other.Until.Before(until) {
		until = other.Until
	}
	if until.IsZero() {
		return time.Hour
	}
	return until.Sub(from)
}

func (s span) length() time.Duration { return s.Until.Sub(s.From) }

// grow returns the span with more time before and after it.
func (s span) grow(before, after time.Duration) span {
	s.From = s.From.Add(-before)
	if !s.Until.IsZero() {
		s.Until = s.Until.Add(after)
	}
	return s
}

// process returns the process of an incarnation; nil if there was none, or if that is not known.
func (s *story) process(incarnation string) *process {
	i := slices.IndexFunc(s.Processes, func(p *process) bool { return p.Incarnation == incarnation })
	if i < 0 || incarnation == "" {
		return nil
	}
	return s.Processes[i]
}

// processesOf returns the processes of a node, in order.
func (s *story) processesOf(node uint64) (own []*process) {
	for _, p := range s.Processes {
		if p.Node == node {
			own = append(own, p)
		}
	}
	return own
}

// next returns the process that the node ran after p; nil if there was none.
func (s *story) next(p *process) *process {
	own := s.processesOf(p.Node)
	if i := slices.Index(own, p); i+1 < len(own) {
		return own[i+1]
	}
	return nil
}

// dead returns when no process of the node ran, or none that was not told to stop.
func (s *story) dead(node uint64) (list []span) {
	var began time.Time
	for _, p := range s.processesOf(node) {
		list = append(list, span{began, p.From})
		if began = p.Until; began.IsZero() {
			return list
		}
	}
	return append(list, span{From: began})
}

// absent returns when no process of the node ran, or each that ran was stopped. A process that was told to end runs
// until it has ended.
func (s *story) absent(node uint64) (list []span) {
	var began time.Time
	for _, p := range s.processesOf(node) {
		list = append(append(list, span{began, p.From}), p.Pauses...)
		if began = p.Gone; began.IsZero() {
			return list
		}
	}
	return append(list, span{From: began})
}

// paused returns when processes of the node were stopped.
func (s *story) paused(node uint64) (list []span) {
	for _, p := range s.processesOf(node) {
		list = append(list, p.Pauses...)
	}
	return list
}

// out returns for how long at most the node was dead or stopped without a break, within a time.
func (s *story) out(node uint64, within span) (longest time.Duration) {
	for _, down := range slices.Concat(s.dead(node), s.paused(node)) {
		longest = max(longest, down.meets(within))
	}
	return longest
}

// touched reports whether the node was dead or stopped at some time within the given one.
func (s *story) touched(node uint64, within span) bool {
	return slices.ContainsFunc(slices.Concat(s.dead(node), s.paused(node)), func(down span) bool {
		return down.meets(within) >= 0
	})
}

// isDead reports whether the node was dead at that time, or its process had not started yet.
func (s *story) isDead(node uint64, at time.Time) bool {
	starting := func(p *process) bool {
		up := p.up
		if up.IsZero() {
			up = p.Gone
		}
		return span{p.From, up}.has(at)
	}
	return slices.ContainsFunc(s.dead(node), func(down span) bool { return down.has(at) }) ||
		slices.ContainsFunc(s.processesOf(node), starting)
}

// wasDead reports whether the node was dead at some time within the given one.
func (s *story) wasDead(node uint64, within span) bool {
	return slices.ContainsFunc(s.dead(node), func(down span) bool { return down.meets(within) >= 0 })
}

// acted returns whether one of these things was done to the node within that time. Without things it is anything,
// and node 0 is any node.
func (s *story) acted(node uint64, within span, things ...string) bool {
	return slices.ContainsFunc(s.Acts, func(a act) bool {
		return (node == 0 || a.Node == node) && (len(things) == 0 || slices.Contains(things, a.What)) &&
			span{a.At, a.Done}.meets(within) >= 0
	})
}

// stalled reports whether the machine stalled within that time, or had no processor for one of the nodes.
func (s *story) stalled(within span) bool {
	meets := func(stall span) bool { return stall.meets(within) >= 0 }
	if slices.ContainsFunc(s.Stalls, meets) {
		return true
	}
	for node := range uint64(s.Plan.Nodes) {
		if slices.ContainsFunc(s.hung(node+1), meets) {
			return true
		}
	}
	return false
}

// hung returns when the node answered no question in time for so long that others may have missed it, although it ran,
// and when a process of it came up that late: it had heard of no leader since.
func (s *story) hung(node uint64) (list []span) {
	for _, p := range s.processesOf(node) {
		if p.up.Sub(p.From) > time.Second {
			list = append(list, span{p.From, p.up.Add(late)})
		}
	}
	var last *sighting
	for _, one := range s.Sightings {
		if one.Node != node {
			continue
		}
		if last != nil {
			quiet := span{last.Last.Until, one.First.From}
			if quiet.length() > prompt+late && !s.touched(node, quiet) {
				list = append(list, quiet)
			}
		}
		last = one
	}
	return list
}

// healthy reports whether there were no other acts than an operator's, and ends of processes, and each process came up
// at once.
func (s *story) healthy() bool {
	lateUp := func(p *process) bool { return p.up.Sub(p.From) > time.Second }
	return !s.acted(0, span{}, "stop") && len(s.Stalls) == 0 && !slices.ContainsFunc(s.Processes, lateUp)
}

// lostQuorums returns when a majority of the voters was dead or stopped, between the first election and the end.
func (s *story) lostQuorums() (lost []span) {
	if !s.Plan.Voters || len(s.Acts) == 0 {
		return nil
	}
	times := []time.Time{s.Acts[0].At, s.Stop}
	for _, a := range s.Acts {
		times = append(times, a.At, a.Done)
	}
	for _, p := range s.Processes {
		times = append(times, p.Gone)
	}
	slices.SortFunc(times, time.Time.Compare)
	for i, at := range times[1:] {
		piece := span{times[i], at}
		if !at.After(times[i]) || at.After(s.Stop) || piece.From.Before(s.Acts[0].At) {
			continue
		}
		down := 0
		for node := range uint64(s.Plan.Nodes) {
			if slices.ContainsFunc(s.absent(node+1), func(a span) bool { return a.meets(piece) >= piece.length() }) {
				down++
			}
		}
		switch last := len(lost) - 1; {
		case 2*(s.Plan.Nodes-down) > s.Plan.Nodes:
		case last >= 0 && !lost[last].Until.Before(piece.From):
			lost[last].Until = piece.Until
		default:
			lost = append(lost, piece)
		}
	}
	return lost
}

// vacancies returns when no node said that it leads, between the first and the last one that did. Without voters, a
// leader that was stopped and then leads on led all the time, by its own word.
func (s *story) vacancies() (list []span) {
	var led []*sighting
	for _, one := range s.Sightings {
		if one.Leads {
			led = append(led, one)
		}
	}
	slices.SortFunc(led, func(a, b *sighting) int { return a.First.From.Compare(b.First.From) })
	var last *sighting
	for _, one := range led {
		same := last != nil && !s.Plan.Voters && one.Node == last.Node && one.Term == last.Term
		if last != nil && one.First.From.After(last.Last.Until) && !same {
			list = append(list, span{last.Last.Until, one.First.From})
		}
		if last == nil || one.Last.Until.After(last.Last.Until) {
			last = one
		}
	}
	return list
}
