package rounds_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
)

// fixtureLogs returns the logs of each fixture, by its name.
func fixtureLogs(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, pattern := range []string{
		"testdata/*.log", "testdata/cases/*", "render/testdata/*.log", "logs/testdata/*.log",
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal("no logs", pattern, err)
		}
		for _, path := range paths {
			files, errs := logs.Files([]string{path})
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			all[path] = files
		}
	}
	return all
}

// source is a Builder, and all the records that it took.
type source struct {
	*rounds.Builder
	records map[rounds.Ref][]*trace.Record // several if the incarnation is in no record
	ups     map[rounds.Ref]*trace.Record   // the lines in which processes said that they run, as records of number 0
	ends    []time.Time                    // at which processes said that they end
	// lacks reports whether the record is missing. Nil: none is.
	lacks func(*trace.Record) bool
}

func (s *source) Add(rec *trace.Record) {
	if s.lacks != nil && s.lacks(rec) {
		return
	}
	kept := *rec
	ref := rounds.Ref{Node: rec.Node, Incarnation: rec.Incarnation, Seq: rec.Seq}
	s.records[ref] = append(s.records[ref], &kept)
	s.Builder.Add(rec)
}

func (s *source) Up(first trace.Greeting) {
	ref := rounds.Ref{Node: first.Node, Incarnation: first.Incarnation}
	s.ups[ref] = &trace.Record{
		Node: first.Node, Incarnation: first.Incarnation, Time: first.Time, Cluster: first.Cluster,
		Algo: first.Algorithm,
	}
	s.Builder.Up(first)
}

func (s *source) Left(last trace.Farewell) {
	s.ends = append(s.ends, last.Time)
	s.Builder.Left(last)
}

func readSource(
	t *testing.T, files []string, lacks func(*trace.Record) bool,
) (*source, *rounds.History) {
	t.Helper()
	s := &source{
		Builder: rounds.NewBuilder(), records: map[rounds.Ref][]*trace.Record{}, lacks: lacks,
		ups: map[rounds.Ref]*trace.Record{},
	}
	batch := logs.Batch{Paths: files}
	batch.Read(s, func(err error) { t.Fatal(err) })
	return s, s.History()
}

// witness compares what is told of a group with its records.
type witness struct {
	t *testing.T
	*source
	name string // of the fixture
	g    *rounds.Group
	what string // the statement that is being compared
	n    int    // statements
}

// about begins another statement.
func (w *witness) about(format string, args ...any) {
	w.what = fmt.Sprintf(format, args...)
	w.n++
}

func (w *witness) wrong(format string, args ...any) {
	w.t.Helper()
	w.t.Errorf("%s: %s: %s", w.name, w.what, fmt.Sprintf(format, args...))
}

// fixed returns a time of a node's clock, corrected.
func (w *witness) fixed(node uint64, wall time.Time) time.Time {
	for _, c := range w.g.Clocks {
		if c.Node == node {
			return wall.Add(-c.Offset)
		}
	}
	return wall
}

// record returns a record of that name for which holds is true. Without one, the statement is wrong.
func (w *witness) record(ref rounds.Ref, must string, holds func(*trace.Record) bool) *trace.Record {
	w.t.Helper()
	records := w.records[ref]
	if up := w.ups[ref]; up != nil {
		records = []*trace.Record{up}
	}
	for _, rec := range records {
		if rec.Cluster == w.g.Cluster && rec.Algo == w.g.Algorithm && holds(rec) {
			return rec
		}
	}
	if len(records) == 0 {
		w.wrong("there is no record %v@%s", ref, ref.Incarnation)
	} else {
		w.wrong("record %v@%s: want %s: %+v", ref, ref.Incarnation, must, *records[0])
	}
	return nil
}

// exists wants a record that is there.
func (w *witness) exists(refs ...rounds.Ref) {
	w.t.Helper()
	for _, ref := range refs {
		w.record(ref, "to be of the group", func(*trace.Record) bool { return true })
	}
}

// own wants a record that the node wrote at that time.
func (w *witness) own(ref rounds.Ref, node uint64, at time.Time) {
	w.t.Helper()
	if ref.Node != node {
		w.wrong("record %v is none of node %d", ref, node)
	}
	w.record(ref, "to be of "+at.String(), func(rec *trace.Record) bool {
		return w.fixed(rec.Node, rec.Time).Equal(at)
	})
}

