package logs

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// "Hostile or broken logs never panic, never hide good records": whatever
// stands on the lines before and behind, a record is found.
func FuzzRead(f *testing.F) {
	const good = `{"level":"info","time":"2026-11-20T15:04:05.1Z","cluster":"c","node":7,"incarnation":"ab",` +
		`"algo":"bully","seq":3,"hlc":"1.0","term":2,"event":"timeout","role":"looking","leader":0,` +
		`"guarantee":"best-effort"}`
	for _, seed := range []string{
		"", "{", good, good[:60], "2026-11-20T15:04:05.1Z stderr P {", "[  0.050] 2 > receive OK from 1\n            x",
		"n1 | 15:04:05.000 INF 4 > peers 1 4 (joined 4)\nn1 |             = leads term 2 (elected)",
		"[  1.052] * 4 is dead", `{"time":"2000-01-01T00:00:00Z","message":"4 is dead"}`, `{"log":"{\"event\":1}"}`,
		"\xff\xfe\x00", strings.Repeat("{\"event\"", 50), "\x1b[31m{\"event\":\x1b]0;x\x07",
	} {
		f.Add([]byte(seed), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, before, behind []byte) {
		log := bytes.Join([][]byte{before, []byte(good), behind}, []byte("\n"))
		c := &collector{}
		if _, err := Read(bytes.NewReader(log), c); err != nil {
			t.Fatal(err)
		}
		for _, rec := range c.records {
			if rec.Node == 7 && rec.Incarnation == "ab" && rec.Seq == 3 {
				return
			}
		}
		t.Fatalf("the record is hidden in %q", log)
	})
}

// The fast decoder reads a line as encoding/json does, or not at all.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"node":1,"event":"start","seq":1,"a_newer_field":{"x":[1]}}`,
		`{"node":1,"event":"a","seq":1,"why":["\u003e",null]}`,
		`{"node":18446744073709551615,"event":"a","seq":1,"prev_leader":null}`, `{"Node":1,"EVENT":"a","seq":1}`,
		`{"level":"info","time":"2026-11-20T15:04:05.1Z","node":7,"incarnation":"ab","algo":"bully",` +
			`"seq":3,"hlc":"1.0",` +
			`"term":2,"event":"peers","alive":[],"why":["a -> b","c"],"sent":["OK>1#7:1"],"role":"leader","leader":7,` +
			`"ineligible":"paused",` +
			`"valid_until":"2026-11-20T15:04:06.1+01:00","prev_leader":0,"leader_change":"elected"}`,
		`{"node":1,"event":"a","seq":1,"seq":2}`, `{"node":01,"event":"a","seq":1}`, `{"node":1,"event":"a","seq":1,}`,
		`{"node":-1,"event":"a","seq":1}`, `{"node":1e2,"event":"a","seq":1}`, `{"node":1,"event":"\ud800","seq":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var got, want trace.Record
		ok := newScanner().decode(line, &got)
		if !json.Valid(line) || !ok {
			return
		}
		if err := json.Unmarshal(trace.Renamed(line), &want); err != nil {
			return // it is the stricter one
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q\nread  %+v\nwant %+v", line, got, want)
		}
	})
}
