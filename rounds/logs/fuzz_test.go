package logs

import (
	"bytes"
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
		"\xff\xfe\x00", "\xff\xfe{\x00",
		`level=info msg="{\"event\":\"`, `{"log":"{\"a\":\"{\\\"event`,
		strings.Repeat("{\"event\"", 50), "\x1b[31m{\"event\":\x1b]0;x\x07",
	} {
		f.Add([]byte(seed), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, before, behind []byte) {
		log := bytes.Join([][]byte{before, []byte(good), behind}, []byte("\n"))
		if u := (utf16Reader{raw: log}); u.mayBe() {
			return // it says of itself that it is something else
		}
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

// Whatever a line is, the Reader's decoder and trace.Parse agree on it: on whether it is a record, and on each
// field. So does a scanner that has read something before, and the words of which it remembers.
func FuzzDecode(f *testing.F) {
	for _, seed := range decodeSeeds {
		f.Add([]byte(seed), []byte(decodeSeeds[0]))
		f.Add([]byte(decodeSeeds[0]), []byte(seed))
		f.Add([]byte(seed), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, before, line []byte) {
		s := newScanner()
		var got trace.Record
		s.read(before, &got)
		ok := s.read(line, &got)
		want, err := trace.Parse(line)
		if ok != (err == nil) || ok && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q\nread %v %+v\nwant %v %+v", line, ok, got, err, want)
		}
	})
}

// decodeSeeds are lines that are records, and lines that nearly are.
var decodeSeeds = []string{
	`{"level":"info","time":"2026-11-20T15:04:05.1Z","node":7,"incarnation":"ab","algo":"bully",` +
		`"seq":3,"hlc":"1.0","term":2,"event":"peers","alive":[],"why":["a -> b","c"],"sent":["OK>1#7:1"],` +
		`"reasons":[{"code":"a.b","args":[1,"x",{"code":"c.d","args":[2]}]},{"code":"e.f"}],` +
		`"role":"leader","leader":7,"ineligible":"paused","valid_until":"2026-11-20T15:04:06.1+01:00",` +
		`"prev_leader":0,"leader_change":"elected"}`,
	`{"node":1,"event":"start","seq":1,"a_newer_field":{"x":[1,-0.5e+3,true,false,null,{},[]]}}`,
	`{"node":1,"event":"a","seq":1,"why":["\u003e",null]}`, `{"node":1,"event":"a","seq":1,"why":["\u003e \"\n"]}`,
	`{"node":18446744073709551615,"event":"a","seq":1,"prev_leader":null}`, `{"Node":1,"EVENT":"a","seq":1}`,
	`{"node":1,"event":"a","seq":1,"seq":2}`, `{"node":01,"event":"a","seq":1}`, `{"node":1,"event":"a","seq":1,}`,
	`{"node":-1,"event":"a","seq":1}`, `{"node":1e2,"event":"a","seq":1}`, `{"node":1,"event":"\ud800","seq":1}`,
	`{"node":1,"event":"\ud83d\ude00","seq":1}`, `{"node":1,"event":"größer","seq":1}`,
	"{\"node\":1,\"event\":\"\xff\",\"seq\":1}", "{\"node\":1,\"event\":\"\x01\",\"seq\":1}",
	"{ \"node\" : 1 ,\t\"event\": \"a\", \"why\": [ \"a\" , \"b\" ], \"alive\": [ 1, 2 ], \"seq\": 1 } ",
	`{"node":1,"event":"a","seq":1,"nod\u0065":2}`, `{"node":1,"event":"a","seq":1,"x":{"node":2,"seq":7}}`,
	`{"node":1,"event":"a","seq":1,"time":"2026-11-20T24:04:05.1Z"}`,
	`{"node":1,"event":"a","seq":1,"time":"2026-11-20T23:59:59,1Z"}`,
	`{"node":1,"event":"a","seq":1,"time":"2026-11-20T23:59:59Z"}`,
	`{"node":1,"event":"a","seq":1,"time":"2026-11-20T3:59:59.1234567891Z"}`,
	`{"node":1,"event":"a","seq":1,"time":"` + strings.Repeat(`\u0000`, 10) + `T15:04:05Z"}`,
	`{"node":1,"event":"a","seq":1,"session":"x","incarnation":"y"}`,
	`{"node":1,"event":"a","seq":1,"splits":[{"by":1,"leaders":[{"leader":1,"session":"ab"}],"overlap_ms":1.5}]}`,
	`{"node":1,"event":"a","seq":1,"splits":7}`, `{"node":1,"event":"a","seq":1,"reasons":[{"args":[],"code":"a.b"}]}`,
	`{"node":1,"event":"a","seq":1,"reasons":[{"code":"a","args":[1,2,3,4,5,6,7,8,9]},{},{"x":1}]}`,
	`{"node":1,"event":"a","seq":1,"sent_bytes":9999999999999999999}`, `{"node":1,"event":"a","seq":1} x`,
	`{"node":1,"event":"a","seq":1,"alive":null,"why":null,"time":null}`, `{"node":"1","event":"a","seq":1}`,
	`{"node":1,"event":"a","seq":1,"clock_set_ns":-3200000000}`, `{"node":1,"event":"a","seq":1,"clock_set_ns": 7}`,
	`{"node":1,"event":"a","seq":1,"clock_set_ns":- 7}`, `{"node":1,"event":"a","seq":1,"clock_set_ns":-}`,
	`{"node":1,"event":"a","seq":1,"clock_set_ns":9223372036854775808}`,
	`{"node":1,"event":"a","seq":1,"clock_set_ns":-9223372036854775808}`,
	`{"node":1,"event":"a","seq":1,"level":"a\"b"}`, `{"node":1,"event":"a","seq":1,"level":"a"b"}`, `[]`, `{}`, ``,
}