// late returns how long before the record a lease had ended, by the word of its process, which had not run.
func (w *witness) late(ref rounds.Ref) (d time.Duration) {
	for _, rec := range w.records[ref] {
		for _, r := range rec.Reasons {
			if m := ranOutLate.FindStringSubmatch(fmt.Sprint(r)); m != nil {
				d, _ = time.ParseDuration(m[1] + "ms")
			}
		}
	}
	return d
}

var ranOutLate = regexp.MustCompile(`lease\.ran-out-late\D+(\d+)`)

// ofLife wants a record that the process wrote.
func (w *witness) ofLife(ref rounds.Ref, node uint64, incarnation string) {
	w.t.Helper()
	if ref.Node != node || ref.Incarnation != incarnation {
		w.wrong("record %v@%s is none of node %d, %s", ref, ref.Incarnation, node, incarnation)
	}
}

// tells reports whether the record says that the node is gone: by its evidence, or by a view without it.
func tells(rec *trace.Record, gone uint64) bool {
	switch rec.Event {
	case "gone":
		return rec.About == gone || strings.HasPrefix(rec.Detail, fmt.Sprint(gone))
	case "peers":
		return !slices.Contains(rec.Alive, gone)
	}
	return false
}

// detection compares one node's evidence against another.
func (w *witness) detection(d rounds.Detection, gone uint64) {
	w.t.Helper()
	w.own(d.Ref, d.Node, d.At)
	w.record(d.Ref, fmt.Sprintf("to say that node %d is gone", gone), func(rec *trace.Record) bool {
		return tells(rec, gone)
	})
	if d.Node == gone {
		w.wrong("node %d declares itself gone", gone)
	}
	last := d.Refs()[len(d.Refs())-1]
	w.ofLife(last, d.Node, d.Ref.Incarnation)
	w.record(last, "the evidence "+d.Evidence, func(rec *trace.Record) bool {
		return rec.Evidence == d.Evidence || rec.Event == "gone" && d.Evidence == fmt.Sprint("proven-dead ", gone)
	})
}

// says wants the record to have the words among its reasons.
func (w *witness) says(ref rounds.Ref, why string) {
	w.t.Helper()
	w.record(ref, "the reason "+why, func(rec *trace.Record) bool {
		return strings.Contains(strings.Join(rec.Why, "\n"), why)
	})
}

// leads wants the record to name the leader of the term.
func (w *witness) leads(ref rounds.Ref, leader, term uint64) {
	w.t.Helper()
	w.record(ref, fmt.Sprintf("node %d leading term %d", leader, term), func(rec *trace.Record) bool {
		return rec.Leader == leader && (rec.LeaderTerm() == term || rec.FromText)
	})
}

// leadsNot wants the record to name the leader no more.
func (w *witness) leadsNot(ref rounds.Ref, leader, term uint64) {
	w.t.Helper()
	w.record(ref, fmt.Sprintf("node %d not leading term %d", leader, term), func(rec *trace.Record) bool {
		return rec.Leader != leader || rec.LeaderTerm() != term
	})
}

func (w *witness) round(r *rounds.Round) {
	w.cause(r)
	for _, in := range r.Initiators {
		w.about("term %d, called by %d", r.Term, in.Node)
		w.own(in.Ref, in.Node, in.At)
		w.says(in.Ref, in.Why)
	}
	for _, p := range r.Participants {
		if w.about("term %d, part of %d", r.Term, p.Node); !p.Believed.IsZero() {
			w.own(p.Believed, p.Node, p.BelievedAt)
			w.leads(p.Believed, r.Winner.Node, r.Term)
		}
	}
	for _, v := range r.Verdicts {
		w.about("term %d, %d loses to %d", r.Term, v.Loser, v.Over)
		w.own(v.Ref, v.Ref.Node, v.At)
		w.says(v.Ref, v.Why)
		if v.Kind != rounds.Refused && v.By != v.Ref.Node {
			w.wrong("node %d decided, and %v says so", v.By, v.Ref)
		}
	}
	led := slices.Clone(r.Rivals)
	if r.Winner != nil && !r.Winner.Ref.IsZero() {
		led = append(led, *r.Winner)
	}
	for _, won := range led {
		w.about("term %d, won by %d", r.Term, won.Node)
		w.own(won.Ref, won.Node, won.At)
		w.leads(won.Ref, won.Node, r.Term)
		w.says(won.Ref, won.Why)
	}
	if b := r.Ballot; b != nil {
		w.about("term %d, ballot of %d", r.Term, b.Candidate)
		w.ofLife(b.Ref, b.Candidate, b.Ref.Incarnation)
		w.record(b.Ref, "a question to a voter", func(rec *trace.Record) bool {
			return slices.ContainsFunc(rec.Sent, func(sent string) bool {
				_, to, _, err := trace.SentID(sent)
				return err == nil && slices.Contains(b.Voters, uint64(to))
			})
		})
		for _, v := range b.Voices {
			if w.about("term %d, voice of %d", r.Term, v.Voter); v.No == "" {
				continue
			}
			w.record(v.Ref, "to be of the voter, or from it", func(rec *trace.Record) bool {
				return rec.Node == v.Voter || rec.Node == b.Candidate && rec.From == v.Voter
			})
		}
	}
	for _, st := range r.Steps {
		w.about("term %d, step %v", r.Term, st.Ref)
		w.own(st.Ref, st.Ref.Node, st.At)
		w.record(st.Ref, "the event and the belief of the step", func(rec *trace.Record) bool {
			return rec.Event == st.Event && rec.Leader == st.Leader && slices.Equal(rec.Alive, st.Alive)
		})
	}
	for _, s := range r.LeftBehind {
		if w.about("term %d, %d left behind", r.Term, s.Node); !s.Last.IsZero() {
			w.ofLife(s.Last, s.Node, s.Last.Incarnation)
			w.exists(s.Last)
		}
	}
}

