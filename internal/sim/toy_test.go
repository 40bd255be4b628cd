package sim

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// toy is the simplest election that keeps the invariants: whoever ranks highest
// in its own view takes the next term and says so to all, again and again.
// Each flaw breaks one invariant.
type toy struct {
	cfg      algorithms.Config
	flaw     flaw
	term     proto.Term
	saved    proto.Term
	attr     int64
	view     []proto.Peer
	leader   proto.Peer
	deadline time.Time
	patience int // ticks without a leader until even a lower node takes over
	aside    bool
	barred   bool
	deposed  proto.Term       // the last term in which it lost the lead
	floor    proto.Leadership // the highest leadership it knew of

	now time.Time
	out algorithms.Output
}

// flaw is what is wrong with a toy.
type flaw string

const (
	sound         flaw = "sound"
	forgetful     flaw = "starts from term 0, whatever was saved"
	hasty         flaw = "sends terms that it did not save"
	gullible      flaw = "believes the last announcement"
	credulous     flaw = "takes whoever asks for the leader"
	reborn        flaw = "leads the term that it had saved"
	stubborn      flaw = "leads on in a term in which it was deposed"
	restless      flaw = "leads while it should stand aside"
	pushy         flaw = "stands though it is not eligible"
	sleepy        flaw = "looks for a leader without a timer"
	spinning      flaw = "sets a deadline that has passed"
	jumpy         flaw = "acts on any Timeout"
	ventriloquist flaw = "sends in another's name"
	stormy        flaw = "answers each announcement with a new term"
	impure        flaw = "counts the Steps of all Machines"
	deafened      flaw = "believes no announcement"
	fidgety       flaw = "takes a new term each time it repeats itself"
	presumptuous  flaw = "leads though it knows a better node"
	talkative     flaw = "answers each announcement with two"
)

var stepsOfAll int // for the impure one; its test runs alone

func newToy(f flaw) func(algorithms.Config) algorithms.Machine {
	return func(cfg algorithms.Config) algorithms.Machine {
		return &toy{cfg: cfg, flaw: f, view: []proto.Peer{{ID: cfg.Self, Incarnation: cfg.Incarnation}}}
	}
}

func (t *toy) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	t.now, t.out = now, algorithms.Output{}
	switch ev := ev.(type) {
	case algorithms.Start:
		t.start(ev.Saved.Term)
	case algorithms.Receive:
		t.receive(ev.Message)
	case algorithms.Timeout:
		if t.flaw == jumpy || !t.deadline.IsZero() && !now.Before(t.deadline) {
			t.tick()
		}
	case algorithms.PeersChanged:
		t.peers(ev.Alive)
	case algorithms.Campaign:
		t.aside = t.aside && t.barred
		t.consider()
	case algorithms.Eligible:
		t.barred = !ev.OK && t.flaw != pushy
		if t.barred && !ev.Keep && t.leading() {
			t.leader = proto.Peer{}
		}
	case algorithms.Transfer:
		t.out.Transfer = &algorithms.TransferEnd{To: ev.To, Refused: "a toy hands nothing over"}
	case algorithms.Resign:
		t.aside = true
		if t.leading() && t.flaw != restless {
			t.leader = proto.Peer{}
		}
	}
	return t.output(ev)
}

func (t *toy) output(ev algorithms.Event) algorithms.Output {
	if t.term != t.saved && t.flaw != hasty {
		t.saved = t.term
		t.out.Save = &algorithms.State{Term: t.term, Reserved: t.term}
	}
	t.out.Deadline = t.deadline
	t.out.Leader = algorithms.Leader{ID: t.leader.ID, Incarnation: t.leader.Incarnation, Term: t.term}
	if t.barred {
		t.out.Ineligible = "not eligible"
	}
	if t.leader.ID != 0 {
		t.floor = t.out.Leader.Leadership()
	}
	_, timeout := ev.(algorithms.Timeout)
	switch {
	case t.flaw == sleepy && t.leader.ID == 0:
		t.out.Deadline = time.Time{}
	case t.flaw == spinning && timeout:
		t.out.Deadline = t.now
	case t.flaw == impure:
		stepsOfAll++
		t.out.Deadline = t.deadline.Add(time.Duration(stepsOfAll))
	}
	return t.out
}

func (t *toy) start(saved proto.Term) {
	if t.flaw != forgetful {
		t.term, t.saved = saved, saved
	}
	if t.flaw == reborn && saved > 0 {
		t.lead()
	}
	t.deadline = t.now.Add(10 * t.cfg.Delta)
}

func (t *toy) self() proto.Peer {
	return proto.Peer{
		ID: t.cfg.Self, Incarnation: t.cfg.Incarnation, Attr: t.attr, Ineligible: t.barred && !t.leading(),
	}
}

