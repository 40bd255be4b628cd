package nodesim

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/daemon"
	"github.com/ringleader-dev/ringleader/internal/pacing"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/node/statefile"
	"github.com/ringleader-dev/ringleader/node/tcp"
	"github.com/ringleader-dev/ringleader/proto"
)

// machine is a computer: it has an id, an address, a disk and a clock, and runs one
// process at a time.
type machine struct {
	id    proto.NodeID
	disk  *disk
	drift float64 // how much faster its clock is than true
	saved saved
	seen  atomic.Pointer[process] // by the others, once it takes part; nil for none

	// What the next process is started with.
	voters []proto.NodeID

	process *process // nil while none runs
	lives   int
}

// saved is what a process may find on its machine's disk.
type saved struct {
	mu     sync.Mutex
	acked  algorithms.State
	asking algorithms.State // given to Save, and not answered
}

// set says what the disk keeps, and what it may.
func (s *saved) set(acked, asking algorithms.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acked, s.asking = acked, asking
}

// process is one run of a node.
type process struct {
	w           *world
	machine     *machine
	incarnation proto.Incarnation
	settings    daemon.Settings
	gate        gate

	ends     map[*end]struct{} // guarded by the network's mutex
	listener *listener         // likewise

	state *statefile.File
	node  *node.Node
	links *tcp.Transport
	views *views

	cancel context.CancelFunc // ends Run
	quit   context.CancelFunc // ends Lead
	parts  sync.WaitGroup     // of what daemon.serve starts
	led    chan struct{}      // closed when Lead has returned
	failed chan error         // Run's error
	over   chan struct{}      // closed when nothing of it is left
	leaves atomic.Bool        // it is being ended in an orderly way
}

// launch starts a process: the state, the node, the links, gossip, then what ties them
// together, in the order of package daemon and with what it makes them of.
func (w *world) launch(m *machine) {
	m.lives++
	p := &process{
		w: w, machine: m, settings: w.options.settingsOf(m), incarnation: incarnationOf(m.id, m.lives),
		ends: map[*end]struct{}{},
		led:  make(chan struct{}), failed: make(chan error, 1), over: make(chan struct{}),
	}
	m.process = p
	if err := p.open(); err != nil {
		w.note("%v does not start: %v", p, err)
		p.fail(err)
		p.dispose()
		return
	}
	w.note("%v starts", p)
	m.seen.Store(p)
	p.serve()
}

func (p *process) String() string { return fmt.Sprintf("n%d.%d", p.machine.id, p.machine.livesOf(p)) }

func (m *machine) livesOf(p *process) int {
	return int(p.incarnation[1])<<8 | int(p.incarnation[2])
}

// birth numbers the processes of all machines.
func (p *process) birth() uint64 { return uint64(p.incarnation[0])<<16 | uint64(p.machine.livesOf(p)) }

func incarnationOf(id proto.NodeID, life int) proto.Incarnation {
	return proto.Incarnation{byte(id), byte(life >> 8), byte(life), 1}
}

// dataDir is the same on all machines.
const dataDir = "/data"

func (p *process) open() (err error) {
	o := p.w.options
	state, saved, err := statefile.OpenOn(files{p.machine.disk, p}, p.settings.DataDir,
		statefile.Owner{Cluster: p.settings.Cluster, ID: p.settings.ID})
	p.state = state
	if err != nil {
		return err
	}
	p.w.checkRestored(p.machine, saved)
	changed, err := p.settings.VotersOf(saved)
	if err != nil {
		return err
	}
	c := p.settings.NodeConfig(p.incarnation, saved, uint64(p.machine.id)<<32|uint64(p.machine.lives))
	c.Machine, c.Disk, c.Transport, c.Now, c.Record = stepper{p, c.Machine}, store{p}, sender{p}, p.now, p.record
	if p.node, err = node.New(c); err != nil {
		return err
	}
	p.views = newViews(p)
	l := p.settings.LinkConfig(p.incarnation, changed)
	l.Receive, l.Evidence, l.Busy, l.Network, l.Log = p.deliver, p.report, p.busy, socket{p.w.network, p}, p.logger()
	l.Patience = o.patience // drawn, whatever the budget
	p.links, err = tcp.Listen(l)
	return err
}

// settingsOf are those of a process on a machine.
func (o options) settingsOf(m *machine) daemon.Settings {
	return daemon.Settings{
		ID: m.id, Cluster: "sim", Algorithm: o.entry, Preempt: o.entry.Preempt,
		Voters: m.voters, Promise: o.promise, DataDir: dataDir,
		Election: daemon.Endpoint{Bind: addrOf(m.id)},
		Pacing:   pacing.Pacing{Heartbeat: o.heartbeat, Latency: o.latency, Misses: o.misses},
	}
}

func (p *process) serve() {
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	lead, quit := context.WithCancel(context.Background())
	p.quit = quit
	p.parts.Go(func() {
		if err := p.node.Run(ctx); err != nil {
			p.fail(err)
		}
	})
	p.parts.Go(func() { p.views.follow(ctx) })
	p.parts.Go(func() {
		for leader := range p.node.Watch(ctx) {
			p.links.SetLeader(leader.ID)
		}
	})
	go func() {
		defer close(p.led)
		_ = p.node.Lead(lead, p.work)
	}()
}

