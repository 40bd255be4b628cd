package statefile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// resealed is a file with the given content and a correct checksum.
func resealed(body string) []byte {
	return append([]byte(body), seal([]byte(body))...)
}

// Promise: "a corrupt file is a clear error at start, never a silent term 0":
// it names the file and says what to do.
func TestCorruptFile(t *testing.T) {
	good := string(encode(demo4, voted))
	body := good[:len(good)-sealSize]
	edit := func(old, new string) []byte {
		if !strings.Contains(body, old) {
			t.Fatalf("no %q in the file", old)
		}
		return resealed(strings.Replace(body, old, new, 1))
	}
	cases := map[string][]byte{
		"empty":                   {},
		"a lone brace":            []byte("{"),
		"zeroes":                  make([]byte, len(good)),
		"garbage after its end":   []byte(good + "x"),
		"a newline after its end": []byte(good + "\n"),
		"twice":                   []byte(good + good),
		"too large":               bytes.Repeat([]byte{' '}, 1<<20),
		"an edited term":          []byte(strings.Replace(good, `"term": 7`, `"term": 8`, 1)),
		"not JSON":                resealed("hello"),
		"two documents":           resealed(body + "}\n{\"version\": 1"),
		"unknown version":         edit(`"version": 1`, `"version": 2`),
		"no version":              edit(`"version": 1,`, ``),
		"term above the largest":  edit(`"term": 7`, `"term": 9007199254740993`),
		"term above 64 bits":      edit(`"term": 7`, `"term": 18446744073709551616`),
		"negative term":           edit(`"term": 7`, `"term": -1`),
		"fractional term":         edit(`"term": 7`, `"term": 7.5`),
		"id 0":                    edit(`"id": 4`, `"id": 0`),
		"vote for nobody":         edit(`"id": 5`, `"id": 0`),
		"vote in an absurd term":  edit(`"term": 9`, `"term": 9007199254740993`),
		"vote in no term":         edit(`"term": 9`, `"term": 0`),
		"short session":           edit(`"ab00`, `"ab`),
		"session not hexadecimal": edit(`"ab00`, `"xy00`),
		"empty vote":              edit("\"term\": 9,\n    \"id\": 5,", ""),
	}
	for n := range len(good) {
		cases[fmt.Sprintf("cut to %d bytes", n)] = []byte(good[:n])
	}
	for name, data := range cases {
		f, _ := mustOpen(t, t.TempDir())
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(f.dir, stateName)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := Open(f.dir, demo4)
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", name, err)
			continue
		}
		if msg := err.Error(); !strings.Contains(msg, path) || !strings.Contains(msg, "remove") {
			t.Errorf("%s: %q names no file or says nothing to do", name, msg)
		}
		if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, data) {
			t.Errorf("%s: Open changed the damaged file (%v)", name, err)
		}
	}
}

// Promise: whichever byte of the file a disk turns into whichever other, it is
// never taken for a state.
func TestEveryByteCounts(t *testing.T) {
	good := encode(demo4, voted)
	for i := range good {
		for flip := 1; flip < 256; flip++ {
			bad := bytes.Clone(good)
			bad[i] ^= byte(flip)
			if owner, s, err := decode(bad); err == nil {
				t.Fatalf("byte %d: %q for %q read as %+v of %+v", i, bad[i], good[i], s, owner)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(demo4, voted))
	f.Add(encode(Owner{"<&>\u2028\x00", 1}, algorithms.State{Term: proto.MaxTerm, Reserved: proto.MaxTerm}))
	f.Add(resealed(`{"version": 1, "id": 4, "term": 1, "term": 2`))
	f.Add(resealed(`{"version": 1, "id": 4, "vote": {"term": 1, "id": 1, "session": "00"}`))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		// Hostile content has to get past the checksum to be of interest.
		for _, in := range [][]byte{data, resealed(string(data))} {
			owner, s, err := decode(in)
			if err != nil {
				if !errors.Is(err, ErrCorrupt) {
					t.Errorf("%v does not wrap ErrCorrupt", err)
				}
				continue
			}
			owner2, s2, err := decode(encode(owner, s))
			if err != nil || owner2 != owner || s2 != s {
				t.Errorf("%+v of %+v came back as %+v of %+v (%v)", s, owner, s2, owner2, err)
			}
		}
	})
}

// Whom the voter granted terms and has not seen to stop comes back as it was, as
// many as there may be; a damaged one is no state.
func TestFormerHolders(t *testing.T) {
	all := make([]proto.Epoch, proto.MaxEpochs)
	for i := range all {
		all[i] = proto.Epoch{Term: proto.MaxTerm, Leader: proto.MaxNodeID, Session: proto.Session{byte(i), 1}}
	}
	want := voted
	want.Stopped, want.Former = true, proto.PackEpochs(all)
	_, got, err := decode(encode(demo4, want))
	if err != nil || got != want {
		t.Errorf("came back as %+v, %v", got, err)
	}
	one := voted
	one.Former = proto.PackEpochs(all[:1])
	file := string(encode(demo4, one))
	for old, bad := range map[string]string{
		`"id": 9007199254740992`: `"id": 0`, `"term": 9007199254740992`: `"term": 0`, `"0001`: `"01`,
	} {
		body := file[:len(file)-sealSize]
		if !strings.Contains(body, old) {
			t.Fatalf("no %s in %s", old, body)
		}
		if _, _, err := decode(resealed(strings.Replace(body, old, bad, 1))); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s for %s: %v", bad, old, err)
		}
	}
}
