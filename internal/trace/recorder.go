package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Recorder makes the Records of one Machine's Steps. It keeps what the Machine must not know:
// message numbers, the hybrid clock, the number of records. Only the goroutine that steps the
// Machine may use it.
type Recorder struct {
	cfg    RecorderConfig
	seq    uint64
	msgSeq uint64
	asked  uint64 // the number of the last ask to a store
	clock  proto.HLC
	prev   algorithms.Leader
	term   uint64        // the node's own term
	set    time.Duration // by how much the wall clock was set since the process began
	reset  bool          // and that is news
	ahead  time.Duration // by how much it is ahead of the clock that judges leases, closely

	alive []proto.NodeID        // the last view
	lost  map[proto.NodeID]bool // who left it, and is not back
}

// RecorderConfig says whose Steps a Recorder records, and which of them.
type RecorderConfig struct {
	Cluster     string
	Node        proto.NodeID
	Incarnation proto.Incarnation
	Algorithm   string
	Guarantee   algorithms.Guarantee
	Store       string // the kind of store on which leadership stands, "" for none
	Security    string // see Record
	// Level is the lowest level that is recorded. A record below it gets no number, so the numbers
	// of written records have no gap.
	Level zerolog.Level
	// Size returns the number of bytes of a message on the wire. The Recorder calls Size only for
	// records of Level or above, after their messages were sent. Nil leaves Record.SentBytes 0.
	Size func(proto.Message) int
}

// NewRecorder returns a Recorder that counts from 1.
func NewRecorder(cfg RecorderConfig) *Recorder { return &Recorder{cfg: cfg} }

// SetClock takes by how much somebody set the wall clock since the process began, and returns by how much that was
// since the last call. The next record, of whatever Step, has level info at least and tells it.
func (r *Recorder) SetClock(set time.Duration) (by time.Duration) {
	by = set - r.set
	r.set, r.ahead, r.reset = set, r.ahead+by, r.reset || by != 0
	return by
}

// closely is how precisely records tell when leases end.
const closely = time.Millisecond

// ClockAhead takes by how much the wall clock is ahead of the clock that judges leases. Time servers slew only the
// former, by seconds a day, and records tell the end of a lease by it, as all times.
func (r *Recorder) ClockAhead(by time.Duration) {
	if (by - r.ahead).Abs() >= closely {
		r.ahead = by
	}
}

// Receipt returns what the hybrid clock will show after message m is received at the wall clock
// time now. It does not change the clock: Stamp does.
func (r *Recorder) Receipt(m proto.Message, now time.Time) proto.HLC {
	return r.clock.Merge(m.HLC, now)
}

// Stamp gives the messages in out their numbers and clock readings, before they are
// sent. The parameter ev is the event of the Step, and wall the time of the node's
// wall clock. Call Stamp once for each Step, before Record.
func (r *Recorder) Stamp(wall time.Time, ev algorithms.Event, out *algorithms.Output) {
	if rcv, ok := ev.(algorithms.Receive); ok {
		r.clock = r.clock.Merge(rcv.HLC, wall)
	} else {
		r.clock = r.clock.Tick(wall)
	}
	for i := range out.Send {
		r.msgSeq++
		out.Send[i].Seq = r.msgSeq
		out.Send[i].HLC = r.clock
	}
}

