// Package lecture has the figures of the lecture notes that the project comes from, and plays them in the notes'
// own ids, with the notes' sentence at each step. A figure is a scenario whose comments are the sentences: what
// is in quotation marks is quoted, the rest is ours. Its first comment is a title and where the figure is from.
package lecture

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/proto"
)

//go:embed figures/*.txt
var files embed.FS

// ErrUnknown says that there is no figure of that name.
var ErrUnknown = errors.New("unknown figure")

// Figure is one figure, rule or example of the notes.
type Figure struct {
	Name  string
	Title string
	From  string // where it is in the notes
	Steps []scenario.Step
}

// All returns the figures, in the order of the notes. The files are part of the program: a file that cannot be
// read panics.
func All() []Figure {
	entries, err := files.ReadDir("figures")
	if err != nil {
		panic(err)
	}
	var all []Figure
	for _, e := range entries {
		text, err := files.ReadFile(path.Join("figures", e.Name()))
		if err != nil {
			panic(err)
		}
		_, name, _ := strings.Cut(strings.TrimSuffix(e.Name(), ".txt"), "-")
		script, err := scenario.Parse(name, string(text))
		if err != nil {
			panic(err)
		}
		f := Figure{Name: name, Steps: script.Steps}
		head := f.Steps[0].About
		f.Title, f.From, f.Steps[0].About = head[0], head[1], head[3:]
		all = append(all, f)
	}
	return all
}

// Find returns the figure of that name. Its error wraps ErrUnknown, and lists all.
func Find(name string) (Figure, error) {
	all := All()
	i := slices.IndexFunc(all, func(f Figure) bool { return f.Name == name })
	if i >= 0 {
		return all[i], nil
	}
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.Name
	}
	return Figure{}, fmt.Errorf("%w %q; the figures are %s", ErrUnknown, name, strings.Join(names, ", "))
}

// Message is a message that left a node.
type Message struct {
	From, To proto.NodeID
	Kind     string
	At       time.Duration // since all had agreed first
}

// String returns "6 ELECTION > 12".
func (m Message) String() string { return fmt.Sprintf("%d %s > %d", m.From, m.Kind, m.To) }

// Scene is what one step of a figure came to.
type Scene struct {
	Sentences []string // whole paragraphs
	Commands  []string
	Ring      []proto.NodeID // the nodes, in their order on the ring
	Lead      []proto.NodeID // the nodes that believe that they lead, at the end
	Down      []proto.NodeID // the nodes that have crashed, at the end
	Trace     string
	Sent      []Message
}

// Play plays a figure, and calls show after each step. It ends at the first error of show. Other errors wrap
// sim.ErrPlay: what the notes say did not come out.
func (f Figure) Play(lookup func(sim.Shape) (sim.Algorithm, error), show func(Scene) error) error {
	var trace strings.Builder
	var scene Scene
	p := sim.Player{Lookup: lookup, Out: &trace, Words: true, Sent: func(at time.Duration, m proto.Message) {
		scene.Sent = append(scene.Sent, Message{m.From, m.To, m.Body.Kind().String(), at})
	}}
	for _, step := range f.Steps {
		trace.Reset()
		scene = Scene{Sentences: paragraphs(step.About), Ring: scene.Ring}
		for _, cmd := range step.Commands {
			if cmd.Verb == "new" {
				scene.Ring = nil
				for _, m := range cmd.Members() {
					scene.Ring = append(scene.Ring, m.ID)
				}
			}
			scene.Commands = append(scene.Commands, cmd.String())
			if err := p.Do(cmd); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		scene.Trace = trace.String()
		scene.Lead, scene.Down = p.State()
		if err := show(scene); err != nil {
			return err
		}
	}
	return p.End()
}

// paragraphs joins lines to paragraphs: a new one begins after a line that ends a quotation or a sentence, and
// before one that begins a quotation.
func paragraphs(lines []string) (all []string) {
	for i, line := range lines {
		if i > 0 && line != "" && lines[i-1] != "" &&
			(!strings.HasPrefix(line, `"`) || !strings.HasSuffix(lines[i-1], `"`)) {
			all[len(all)-1] += " " + line
		} else if line != "" {
			all = append(all, line)
		}
	}
	return all
}

// Text writes a scene for a terminal.
func (s Scene) Text(w io.Writer) error {
	var b strings.Builder
	for _, p := range s.Sentences {
		b.WriteString(wrap(p, 100) + "\n")
	}
	for _, c := range s.Commands {
		b.WriteString("> " + c + "\n")
	}
	b.WriteString(s.Trace + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// wrap breaks a paragraph into lines of at most so many letters.
func wrap(text string, width int) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n")
}
