package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/rounds/report"
)

// textWidth is the width of a terminal and of a code block in a README.
const textWidth = 80

// appHelp returns the help of the whole program. The library's own help would sort the groups of
// commands by name.
func appHelp(all []group) string {
	var b strings.Builder
	b.WriteString("{{.Name}} - {{.Usage}}\n\nUSAGE:\n   {{.HelpName}} COMMAND [options]\n" +
		"   {{.HelpName}} COMMAND --help\n")
	for _, g := range all {
		fmt.Fprintf(&b, "\n%s:\n", g.purpose)
		for _, c := range g.commands {
			fmt.Fprintf(&b, "   %-12s %s\n", c.Name, c.Usage)
		}
	}
	return b.String() + "\n" + exitCodesHelp() + "\n"
}

// flagHelp returns a flag's entry in a help text: the flag on one line, its usage
// under it. A word in backquotes in the usage is the name of the flag's value.
func flagHelp(f cli.Flag) string {
	doc, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return ""
	}
	usage := doc.GetUsage()
	words := strings.SplitN(usage, "`", 3)
	head := make([]string, 0, len(f.Names()))
	for _, name := range f.Names() {
		head = append(head, dashed(name))
	}
	text := strings.Join(head, ", ")
	if len(words) == 3 {
		text += " " + words[1]
		usage = strings.Join(words, "")
	}
	if fallback := strings.Trim(doc.GetDefaultText(), `"`); fallback != "" && fallback != "false" && fallback != "0" {
		usage += fmt.Sprintf(" (default: %s)", fallback)
	}
	const margin = 8 // 6 of which the library puts there
	for _, line := range report.Wrap(usage, textWidth-margin) {
		text += "\n  " + line
	}
	return text
}
