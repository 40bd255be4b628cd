package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

func recordCommand() *cli.Command {
	return &cli.Command{
		Name:      "record",
		Usage:     "show the records that stand behind a statement",
		ArgsUsage: "NODE:SEQ... LOG...",
		Description: logsHelp + "\n\n" +
			"A record is named 4:17, or 4:17@a41c77f0 where several processes of node 4\n" +
			"wrote a 17th record. Each is printed as one line of JSON, and behind the last\n" +
			"record of a process the line by which it ended, if there is one. 4:0 is the\n" +
			"line in which a process said that it runs, and 4:0@a41c77f0 that of one.",
		Flags:  []cli.Flag{clusterFilter()},
		Action: showRecords,
	}
}

// recordName is a record as it is named behind a statement.
type recordName struct {
	node, seq   uint64
	incarnation string // empty for any process
}

// parseRecordName reads "4:17" or "4:17@a41c77f0".
func parseRecordName(word string) (name recordName, ok bool) {
	of, incarnation, _ := strings.Cut(word, "@")
	nodeText, seqText, two := strings.Cut(of, ":")
	node, err1 := strconv.ParseUint(nodeText, 10, 64)
	seq, err2 := strconv.ParseUint(seqText, 10, 64)
	ok = two && err1 == nil && err2 == nil && node > 0
	return recordName{node, seq, incarnation}, ok
}

func (n recordName) String() string {
	text := fmt.Sprintf("%d:%d", n.node, n.seq)
	if n.incarnation != "" {
		text += "@" + n.incarnation
	}
	return text
}

// names reports whether the record has this name.
func (n recordName) names(rec *trace.Record) bool {
	return n.node == rec.Node && n.seq == rec.Seq && (n.incarnation == "" || n.incarnation == rec.Incarnation)
}

// recordFinder prints the records that it looks for.
type recordFinder struct {
	wanted []recordName
	found  map[recordName]bool
	shown  map[string]bool // whole records: a file may be given twice
	latest map[uint64]bool // by node: whether its record that came last is wanted
	out    io.Writer
	err    error // of the output
	all    int   // records
}

// Add prints the record if it is one of those that are looked for.
func (f *recordFinder) Add(rec *trace.Record) {
	f.all++
	wanted := false
	for _, n := range f.wanted {
		if n.names(rec) {
			f.found[n], wanted = true, true
		}
	}
	if f.latest == nil {
		f.latest = map[uint64]bool{}
	}
	f.latest[rec.Node] = wanted
	if wanted {
		f.show(rec)
	}
}

// show prints a line of JSON.
func (f *recordFinder) show(line any) {
	b, err := json.Marshal(line)
	if err == nil && !f.shown[string(b)] {
		f.shown[string(b)] = true
		_, err = f.out.Write(append(rounds.EscapeJSON(b), '\n'))
	}
	f.err = errors.Join(f.err, err)
}

// Death is for simulated runs, whose records do not tell it.
func (*recordFinder) Death(string, uint64, time.Time) {}

// Left prints the last line of a process behind its last record: that stands for it where a process ended by its own
// word.
func (f *recordFinder) Left(last trace.Farewell) {
	if f.latest[last.Node] {
		f.show(last)
	}
}

// Up prints the line in which a process says that it runs, if its name is looked for: that has the number 0.
func (f *recordFinder) Up(first trace.Greeting) {
	line := trace.Record{Node: first.Node, Incarnation: first.Incarnation}
	for _, n := range f.wanted {
		if n.names(&line) {
			f.found[n] = true
			f.show(first)
		}
	}
}

// showRecords prints the records that the first words name.
func showRecords(ctx *cli.Context) error {
	words := ctx.Args().Slice()
	f := &recordFinder{found: map[recordName]bool{}, shown: map[string]bool{}, out: ctx.App.Writer}
	for len(words) > 0 {
		name, ok := parseRecordName(words[0])
		if !ok {
			break
		}
		f.wanted, words = append(f.wanted, name), words[1:]
	}
	if len(f.wanted) == 0 {
		return usagef("%s wants the name of a record, like 4:17; see %s --help", ctx.Command.HelpName,
			ctx.Command.HelpName)
	}
	files, unread, err := sources(ctx, words)
	if err != nil {
		return err
	}
	in := input{files: files}
	defer in.close()
	if err := in.takePipes(); err != nil {
		return err
	}
	sum, problems := in.read(filtered(ctx, f))
	unread = complainOf(ctx, sum, problems, unread)
	if f.all == 0 {
		return errors.Join(noRecords(ctx, files, sum), unread)
	}
	missing := slices.DeleteFunc(f.wanted, func(n recordName) bool { return f.found[n] })
	if len(missing) > 0 {
		err = fmt.Errorf("there is no record %s in these logs", anyOf(missing))
	}
	return errors.Join(f.err, err, unread)
}

// anyOf returns "4:17", or "4:17, 4:18 or 5:1".
func anyOf(names []recordName) string {
	text := names[0].String()
	for i, n := range names[1:] {
		between := ", "
		if i == len(names)-2 {
			between = " or "
		}
		text += between + n.String()
	}
	return text
}
