package sim

import (
	"maps"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Truth is what really happened in a run, whatever the records of its nodes say. All times are true
// times, as those of the records in the run's trace. A zero time is one that the run did not reach.
type Truth struct {
	Processes   []Process   // in the order in which they started
	Leaderships []Reign     // in the order in which they began
	Votes       []Voted     // in order
	Answers     []Answered  // in order
	Pauses      []Paused    // in the order in which they began
	Cuts        []CutLink   // in the order in which they began
	Lies        []Deception // in the order in which they began
	LostDisks   []LostDisk  // in order
	// Receipts has each message that reached a process, with the times of its receipts, in order.
	Receipts map[Mail][]time.Time
	End      time.Time // of the run

	clocks []clock           // by node id, from 1
	reigns table[reign]      // by node id
	cuts   map[link]int      // the indexes of the cuts that go on
	lies   map[link]lieIndex // the lies that go on
}

// Process is one process of a node, named as in records.
type Process struct {
	Node        proto.NodeID
	Incarnation string
	From, Until time.Time
}

// Reign is the time for which one process led one term: until it believed in another leader or in
// nobody, its lease ended in true time, or it crashed, whichever came first.
type Reign struct {
	Node        proto.NodeID
	Incarnation string
	Term        proto.Term
	From, Until time.Time
	Ended       ReignEnd
}

// ReignEnd is what ended a Reign; empty if it lasts.
type ReignEnd string

// The ends of a Reign.
const (
	ByBelief ReignEnd = "belief"
	ByLease  ReignEnd = "lease"
	ByCrash  ReignEnd = "crash"
)

// Voted is a vote that a voter granted, at the moment at which it was saved.
type Voted struct {
	Voter            proto.NodeID
	VoterIncarnation string
	For              proto.NodeID
	ForIncarnation   string
	Term             proto.Term
	At               time.Time
}

// Answered is a voter's answer to the node Candidate: Yes if it gave its vote or renewed its promise, and not if it
// refused.
type Answered struct {
	Voter, Candidate proto.NodeID
	Yes              bool
	At               time.Time
}

// Paused is the time for which a process did not run.
type Paused struct {
	Node        proto.NodeID
	From, Until time.Time
}

// CutLink is the time for which no message was let through from one node to another.
type CutLink struct {
	Source, Target proto.NodeID
	From, Until    time.Time
}

// Deception is the time for which the failure detector of Observer was wrong about the node Target.
type Deception struct {
	Observer, Target proto.NodeID
	From, Until      time.Time
}

// LostDisk is the loss of all that a node had saved.
type LostDisk struct {
	Node proto.NodeID
	At   time.Time
}

// Mail names a message.
type Mail struct {
	From, To    proto.NodeID
	Seq         uint64
	Incarnation string // of the sender, as in its records
}

// reign is the present leadership of a node, the zero value if there is none.
type reign struct {
	place int           // in Leaderships, from 1
	until time.Duration // the end of its lease in true time; never without a lease
}

// lieIndex is the kind of a lie, and its index in Lies.
type lieIndex struct {
	lie   lie
	place int
}

// TrueTime returns the true time at which the clock of the node first showed the time shown.
func (t *Truth) TrueTime(node proto.NodeID, shown time.Time) time.Time {
	return beginning.Add(t.clocks[node-1].when(shown))
}

// begin makes the Truth empty. Like all methods that add to a Truth, it does nothing if t is nil.
func (t *Truth) begin() {
	if t != nil {
		*t = Truth{Receipts: map[Mail][]time.Time{}, cuts: map[link]int{}, lies: map[link]lieIndex{}}
	}
}

// end ends the run.
func (t *Truth) end(c *cluster) {
	if t == nil {
		return
	}
	t.End = beginning.Add(c.now)
	for _, n := range c.nodes {
		t.clocks = append(t.clocks, n.clock)
		if r := t.reigns.at(int(n.id)); r.until <= c.now {
			t.endReign(n.id, c.now, ByLease)
		}
	}
}

// start adds a process.
func (t *Truth) start(c *cluster, n *node) {
	if t != nil {
		t.Processes = append(t.Processes, Process{
			Node: n.id, Incarnation: n.life.incarnation.Short(), From: beginning.Add(c.now),
		})
	}
}

// crash ends the process of a node, its leadership and its pauses.
func (t *Truth) crash(c *cluster, n *node) {
	if t == nil {
		return
	}
	at := beginning.Add(c.now)
	t.endReign(n.id, c.now, ByCrash)
	for i := range t.Processes {
		if p := &t.Processes[i]; p.Node == n.id && p.Until.IsZero() {
			p.Until = at
		}
	}
	for i := range t.Pauses {
		if p := &t.Pauses[i]; p.Node == n.id && p.Until.After(at) {
			p.Until = at
		}
	}
}

func (t *Truth) loseDisk(c *cluster, n *node) {
	if t != nil {
		t.LostDisks = append(t.LostDisks, LostDisk{n.id, beginning.Add(c.now)})
	}
}

func (t *Truth) pause(c *cluster, n *node) {
	if t != nil {
		t.Pauses = append(t.Pauses, Paused{n.id, beginning.Add(c.now), beginning.Add(n.life.asleep)})
	}
}

// receive adds the receipt of a message.
func (t *Truth) receive(c *cluster, n *node, m proto.Message, by origin) {
	if t != nil {
		mail := Mail{m.From, n.id, m.Seq, by.incarnation.Short()}
		t.Receipts[mail] = append(t.Receipts[mail], beginning.Add(c.now))
	}
}

// step adds what a Step did, before the node takes over the Step's belief.
func (t *Truth) step(s *step) {
	if t == nil {
		return
	}
	t.lead(s)
	t.vote(s)
	for i, q := range s.said {
		if q.does(grants | denies) {
			t.Answers = append(t.Answers, Answered{s.node.id, s.out.Send[i].To, q.does(grants), beginning.Add(s.at)})
		}
	}
}

// lead adds the node's leadership if it begins in this Step, or ends it.
func (t *Truth) lead(s *step) {
	id, is := s.node.id, s.out.Leader
	if s.prev().Leadership() != is.Leadership() {
		t.endReign(id, s.at, ByBelief)
	}
	if !s.claims() {
		return
	}
	r := t.reigns.at(int(id))
	if r.place == 0 {
		t.Leaderships = append(t.Leaderships, Reign{
			Node: id, Incarnation: s.node.life.incarnation.Short(), Term: is.Term, From: beginning.Add(s.at),
		})
		r.place = len(t.Leaderships)
	}
	r.until = never
	if !is.Until.IsZero() {
		r.until = s.node.clock.when(is.Until)
	}
}

// endReign ends the leadership of a node, if it has one: at the time at, or earlier with its lease.
func (t *Truth) endReign(id proto.NodeID, at time.Duration, how ReignEnd) {
	r := t.reigns.at(int(id))
	if r.place == 0 {
		return
	}
	if r.until <= at {
		at, how = r.until, ByLease
	}
	over := &t.Leaderships[r.place-1]
	over.Until, over.Ended = beginning.Add(at), how
	*r = reign{}
}

// vote adds a vote that was saved in this Step. Only the voters of a lease vote.
func (t *Truth) vote(s *step) {
	v := s.node.disk.Vote
	if !s.cluster.algo.Leased || s.cluster.algo.Store || s.out.Save == nil || v.ID == 0 {
		return
	}
	vote := Voted{
		Voter: s.node.id, VoterIncarnation: s.node.life.incarnation.Short(),
		For: v.ID, ForIncarnation: v.Incarnation.Short(), Term: v.Term, At: beginning.Add(s.at),
	}
	again := slices.ContainsFunc(t.Votes, func(was Voted) bool {
		return was.Voter == vote.Voter && was.Term == vote.Term && was.ForIncarnation == vote.ForIncarnation
	})
	if !again {
		t.Votes = append(t.Votes, vote)
	}
}

// network adds the cuts that began since the last call, and ends those that are mended.
func (t *Truth) network(c *cluster) {
	if t == nil {
		return
	}
	at := beginning.Add(c.now)
	for l, i := range t.cuts {
		if c.network.open(l.from, l.to) {
			t.Cuts[i].Until = at
			delete(t.cuts, l)
		}
	}
	for _, l := range sortedLinks(c.network.cuts) {
		if _, known := t.cuts[l]; !known {
			t.cuts[l] = len(t.Cuts)
			t.Cuts = append(t.Cuts, CutLink{Source: l.from, Target: l.to, From: at})
		}
	}
}

// deceive adds the lies that began since the last call, and ends those that are over.
func (t *Truth) deceive(c *cluster) {
	if t == nil {
		return
	}
	at := beginning.Add(c.now)
	for l, was := range t.lies {
		if c.detector.lies[l] != was.lie {
			t.Lies[was.place].Until = at
			delete(t.lies, l)
		}
	}
	for _, l := range sortedLinks(c.detector.lies) {
		if _, known := t.lies[l]; !known {
			t.lies[l] = lieIndex{c.detector.lies[l], len(t.Lies)}
			t.Lies = append(t.Lies, Deception{Observer: l.from, Target: l.to, From: at})
		}
	}
}

// sortedLinks returns the keys of a map in a fixed order.
func sortedLinks[V any](of map[link]V) []link {
	return slices.SortedFunc(maps.Keys(of), func(a, b link) int {
		if a.from != b.from {
			return int(a.from) - int(b.from)
		}
		return int(a.to) - int(b.to)
	})
}