func (w *witness) cause(r *rounds.Round) {
	c := r.Cause
	w.about("term %d, cause %s", r.Term, c.Kind)
	if c.Node != 0 {
		w.own(c.Ref, c.Node, c.At)
	} else if c.Text != "" || c.Lost != 0 {
		w.wrong("no record shows %q", c.Text)
	}
	for _, d := range c.Detections {
		w.about("term %d, %d has evidence against %d", r.Term, d.Node, c.Lost)
		w.detection(d, c.Lost)
	}
	if w.about("term %d, asked to hand over", r.Term); c.Request != "" {
		w.request(r)
	}
	if w.about("term %d, %d was back", r.Term, c.Lost); !c.Back.IsZero() {
		w.own(c.Back, c.Lost, c.BackAt)
		if !c.BackAt.After(c.At) {
			w.wrong("it was back at %v, before %v", c.BackAt, c.At)
		}
	}
}

// request compares why a leader handed over with its record.
func (w *witness) request(r *rounds.Round) {
	asked := r.Cause.Asked()
	led := slices.ContainsFunc(w.g.Leaderships, func(l rounds.Leadership) bool {
		return l.Leader == asked.Node && l.Incarnation == asked.Incarnation && l.Term < r.Term
	})
	if !led {
		w.wrong("node %d, which was asked by %v, had led no term", asked.Node, asked)
	}
	w.record(asked, "the request "+r.Cause.Request, func(rec *trace.Record) bool {
		if w.fixed(rec.Node, rec.Time).After(r.Cause.At) {
			return false
		}
		if strings.HasSuffix(r.Cause.Request, " would take over") {
			return slices.ContainsFunc(w.g.Leaderships, func(l rounds.Leadership) bool { return l.Last == asked })
		}
		switch rec.Event {
		case "resign":
			return r.Cause.Request == "it was asked to resign" ||
				strings.HasSuffix(rounds.Quoted(rec.Detail), r.Cause.Request)
		case "transfer":
			_, asked, _ := strings.Cut(rec.Detail, ": ")
			return strings.HasSuffix(r.Cause.Request, rounds.Quoted(asked)) ||
				asked == "this node resigns" && r.Cause.Request == "it was asked to resign"
		}
		return rec.Event == "eligible" && r.Cause.Request == rounds.Quoted(rec.Unfit)
	})
}

func (w *witness) leadership(r *rounds.Leadership) {
	w.about("leadership of %d in term %d", r.Leader, r.Term)
	if !r.First.IsZero() {
		// Where it began in a gap of the leader's records, its followers may tell of it sooner.
		if len(r.Followers) > 0 && r.From.Equal(r.Followers[0].From) {
			w.exists(r.First)
		} else {
			w.own(r.First, r.Leader, r.From)
		}
		w.ofLife(r.First, r.Leader, r.Incarnation)
		w.leads(r.First, r.Leader, r.Term)
	}
	if !r.Last.IsZero() {
		w.own(r.Last, r.Leader, r.Until)
		w.ofLife(r.Last, r.Leader, r.Incarnation)
		w.leadsNot(r.Last, r.Leader, r.Term)
	}
	for _, f := range r.Followers {
		w.about("%d follows %d in term %d", f.Node, r.Leader, r.Term)
		w.own(f.First, f.Node, f.From)
		w.leads(f.First, r.Leader, r.Term)
		w.own(f.Last, f.Node, f.Until)
	}
	w.about("end of the leadership of %d in term %d", r.Leader, r.Term)
	if r.End.IsZero() != (r.Ended == rounds.Ending{}) {
		w.wrong("ended at %v: %+v", r.End, r.Ended)
	}
	if !r.End.IsZero() {
		w.ending(r)
	}
}

