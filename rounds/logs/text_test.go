package logs

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The forms of lines of text, as patterns. The Reader takes the same lines apart by hand, which is faster.
var (
	headForm = regexp.MustCompile(
		`(?:\[ *(\d{1,9}\.\d{3})\]|\b(\d\d:\d\d:\d\d\.\d{3}) ([A-Z]{3})) (\d{1,20}) > ((?s:.*))$`)
	burstForm  = regexp.MustCompile(`^([A-Z_]+) >((?: \d{1,20})+)$`)
	inTermForm = regexp.MustCompile(
		`^term (\d{1,20}) is above \d+ -> adopt it$|` +
			` -> (?:call an election of|lead|take|ask the voters for) term (\d{1,20})$|` +
			`^\d+ asks for term (\d{1,20}) -> `)
	inRaftTermForm = regexp.MustCompile(` in term (\d{1,20})$`)
)

func FuzzForms(f *testing.F) {
	for _, seed := range []string{
		"[  2.104] 4 > peers 1 2", "15:04:05.000 INF 4 > receive OK from 5", "n1 > 2 | 15:04:05.000 INF 4 > a > b",
		"x15:04:05.000 INF 4 > a", "[2.1045] 4 > a", "[] 4 > a", "[ 1234567890.123] 1 > ", "é15:04:05.000 INF 4 > ",
		"COORDINATOR > 1 2 3", "A_B >", "A > 1  2", " > 1", "Aa > 1", "A > 123456789012345678901",
		"term 3 is above 2 -> adopt it", "term  is above 2 -> adopt it", "4 asks for term 3 -> yes -> lead term 5",
		"no leader was heard of -> call an election of term 1", "x -> lead term 123456789012345678901",
		"HEARTBEAT in term 7", " in term ", "this node is nominated -> ask the voters for term 2",
	} {
		f.Add(seed)
	}
	files, err := filepath.Glob("../../internal/sim/testdata/*/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range append(files[:min(10, len(files))], "../testdata/raft-kill.log") {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			f.Add(strings.TrimSpace(line))
		}
	}
	f.Fuzz(func(t *testing.T, line string) {
		h, ok := cutHead(line)
		m := headForm.FindStringSubmatch(line)
		if ok != (m != nil) || ok && (h != head{line[:strings.LastIndex(line, m[0])], m[1], m[2], m[3], m[4], m[5]}) {
			t.Errorf("%q: the head is %+v, %v, want %q", line, h, ok, m)
		}
		kind, to, ok := cutBurst(line)
		m = burstForm.FindStringSubmatch(line)
		if ok != (m != nil) || ok && (kind != m[1] || to != m[2][1:]) {
			t.Errorf("%q: %q to %q, %v, want %q", line, kind, to, ok, m)
		}
		want := ""
		if m = inTermForm.FindStringSubmatch(line); m != nil {
			want = cmp.Or(m[1], m[2], m[3])
		}
		if got := inTerm(line); got != want {
			t.Errorf("%q: in term %q, want %q", line, got, want)
		}
		want = ""
		if m = inRaftTermForm.FindStringSubmatch(line); m != nil {
			want = m[1]
		}
		if got := inRaftTerm(line); got != want {
			t.Errorf("%q: in Raft's term %q, want %q", line, got, want)
		}
	})
}

// A node that prints for people says good-bye as well. Where several nodes print without prefixes, nobody knows which
// of them it was.
func TestGoodbyeInText(t *testing.T) {
	record := func(prefix, node string) string {
		return prefix + "08:45:51.006 INF " + node + " > timeout\n" + prefix +
			"            no higher node is alive -> lead term 1\n"
	}
	const bye = "08:45:52.361 INF the node resigned and left\n"
	const failed = "23:59:59.000 ERR the node ended error=disk exit_code=1\n"
	for text, want := range map[string][]string{
		record("", "1") + bye: {" 1 08:45:52"},
		record("n1 | ", "1") + record("n2 | ", "2") + "n2 | " + bye: {" 2 08:45:52"},
		record("", "1") + "\x1b[90m08:45:52.361\x1b[0m" + bye[12:]:  {" 1 08:45:52"},
		record("", "3") + failed:                                    {" 3 23:59:59"},
		record("", "1") + record("", "2") + bye:                     nil,
		bye:                                                         nil,
		record("", "1") + "somebody wrote: the node resigned and left\n": nil,
	} {
		var c collector
		if _, err := Read(strings.NewReader(text), &c); err != nil || !slices.Equal(c.left, want) {
			t.Errorf("%q: %q, %v", text, c.left, err)
		}
	}
}
