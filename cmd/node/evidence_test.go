package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// "Every statement has its evidence and its confidence: the records that prove it (a command shows them), and whether
// the node said so itself, peers saw it, or it is inferred." Of each sentence that is printed of a fixture, the names
// of records stand for one record each, which is of the nodes in the sentence, and of its time.
func TestEverySentenceHasItsRecords(t *testing.T) {
	sentences := 0
	for _, pattern := range []string{
		"testdata/*.log", "testdata/cases/*", "render/testdata/*.log", "logs/testdata/*.log",
	} {
		paths, err := filepath.Glob("../../rounds/" + pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal("no logs", pattern, err)
		}
		for _, path := range paths {
			sentences += readAloud(t, path, nil)
			for id := range uint64(9) { // the same with the records of one node missing
				readAloud(t, path, func(rec *trace.Record) bool { return rec.Node == id+1 })
			}
			readAloud(t, path, func(rec *trace.Record) bool { return rec.Level == "debug" })
		}
	}
	if sentences < 1000 {
		t.Errorf("only %d sentences", sentences)
	}
}

// The list in docs/ROUNDS.md is how the list begins that the command below it prints.
func TestDocsShowTheList(t *testing.T) {
	docs, err := os.ReadFile("../../docs/ROUNDS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(docs), "```\n")
	shown, _, _ = strings.Cut(shown, "\n```")
	files, _ := logs.Files([]string{"../../rounds/testdata/cases/outage-17s-quorum-lost"})
	b := rounds.NewBuilder()
	batch := logs.Batch{Paths: files}
	batch.Read(b, func(err error) { t.Fatal(err) })
	var out bytes.Buffer
	if err := writeRounds(&out, io.Discard, b.History(), report.Selection{}); err != nil {
		t.Fatal(err)
	}
	if shown == "" || !strings.HasPrefix(out.String(), shown) {
		t.Errorf("docs/ROUNDS.md shows\n%s\nand the command prints\n%s", shown, &out)
	}
}

// readAloud checks all sentences on the logs of a fixture, apart from those records that it lacks, and counts them.
func readAloud(t *testing.T, path string, lacks func(*trace.Record) bool) (sentences int) {
	b := rounds.NewBuilder()
	kept := &keptRecords{Builder: b, lacks: lacks}
	files, errs := logs.Files([]string{path})
	batch := logs.Batch{Paths: files}
	batch.Read(kept, func(err error) { errs = append(errs, err) })
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	h := b.History()
	for _, g := range h.Groups {
		a := &auditor{t: t, path: path, g: g, records: kept.records, known: map[string][]*trace.Record{}}
		var out bytes.Buffer
		one := &rounds.History{Groups: []*rounds.Group{g}}
		a.must(writeRounds(&out, io.Discard, one, report.Selection{}))
		a.list(out.String())
		for _, r := range g.Rounds {
			out.Reset()
			a.must(report.Explain(&out, g, r, true))
			a.story(fmt.Sprint("explain ", r.Term), out.String())
			out.Reset()
			a.must(report.Show(&out, g, r, true))
			a.table(fmt.Sprint("show ", r.Term), out.String())
		}
		ids := []uint64{unheardOf}
		for _, n := range g.Nodes {
			ids = append(ids, n.ID)
		}
		for _, id := range ids {
			out.Reset()
			a.must(report.WhyNot(&out, g, id))
			a.story(fmt.Sprint("why-not ", id), out.String())
		}
		sentences += a.n
	}
	return sentences
}

// unheardOf is a node that no record names.
const unheardOf = 77

// keptRecords is a Builder, and the records that it took.
type keptRecords struct {
	*rounds.Builder
	records []*trace.Record
	lacks   func(*trace.Record) bool // nil if no record is missing
}

func (k *keptRecords) Add(rec *trace.Record) {
	if k.lacks != nil && k.lacks(rec) {
		return
	}
	kept := *rec
	k.records = append(k.records, &kept)
	k.Builder.Add(rec)
}

// Up takes the line by which a process says that it runs for a record with the number 0, as the names of records do.
func (k *keptRecords) Up(first trace.Greeting) {
	k.records = append(k.records, &trace.Record{
		Time: first.Time, Cluster: first.Cluster, Algo: first.Algorithm, Node: first.Node,
		Incarnation: first.Incarnation,
	})
	k.Builder.Up(first)
}

// auditor compares the sentences on a group with its records.
type auditor struct {
	t       *testing.T
	path    string
	g       *rounds.Group
	records []*trace.Record
	known   map[string][]*trace.Record // by their names in sentences
	n       int                        // sentences with a reference
}

func (a *auditor) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(a.path, err)
	}
}