// ending compares the end of a leadership with its record: of the leader's process if the end is by its own word, of
// another node if peers saw it, and nothing direct if it is inferred.
func (w *witness) ending(r *rounds.Leadership) {
	e := r.Ended
	w.exists(e.Ref)
	switch e.Known {
	case rounds.OwnWord:
		w.ofLife(e.Ref, r.Leader, r.Incarnation)
		w.leadsNot(e.Ref, r.Leader, r.Term)
		if e.Kind == rounds.EndedByLease && r.End.Equal(r.Lease) {
			break
		}
		w.own(e.Ref, r.Leader, r.End.Add(w.late(e.Ref)))
	case rounds.PeersSaw:
		if e.Ref.Node == r.Leader {
			w.wrong("peers saw it, and %v says so", e.Ref)
		}
		if e.Kind == rounds.EndedByLease {
			w.leadsNot(e.Ref, r.Leader, r.Term)
			w.ranOut(r)
			break
		}
		w.own(e.Ref, e.Ref.Node, r.End)
		w.record(e.Ref, fmt.Sprintf("to say that node %d is gone", r.Leader), func(rec *trace.Record) bool {
			if e.Kind == rounds.EndedByWord {
				return rec.From == r.Leader && rec.Msg == "RELEASE"
			}
			return tells(rec, r.Leader)
		})
	case rounds.Inferred:
		if e.Kind == rounds.EndedByWord {
			w.wrong("it stopped by its own word, which is inferred")
		}
		w.inferred(r)
	default:
		w.wrong("known %q", e.Known)
	}
}

// lease returns the longest time for which a record says that a lease runs: from the record on, or since the node that
// wins in it asked for the votes. The clock of that record may be 1 % fast, and that of the leader 1 % slow.
func (w *witness) lease() (longest time.Duration) {
	for ref, records := range w.records {
		for _, rec := range records {
			if rec.Cluster == w.g.Cluster && rec.Algo == w.g.Algorithm && !rec.ValidUntil.IsZero() {
				longest = max(longest, rec.ValidUntil.Sub(rec.Time))
			}
			if rec.LeaderChange == trace.Elected && rec.Leader == rec.Node && !rec.ValidUntil.IsZero() {
				longest = max(longest, rec.ValidUntil.Sub(w.askedBefore(ref, rec)))
			}
		}
	}
	return longest * 101 / 99
}

// askedBefore returns when the process last asked for votes before the record in which it won, if it wrote down all
// that it did since; else when it last asked for those of the term, as far as a record tells; and else the time of the
// record.
func (w *witness) askedBefore(ref rounds.Ref, won *trace.Record) time.Time {
	debug, at, last := false, won.Time, uint64(0)
	asks := func(rec *trace.Record) bool {
		return slices.ContainsFunc(rec.Sent, func(sent string) bool {
			return strings.HasPrefix(sent, "REQUEST_VOTE>") || strings.HasPrefix(sent, "CLAIM>")
		})
	}
	for other, records := range w.records {
		rec := records[0]
		if other.Node != ref.Node || other.Incarnation != ref.Incarnation || other.Seq >= ref.Seq {
			continue
		}
		debug = debug || rec.Level == "debug"
		if of := rec.Term == won.Token || rec.RoundTerm() == won.Token; of && other.Seq > last && asks(rec) {
			at, last = rec.Time, other.Seq
		}
	}
	for ref.Seq--; debug && len(w.records[ref]) > 0; ref.Seq-- {
		if rec := w.records[ref][0]; asks(rec) {
			return rec.Time
		}
	}
	return at
}

// ranOut compares the end of a lease that peers saw with the record of the last of them. What a peer holds for the end
// is the leader's last HEARTBEAT; the lease may have been renewed by the answers to that, and runs from then on. It is
// over at once when another leader begins. A peer that slept held for it what had ended before.
func (w *witness) ranOut(r *rounds.Leadership) {
	if r.End.Equal(r.Lease) {
		return
	}
	w.record(r.Ended.Ref, "the end of the lease a while before "+r.End.String(), func(rec *trace.Record) bool {
		found := w.fixed(rec.Node, rec.Time)
		next := slices.ContainsFunc(w.g.Leaderships, func(l rounds.Leadership) bool {
			return l.From.Equal(r.End) && l.Term != r.Term
		})
		slept := r.End.Before(found) && w.silent(rec, w.lease())
		return r.End.Equal(found.Add(w.lease())) || next || slept || w.promised(r)
	})
}

