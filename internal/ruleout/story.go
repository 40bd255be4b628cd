package ruleout

import (
	_ "embed" // the stories
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/proto"
)

var (
	//go:embed stories/fencing.txt
	fencingStory string
	//go:embed stories/lease-first.txt
	leaseStory string
	//go:embed stories/majority.txt
	majorityStory string
)

// Told is what came of a rule's story, without the rule and with it.
type Told struct {
	Rule     string   `json:"rule"`
	Sentence string   `json:"sentence"`
	Prevents string   `json:"prevents"`
	Scenario []string `json:"scenario"`
	Without  Outcome  `json:"without"`
	With     Outcome  `json:"with"`
}

// Outcome is what came of a story.
type Outcome struct {
	Says              string          `json:"says"`
	Messages          map[string]int  `json:"messages"`
	Leader            proto.NodeID    `json:"leader"` // whom all follow at the end; 0 if they do not agree
	Term              proto.Term      `json:"term"`
	LeaderlessSeconds float64         `json:"leaderless_seconds"`
	ContestedSeconds  float64         `json:"contested_seconds"`
	Lost              []sim.Write     `json:"lost"`
	Refused           []sim.Write     `json:"refused"`
	Violations        []sim.Violation `json:"violations"`
}

// Tell plays the rule's story without the rule, and with it. out receives the trace of the former. The Player
// says how.
func (r Rule) Tell(p sim.Player, out io.Writer) (Told, error) {
	script, err := r.script()
	if err != nil {
		return Told{}, err
	}
	t := Told{Rule: r.Name, Sentence: r.Sentence, Prevents: r.Prevents}
	for _, step := range script.Steps {
		for _, cmd := range step.Commands {
			t.Scenario = append(t.Scenario, cmd.String())
		}
	}
	mutant := r.Player(p)
	mutant.Out = out
	if t.Without, err = r.play(mutant, script); err != nil {
		return Told{}, err
	}
	p.Out = io.Discard
	t.With, err = r.play(p, script)
	return t, err
}

func (r Rule) script() (scenario.Script, error) { return scenario.Parse(r.Name, r.Story) }

// About returns what the story is about.
func (r Rule) About() (lines []string) {
	script, _ := r.script()
	for _, step := range script.Steps {
		lines = append(lines, step.About...)
	}
	return lines
}

func (r Rule) play(p sim.Player, script scenario.Script) (Outcome, error) {
	for _, step := range script.Steps {
		for _, cmd := range step.Commands {
			if !p.JSON {
				fmt.Fprintf(p.Out, "> %s\n", cmd)
			}
			if err := p.Do(cmd); err != nil {
				return Outcome{}, fmt.Errorf("the story of %s, %w", script.Name, err)
			}
		}
	}
	t := p.Tale()
	return Outcome{
		Says: r.says(t), Messages: t.Sent, Leader: t.Leader.Leader, Term: t.Leader.Term,
		ContestedSeconds: t.Contested.Seconds(), LeaderlessSeconds: t.Leaderless.Seconds(),
		Lost: append([]sim.Write{}, t.Lost...), Refused: append([]sim.Write{}, t.Refused...),
		Violations: append([]sim.Violation{}, p.Violations()...),
	}, nil
}

func saysLeaders(t sim.Tale) string {
	a, b := t.Two[0], t.Two[1]
	if t.Contested == 0 {
		return "never two leaders at once; " + saysEnd(t)
	}
	return fmt.Sprintf("two leaders at once for %v: %d in term %d and %d in term %d",
		t.Contested.Round(10*time.Millisecond), a.Leader, a.Term, b.Leader, b.Term)
}

func saysEnd(t sim.Tale) string {
	if t.Leader.Leader == 0 {
		return fmt.Sprintf("nobody led for %v", t.Leaderless.Round(10*time.Millisecond))
	}
	return fmt.Sprintf("at the end all follow %d in term %d", t.Leader.Leader, t.Leader.Term)
}

func saysMessages(t sim.Tale) string {
	return words.Plural(t.Sent["ELECTION"], "message") + " ELECTION were sent, of " +
		fmt.Sprint(t.Sent["total"]) + " in all; " + saysEnd(t)
}

func saysWrites(t sim.Tale) string {
	var parts []string
	for _, w := range t.Lost {
		parts = append(parts, fmt.Sprintf("the write with token %d overwrote that of token %d", w.Token, w.Before))
	}
	for _, w := range t.Refused {
		parts = append(parts, fmt.Sprintf("current token is %d, rejecting %d", w.Before, w.Token))
	}
	return strings.Join(parts, "; ")
}