// list checks each line of the list.
func (a *auditor) list(text string) {
	for line := range strings.Lines(text) {
		a.sentence("list", strings.TrimSpace(line))
	}
}

// story checks each sentence of an explanation. A finding and what is not known are a paragraph each.
func (a *auditor) story(where, text string) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		paragraph = strings.Join(strings.Fields(paragraph), " ")
		if strings.HasPrefix(paragraph, "What is wrong: ") || strings.HasPrefix(paragraph, "Not known: ") {
			a.sentence(where, paragraph)
			continue
		}
		for _, s := range inSentences(paragraph) {
			a.sentence(where, s)
		}
	}
}

// inSentences breaks a paragraph behind each stop that a capital letter follows.
func inSentences(paragraph string) (list []string) {
	from := 0
	for _, at := range sentenceEnd.FindAllStringIndex(paragraph, -1) {
		list = append(list, strings.TrimSpace(paragraph[from:at[1]-1]))
		from = at[1] - 1
	}
	return append(list, paragraph[from:])
}

var sentenceEnd = regexp.MustCompile(`[.”] [A-Z]`)

// table checks each field, row and step of a round that is shown whole. What is further to the right than its text goes
// on with the line above.
func (a *auditor) table(where, text string) {
	statement, label := "", ""
	for line := range strings.Lines(text + "\n") {
		line = strings.TrimSuffix(line, "\n")
		if goesOn.MatchString(line) && statement != "" {
			statement += " " + strings.TrimSpace(line)
			continue
		}
		if statement != "" {
			a.sentence(where, strings.TrimSpace(statement))
		}
		statement = line
		if field := fieldLabel.FindString(line); field != "" {
			label = strings.TrimSpace(field)
		} else if strings.HasPrefix(line, strings.Repeat(" ", 12)) {
			statement = label + strings.TrimLeft(line, " ")
		}
	}
}

var (
	fieldLabel = regexp.MustCompile(`^[A-Z][a-zA-Z ]{11}`)
	goesOn     = regexp.MustCompile(`^ {14}`)
)

// unproven are the sentences that name no record, by what they are.
var unproven = map[string]*regexp.Regexp{
	"a title": regexp.MustCompile(`^(Cluster|Simulated run|A cluster) .*\)$|^Term \d+ of |^(TERM|NODE|afterwards)`),
	"a count": regexp.MustCompile(
		`^Term \d+ took (at least )?\d+ messages? |^Messages |^The change took terms \d+ to \d+\.$`),
	"a total": regexp.MustCompile(`^Nobody led for [^;]* in all, after \d+ leaderships?\.$|^The time: |^Time `),
	"of the book": regexp.MustCompile(`^The rule: |^With \d+ alive |^The votes |^Theory |“` +
		`|^With the \w+ algorithm a living leader stays, |^Once it is alive to all it takes over ` +
		`|^They exchange no votes, |^Start the one that is wrong again ` +
		`|^Node \d+ outranks node \d+: its id is higher\.$|^What each message says is told with --theory\.$`),
	"a command": regexp.MustCompile(`^Next: ringleader why-not \d+ LOG… \(` +
		`|^…  is what happened before or after; another --until TIME shows `),
	"a line that has no name": regexp.MustCompile(`, by (its|their) own word: `),
	"no record tells": regexp.MustCompile(`[Nn]o record tells (that|until) ` +
		`|^(All \d+ nodes|Both nodes|Node \d+) runs?, as far as the records tell, ` +
		`|^The records do not` +
		` tell|[Nn]ot known|is not known\.$|no answer in the records$|is not in the records\.$` +
		`|^No (answer|message) of .* in the records\.$` +
		`|no record of it is here|^\d+ .*  no-log  |^Records of level debug would tell\.$` +
		`|^Node \d+ was never heard of: |^No record of node \d+ itself is here: ` +
		`|^Of \d+ nodes, nodes? [0-9, and]+ (has|have) no log here[^;]*$`),
	"nobody": regexp.MustCompile(`^No election in these records, ` +
		`|^Nobody (led the term|leads, as far as the records go)\.$` +
		`|^Term \d+ (?:came after|had begun before) it\.$|^The next term in the records is \d+\.$`),
}

