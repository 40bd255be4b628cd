package compare

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/bench"
)

// entry is an algorithm of the catalogue or of none.
func entry(name string, g algorithms.Guarantee) catalog.Entry {
	return catalog.Entry{About: algorithms.About{Name: name, Guarantee: g}}
}

var (
	nominates = entry("nominates", algorithms.BestEffort)
	decides   = entry("decides", algorithms.Lease)
)

// An algorithm "with a quorum of its own has only one way to run: with voters".
func TestContenders(t *testing.T) {
	for _, c := range []struct {
		alone, voters bool
		want          []string
	}{
		{true, true, []string{"nominates none", "nominates all", "decides own"}},
		{true, false, []string{"nominates none", "decides own"}},
		{false, true, []string{"nominates all", "decides own"}},
	} {
		o := Options{Entries: []catalog.Entry{nominates, decides}, Alone: c.alone, Voted: c.voters}
		var got []string
		for _, one := range o.contenders() {
			got = append(got, one.entry.Name+" "+string(one.votes))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("alone %v, voters %v: %q, want %q", c.alone, c.voters, got, c.want)
		}
	}
}

// Promise: "N of 1 and 2": what cannot be done is left out, and says why; when nothing
// is left that is an error.
func TestLeftOut(t *testing.T) {
	for _, c := range []struct {
		nodes int
		votes Votes
		step  Step
		want  string
	}{
		{1, Nobody, Kill, "of 1 node nobody is left to take over"},
		{1, All, Stop, "of 1 node nobody is left to take over"},
		{1, All, Restart, ""},
		{2, Nobody, Pause, ""},
		{2, Nobody, KillTwo, "of 2 nodes nobody is left to take over"},
		{2, Own, Kill, "1 of 2 voters left, 2 needed"},
		{2, Own, Restart, ""},
		{3, All, Kill, ""},
		{3, All, KillTwo, "1 of 3 voters left, 2 needed"},
		{3, Nobody, KillTwo, ""},
		{4, All, KillTwo, "2 of 4 voters left, 3 needed"},
		{5, Own, KillTwo, ""},
	} {
		o := Options{Options: bench.Options{Nodes: c.nodes}, Voted: true}
		got := o.leftOut(contender{entry: nominates, votes: c.votes}, c.step)
		if got != c.want {
			t.Errorf("%d nodes, votes %s, %s: %q, want %q", c.nodes, c.votes, c.step, got, c.want)
		}
	}
	got := (Options{Options: bench.Options{Nodes: 5}}).leftOut(contender{entry: decides, votes: Own}, Kill)
	if !strings.Contains(got, "only with voters") {
		t.Errorf("without voters: %q", got)
	}
	cut := Options{Options: bench.Options{Nodes: 3}}.leftOut(contender{entry: nominates, votes: Nobody}, Cut)
	if os.Geteuid() != 0 && !strings.Contains(cut, "run as root") {
		t.Errorf("a cut without root: %q", cut)
	}
}

// Promise: an algorithm that nominates stands on each store, too; a store that is not here is left out, and says why.
func TestStores(t *testing.T) {
	kinds, err := ParseStores("redis, etcd")
	if err != nil || !slices.Equal(kinds, []string{"redis", "etcd"}) {
		t.Fatal(kinds, err)
	}
	for text, says := range map[string]string{
		"redis,mongo": `unknown store "mongo": want all, none, or one or more of etcd,`, "redis,redis": "named twice",
	} {
		if _, err := ParseStores(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
	o := Options{
		Options: bench.Options{Nodes: 3}, Entries: []catalog.Entry{nominates, decides}, Script: []Step{Kill, Cut},
		Stores: kinds, stores: &stores{missing: map[string]string{"etcd": "etcd is not here"}},
	}
	var on []string
	for _, c := range o.contenders() {
		if c.store == "" {
			continue
		}
		on = append(on, c.entry.Name+" "+c.store+" "+string(c.guarantee())+" "+o.leftOut(c, Kill))
		if c.store == "redis" && !strings.Contains(o.leftOut(c, Cut), "loopback") {
			t.Errorf("a cut: %q", o.leftOut(c, Cut))
		}
	}
	if want := []string{
		"nominates redis lease-until-failover ", "nominates etcd lease etcd is not here",
	}; !slices.Equal(on, want) {
		t.Errorf("%q, want %q", on, want)
	}
	o.Entries = []catalog.Entry{decides}
	if err := o.validate(); !errors.Is(err, bench.ErrOptions) || !strings.Contains(err.Error(), "that nominates") {
		t.Errorf("no algorithm for a store: %v", err)
	}
}

func TestValidate(t *testing.T) {
	good := Options{
		Options: bench.Options{Nodes: 3}, Entries: []catalog.Entry{nominates}, Script: []Step{Kill},
		Alone: true, Voted: true,
	}
	if err := good.validate(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		change func(*Options)
		is     error
		says   string
	}{
		{func(o *Options) { o.Nodes = 0 }, bench.ErrOptions, "0 nodes: give 1 or more"},
		{func(o *Options) { o.Nodes = 1e6 }, bench.ErrCapacity, "MiB are available"},
		{func(o *Options) { o.Nodes = 1 }, bench.ErrOptions, "kill: of 1 node nobody is left"},
		{func(o *Options) { o.Nodes, o.Alone = 2, false }, bench.ErrOptions, "kill: 1 of 2 voters left, 2 needed"},
		{
			func(o *Options) { o.Entries, o.Voted = []catalog.Entry{decides}, false },
			bench.ErrOptions, "kill: it has a quorum of its own, and runs only with voters",
		},
	} {
		o := good
		c.change(&o)
		if err := o.validate(); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", o, err, c.says)
		}
	}
}