// Record returns the record of a Step. The result ok is false if the Step's level is
// below the Recorder's level.
func (r *Recorder) Record(
	wall time.Time, ev algorithms.Event, out algorithms.Output,
) (rec Record, ok bool) {
	change := changeOf(r.cfg.Node, r.prev, out, ev)
	news := r.viewed(ev)
	level := levelOf(out, change, news || r.reset)
	prev := r.prev
	r.prev = out.Leader
	r.term = max(r.term, uint64(out.Leader.Term))
	if out.Save != nil {
		r.term = max(r.term, uint64(out.Save.Vote.Term))
	}
	if level < r.cfg.Level {
		return Record{}, false
	}
	r.seq++
	r.reset = false
	rec = Record{
		Level: level.String(), Time: wall, ClockSet: r.set, Cluster: r.cfg.Cluster,
		Store: r.cfg.Store, Security: r.cfg.Security,
		Node: uint64(r.cfg.Node), Incarnation: r.cfg.Incarnation.Short(), Algo: r.cfg.Algorithm,
		Seq: r.seq, HLC: r.clock.String(), Term: r.term,
		Event: eventName(ev), Sent: sentIDs(out.Send), Ineligible: out.Ineligible,
	}
	rec.Reasons, rec.Why = reasonsOf(out.Why)
	if round := cmp.Or(out.Round, out.Leader.Term); uint64(round) != r.term {
		rec.Round = uint64(round)
	}
	if r.cfg.Size != nil {
		for _, m := range out.Send {
			rec.SentBytes += r.cfg.Size(m)
		}
	}
	if out.Ask != nil && out.Ask.Number != r.asked {
		rec.Asked, r.asked = askedOf(*out.Ask), out.Ask.Number
	}
	rec.setCause(ev)
	rec.setBelief(r.cfg, out.Leader)
	if !rec.ValidUntil.IsZero() {
		rec.ValidUntil = rec.ValidUntil.Add(r.ahead) // as Time is
	}
	for _, s := range out.Splits {
		rec.Splits = append(rec.Splits, r.Split(s))
	}
	if change != "" {
		was := uint64(prev.ID)
		rec.PrevLeader, rec.LeaderChange = &was, change
	}
	return rec, true
}

// Split returns s in the form of records, with times by the hybrid clock as of the last Stamp.
func (r *Recorder) Split(s algorithms.Split) Split { return splitOf(s, r.clock) }

func (rec *Record) setCause(ev algorithms.Event) {
	switch ev := ev.(type) {
	case algorithms.Receive:
		rec.From, rec.MsgID = uint64(ev.From), ev.ID()
		if !ev.Sender.IsZero() {
			rec.Sender = ev.Sender.Short()
		}
		rec.Msg, rec.Detail = ev.Body.Kind().String(), ev.Body.String()
		for _, p := range proto.RanksIn(ev.Body) {
			rec.Ranks = append(rec.Ranks, fmt.Sprintf("%d:%d", p.ID, p.Attr))
		}
	case algorithms.PeersChanged:
		rec.Alive = make([]uint64, 0, len(ev.Alive))
		for _, p := range ev.Alive {
			rec.Alive = append(rec.Alive, uint64(p.ID))
		}
		rec.Evidence = ev.Evidence
	case algorithms.Campaign:
		rec.Detail = ev.Reason
	case algorithms.Resign:
		rec.Detail = ev.Why
		if ev.To != 0 {
			rec.Detail = strings.TrimSuffix("hand over to "+ev.To.String()+": "+ev.Why, ": ")
		}
	case algorithms.Transfer:
		rec.Detail = "to the best node"
		if ev.To != 0 {
			rec.Detail = "to " + ev.To.String()
		}
		if ev.Why != "" {
			rec.Detail += ": " + ev.Why
		}
	case algorithms.Eligible:
		rec.Detail = "yes"
		if !ev.OK {
			rec.Detail, rec.Unfit = "no, "+ev.Why, ev.Why
		}
	case algorithms.PeerProvenDead:
		rec.About = uint64(ev.ID)
		rec.Detail = ev.ID.String() + " " + ev.Incarnation.Short()
	case algorithms.PeerHeardAgain:
		rec.About = uint64(ev.ID)
		rec.Detail = ev.ID.String() + " " + ev.Incarnation.Short()
	case algorithms.LeaseExpired:
		rec.Detail = fmt.Sprintf("the lease of term %d", ev.Term)
	case algorithms.WorkStopped:
		rec.Detail = fmt.Sprintf("as leader of term %d", ev.Term)
	case algorithms.Reconciled:
		rec.Detail = fmt.Sprintf("split %d, %d tries, exit %d", ev.Number, ev.Outcome.Tries, ev.Outcome.Exit)
	case algorithms.Answered:
		rec.Detail = answerOf(ev)
	case algorithms.Fenced:
		rec.About = uint64(ev.Fence.ID)
		rec.Detail = fmt.Sprintf("%d %s of term %d, attempt %d: %s",
			ev.Fence.ID, ev.Fence.Incarnation.Short(), ev.Fence.Term, ev.Fence.Attempt, ev.Detail)
	}
}