// sentence checks that a sentence names its records, and that these bear it out.
func (a *auditor) sentence(where, text string) {
	wrong := func(format string, args ...any) {
		a.t.Helper()
		a.t.Errorf("%s, %s: %s: %s", a.path, where, fmt.Sprintf(format, args...), text)
	}
	brackets := references.FindAllStringSubmatch(text, -1)
	if text == "" || len(brackets) == 0 {
		excused := text == ""
		for _, words := range unproven {
			excused = excused || words.MatchString(text)
		}
		if !excused {
			wrong("it names no record")
		}
		return
	}
	a.n++
	var proof []*trace.Record
	whole := true
	for _, b := range brackets {
		for _, word := range strings.Fields(b[2]) {
			if word == "…" {
				whole = false
				continue
			}
			found := a.find(word)
			if len(found) != 1 || found[0].Cluster != a.g.Cluster || found[0].Algo != a.g.Algorithm {
				wrong("%s names %d records", word, len(found))
			}
			proof = append(proof, found...)
		}
	}
	for _, id := range nodesIn(unseen.ReplaceAllString(text, "")) {
		if whole && !slices.ContainsFunc(proof, func(rec *trace.Record) bool { return isAbout(rec, id) }) {
			wrong("no record is of node %d, or about it", id)
		}
	}
	for _, at := range clockTime.FindAllString(recordsEnd.ReplaceAllString(text, ""), -1) {
		if !a.isOf(at, proof) {
			wrong("no record is of %s", at)
		}
	}
	for _, end := range ends.FindAllStringSubmatch(text, -1) {
		for _, id := range numbers(end[1]) {
			if !isKnown(end[2], strings.Fields(end[3]), id) {
				wrong("that is not known so of node %d: %q", id, end[2])
			}
		}
	}
}

// isKnown reports whether one of the records is the node's own or, if peers saw it, of another node.
func isKnown(how string, refs []string, id uint64) bool {
	return how == "inferred" || slices.ContainsFunc(refs, func(ref string) bool {
		return strings.HasPrefix(ref, fmt.Sprint(id, ":")) == (how == "")
	})
}

const referenceList = `(\d+:\d+(?:@[0-9a-f]+)?(?: \d+:\d+(?:@[0-9a-f]+)?)*(?: …)?)\]`

var (
	references = regexp.MustCompile(`\[(?:(peers saw|inferred): )?` + referenceList)
	// ends are statements on how a node was: whose word that is stands with the records.
	ends = regexp.MustCompile(`(?:\b[Nn]odes? ([0-9, and]+),? ` +
		`(?:had led term \d+ until [^.\[]*|ended|is silent|are silent)) \[(?:(peers saw|inferred): )?` + referenceList)
	// unseen are nodes of which no record tells.
	unseen = regexp.MustCompile(`(?:nodes? )?[0-9, and]+ (?:(?:has|have) no log|without a sign of life) here` +
		`|had lost node \d+: no record says how|^Node \d+ is none of the voters|it did not believe node \d+ alive`)
	nodesNamed = regexp.MustCompile(`(?i)\b(?:nodes? (\d+(?:(?:, | and )\d+\b)*)|voters? ([^:(]+): \d+ of)`)
	recordsEnd = regexp.MustCompile( // as all records and lines of the group tell, and lines that have no name
		`, which end at [0-9:.]+(?:, and other lines at [0-9:.]+)?|until the logs end at [0-9:.]+` +
			`|started (?:at|\d+ times from) [0-9:. to]+, it refused to run, by its own word: `)
	clockTime = regexp.MustCompile(`\b\d\d:\d\d:\d\d\.\d\d\d\b`)
)

