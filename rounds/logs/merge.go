package logs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// Batch is log files that are read together. One goroutine may use it.
type Batch struct {
	Paths []string
	// wrote has the nodes with records in each file, once it was read. If split is true, a file is read once for each.
	wrote map[string][]uint64
	split bool
}

// Read hands the records of the files to the Sink to, in the order of their terms, and of the hybrid clock within a
// term: what belongs together comes together, although each file is in an order of its own. The records of one file
// stay in their order; after Split, those of one node in one file. Read decompresses gzip and bzip2. It calls unread
// with the error of each file that it cannot read, and goes on with the others.
func (b *Batch) Read(to Sink, unread func(error)) (sum Stats) {
	var open []*source
	for _, path := range b.Paths {
		nodes := []uint64{0}
		if wrote := b.wrote[path]; b.split && len(wrote) > 0 {
			nodes = wrote
		}
		for _, node := range nodes {
			s, err := openSource(path, node)
			if err != nil {
				unread(err)
				break
			}
			defer s.close()
			open = append(open, s)
		}
	}
	for _, s := range open {
		s.fill()
	}
	// The records of a simulated run have no label, and all runs begin at the same time: they are not merged.
	for _, s := range open {
		for s.simulated() {
			s.deliver(to)
		}
	}
	merge(open, to)
	for _, s := range open {
		s.deliverLines(to)
	}
	b.wrote = map[string][]uint64{}
	for _, s := range open {
		if len(b.wrote[s.path]) == 0 { // the others read the same lines
			s.reader.Stats.Of(s.path)
			sum.Add(s.reader.Stats)
			if s.err != nil {
				unread(s.err)
			}
		}
		b.wrote[s.path] = append(b.wrote[s.path], slices.Sorted(maps.Keys(s.tops))...)
	}
	return sum
}

// Split makes the next Read read each file once for each node, so that records come in order although a file has the
// logs of one node behind those of another. It returns false if no file has the logs of several nodes.
func (b *Batch) Split() bool {
	for _, nodes := range b.wrote {
		b.split = b.split || len(nodes) > 1
	}
	return b.split
}

// merge delivers what the sources have, the lowest place first.
func merge(open []*source, to Sink) {
	for open = slices.Clone(open); ; {
		open = slices.DeleteFunc(open, func(s *source) bool { return len(s.ready) == 0 })
		if len(open) == 0 {
			return
		}
		var first, second *source
		for _, s := range open {
			switch {
			case s.waits(open):
			case first == nil || s.place.compare(first.place) < 0:
				first, second = s, first
			case second == nil || s.place.compare(second.place) < 0:
				second = s
			}
		}
		for len(first.ready) > 0 && (second == nil || first.place.compare(second.place) <= 0) {
			if first.deliver(to); first.begins != (nodeLine{}) {
				break
			}
		}
	}
}

// waits reports whether the next item of the source begins a process, and another source goes on with an earlier item
// and has records of the same node: what its former process wrote comes first, in whatever terms that was. The source
// with the earliest item of all does not wait.
func (s *source) waits(open []*source) bool {
	holds := func(other *source) bool {
		wrote, ok := other.tops[s.begins.node]
		return ok && wrote.cluster == s.begins.cluster && len(other.ready) > 0 && other.at.Before(s.at)
	}
	switch {
	case s.begins == (nodeLine{}):
		return false
	case s.behind != nil && holds(s.behind):
		return true
	}
	i := slices.IndexFunc(open, holds)
	if i < 0 {
		s.begins, s.behind = nodeLine{}, nil
		return false
	}
	s.behind = open[i]
	return true
}

// source is one file of a merge. It is the Sink of its own reader.
type source struct {
	path   string
	node   uint64 // whose records it passes on, 0 for all
	file   *os.File
	reader *Reader
	ended  bool
	err    error
	ready  []item    // was read and not delivered
	next   int       // the index in ready of the next one
	place  place     // of the next one
	at     time.Time // of the next one, by the clock of who wrote it
	begins nodeLine  // the node whose process begins with the next one; zero for none
	behind *source   // on which that waits; nil for none
	tops   map[uint64]top
	lines  map[nodeLine]time.Time // the last of each node that is no record
}

