package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// textWidth is the width of a terminal and of a code block in a README.
const textWidth = 80

// flagHelp is a flag's entry in a help text: the flag on one line, what it is
// for under it. A word in backquotes in its usage stands for its value.
func flagHelp(f cli.Flag) string {
	doc, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return ""
	}
	usage := doc.GetUsage()
	words := strings.SplitN(usage, "`", 3)
	head := make([]string, 0, len(f.Names()))
	for _, name := range f.Names() {
		head = append(head, "--"[:min(2, len(name))]+name)
	}
	text := strings.Join(head, ", ")
	if len(words) == 3 {
		text += " " + words[1]
		usage = strings.Join(words, "")
	}
	if fallback := doc.GetDefaultText(); fallback != "" && fallback != "false" && fallback != "0" {
		usage += fmt.Sprintf(" (default: %s)", fallback)
	}
	const margin = 8 // 6 of which the library puts there
	for _, line := range wrap(usage, textWidth-margin) {
		text += "\n  " + line
	}
	return text
}

// wrap breaks text at spaces into lines of at most width bytes, where its
// words allow it.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
