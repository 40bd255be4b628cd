package statefile

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
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

// fileOf is a file of these documents, the first of record 1, and room for more.
func fileOf(docs ...[]byte) []byte {
	file := newFile(pad(docs[0]), 1)
	at := len(pad(docs[0]))
	for _, doc := range docs[1:] {
		at += copy(file[at:], pad(doc))
	}
	return file
}

// Promise: "a corrupt file is a clear error at start, never a silent term 0":
// it names the file and says what to do.
func TestCorruptFile(t *testing.T) {
	doc, behind := string(encode(demo4, voted, 1)), encode(demo4, voted, 2)
	body := doc[:len(doc)-sealSize]
	good := string(fileOf([]byte(doc)))
	edit := func(old, new string) []byte {
		if !strings.Contains(body, old) {
			t.Fatalf("no %q in the file", old)
		}
		return fileOf(resealed(strings.Replace(body, old, new, 1)))
	}
	newer := resealed(strings.Replace(string(behind[:len(behind)-sealSize]), `"version":3`, `"version":4`, 1))
	cases := map[string][]byte{
		"empty":                       {},
		"a lone brace":                fileOf([]byte("{")),
		"zeroes":                      make([]byte, len(good)),
		"blank":                       bytes.Repeat([]byte{blank}, len(good)),
		"garbage after its end":       []byte(good + "x"),
		"a newline after its end":     []byte(good + "\n"),
		"no room":                     []byte(good[:sector]),
		"twice":                       []byte(good + good),
		"too large":                   bytes.Repeat([]byte{' '}, 1<<20),
		"an edited term":              []byte(strings.Replace(good, `"term":7`, `"term":8`, 1)),
		"not JSON":                    fileOf(resealed("hello")),
		"two documents":               fileOf(resealed(body + `}{"version":3`)),
		"of version 1, not sealed":    []byte("{\n  \"version\": 1,\n  \"cluster\": \"demo\"\n}\n"),
		"no version":                  edit(`"version":3,`, ``),
		"term above the largest":      edit(`"term":7`, `"term":9007199254740993`),
		"term above 64 bits":          edit(`"term":7`, `"term":18446744073709551616`),
		"negative term":               edit(`"term":7`, `"term":-1`),
		"fractional term":             edit(`"term":7`, `"term":7.5`),
		"id 0":                        edit(`"id":4`, `"id":0`),
		"vote for nobody":             edit(`"id":5`, `"id":0`),
		"vote in an absurd term":      edit(`"term":9`, `"term":9007199254740993`),
		"vote in no term":             edit(`"term":9`, `"term":0`),
		"negative promise":            edit(`"2.5s"`, `"-2.5s"`),
		"no promise":                  edit(`"2.5s"`, `"2.5x"`),
		"of other sectors":            edit(`"sectors":1`, `"sectors":2`),
		"short incarnation":           edit(`"ab00`, `"ab`),
		"long incarnation":            edit(`0001"`, `0001zz"`),
		"incarnation not hexadecimal": edit(`"ab00`, `"xy00`),
		"empty vote":                  edit(`"term":9,"id":5,`, ""),
		"another node's behind":       fileOf([]byte(doc), encode(Owner{"demo", 5}, voted, 2)),
		"damage before the last":      fileOf([]byte(doc), behind[:len(behind)-sealSize], encode(demo4, voted, 3)),
		"damage in the last":          fileOf([]byte(doc), behind[:len(behind)-sealSize]),
		"a record twice":              fileOf([]byte(doc), []byte(doc)),
		"a record is missing":         fileOf([]byte(doc), encode(demo4, voted, 3)),
		"another version behind":      fileOf([]byte(doc), newer),
	}
	says := map[string]string{"damage in the last": "checksum", "another version behind": "format version 4, not 3"}
	for n := 0; n < len(good); n += sector - 3 {
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
		msg := err.Error()
		if !strings.Contains(msg, path) || !strings.Contains(msg, "remove") || !strings.Contains(msg, says[name]) {
			t.Errorf("%s: %q names no file or says nothing to do, or not %q", name, msg, says[name])
		}
		if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, data) {
			t.Errorf("%s: Open changed the damaged file (%v)", name, err)
		}
	}
}