// logger takes what the links log, where that is asked for.
func (p *process) logger() zerolog.Logger {
	if !p.w.verbose {
		return zerolog.Nop()
	}
	return zerolog.New(logged{p})
}

type logged struct{ *process }

// Write implements io.Writer.
func (l logged) Write(line []byte) (int, error) {
	l.w.note("%v %s", l.process, bytes.TrimSpace(line))
	return len(line), nil
}

// compareVoters is daemon.compareVoters.
func (p *process) compareVoters(listed []membership.Voters) {
	giveWay := slices.ContainsFunc(listed, p.settings.VotersNow(p.node).GivesWay)
	p.node.SetEligible("voters", !giveWay, "other voters")
}

// fail notes why the process ended by itself. The scheduler sees to it.
func (p *process) fail(err error) {
	select {
	case p.failed <- err:
	default:
	}
}

// now is the machine's clock. The node may read it with a mutex held, so it never waits.
func (p *process) now() time.Time { return p.machine.reading(time.Now()) }

// stepper steps a Machine only while its process runs, by the clock as it is then.
type stepper struct {
	p *process
	algorithms.Machine
}

func (s stepper) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	s.p.gate.pass()
	if later := s.p.now(); later.After(now) {
		now = later
	}
	return s.Machine.Step(now, ev)
}

func (m *machine) reading(t time.Time) time.Time {
	since := t.Sub(dawn)
	return t.Add(time.Duration(float64(since) * m.drift))
}

// dawn is when each bubble's time begins.
var dawn = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (p *process) busy() time.Duration {
	p.gate.pass()
	return p.node.Busy()
}

// deliver takes what the links bring.
func (p *process) deliver(m proto.Message) {
	if told := p.w.said; told != nil {
		told(m, false)
	}
	p.node.Deliver(m)
}

// report takes evidence, as daemon.report.
func (p *process) report(e tcp.Evidence) {
	if e.Proven {
		p.w.noteProof(p, e)
	}
	p.settings.TellNode(p.node, e)
	p.views.report(e)
}

func (p *process) record(r trace.Record) {
	if p.w.verbose {
		var text strings.Builder
		_ = trace.Text(&text, dawn, r)
		p.w.note("%s", text.String())
	}
}

// store is the Disk of a process.
type store struct{ p *process }

func (s store) Save(state algorithms.State) error {
	kept := &s.p.machine.saved
	kept.mu.Lock()
	if !s.p.gate.isDead() {
		kept.asking = state
	}
	kept.mu.Unlock()
	if err := s.p.state.Save(state); err != nil {
		return err
	}
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if !s.p.gate.isDead() {
		kept.acked, kept.asking = state, algorithms.State{}
	}
	return nil
}

type sender struct{ p *process }

func (s sender) Send(m proto.Message) {
	if told := s.p.w.said; told != nil {
		told(m, true)
	}
	s.p.links.Send(m)
}

func (s sender) Hold() (closing <-chan struct{}, release func()) { return s.p.links.Hold() }

// kill is SIGKILL: the kernel ends what the process has open, the listener first.
func (p *process) kill() {
	p.gate.kill()
	n := p.w.network
	n.mu.Lock()
	if p.listener != nil {
		p.listener.shut()
	}
	for e := range p.ends {
		e.shut()
	}
	n.mu.Unlock()
	_ = unlocker(files{p.machine.disk, p}).Close()
	p.w.ended(p)
	p.machine.process = nil
	p.machine.seen.Store(nil)
	go p.dispose()
}

// dispose ends the goroutines of a process that is dead to the world already.
func (p *process) dispose() {
	defer close(p.over)
	p.gate.kill()
	if p.quit != nil {
		p.quit()
		p.cancel()
		p.parts.Wait()
		<-p.led
	}
	if p.links != nil {
		_ = p.links.Close()
	}
	if p.state != nil {
		_ = p.state.Close()
	}
}

// pause is SIGSTOP, resume SIGCONT.
func (p *process) pause() {
	p.w.work.suspend(p)
	p.gate.pause()
}

func (p *process) resume() {
	p.w.work.goOn(p)
	n := p.w.network
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, do := range p.gate.resume() {
		do()
	}
}

// The orders in which callers end a node.
const (
	runFirst   = iota // end Run, wait for it, close the links, then end Lead
	leadFirst         // end Lead and wait for it; then as above
	linksFirst        // close the links, then the rest
	stopOrders
)

// stop ends the process as a program does that embeds a node, and resigns before that or
// not.
func (p *process) stop(order int, resign bool) {
	p.leaves.Store(true)
	if resign {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		_ = p.node.Resign(ctx, 0, "told to")
		cancel()
	}
	switch order {
	case leadFirst:
		p.quit()
		<-p.led
	case linksFirst:
		_ = p.links.Close()
	}
	p.cancel()
	p.parts.Wait()
	_ = p.links.Close()
	p.quit()
	<-p.led
	_ = p.state.Close()
}
