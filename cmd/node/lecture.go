package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/lecture"
)

func lectureCommand() *cli.Command {
	return &cli.Command{
		Name:      "lecture",
		Usage:     "replay a figure of the lecture notes",
		ArgsUsage: "[NAME]",
		Description: "Without NAME it lists the figures. With it, it plays one in virtual time,\n" +
			"in the notes' own ids: at each step the notes' sentence, then what the\n" +
			"nodes did. Ends with 1 if what the notes say did not come out.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "quiz", Usage: "stop before each step and ask who sends what to whom"},
			&cli.StringFlag{
				Name: "output", Aliases: []string{"o"}, Value: "text",
				Usage: "`FORMAT`: text, json, or html: one page, the ring as a circle, the sentence marked",
			},
		},
		Action: teach,
	}
}

func teach(ctx *cli.Context) error {
	names := ctx.Args().Slice()
	format, err := wordOf(ctx, "output", "text", "json", "html")
	if err != nil {
		return err
	}
	quiz := ctx.Bool("quiz")
	switch {
	case len(names) > 1:
		return usagef("lecture: give one NAME; without it the figures are listed")
	case quiz && format != "text":
		return usagef("--quiz asks on the terminal: leave --output %s away", format)
	case len(names) == 0 && (quiz || format == "html"):
		return usagef("lecture: give the NAME of a figure, too; without it the figures are listed")
	case len(names) == 0:
		return listFigures(ctx.App.Writer, format)
	}
	f, err := lecture.Find(names[0])
	if err != nil {
		return mark(errUsage, err)
	}
	var scenes []lecture.Scene
	show := func(s lecture.Scene) error {
		scenes = append(scenes, s)
		return nil
	}
	if format == "text" {
		fmt.Fprintf(ctx.App.Writer, "%s\n%s\n\n", f.Title, f.From)
		show = func(s lecture.Scene) error { return s.Text(ctx.App.Writer) }
	}
	q := quizMaster{in: bufio.NewScanner(ctx.App.Reader), out: ctx.App.Writer}
	if quiz {
		show = q.ask
	}
	if err := f.Play(shaped, show); err != nil {
		return err
	}
	switch {
	case format == "html":
		return lecture.Page(ctx.App.Writer, f, scenes)
	case format == "json":
		return json.NewEncoder(ctx.App.Writer).Encode(struct {
			Name, Title, From string
			Scenes            []lecture.Scene
		}{f.Name, f.Title, f.From, scenes})
	case quiz:
		fmt.Fprintf(ctx.App.Writer, "%d of %d right\n", q.right, q.asked)
	}
	return nil
}

// listFigures prints the names and titles of all figures.
func listFigures(w io.Writer, format string) error {
	type line struct {
		Name  string `json:"name"`
		Title string `json:"title"`
		From  string `json:"from"`
	}
	var lines []line
	for _, f := range lecture.All() {
		lines = append(lines, line{f.Name, f.Title, f.From})
		if format == "text" {
			fmt.Fprintf(w, "%-28s %s\n", f.Name, f.Title)
		}
	}
	if format == "json" {
		return json.NewEncoder(w).Encode(lines)
	}
	return nil
}

// quizMaster asks before each step who sends what to whom.
type quizMaster struct {
	in           *bufio.Scanner
	out          io.Writer
	right, asked int
}

var errQuizLeft = errors.New("the quiz was left before its end")

func (q *quizMaster) ask(s lecture.Scene) error {
	for _, p := range s.Sentences {
		fmt.Fprintln(q.out, p)
	}
	for _, c := range s.Commands {
		if verb, _, _ := strings.Cut(c, " "); verb != "expect" { // it would tell
			fmt.Fprintf(q.out, "> %s\n", c)
		}
	}
	if len(s.Sent) == 0 {
		_, err := fmt.Fprintf(q.out, "Nobody sends anything.\n\n")
		return err
	}
	q.asked++
	fmt.Fprintf(q.out, "Who sends what to whom first? (as: %s; an empty line shows it) ", "1 HELLO > 2")
	if !q.in.Scan() {
		fmt.Fprintln(q.out)
		return mark(errUsage, errQuizLeft)
	}
	// Whatever leaves at the same instant is as right as the first.
	first := slices.DeleteFunc(slices.Clone(s.Sent), func(m lecture.Message) bool { return m.At != s.Sent[0].At })
	answer := strings.Join(strings.Fields(strings.ReplaceAll(strings.ToUpper(q.in.Text()), ">", " ")), " ")
	if slices.ContainsFunc(
		first, func(m lecture.Message) bool { return answer == strings.ReplaceAll(m.String(), " >", "") },
	) {
		q.right++
		fmt.Fprintln(q.out, "Right.")
	} else {
		fmt.Fprintf(q.out, "It is %s.\n", first[0])
	}
	fmt.Fprintf(q.out, "%s\n", s.Trace)
	return nil
}