// "ErrFormat: another release wrote the state, in a format that this one does not read": that is no
// damage, and to remove the file would lose a vote. Its bytes stay.
func TestOtherFormat(t *testing.T) {
	const first = "{\n  \"version\": 1,\n  \"cluster\": \"demo\",\n  \"id\": 4,\n  \"term\": 7"
	sealOfFirst := fmt.Sprintf(",\n  \"crc32c\": \"%08x\"\n}\n", crc32.Checksum([]byte(first), castagnoli))
	const older = "run the release that wrote it; to change to this one, start the node with an empty data directory " +
		"while the other nodes run: if it is a voter, it asks them what it voted"
	for _, c := range []struct {
		name, says string
		data       []byte
	}{
		{"the first", "version 1, and this release reads version 3: " + older, []byte(first + sealOfFirst)},
		{
			"an older one", "version 2, and this release reads version 3: " + older,
			fileOf(resealed(`{"version":2,"cluster":"demo","id":4,"term":7,"reserved":8`)),
		},
		{
			"a newer one", "version 9, and this release reads version 3: run the release that wrote it",
			append(resealed(`{"version":9,"of":"whatever"`), "\nand more"...),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, _ := mustOpen(t, t.TempDir())
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(f.dir, stateName)
			if err := os.WriteFile(path, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err := Open(f.dir, demo4)
			if !errors.Is(err, ErrFormat) || errors.Is(err, ErrCorrupt) {
				t.Fatalf("%v, want ErrFormat", err)
			}
			if msg := err.Error(); !strings.Contains(msg, path) || !strings.HasSuffix(msg, c.says) ||
				!strings.Contains(msg, "not damaged") || strings.Contains(msg, "remove") {
				t.Errorf("%q, want the file, %q, and that it is not damaged", msg, c.says)
			}
			if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, c.data) {
				t.Errorf("Open changed the file (%v)", err)
			}
		})
	}
}

// What a sector holds of which nothing was written yet is part of the format: a program that
// expects something else there takes the file for damaged.
func TestFillStays(t *testing.T) {
	const want = 0x0bb0c43c
	if got := fill(7, 3); crc32.Checksum(got[:], castagnoli) != want {
		t.Errorf("sector 3 of a file from record 7 is %q, of checksum %#x", got, crc32.Checksum(got[:], castagnoli))
	}
}

// Whatever characters a label has, its record is printable, so that one that is torn is told
// from damage.
func TestLabelOfAnyCharacters(t *testing.T) {
	owner := Owner{Cluster: "~ \x7f <&> \n \u2028 \uffff \U0001f600 \"é\\", ID: 4}
	record := pad(encode(owner, later, 2))
	for _, b := range record[:len(record)-1] {
		if b < ' ' || b > '~' {
			t.Fatalf("%q is in %s", b, record)
		}
	}
	whole := fileOf(encode(owner, voted, 1), encode(owner, later, 2))
	for i := range len(record) + 1 {
		file, want := bytes.Clone(whole), voted
		if i < len(record) {
			file[sector+i] = fill(1, 1)[i]
		} else {
			want = later
		}
		if o, s, _, err := latest(file); err != nil || o != owner || s != want {
			t.Fatalf("without byte %d: %+v of %+v, %v; want %+v", i, s, o, err, want)
		}
	}
}

// Promise: whichever byte of the file a disk turns into whichever other, it is
// never taken for another state. In the last record it may be what was at that place
// before: a byte that is missing is what a crash leaves.
func TestEveryByteCounts(t *testing.T) {
	for first := 0; first < 3*sector; first += sector {
		t.Run(fmt.Sprint("from ", first), func(t *testing.T) {
			t.Parallel()
			good := fileOf(encode(demo4, algorithms.State{Term: 1, Reserved: 1}, 1), encode(demo4, voted, 2))
			for i := first; i < first+sector; i++ {
				for flip := 1; flip < 256; flip++ {
					good[i] ^= byte(flip)
					owner, s, _, err := latest(good)
					missing := i >= sector && good[i] == fill(1, i/sector)[i%sector]
					if err == nil && (s != voted || owner != demo4) && !missing {
						t.Fatalf("byte %d: %q read as %+v of %+v", i, good[i], s, owner)
					}
					good[i] ^= byte(flip)
				}
			}
		})
	}
}

