package play

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// ErrUnreal says that real processes cannot play a scenario. Errors that wrap it name the line, the command,
// and the reason.
var ErrUnreal = errors.New("real processes cannot do that")

const (
	lies      = "a real detector cannot be made to lie"
	meddles   = "a real connection loses, delays and repeats no single message"
	mostNodes = 50
)

// unreal are the commands that real processes cannot carry out, and why.
var unreal = map[string]string{
	"suspect": lies, "miss": lies, "trust": lies, "notice": "a real detector looks when it likes",
	"lose": meddles, "hold": meddles, "again": meddles,
	"attr":  "a process keeps the attribute with which it starts",
	"write": "a real leader writes by its own program; bench fencing does so with processes",
}

// unrealOptions are the options of commands that real processes do not have, and why.
var unrealOptions = map[string]map[string]string{
	"new": {
		"fence":  "a fence agent needs machines to switch off",
		"clocks": "processes of one machine have one clock",
		"term":   "real voters begin with the first term",
	},
	"crash":  {"after": "a process is not killed between two effects of a step"},
	"resign": {"to": "a process that resigns hands over to the best node; say transfer"},
	"leave":  {"to": "a process that leaves hands over to the best node; say transfer"},
	"bar":    {"keep": "a process that is paused does not lead on"},
}

// Check returns an error that wraps ErrUnreal if real processes cannot play the script.
func Check(script scenario.Script) error {
	var errs []error
	for _, cmd := range commands(script) {
		if why := whyUnreal(cmd); why != "" {
			errs = append(errs, fmt.Errorf("%s, line %d: %s: %w: %s", script.Name, cmd.Line, cmd, ErrUnreal, why))
		}
	}
	return errors.Join(errs...)
}

func commands(script scenario.Script) (all []scenario.Command) {
	for _, step := range script.Steps {
		all = append(all, step.Commands...)
	}
	return all
}

// whyUnreal says why real processes cannot carry out the command; "" if they can.
func whyUnreal(cmd scenario.Command) string {
	if why := unreal[cmd.Verb]; why != "" {
		return why
	}
	for key, why := range unrealOptions[cmd.Verb] {
		if value, given := cmd.Option(key); given && value != "false" {
			return why
		}
	}
	if cmd.Verb != "new" {
		return ""
	}
	detector, _ := cmd.Option("detector")
	switch members := cmd.Members(); {
	case detector == "none":
		return lies
	case cmd.Has("twice"):
		return meddles
	case len(members) > mostNodes:
		return fmt.Sprintf("more than %d processes are too many for one machine", mostNodes)
	case !rising(members):
		return "real nodes stand on the ring in the order of their ids: " +
			"give ring= in that order; attrs= say who is best"
	}
	return ""
}

// rising reports whether the members go round in the order of their ids.
func rising(members []scenario.Member) bool {
	falls := 0
	for i, m := range members {
		if m.ID > members[(i+1)%len(members)].ID {
			falls++
		}
	}
	return falls <= 1
}

// mayCut returns an error if the script cuts the network, which cannot be done here.
func mayCut(script scenario.Script) error {
	nodes := 0
	for _, cmd := range commands(script) {
		switch cmd.Verb {
		case "new":
			nodes = len(cmd.Members())
		case "cut", "partition":
			if err := cmp.Or(testcluster.MayCut(nodes), testcluster.MayBlock()); err != nil {
				return fmt.Errorf("%s, line %d: %s: %w", script.Name, cmd.Line, cmd, err)
			}
		}
	}
	return nil
}