// promised reports whether a peer followed the leader, or ceased to, in a record that is as old as a lease at the end.
func (w *witness) promised(r *rounds.Leadership) bool {
	for _, records := range w.records {
		for _, rec := range records {
			over := w.fixed(rec.Node, rec.Time).Add(w.lease())
			follows := rec.Leader == r.Leader || rec.PrevLeader != nil && *rec.PrevLeader == r.Leader
			if follows && rec.Node != r.Leader && over.Equal(r.End) {
				return true
			}
		}
	}
	return false
}

// silent reports whether the process of the record had written nothing for so long.
func (w *witness) silent(rec *trace.Record, d time.Duration) bool {
	for ref, records := range w.records {
		if ref.Node == rec.Node && ref.Incarnation == rec.Incarnation && ref.Seq < rec.Seq &&
			rec.Time.Sub(records[0].Time) < d {
			return false
		}
	}
	return true
}

// inferred compares an end that no record tells with what it is inferred from: the end of the lease, which nobody can
// have renewed; or the first record of the next process, or of a later leadership.
func (w *witness) inferred(r *rounds.Leadership) {
	e := r.Ended
	own := e.Ref.Node == r.Leader && e.Ref.Incarnation == r.Incarnation
	gone := func(rec *trace.Record) bool { return tells(rec, r.Leader) }
	switch {
	case e.Kind == rounds.EndedByLease && own: // which it noticed late: it had slept
		w.leadsNot(e.Ref, r.Leader, r.Term)
		if !r.End.Before(r.Until) || r.End.Before(r.From) {
			w.wrong("it ended at %v, and was from %v to %v", r.End, r.From, r.Until)
		}
	case e.Kind == rounds.EndedByLease && e.Ref.Node == r.Leader && !r.End.Equal(r.Lease): // its next process tells
		w.leadsNot(e.Ref, r.Leader, r.Term)
		w.ranOut(r)
	case e.Kind == rounds.EndedByLease:
		if !r.End.Equal(r.Lease) {
			w.wrong("it ended at %v, and the lease at %v", r.End, r.Lease)
		}
	case own:
		w.wrong("inferred, and its own record %v says so", e.Ref)
	case e.Kind == rounds.EndedByProcess, e.Kind == rounds.EndedUnseen && w.begins(e.Ref, r.Leader):
		if !w.begins(e.Ref, r.Leader) {
			w.wrong("record %v is not the first one of a process of node %d", e.Ref, r.Leader)
		}
		w.own(e.Ref, r.Leader, r.End)
	case e.Kind == rounds.EndedUnseen && e.Ref.Node != r.Leader && slices.ContainsFunc(w.records[e.Ref], gone):
		w.own(e.Ref, e.Ref.Node, r.End) // or its lease had ended before
	case e.Kind == rounds.EndedUnseen:
		i := slices.IndexFunc(w.g.Leaderships, func(l rounds.Leadership) bool {
			return l.First == e.Ref || l.First.IsZero() && l.Followers[0].First == e.Ref
		})
		if i < 0 || w.g.Leaderships[i].Term <= r.Term {
			w.wrong("no later leadership begins with %v", e.Ref)
		} else if next := w.g.Leaderships[i].From; !r.End.Equal(next) && (!r.End.After(next) || !w.wrote(r)) {
			w.wrong("it ended at %v, and the next one began at %v", r.End, next)
		}
	}
}

// begins reports whether a process of the node begins with the record.
func (w *witness) begins(ref rounds.Ref, node uint64) bool {
	return slices.ContainsFunc(w.g.Nodes, func(n rounds.Node) bool {
		return n.ID == node && slices.ContainsFunc(n.Lives, func(l rounds.Life) bool { return l.First == ref })
	})
}

// wrote reports whether the leader's process wrote a record of its leadership at its end.
func (w *witness) wrote(r *rounds.Leadership) bool {
	for _, records := range w.records {
		for _, rec := range records {
			if rec.Node == r.Leader && rec.Incarnation == r.Incarnation && rec.Leader == r.Leader &&
				w.fixed(rec.Node, rec.Time).Equal(r.End) {
				return true
			}
		}
	}
	return false
}