func (rec *Record) setBelief(cfg RecorderConfig, l algorithms.Leader) {
	rec.Role = RoleOf(cfg.Node, l)
	rec.Leader = uint64(l.ID)
	rec.Guarantee = string(cfg.Guarantee)
	rec.ValidUntil = l.Until
	if l.ID != 0 && uint64(l.Term) != rec.Term {
		rec.Led = uint64(l.Term)
	}
	// A best-effort answer has no token: nothing stops two nodes holding it.
	if l.ID != 0 && cfg.Guarantee != algorithms.BestEffort {
		rec.Token = uint64(l.Term)
	}
}

// RoleOf returns the role of node self when it believes in l.
func RoleOf(self proto.NodeID, l algorithms.Leader) Role {
	switch l.ID {
	case 0:
		return Looking
	case self:
		return Leading
	}
	return Following
}

// maxLost is of how many lost nodes a Recorder would know that they are back: who makes up members makes up any number.
const maxLost = 1024

// viewed takes the view of the Step. It reports whether a node left it, or is back in it.
func (r *Recorder) viewed(ev algorithms.Event) (news bool) {
	view, ok := ev.(algorithms.PeersChanged)
	if !ok {
		return false
	}
	alive := make([]proto.NodeID, 0, len(view.Alive))
	for _, p := range view.Alive {
		alive = append(alive, p.ID)
		news = news || r.lost[p.ID]
		delete(r.lost, p.ID)
	}
	for _, id := range r.alive {
		if slices.Contains(alive, id) {
			continue
		}
		if news = true; r.lost == nil || len(r.lost) >= maxLost {
			r.lost = map[proto.NodeID]bool{}
		}
		r.lost[id] = true
	}
	r.alive = alive
	return news
}

// levelOf returns warn for a Step whose Output has Warn; info for a Step with a changed belief, a reason, news of a
// split brain, of who is alive, or of a clock that was set; and debug for any other Step.
func levelOf(out algorithms.Output, change Change, news bool) zerolog.Level {
	switch {
	case out.Warn:
		return zerolog.WarnLevel
	case change != "" || news || len(out.Why) > 0 || len(out.Splits) > 0:
		return zerolog.InfoLevel
	}
	return zerolog.DebugLevel
}

// changeOf returns the name of the change from the belief prev to the belief in out; "" if both
// beliefs are the same.
func changeOf(
	self proto.NodeID, prev algorithms.Leader, out algorithms.Output, ev algorithms.Event,
) Change {
	next := out.Leader
	if prev.Leadership() == next.Leadership() || prev.ID == 0 && next.ID == 0 {
		return ""
	}
	resign := out.Transfer != nil && out.Transfer.Refused == ""
	switch ev := ev.(type) {
	case algorithms.Resign:
		resign = true
	case algorithms.Eligible:
		resign = !ev.OK && prev.ID == self
	}
	handed := false
	if rcv, ok := ev.(algorithms.Receive); ok {
		handed = rcv.Body.Kind().Is(proto.HandsOver)
	}
	switch {
	case resign:
		return Resigned
	case handed && next.ID == self:
		return Transferred
	case prev.ID == self && next.ID != self:
		return Deposed
	case next.ID == 0:
		return Lost
	case next.ID == prev.ID && next.Incarnation == prev.Incarnation:
		return ReElected
	}
	return Elected
}

func sentIDs(msgs []proto.Message) []string {
	if len(msgs) == 0 {
		return nil
	}
	ids := make([]string, 0, len(msgs))
	for _, m := range msgs {
		ids = append(ids, m.Body.Kind().String()+">"+m.To.String()+"#"+m.ID())
	}
	return ids
}

// askedOf says what a Machine asks of the store.
func askedOf(ask algorithms.Ask) string {
	switch {
	case !ask.Remove.IsZero():
		return fmt.Sprintf("%s, and remove the entry of node %d", ask.Verb, ask.Remove.ID)
	case ask.Lent:
		return string(ask.Verb) + ", as lent"
	}
	return string(ask.Verb)
}

// answerOf says what a store answered.
func answerOf(ev algorithms.Answered) string {
	first := "no entry"
	switch h := ev.Holder; {
	case ev.Failed != "":
		return "no answer: " + ev.Failed
	case h.ID != 0:
		first = fmt.Sprintf("first is node %d %s with token %d", h.ID, h.Incarnation.Short(), h.Token)
	case !h.IsZero():
		first = "first is " + h.Foreign
	}
	if !ev.Own.IsZero() && !ev.Held() {
		first += ", this node waits behind"
	}
	return first
}