// find returns the records that ringleader rounds record shows of that name.
func (a *auditor) find(word string) []*trace.Record {
	if found, known := a.known[word]; known {
		return found
	}
	name, ok := parseRecordName(word)
	if !ok {
		return nil
	}
	var out bytes.Buffer
	f := &recordFinder{
		wanted: []recordName{name}, found: map[recordName]bool{}, shown: map[string]bool{}, out: &out,
	}
	var found []*trace.Record
	for _, rec := range a.records {
		before := out.Len()
		if f.Add(rec); out.Len() > before {
			found = append(found, rec)
		}
	}
	a.must(f.err)
	a.known[word] = found
	return found
}

// nodesIn returns the nodes that a sentence or a row is about.
func nodesIn(text string) (ids []uint64) {
	for _, m := range nodesNamed.FindAllStringSubmatch(text, -1) {
		ids = append(ids, numbers(m[1]+m[2])...)
	}
	return ids
}

func numbers(text string) (list []uint64) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.ParseUint(word, 10, 64); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// isAbout reports whether the record is the node's own, or names it: as gone, alive, the sender, the receiver or the
// leader, or in its reasons.
func isAbout(rec *trace.Record, id uint64) bool {
	word := regexp.MustCompile(fmt.Sprintf(`\b%d\b`, id))
	says := func(text string) bool { return word.MatchString(noNode.ReplaceAllString(text, "")) }
	reported := func(s trace.Split) bool {
		return slices.ContainsFunc(s.Leaders, func(l trace.Leadership) bool { return l.Leader == id })
	}
	return rec.Node == id || rec.From == id || rec.About == id || rec.Leader == id ||
		rec.PrevLeader != nil && *rec.PrevLeader == id || slices.Contains(rec.Alive, id) || says(rec.Evidence) ||
		says(rec.Ineligible) || says(rec.Detail) || slices.ContainsFunc(rec.Why, says) ||
		slices.ContainsFunc(rec.Sent, says) ||
		slices.ContainsFunc(rec.Splits, reported)
}

// noNode are numbers in the words of a record that are none of a node.
var noNode = regexp.MustCompile(`(?i)term \d+|#\d+:\d+|\d+(\.\d+)?(ms|s)\b|\d+ of \d+`)

// endedAt reports whether the process ended at such a time, by the record.
func endedAt(l rounds.Life, at func(time.Time) bool, by rounds.Ref) bool {
	return slices.ContainsFunc(l.Events, func(e rounds.LifeEvent) bool {
		return e.Kind == rounds.Ended && e.Ref == by && at(e.At)
	})
}

// isOf reports whether the time is that of one of the records, or the end of a process, of a leadership or of its lease
// by them.
func (a *auditor) isOf(at string, proof []*trace.Record) bool {
	is := func(t time.Time) bool { return t.UTC().Format("15:04:05.000") == at }
	for _, rec := range proof {
		off := time.Duration(0)
		for _, c := range a.g.Clocks {
			if c.Node == rec.Node {
				off = c.Offset
			}
		}
		if is(rec.Time.Add(-off)) || is(rec.ValidUntil.Add(-off)) {
			return true
		}
		ref := rounds.Ref{Node: rec.Node, Incarnation: rec.Incarnation, Seq: rec.Seq}
		for _, l := range a.g.Leaderships {
			if is(l.End) && l.Ended.Ref == ref {
				return true
			}
		}
		for _, n := range a.g.Nodes {
			if slices.ContainsFunc(n.Lives, func(l rounds.Life) bool { return endedAt(l, is, ref) }) {
				return true
			}
		}
	}
	return false
}
