package rounds_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// Two halves of a cluster had different labels, and a node was started with another budget than the others: they said
// so in their logs, and what was told was that nobody led, or that a node called a term in vain.
func TestMismatchedSettingsAreTold(t *testing.T) {
	record := func(node int) string {
		return fmt.Sprintf(`{"level":"info","time":"2026-11-30T03:05:21Z","cluster":"prod","node":%d,"algo":"bully",`+
			`"incarnation":"n%d","seq":1,"hlc":"1.0","term":0,"event":"start","role":"looking","leader":0,`+
			`"guarantee":"lease"}`+"\n", node, node)
	}
	says := func(node int, reason, message string) string {
		return fmt.Sprintf(`{"level":"warn","cluster":"prod","node":%d,%s"time":"2026-11-30T03:05:22Z",`+
			`"message":%q}`+"\n", node, reason, message)
	}
	const label = `it belongs to cluster "prd", this node to "prod"; give both the same cluster label`
	const link, with = `"reason":"algorithm",`, `node %d runs "nomination with leases of %s"`
	slow, fast := fmt.Sprintf(with, 1, "6s"), func(node int) string { return fmt.Sprintf(with, node, "2s") }
	no := func(to int, why string) string {
		return fmt.Sprintf("no link to node %d at 127.0.0.1:21%d: %s: start one again", to, to, why)
	}
	refused := func(node int) string { return fmt.Sprintf(`refused node "%d" at 127.0.0.1:2500%d: `, node, node) }
	const first = ", first at 03:05:22.000, by its own word: "
	for lines, want := range map[string]string{
		says(1, "", refused(4)+label) + says(1, "", refused(3)+label) +
			says(2, "", refused(3)+label) + says(2, "", refused(4)+label): "" +
			"\nNodes 1 and 2 refused nodes 3 and 4, first at 03:05:22.000, by their own word: " + label + ".\n",
		says(1, link, no(2, slow+", "+fast(2))) + says(2, link, no(1, fast(2)+", "+slow)): "" +
			"\nNode 1 got no link to node 2 at 03:05:22.000, by its own word: " + slow + ", " + fast(2) +
			": start one again.\n" +
			"Node 2 got no link to node 1 at 03:05:22.000, by its own word: " + fast(2) + ", " + slow +
			": start one again.\n",
		says(1, link, no(2, slow+", "+fast(2))) + says(1, link, no(3, slow+", "+fast(3))): "" +
			"\nNode 1 got no link to nodes 2 and 3" + first + slow + ", " + fast(2) + ":",
		says(1, `"reason":"not-listening",`, no(2, "connection refused")):                                     "",
		says(1, "", refused(1)+label):                                                                         "",
		says(1, "", `refused node "x\u001b[2J9" at 127.0.0.1:25004: `+label):                                  "",
		says(9, "", refused(4)+label):                                                                         "",
		`{"message":"refused node \"4\" at a: it", "node":"1"}` + "\n" + says(1, "", `refused node "4" at a`): "",
	} {
		b := rounds.NewBuilder()
		if _, err := logs.Read(strings.NewReader(record(1)+record(2)+lines), b); err != nil {
			t.Fatal(err)
		}
		h := b.History()
		var out, why strings.Builder
		if err := report.List(&out, h.Groups[0], report.Selection{}); err != nil {
			t.Fatal(err)
		}
		if err := report.WhyNot(&why, h.Groups[0], 1); err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(strings.ReplaceAll(why.String(), "\n", " "), " own word: "); told != (want != "") {
			t.Errorf("%s: why not 1: %s", lines, &why)
		}
		if n := len(h.Groups[0].Mismatches); (n == 0) != (want == "") || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %d; no %q in %s", lines, n, want, &out)
		}
	}
}

// "The logs of nodes 3 and 4 are not here" was told where they were, with another label.
func TestALogWithAnotherLabelIsNamed(t *testing.T) {
	record := func(cluster string, node int, rest string) string {
		return fmt.Sprintf(`{"level":"info","time":"2026-11-30T03:05:21Z","cluster":%q,"node":%d,"algo":"bully",`+
			`"incarnation":"n%d","seq":1,"hlc":"1.0","term":1,"role":"looking","leader":0,"guarantee":"lease",%s}`+"\n",
			cluster, node, node, rest)
	}
	const want = `Of nodes 3 and 4, which nodes of cluster "prod" name, no log with that label is here, and one with ` +
		`the label "prd" is.`
	b := rounds.NewBuilder()
	if _, err := logs.Read(strings.NewReader(record("prod", 1, `"event":"peers","alive":[1,2,3,4]`)+
		record("prd", 3, `"event":"start"`)+record("prd", 4, `"event":"start"`)+
		record("prd", 5, `"event":"start"`)), b); err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(b.History().Notes, "\n"); strings.Count(notes, "no log with that label") != 1 ||
		!strings.Contains(notes, want) {
		t.Errorf("no %q in %s", want, notes)
	}
}
