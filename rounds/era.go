package rounds

import (
	"math"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// Eras are the clusters that ran one after the other under one label, as far as there are several: one was made anew
// with nothing saved, and its terms began at 1 again. Nothing that is known of one era is true of another.
type Eras struct {
	of    map[process]int // from 1
	began map[groupKey][]time.Time
}

// process identifies a process of a group.
type process struct {
	group       groupKey
	node        uint64
	incarnation string
}

// existence is what of a process tells eras apart, by the clock of its node.
type existence struct {
	life        process
	seq         uint64 // of its first record
	started     bool   // that is the record of its start
	begun       uint64 // the term of that record's round
	from, until time.Time
	least, most uint64 // the lowest and the highest term that it began to lead; 0 for none
	seen        int    // how many nodes it believed alive at most
	text        bool
}

func (e *existence) note(rec *trace.Record) {
	if e.seq == 0 || rec.Seq < e.seq {
		e.seq, e.started, e.begun, e.from = rec.Seq, rec.Event == "start", rec.RoundTerm(), rec.Time
	}
	if rec.Time.After(e.until) {
		e.until = rec.Time
	}
	if rec.LeaderChange != "" && rec.Leader == rec.Node {
		term := rec.LeaderTerm()
		e.most = max(e.most, term)
		if e.least == 0 || term < e.least {
			e.least = term
		}
	}
	e.seen, e.text = max(e.seen, len(rec.Alive)), e.text || rec.FromText
}

// fresh reports whether nothing was saved when the process began. Where the record of its start is missing, it is
// enough that it had not seen a second term.
func (e *existence) fresh() bool { return e.begun == 0 || e.begun == 1 && !e.started }

// Eras returns nil unless a cluster was made anew. Otherwise the records are to be read again, into another Builder
// that knows the Eras: see Separate.
func (b *Builder) Eras() *Eras {
	eras := &Eras{map[process]int{}, map[groupKey][]time.Time{}}
	for key, g := range b.groups {
		if key.run == 0 && key.era == 0 {
			eras.find(key, g.existed)
		}
	}
	if len(eras.of) == 0 {
		return nil
	}
	return eras
}

// Separate makes the Builder tell eras apart. Call it before the first Add.
func (b *Builder) Separate(eras *Eras) { b.eras = eras }

// number returns the era of the record, 0 if the cluster has only one.
func (e *Eras) number(key groupKey, rec *trace.Record) int {
	if e == nil {
		return 0
	}
	return e.of[process{key, rec.Node, rec.Incarnation}]
}

// at returns the era of a time, by the clock of its node, 0 if the cluster has only one.
func (e *Eras) at(key groupKey, t time.Time) int {
	key.era = 0
	if e == nil || len(e.began[key]) == 0 {
		return 0
	}
	i, here := slices.BinarySearchFunc(e.began[key], t, time.Time.Compare)
	if here {
		i++
	}
	return i + 1
}

// replaced returns when the next era began, zero if there is none.
func (e *Eras) replaced(key groupKey) time.Time {
	era := key.era
	key.era = 0
	if e == nil || era == 0 || era > len(e.began[key]) {
		return time.Time{}
	}
	return e.began[key][era-1]
}

// find notes the eras of one group.
func (e *Eras) find(key groupKey, all []*existence) {
	if slices.ContainsFunc(all, func(p *existence) bool { return p.text || p.life.incarnation == "" }) {
		return // which process wrote a record is not known
	}
	all = slices.SortedFunc(slices.Values(all), func(p, q *existence) int { return p.from.Compare(q.from) })
	least := make([]uint64, len(all)+1) // the lowest term that one of them or of those after it began to lead
	least[len(all)] = math.MaxUint64
	for i, p := range slices.Backward(all) {
		if least[i] = least[i+1]; p.least > 0 {
			least[i] = min(least[i], p.least)
		}
	}
	before := newSofar()
	for i, p := range all {
		if p.from.After(before.until) && least[i] <= before.led && before.anew(all[i:]) {
			e.began[key] = append(e.began[key], p.from)
			before = newSofar()
		}
		before.add(p)
	}
	if len(e.began[key]) == 0 {
		return
	}
	for _, p := range all {
		e.of[p.life] = e.at(key, p.from)
	}
}

// sofar is what the processes of one era had come to when another process began.
type sofar struct {
	nodes map[uint64]bool
	all   int    // how many nodes there were, as far as they knew
	led   uint64 // the highest term that one of them led
	until time.Time
}

func newSofar() sofar { return sofar{nodes: map[uint64]bool{}} }

func (s *sofar) add(p *existence) {
	s.nodes[p.life.node] = true
	s.all, s.led = max(s.all, len(s.nodes), p.seen), max(s.led, p.most)
	if p.until.After(s.until) {
		s.until = p.until
	}
}

// anew reports whether another cluster begins with the processes after, of which the first began when all of those
// before had ended: it is of one of their nodes, most of these begin again, nothing is saved on any, and one of them
// leads a term that was led before.
func (s *sofar) anew(after []*existence) bool {
	if !s.nodes[after[0].life.node] {
		return false // it comes late: nodes may be silent
	}
	begun, again, there := map[uint64]bool{}, false, 0
	for _, p := range after {
		if !begun[p.life.node] {
			if !p.fresh() {
				return false
			}
			if s.nodes[p.life.node] {
				there++
			}
		}
		begun[p.life.node] = true
		again = again || p.least > 0 && p.least <= s.led
		if again && 2*there > s.all {
			return true
		}
	}
	return false
}
