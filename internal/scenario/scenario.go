package scenario

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ringleader-dev/ringleader/proto"
)

// ErrScript says that a text is no script. Errors that wrap it name the file, the line, and what is wrong
// there.
var ErrScript = errors.New("not a scenario that can be played")

// Script is a story about a cluster.
type Script struct {
	Name  string
	Steps []Step
}

// Step is some commands and what is said about them.
type Step struct {
	About    []string // the lines of the comment before the step, without #
	Commands []Command
	Want     string // what playing the step prints; empty if the script does not say
}

// Command is one line of a Step. Its arguments are valid.
type Command struct {
	Line int
	Verb string

	text    string
	words   []string
	options map[string]string
}

// String returns the line as it was written.
func (c Command) String() string { return c.text }

// Parse reads a script. The name of its file is for errors, which wrap ErrScript.
func Parse(name, text string) (Script, error) {
	p := parser{Script: Script{Name: name}}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		switch {
		case line == "----":
			i = p.want(lines, i+1)
		case line == "":
			p.close()
		case strings.HasPrefix(line, "#"):
			p.step.About = append(p.step.About, strings.TrimPrefix(strings.TrimPrefix(line, "#"), " "))
		default:
			cmd, err := p.command(i+1, line)
			if err != nil {
				return Script{}, fmt.Errorf("%s, line %d: %q: %w: %w", name, i+1, line, ErrScript, err)
			}
			p.step.Commands = append(p.step.Commands, cmd)
		}
	}
	p.close()
	if len(p.Steps) == 0 {
		return Script{}, fmt.Errorf("%s: %w: it has no command; a scenario begins with: %s",
			name, ErrScript, "new algorithm=ring nodes=4")
	}
	return p.Script, nil
}

// parser reads a script line by line.
type parser struct {
	Script
	step Step
	cast cast
}

// cast is what a script has said about its cluster so far.
type cast struct {
	algorithm string
	members   []Member
}

func (c cast) has(id proto.NodeID) bool {
	for _, m := range c.members {
		if m.ID == id {
			return true
		}
	}
	return false
}

// want reads the text that a step is to print, and returns the index of the last line that it read. The
// text ends at an empty line; if it begins with a second "----", it ends at two more of them.
func (p *parser) want(lines []string, from int) (last int) {
	end, i := "", from
	if i < len(lines) && lines[i] == "----" {
		end, i = "----", i+1
	}
	var text strings.Builder
	for ; i < len(lines) && strings.TrimRight(lines[i], " ") != end; i++ {
		text.WriteString(lines[i] + "\n")
	}
	if end != "" {
		i++ // the second one
	}
	p.step.Want = text.String()
	p.close()
	return i
}

// close ends a step at an empty line. A comment alone belongs to the step that follows.
func (p *parser) close() {
	if len(p.step.Commands) > 0 {
		p.Steps = append(p.Steps, p.step)
		p.step = Step{}
	} else if len(p.step.About) > 0 && p.step.About[len(p.step.About)-1] != "" {
		p.step.About = append(p.step.About, "")
	}
}

// command reads one command and checks it.
func (p *parser) command(at int, line string) (Command, error) {
	fields := strings.Fields(line)
	cmd := Command{Line: at, Verb: fields[0], text: line, options: map[string]string{}}
	v, ok := verbs[cmd.Verb]
	if !ok {
		return cmd, fmt.Errorf("unknown command %q; the commands are %s", cmd.Verb, strings.Join(Verbs(), ", "))
	}
	for _, f := range fields[1:] {
		key, value, option := strings.Cut(f, "=")
		_, known := v.options[key]
		if !known && cmd.Verb == "expect" { // how many messages of a kind
			known = kind(key, p.cast) == nil && number(value, p.cast) == nil
		}
		switch {
		case !option:
			cmd.words = append(cmd.words, f)
		case !known:
			return cmd, fmt.Errorf("unknown option %s=; %s", key, v.usage(cmd.Verb))
		case value == "":
			return cmd, fmt.Errorf("%s= has no value; %s", key, v.usage(cmd.Verb))
		default:
			cmd.options[key] = value
		}
	}
	if cmd.Verb == "new" {
		return cmd, p.begin(cmd)
	}
	if p.cast.members == nil {
		return cmd, errors.New("there is no cluster yet; begin with: new algorithm=ring nodes=4")
	}
	return cmd, v.check(cmd, p.cast)
}