// item is a record, the note of a death, or that a process said good-bye or that it runs.
type item struct {
	rec     trace.Record
	death   bool
	left    bool
	cluster string
	node    uint64
	at      time.Time

	farewell trace.Farewell
	up       *trace.Greeting // nil for all others
	mismatch *trace.Mismatch // so too
}

// place is where an item belongs in the order of a merge.
type place struct {
	term  uint64 // the highest in which its process was so far
	clock int64  // in µs
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.term, q.term), cmp.Compare(p.clock, q.clock))
}

// top is the highest term of a node's present process.
type top struct {
	cluster, incarnation string
	term                 uint64
}

func openSource(path string, node uint64) (*source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	s := &source{path: path, node: node, file: f, tops: map[uint64]top{}, lines: map[nodeLine]time.Time{}}
	r, err := Unpack(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("read the log %s: %w", path, err)
	}
	s.reader = NewReader(r, s)
	return s, nil
}

func (s *source) close() { _ = s.file.Close() } // it was only read

// Add keeps a record until it is delivered.
func (s *source) Add(rec *trace.Record) {
	if s.node == 0 || s.node == rec.Node {
		s.ready = append(s.ready, item{rec: *rec})
	}
}

// Death keeps the note of a death until it is delivered.
func (s *source) Death(cluster string, node uint64, at time.Time) {
	if s.node == 0 || s.node == node {
		s.ready = append(s.ready, item{death: true, cluster: cluster, node: node, at: at})
	}
}

// Left keeps a good-bye until it is delivered.
func (s *source) Left(last trace.Farewell) {
	if s.node == 0 || s.node == last.Node {
		s.ready = append(s.ready, item{left: true, farewell: last})
	}
}

// deliver hands over the next item, which there must be, and reads on.
func (s *source) deliver(to Sink) {
	it := &s.ready[s.next]
	switch {
	case it.death:
		to.Death(it.cluster, it.node, it.at)
	case it.left:
		to.Left(it.farewell)
	case it.up != nil:
		if sink, wants := to.(UpSink); wants {
			sink.Up(*it.up)
		}
	case it.mismatch != nil:
		if sink, wants := to.(MismatchSink); wants {
			sink.Mismatch(*it.mismatch)
		}
	default:
		to.Add(&it.rec)
	}
	s.next++
	s.begins, s.behind = nodeLine{}, nil
	s.fill()
}

// fill reads until an item is ready, or the file ends: then ready is empty.
func (s *source) fill() {
	if s.next == len(s.ready) {
		s.ready, s.next = s.ready[:0], 0
	}
	for len(s.ready) == 0 && !s.ended {
		if err := s.reader.Line(); err != nil {
			s.reader.Flush()
			s.ended = true
			if !errors.Is(err, io.EOF) {
				s.err = fmt.Errorf("read the log %s: %w", s.path, err)
			}
		}
	}
	if len(s.ready) > 0 {
		s.settle(&s.ready[s.next])
	}
}

// settle sets the place of an item. One that is no record has the place of what came before it.
func (s *source) settle(it *item) {
	switch {
	case it.up != nil:
		s.at, s.begins = it.up.Time, nodeLine{it.up.Cluster, it.up.Node}
		return
	case it.death || it.left || it.mismatch != nil:
		return
	}
	rec := &it.rec
	now := s.tops[rec.Node]
	if now.incarnation != rec.Incarnation {
		s.begins = nodeLine{rec.Cluster, rec.Node}
	}
	if now.incarnation != rec.Incarnation || rec.RoundTerm() > now.term {
		now = top{rec.Cluster, rec.Incarnation, rec.RoundTerm()}
		s.tops[rec.Node] = now
	}
	s.at = rec.Time
	s.place = place{now.term, rec.Time.UnixMicro()}
	if clock, err := proto.ParseHLC(rec.HLC); err == nil && !clock.IsZero() {
		s.place.clock = clock.Micros
	}
}

// simulated reports whether the next item is of a simulated run.
func (s *source) simulated() bool {
	if len(s.ready) == 0 {
		return false
	}
	it := &s.ready[s.next]
	return it.death && it.cluster == "" ||
		!it.left && it.up == nil && it.mismatch == nil && it.rec.Cluster == "" && it.rec.Time.Year() == 2000
}
