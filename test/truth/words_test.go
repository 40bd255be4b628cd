//go:build realtruth

package truth_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// "Voter 1 dead, 3 down or paused: at most 1 of 3 remains" was read as of a voter that was "down", which no incident
// says: so it was sought at no time, and true was called false.
func TestHowVotersWereMissingIsReadWhole(t *testing.T) {
	const why = "voter 1 ended, 3 without a sign of life here, later 4 and 5 ended: at most 1 of 5 remains"
	got := ""
	for _, part := range votersDid.FindAllStringSubmatch(why, -1) {
		got += fmt.Sprintf("[%s: %s]", part[1], part[2])
	}
	if want := "[1: ended][3: without a sign of life here][4 and 5: ended]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// "Because of a request that was none" was said of a leader that had died, since another node had been asked to resign:
// that one stood aside.
func TestWhyOthersStoodAsideIsNoRequest(t *testing.T) {
	for why, want := range map[string]string{
		"the process of node 2 ended, and node 3 stood aside: asked to resign at 2026-11-29T14:06:44Z by 10.0.0.7": "" +
			"the process of node 2 ended",
		"nodes 1 and 3 stood aside: asked to resign at 2026-11-29T14:06:44Z by 127.0.0.1": "",
		"node 1 handed over: asked to resign, and node 1 stood aside for the same reason": "" +
			"node 1 handed over: asked to resign",
	} {
		if got := aside.ReplaceAllString(why, ""); got != want {
			t.Errorf("%q: %q, want %q", why, got, want)
		}
	}
}

// "A voter was dead that lived" was said of a process that had not started: on a busy machine that takes seconds.
func TestAProcessThatHasNotStartedIsDead(t *testing.T) {
	dir, began := t.TempDir(), time.Date(2026, time.November, 29, 12, 0, 0, 0, time.UTC)
	line := fmt.Sprintf(`{"node":1,"incarnation":"3684af8d","time":%q,"message":"node 1 is up; guarantee lease"}`,
		began.Add(2*time.Second).Format(time.RFC3339Nano))
	if err := os.WriteFile(filepath.Join(dir, "n1-life1.log"), []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(s int) time.Time { return began.Add(time.Duration(s) * time.Second) }
	s := &story{Plan: plan{Nodes: 1}, Processes: []*process{
		{Node: 1, From: began, Until: at(10), Gone: at(10)}, {Node: 1, From: at(11), Until: at(13), Gone: at(13)},
	}}
	s.readGreetings(t, dir)
	for after, want := range map[int]bool{1: true, 3: false, 9: false, 12: true} {
		if got := s.isDead(1, at(after)); got != want {
			t.Errorf("%d s after the first one began: %v", after, got)
		}
	}
}

// "Ends before the leader was killed" was said of a leader whose log is missing, and whose incarnation nobody knows:
// another process of its node had been killed before it said that it runs.
func TestNoProcessIsOfAnUnknownIncarnation(t *testing.T) {
	s := &story{Processes: []*process{{Node: 1, Incarnation: "3684af8d"}, {Node: 1}}}
	if p := s.process(""); p != nil {
		t.Errorf("%+v", p)
	}
}