func (t *toy) leading() bool { return t.leader.ID == t.cfg.Self }

func (t *toy) peers(alive []proto.Peer) {
	t.view = slices.Clone(alive)
	for _, p := range alive {
		if p.ID == t.cfg.Self {
			t.attr = p.Attr
		}
	}
	gone := !slices.ContainsFunc(alive, t.leader.Is)
	if gone && t.leader.ID != 0 && !t.leading() {
		t.leader = proto.Peer{}
	}
	t.consider()
}

// consider takes the next term if this node ranks highest and does not lead.
func (t *toy) consider() {
	best := t.self()
	for _, p := range t.view {
		if p.Rank().Compare(best.Rank()) > 0 {
			best = p
		}
	}
	mine := best.ID == t.cfg.Self || t.flaw == presumptuous && t.leader.ID == 0
	switch {
	case t.leading() || t.aside || t.barred:
	case !mine:
		t.send(best.ID, toyElection{Candidate: t.self()})
	case t.leader.ID == 0 || t.leader.Rank().Compare(t.self().Rank()) < 0:
		t.term++
		t.lead()
	}
}

func (t *toy) lead() {
	t.leader, t.patience = t.self(), 0
	t.announce()
}

func (t *toy) announce() {
	for _, p := range t.view {
		if p.ID != t.cfg.Self {
			t.send(p.ID, nomination.Coordinator{Leader: t.leader})
		}
	}
}

func (t *toy) send(to proto.NodeID, body proto.Body) {
	t.term = max(t.term, 1)
	m := proto.Message{From: t.cfg.Self, To: to, Term: t.term, Body: body}
	if t.flaw == ventriloquist {
		m.From++
	}
	t.out.Send = append(t.out.Send, m)
}

// tick is what happens every ten Deltas.
func (t *toy) tick() {
	t.deadline = t.now.Add(10 * t.cfg.Delta)
	switch {
	case t.leading() && t.flaw == fidgety:
		t.term++
		t.lead()
	case t.leading():
		t.announce()
	case t.flaw == stubborn && t.deposed == t.term && t.term > 0:
		t.lead()
	case t.leader.ID == 0 && t.patience > 2 && !t.aside && !t.barred:
		t.term++
		t.lead()
	default:
		t.patience++
		if t.leader.ID != 0 && t.patience > 5 {
			t.leader = proto.Peer{} // it has fallen silent
		}
		t.consider()
	}
}

func (t *toy) receive(m proto.Message) {
	if m.Term > t.term {
		t.term, t.leader = m.Term, proto.Peer{}
	}
	switch body := m.Body.(type) {
	case toyOK: // says what term it is
	case toyElection:
		switch {
		case t.flaw == credulous:
			t.leader = body.Candidate
		case t.leading():
			t.send(m.From, nomination.Coordinator{Leader: t.leader})
		}
	case nomination.Coordinator:
		t.announced(m, body.Leader)
	}
}

func (t *toy) announced(m proto.Message, l proto.Peer) {
	theirs := proto.Leadership{Term: m.Term, Leader: l.ID, Incarnation: l.Incarnation}
	switch {
	case t.flaw == deafened:
	case t.leader.ID == 0 && t.flaw != gullible &&
		(m.Term < t.term || theirs.Compare(t.floor) < 0):
		t.term = max(t.term, m.Term+1) // to get above what they and we followed
		t.send(m.From, toyOK{})
	case t.flaw == stormy && !t.aside && !t.barred:
		t.term++
		t.lead()
	case t.flaw == gullible || theirs.Compare(t.floor) >= 0 && m.Term == t.term:
		t.follow(m, l)
	case t.leading():
		t.send(m.From, nomination.Coordinator{Leader: t.leader})
	}
}

func (t *toy) follow(m proto.Message, l proto.Peer) {
	if t.leading() {
		t.deposed = t.term
	}
	t.leader, t.patience = l, 0
	if t.flaw == talkative {
		t.send(m.From, m.Body)
		t.send(m.From, m.Body)
	}
}

// The messages of a toy that it has to itself.
var (
	kindToyElection = proto.NewKind[toyElection](200, "ELECTION", "lead", proto.Nominates)
	kindToyOK       = proto.NewKind[toyOK](201, "OK", "this is the term", proto.Nominates)
)

type (
	toyElection struct {
		Candidate proto.Peer `msgpack:"p"`
	}
	toyOK struct{}
)

func (toyElection) Kind() proto.Kind { return kindToyElection }
func (b toyElection) String() string { return proto.Describe(b, "candidate", b.Candidate) }
func (toyElection) Validate() error  { return nil }

func (toyOK) Kind() proto.Kind { return kindToyOK }
func (b toyOK) String() string { return proto.Describe(b) }
func (toyOK) Validate() error  { return nil }