func (w *witness) node(n *rounds.Node) {
	w.about("node %d", n.ID)
	if n.Records == 0 {
		if len(n.Lives) > 0 || !n.Last.IsZero() {
			w.wrong("it has records")
		}
		return
	}
	last := n.Lives[len(n.Lives)-1]
	w.own(n.Last, n.ID, last.Until)
	w.record(n.Last, "its last belief", func(rec *trace.Record) bool { return rec.Leader == n.Leader })
	if !n.Aside.IsZero() {
		w.ofLife(n.Aside, n.ID, last.Incarnation)
		w.record(n.Aside, "why it stands aside", func(rec *trace.Record) bool {
			if rec.Ineligible != "" {
				return rounds.Quoted(rec.Ineligible) == n.Ineligible
			}
			return rec.Event == "resign" || rec.Event == "eligible"
		})
	}
	for _, d := range n.Gone {
		w.about("%d has evidence against %d", d.Node, d.ID)
		w.ofLife(d.Ref, n.ID, last.Incarnation)
		w.detection(d.Detection, d.ID)
	}
	for i, l := range n.Lives {
		w.about("process %s of %d", l.Incarnation, n.ID)
		w.ofLife(l.First, n.ID, l.Incarnation)
		w.ofLife(l.Last, n.ID, l.Incarnation)
		w.own(l.First, n.ID, l.From)
		w.own(l.Last, n.ID, l.Until)
		for _, e := range l.Events {
			w.about("process %s of %d, %s", l.Incarnation, n.ID, e.Kind)
			w.event(n, i, e)
		}
	}
}

// event compares what happened to a process with the record that shows it.
func (w *witness) event(n *rounds.Node, i int, e rounds.LifeEvent) {
	l := &n.Lives[i]
	w.exists(e.Ref)
	switch e.Known {
	case rounds.OwnWord:
		w.ofLife(e.Ref, n.ID, l.Incarnation)
		switch e.Kind {
		case rounds.Ended: // in a line behind its last record
			if e.Ref != l.Last || !slices.ContainsFunc(w.ends, func(at time.Time) bool {
				return w.fixed(n.ID, at).Equal(e.At)
			}) {
				w.wrong("no line says so at %v, behind %v", e.At, l.Last)
			}
		case rounds.Paused: // past the end of a lease, which it noticed in this record
			w.record(e.Ref, "to be of a later time", func(rec *trace.Record) bool {
				return w.fixed(rec.Node, rec.Time).After(e.At)
			})
		default:
			w.own(e.Ref, n.ID, e.At)
		}
	case rounds.PeersSaw:
		if e.Ref.Node == n.ID {
			w.wrong("peers saw it, and its own record %v says so", e.Ref)
		}
		if e.Kind == rounds.Ended && e.At.Equal(l.Until) { // it had said good-bye, and wrote on for a moment
			break
		}
		w.own(e.Ref, e.Ref.Node, e.At)
		w.record(e.Ref, "the peer's view", func(rec *trace.Record) bool {
			if e.Kind == rounds.Resumed {
				return slices.Contains(rec.Alive, n.ID)
			}
			return tells(rec, n.ID)
		})
	case rounds.Inferred:
		if i+1 == len(n.Lives) || e.Ref != n.Lives[i+1].First || !e.At.Equal(n.Lives[i+1].From) {
			w.wrong("it is inferred from %v, and not from the next process", e.Ref)
		}
	default:
		w.wrong("known %q", e.Known)
	}
}

// nodesNamed finds "node 3", "nodes 1, 2 and 3" and "voters 2 and 5 ended, 4 paused: 2 of 5 remain" in a text.
var nodesNamed = regexp.MustCompile(`(?i)\b(?:nodes? (\d+(?:(?:, | and )\d+\b)*)|voters? ([^:(]+): \d+ of)`)

