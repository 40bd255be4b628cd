package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// fault is one fault of the script.
type fault struct {
	kind  string
	what  string         // which node it strikes, and how
	nodes []proto.NodeID // nodes that are away because of it
	voted bool           // no voter may have just lost its disk: all have voted since
	alone bool           // no other fault may happen at the same time
	steps []step         // in order; the last one ends the fault

	// from and until are when the fault began and ended, counted from the machine's start. came
	// describes the results of the fault. The prover's mu guards these three.
	from, until time.Duration
	came        []string
}

// step is a part of a fault: do is called when the time after has passed since the fault began.
type step struct {
	after time.Duration
	do    func() error
}

// lasting makes a fault that calls begin at its start, and calls end after the time hold.
func lasting(f fault, hold time.Duration, begin, end func() error) *fault {
	f.steps = []step{{0, begin}, {hold, end}}
	return &f
}

// text describes a fault in one line. Times count from the time zero.
func (f *fault) text(zero time.Duration) string {
	words := append([]string{f.what}, f.came...)
	end := "      …"
	if f.until != 0 {
		end = fmt.Sprintf("%8.3f", (f.until - zero).Seconds())
	}
	return fmt.Sprintf("%8.3f –%s s  %s: %s", (f.from - zero).Seconds(), end, f.kind, strings.Join(words, "; "))
}

// torment plays faults, one or two at a time, until the time is up. After each play it waits until
// a function runs: whatever has failed, some node must lead before the next faults begin.
func (p *prover) torment(ctx context.Context) error {
	dice := rand.New(rand.NewPCG(p.Seed, 0))
	p.noted()
	if err := p.awaitWork(ctx, p.zero); err != nil {
		return err
	}
	if _, err := p.AwaitWrite(ctx, time.Now()); err != nil {
		return fmt.Errorf("no first write: %w", err)
	}
	if _, err := p.nodes.WaitAgreed(ctx); err != nil { // until all voters have saved their list
		return fmt.Errorf("before the first fault: %w", err)
	}
	for end := time.Now().Add(p.Time); time.Now().Before(end); {
		if err := p.play(ctx, p.draw(dice)); err != nil {
			return err
		}
		if err := p.awaitWork(ctx, now()); err != nil {
			return err
		}
		if err := p.watch(ctx, p.some(dice, 0, 0.25)); err != nil {
			return err
		}
	}
	return nil
}

// play carries out the steps of one fault, or of two. The second begins when half of the first is
// over.
func (p *prover) play(ctx context.Context, faults []*fault) error {
	type turn struct {
		fault *fault
		at    time.Duration
		last  bool
		do    func() error
	}
	var turns []turn
	start := time.Duration(0)
	for _, f := range faults {
		for i, s := range f.steps {
			turns = append(turns, turn{f, start + s.after, i == len(f.steps)-1, s.do})
		}
		start += f.steps[len(f.steps)-1].after / 2
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	began := time.Now()
	for _, t := range turns {
		if err := p.watch(ctx, t.at-time.Since(began)); err != nil {
			return err
		}
		p.begin(t.fault)
		if err := t.do(); err != nil {
			return fmt.Errorf("%s: %s: %w", t.fault.kind, t.fault.what, err)
		}
		if t.last {
			p.end(t.fault)
		}
	}
	return nil
}

func (p *prover) begin(f *fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.from == 0 {
		f.from = now()
		p.faults = append(p.faults, f)
		p.done[f.kind]++
	}
}

func (p *prover) end(f *fault) {
	p.mu.Lock()
	f.until = now()
	text := f.text(p.zero)
	p.mu.Unlock()
	p.say("  %s", text)
}

// came adds a description of a result to the fault f.
func (p *prover) came(f *fault, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f.came = append(f.came, fmt.Sprintf(format, args...))
}

// during describes the faults that were active at some time between two instants.
func (p *prover) during(from, until time.Duration) (lines []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.faults {
		if f.from < until && (f.until == 0 || f.until > from) {
			lines = append(lines, f.text(p.zero))
		}
	}
	return lines
}

// some returns a random time between least and most times the promise.
func (p *prover) some(dice *rand.Rand, least, most float64) time.Duration {
	return time.Duration((least + (most-least)*dice.Float64()) * float64(p.Promise))
}

// draw draws one fault, or two that may happen at the same time.
func (p *prover) draw(dice *rand.Rand) []*fault {
	first := p.oneOf(dice)
	if dice.IntN(3) > 0 {
		return []*fault{first}
	}
	for range 10 {
		if second := p.oneOf(dice); p.bearable(second, first) {
			return []*fault{first, second}
		}
	}
	return []*fault{first} // nothing may come beside it
}

// oneOf draws one fault.
func (p *prover) oneOf(dice *rand.Rand) *fault {
	all := p.kinds()
	total := 0
	for _, k := range all {
		total += k.weight
	}
	for {
		place := dice.IntN(total)
		i := slices.IndexFunc(all, func(k kind) bool { place -= k.weight; return place < 0 })
		if f := all[i].draw(dice, p.victim(dice)); !f.voted || p.recovered() {
			return f
		}
	}
}

// recovered reports whether every voter that lost its disk has had enough time to vote again.
func (p *prover) recovered() bool {
	for _, at := range p.wiped {
		if time.Since(at) < recovery*p.Promise {
			return false
		}
	}
	return true
}

// bearable reports whether two faults may happen at the same time: they are of two kinds, strike
// different nodes, and leave a majority of the nodes.
func (p *prover) bearable(f, beside *fault) bool {
	if f.kind == beside.kind || f.alone || beside.alone {
		return false
	}
	both := slices.Concat(f.nodes, beside.nodes)
	slices.Sort(both)
	return len(slices.Compact(both)) == len(f.nodes)+len(beside.nodes) && p.Nodes-len(both) >= p.state.majority()
}

// recovery is how long a voter that lost its disk may need until it votes again, in promises.
const recovery = 4

// victim returns a random node. With a probability of one half it returns the leader instead, if
// there is one.
func (p *prover) victim(dice *rand.Rand) proto.NodeID {
	id := proto.NodeID(1 + dice.IntN(p.Nodes))
	if dice.IntN(2) == 0 {
		if leader := p.leads().node; leader != 0 {
			return leader
		}
	}
	return id
}

// errScript says that the script could not go on, although the nodes did nothing wrong.
var errScript = errors.New("the faults cannot be done")
