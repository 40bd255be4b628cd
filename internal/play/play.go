package play

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// ErrDiffers says that both sides sent other messages, where the same were wanted.
var ErrDiffers = errors.New("reality sent other messages than virtual time")

// Config says how to play a scenario twice.
type Config struct {
	// Binary is the path of the ringleader executable.
	Binary string
	// Args are further arguments of every node.
	Args []string
	// Lookup is for the virtual side: see sim.Player.
	Lookup func(sim.Shape) (sim.Algorithm, error)
	// Out receives the comparison.
	Out io.Writer
	// Same makes it an error if both sides sent other messages.
	Same bool
}

// Run plays the script in virtual time, then with real processes, and writes the comparison. Its errors wrap
// ErrUnreal, testcluster.ErrCut, sim.ErrPlay or ErrDiffers.
func Run(ctx context.Context, cfg Config, script scenario.Script) (err error) {
	if err := errors.Join(Check(script), mayCut(script)); err != nil {
		return err
	}
	virtual, err := imagine(cfg, script)
	if err != nil {
		return fmt.Errorf("%s, in virtual time: %w", script.Name, err)
	}
	r := &reality{cfg: cfg, all: commands(script), virtual: virtual}
	defer func() { err = errors.Join(err, r.close()) }()
	for _, step := range script.Steps {
		for _, line := range step.About {
			fmt.Fprintln(cfg.Out, strings.TrimSpace("# "+line))
		}
		for range step.Commands {
			cmd := r.all[r.at]
			fmt.Fprintf(cfg.Out, "> %s\n", cmd)
			if err := r.play(ctx, cmd); err != nil {
				return fmt.Errorf("%s, line %d: %s: in reality: %w: %w", script.Name, cmd.Line, cmd, sim.ErrPlay, err)
			}
			r.at++
		}
	}
	if r.differs && cfg.Same {
		return fmt.Errorf("%s: %w", script.Name, ErrDiffers)
	}
	return nil
}

// dream is what the virtual side did, by the number of the command.
type dream struct {
	begins map[int]start
	parts  map[int]part
}

// start is where a cluster stands when the scenario begins.
type start struct {
	leader proto.NodeID
	term   uint64
}

// part is what came of the commands up to the end of a part.
type part struct {
	sent   []message
	leader uint64
}

// ends reports whether a part ends after the i-th command.
func ends(all []scenario.Command, i int) bool {
	return all[i].Verb == "agree" || i+1 == len(all) || all[i+1].Verb == "new"
}

// imagine plays a script in virtual time.
func imagine(cfg Config, script scenario.Script) (dream, error) {
	d := dream{map[int]start{}, map[int]part{}}
	var records []trace.Record
	lookup := func(s sim.Shape) (sim.Algorithm, error) { return cfg.Lookup(real(s)) }
	p := sim.Player{Lookup: lookup, Out: io.Discard, Record: func(r trace.Record) { records = append(records, r) }}
	var told story
	all := commands(script)
	for i, cmd := range all {
		if cmd.Verb == "new" {
			records, told = nil, story{}
		}
		if err := p.Do(cmd); err != nil {
			return d, err
		}
		if cmd.Verb == "new" && !cmd.Has("cold") {
			told.begin(records)
			d.begins[i] = start{leads(records), told.zero}
		}
		if ends(all, i) {
			d.parts[i] = part{told.part(records), uint64(leads(records))}
			told.next(records)
		}
	}
	return d, p.End()
}

// real returns the shape with the protection that processes have without being asked.
func real(s sim.Shape) sim.Shape {
	entry, err := catalog.Lookup(s.Algorithm)
	s.Leased = s.Leased || err == nil && entry.NeedsVoters()
	s.Recovers = !s.Leased
	return s
}

// leads returns the leader that the last record names.
func leads(records []trace.Record) proto.NodeID {
	if len(records) == 0 {
		return 0
	}
	return proto.NodeID(records[len(records)-1].Leader)
}

// patience is how long a scenario waits in reality for what it says will come.
const patience = 30 * time.Second