// named returns the nodes that a text names: "node 3", "nodes 1, 2 and 3".
func named(text string) (ids []uint64) {
	for _, m := range nodesNamed.FindAllStringSubmatch(text, -1) {
		for _, word := range strings.FieldsFunc(m[1]+m[2], func(r rune) bool { return r < '0' || r > '9' }) {
			if id, err := strconv.ParseUint(word, 10, 64); err == nil {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// concerns reports whether one of the records is the node's own, or says something of it.
func (w *witness) concerns(refs []rounds.Ref, id uint64) bool {
	return slices.ContainsFunc(refs, func(ref rounds.Ref) bool {
		up := w.ups[ref] != nil && ref.Node == id
		return up || slices.ContainsFunc(w.records[ref], func(rec *trace.Record) bool { return concerns(rec, id) })
	})
}

// concerns reports whether the record is the node's own, or names it: as gone, the sender, the leader or the receiver.
func concerns(rec *trace.Record, id uint64) bool {
	to := func(sent string) bool { return strings.Contains(sent, fmt.Sprintf(">%d#", id)) }
	was := rec.PrevLeader != nil && *rec.PrevLeader == id
	reported := func(s trace.Split) bool {
		return slices.ContainsFunc(s.Leaders, func(l trace.Leadership) bool { return l.Leader == id })
	}
	return rec.Node == id || rec.From == id || rec.Leader == id || was || tells(rec, id) ||
		strings.Contains(rec.Detail, fmt.Sprintf("node %d ", id)) || slices.ContainsFunc(rec.Sent, to) ||
		slices.ContainsFunc(rec.Splits, reported)
}

func (w *witness) finding(f rounds.Finding) {
	w.about("finding %s of term %d", f.Name, f.Term)
	if len(f.Records) == 0 {
		w.wrong("no record proves %q", f.Text)
	}
	w.exists(f.Records...)
	for _, id := range named(f.Text) {
		if !w.concerns(f.Records, id) {
			w.wrong("no record of %v says anything of node %d: %s", f.Records, id, f.Text)
		}
	}
}

func (w *witness) incident(in *rounds.Incident) {
	w.about("change from %d in term %d to %d in term %d", in.Former, in.FormerTerm, in.Leader, in.Term)
	w.exists(in.Records...)
	if in.PerhapsRef.IsZero() != in.Perhaps.IsZero() {
		w.wrong("perhaps from %v, by %v", in.Perhaps, in.PerhapsRef)
	} else if !in.Perhaps.IsZero() && !in.Ceased() { // else it is the end of Former
		w.perhaps(in)
	}
	if in.Between != 0 {
		w.record(in.BetweenRef, fmt.Sprintf("node %d leading no more", in.Between), func(rec *trace.Record) bool {
			return rec.Node == in.Between && rec.PrevLeader != nil && *rec.PrevLeader == in.Between
		})
	}
	for _, l := range w.g.Leaderships {
		if l.Leader == in.Leader && l.Term == in.Term && !l.From.Equal(in.Until) {
			w.wrong("it ended at %v, and term %d began at %v", in.Until, in.Term, l.From)
		}
		began := in.From
		if in.Ceased() {
			began = in.Perhaps
		}
		ended := l.Leader == in.Former && l.Term == in.FormerTerm && in.Ended == l.Ended
		if ended && !l.End.Equal(began) && (in.Between == 0 || in.Ceased()) {
			w.wrong("it began at %v, and term %d ended at %v", began, in.FormerTerm, l.End)
		}
	}
	if in.Ended.Ref.IsZero() != (in.Ended.Kind == rounds.EndedUnseen || in.Former == 0) &&
		in.Ended.Kind != rounds.EndedUnseen {
		w.wrong("its end has no record: %+v", in.Ended)
	}
	for _, id := range named(in.Why) {
		if !w.concerns(in.Records, id) {
			w.wrong("no record of %v says anything of node %d: %s", in.Records, id, in.Why)
		}
	}
}

// perhaps compares the earliest end that a leadership may have had with its record: the last one of the leader's
// process, that of a follower whose lease ended, or the last one that says that it led: its time, or the end of the
// lease in it.
func (w *witness) perhaps(in *rounds.Incident) {
	ref := in.PerhapsRef
	if in.LastSign() {
		w.leads(ref, in.Former, in.FormerTerm)
		w.record(ref, "a sign until "+in.Perhaps.String(), func(rec *trace.Record) bool {
			return w.fixed(rec.Node, rec.Time).Equal(in.Perhaps) || w.fixed(rec.Node, rec.ValidUntil).Equal(in.Perhaps)
		})
		return
	}
	w.record(ref, "to be of "+in.Perhaps.String(), func(rec *trace.Record) bool {
		at := w.fixed(rec.Node, rec.Time)
		slept := ref.Node != in.Former && at.After(in.Perhaps) && w.silent(rec, time.Second) // it noticed as it woke
		return at.Equal(in.Perhaps) || slept
	})
	if ref.Node != in.Former {
		w.leadsNot(ref, in.Former, in.FormerTerm)
		return
	}
	w.leads(ref, in.Former, in.FormerTerm)
	if !slices.ContainsFunc(w.g.Nodes, func(n rounds.Node) bool {
		return n.ID == in.Former && slices.ContainsFunc(n.Lives, func(l rounds.Life) bool { return l.Last == ref })
	}) {
		w.wrong("%v is not the last record of a process of node %d", ref, in.Former)
	}
}

// "Every statement has its evidence and its confidence": its subject, its process and its time are those of the
// records that prove it, and its confidence says who wrote them.
func TestStatementsAreOfTheirRecords(t *testing.T) {
	for name, files := range fixtureLogs(t) {
		s, h := readSource(t, files, nil)
		for _, g := range h.Groups {
			w := &witness{t: t, source: s, name: name, g: g}
			if w.group(); w.n == 0 {
				t.Errorf("%s: nothing is told of %s", name, g.Cluster)
			}
		}
	}
}

// The same where records are missing: those of one node, those that it wrote after the first half, or those of level
// debug.
func TestStatementsAreOfTheRecordsThatAreLeft(t *testing.T) {
	for name, files := range fixtureLogs(t) {
		whole, _ := readSource(t, files, nil)
		last := map[uint64]uint64{}
		for ref := range whole.records {
			last[ref.Node] = max(last[ref.Node], ref.Seq)
		}
		variants := map[string]func(*trace.Record) bool{
			"level info": func(rec *trace.Record) bool { return rec.Level == "debug" },
		}
		for id, seq := range last {
			if len(last) > 10 {
				break // a node more or less is not seen
			}
			variants[fmt.Sprintf("without %d", id)] = func(rec *trace.Record) bool { return rec.Node == id }
			variants[fmt.Sprintf("half of %d", id)] = func(rec *trace.Record) bool {
				return rec.Node == id && rec.Seq > seq/2
			}
		}
		for variant, lacks := range variants {
			s, h := readSource(t, files, lacks)
			for _, g := range h.Groups {
				w := &witness{t: t, source: s, name: name + ", " + variant, g: g}
				w.group()
			}
		}
	}
}

// group compares all that is told of the group.
func (w *witness) group() {
	for i := range w.g.Nodes {
		w.node(&w.g.Nodes[i])
	}
	for i := range w.g.Leaderships {
		w.leadership(&w.g.Leaderships[i])
	}
	for i := range w.g.Incidents {
		w.incident(&w.g.Incidents[i])
	}
	for _, r := range w.g.Rounds {
		w.round(r)
	}
	for _, f := range w.g.Findings {
		w.finding(f)
	}
}

// A note on the records as a whole names the clusters, algorithms and nodes that wrote them.
func TestNotesAreOfTheRecords(t *testing.T) {
	var all []string
	for _, files := range fixtureLogs(t) {
		all = append(all, files...)
	}
	s, h := readSource(t, all, nil)
	wrote := map[string]map[string][]uint64{} // the nodes by cluster and algorithm
	for _, records := range s.records {
		for _, rec := range records {
			if rec.Cluster == "" && rec.Time.Year() == 2000 { // of a simulated run
				continue
			}
			if wrote[rec.Cluster] == nil {
				wrote[rec.Cluster] = map[string][]uint64{}
			}
			if ids := wrote[rec.Cluster][rec.Algo]; !slices.Contains(ids, rec.Node) {
				wrote[rec.Cluster][rec.Algo] = append(ids, rec.Node)
			}
		}
	}
	notes := strings.Join(h.Notes, "\n")
	want := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !strings.Contains(notes, text) {
			t.Errorf("no %q in:\n%s", text, notes)
		}
	}
	clusters := slices.Sorted(maps.Keys(wrote))
	if slices.Contains(clusters, "") {
		want("The records have %d labels, which are told one by one: %q. ", len(clusters), clusters)
	} else {
		want("The records are of %d clusters, which are told one by one: %q.", len(clusters), clusters)
	}
	several := 0
	for _, cluster := range clusters {
		if len(wrote[cluster]) < 2 {
			continue
		}
		several++
		want("The nodes of cluster %q ", cluster)
		for algorithm, ids := range wrote[cluster] {
			slices.Sort(ids)
			want("%s on %s", algorithm, words.Nodes(ids))
		}
	}
	n := 0
	for _, said := range []string{"run different algorithms", "ran different algorithms", "changed their algorithm"} {
		n += strings.Count(notes, said)
	}
	if n != several || n == 0 {
		t.Errorf("%d clusters of several algorithms, want %d:\n%s", n, several, notes)
	}
}
