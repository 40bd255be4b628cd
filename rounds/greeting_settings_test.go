package rounds_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
	"github.com/ringleader-dev/ringleader/rounds/report"
)

// A node that was started again with other settings than the rest of its cluster had "started again", and nothing told
// what was wrong with it.
func TestOtherSettingsOfANextProcessAreTold(t *testing.T) {
	up := func(second int, incarnation, settings string) string {
		return fmt.Sprintf(`{"level":"info","cluster":"c","node":2,"incarnation":%q,"algorithm":"raft",%s,`+
			`"time":"2026-11-30T02:45:%02dZ","message":"node 2 is up; guarantee lease"}`+"\n"+
			`{"level":"info","time":"2026-11-30T02:45:%02d.5Z","cluster":"c","node":2,"incarnation":%q,"algo":"raft",`+
			`"seq":1,"hlc":"1.0","term":1,"event":"start","role":"looking","leader":0,"guarantee":"lease"}`+"\n",
			incarnation, settings, second, second, incarnation)
	}
	const id = `"rank_by":"id","voters":"1-3","preempt":true`
	first := up(10, "a", id)
	for settings, want := range map[string]string{
		id: "started again at 02:45:20.500 [2:1@b]\n",
		`"rank_by":"id"`: "started again at 02:45:20.500 " +
			"[2:1@b]\n", // the line of a former release has fewer
		`"rank_by":"id","voters":""`: "started again at 02:45:20.500, with --voters none instead of 1-3 [2:1@b 2:0@b]",
		`"voters":"1-4","rank_by":""`: "with --rank-by none instead of id and --voters 1-4 instead of 1-3 [2:1@b " +
			"2:0@b]",
		`"preempt":false`: "started again at 02:45:20.500, with --preempt false instead of true " +
			"[2:1@b 2:0@b]",
		`"algorithm":"ring","preempt":false`: "started again at 02:45:20.500, with --algorithm ring instead of raft " +
			"[2:1@b 2:0@b]", // which does not preempt by itself
	} {
		b := rounds.NewBuilder()
		twice := first + up(20, "b", settings) // a copy of the log is beside it
		if _, err := logs.Read(strings.NewReader(twice+twice), b); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := report.List(&out, b.History().Groups[0], report.Selection{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: no %q in %s", settings, want, &out)
		}
	}
}