// Promise: "A last record that a power failure tore is no damage": whichever of its
// sectors reached the disk, the state before it is read, or its own.
func TestTornRecord(t *testing.T) {
	var former []proto.Leadership
	for i := range 16 {
		former = append(former, proto.Leadership{
			Term: 1, Leader: proto.NodeID(i + 1), Incarnation: proto.Incarnation{1},
		})
	}
	large := later
	large.Former = proto.PackLeaderships(former)
	before := fileOf(encode(demo4, algorithms.State{Term: 1, Reserved: 1}, 1), encode(demo4, voted, 2))
	record, at := pad(encode(demo4, large, 3)), 2*sector
	sectors := len(record) / sector
	if sectors < 3 {
		t.Fatalf("%d sectors: too few to tear", sectors)
	}
	for written := range 1 << sectors {
		file, want := bytes.Clone(before), voted
		for i := range sectors {
			if written>>i&1 == 1 {
				copy(file[at+i*sector:], record[i*sector:(i+1)*sector])
			}
		}
		if written == 1<<sectors-1 {
			want = large
		}
		if _, s, _, err := latest(file); err != nil || s != want {
			t.Errorf("sectors %0*b: %+v, %v; want %+v", sectors, written, s, err, want)
		}
	}
}

// Promise: a state file does not grow: when its room is used up, a new one takes its
// place. And one that was removed under a running process, or that another took the place of,
// is written anew.
func TestFileIsRenewed(t *testing.T) {
	f, _ := mustOpen(t, t.TempDir())
	path := filepath.Join(f.dir, stateName)
	s := voted
	for i := range 5 * room / sector {
		s.Term++
		s.Reserved++
		switch i {
		case room / sector / 2:
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		case room / sector:
			older := fileOf(encode(demo4, voted, 1))
			if err := errors.Join(os.WriteFile(path+".old", older, 0o600), os.Rename(path+".old", path)); err != nil {
				t.Fatal(err)
			}
		}
		mustSave(t, f, s)
		data, err := os.ReadFile(path)
		if err != nil || len(data) != sector+room {
			t.Fatalf("after %d saves: %d bytes, %v", i+1, len(data), err)
		}
		if _, got, _, err := latest(data); err != nil || got != s {
			t.Fatalf("after %d saves: %+v, %v; want %+v", i+1, got, err, s)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(demo4, voted, 1))
	f.Add(encode(Owner{"<&>\u2028\x00", 1}, algorithms.State{Term: proto.MaxTerm, Reserved: proto.MaxTerm}, 1))
	f.Add(resealed(`{"version": 2, "id": 4, "term": 1, "term": 2`))
	f.Add(resealed(`{"version": 2, "id": 4, "vote": {"term": 1, "id": 1, "session": "00"}`))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		// Hostile content has to get past the checksum to be of interest.
		for _, in := range [][]byte{data, resealed(string(data))} {
			for _, file := range [][]byte{in, fileOf(in), fileOf(encode(demo4, voted, 1), in)} {
				owner, s, _, err := latest(file)
				if err != nil {
					if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrFormat) {
						t.Errorf("%v wraps neither ErrCorrupt nor ErrFormat", err)
					}
					continue
				}
				owner2, s2, _, err := latest(fileOf(encode(owner, s, 1)))
				if err != nil || owner2 != owner || s2 != s {
					t.Errorf("%+v of %+v came back as %+v of %+v (%v)", s, owner, s2, owner2, err)
				}
			}
		}
	})
}

// Whom the voter granted terms and has not seen to stop comes back as it was, as
// many as there may be; a damaged one is no state.
func TestFormerHolders(t *testing.T) {
	all := make([]proto.Leadership, proto.MaxLeaderships)
	for i := range all {
		all[i] = proto.Leadership{
			Term: proto.MaxTerm, Leader: proto.MaxNodeID, Incarnation: proto.Incarnation{byte(i), 1},
		}
	}
	want := voted
	want.Stopped, want.Former = true, proto.PackLeaderships(all)
	_, got, _, err := decode(pad(encode(demo4, want, 1)))
	if err != nil || got != want {
		t.Errorf("came back as %+v, %v", got, err)
	}
	one := voted
	one.Former = proto.PackLeaderships(all[:1])
	file := string(encode(demo4, one, 1))
	for old, bad := range map[string]string{
		`"id":9007199254740992`: `"id":0`, `"term":9007199254740992`: `"term":0`, `"0001`: `"01`,
	} {
		body := file[:len(file)-sealSize]
		if !strings.Contains(body, old) {
			t.Fatalf("no %s in %s", old, body)
		}
		if _, _, _, err := latest(fileOf(resealed(strings.Replace(body, old, bad, 1)))); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s for %s: %v", bad, old, err)
		}
	}
}
