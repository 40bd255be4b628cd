package statefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

var (
	demo4 = Owner{Cluster: "demo", ID: 4}
	voted = algorithms.State{
		Term: 7, Reserved: 8,
		Vote:    algorithms.Vote{Term: 9, ID: 5, Incarnation: proto.Incarnation{0: 0xab, 15: 0x01}},
		Promise: 2500 * time.Millisecond,
		Voters:  algorithms.VoterState{List: "1-4", Version: 1, Changed: 4},
	}
)

// later is a state that may follow voted.
var later = algorithms.State{Term: 8, Reserved: 9, Vote: voted.Vote, Promise: voted.Promise, Voters: voted.Voters}

func mustOpen(t *testing.T, dir string) (*File, algorithms.State) {
	t.Helper()
	f, s, err := Open(dir, demo4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, s
}

func mustSave(t *testing.T, f *File, s algorithms.State) {
	t.Helper()
	if err := f.Save(s); err != nil {
		t.Fatal(err)
	}
}

// reopen closes f and returns what its directory keeps.
func reopen(t *testing.T, f *File) (*File, algorithms.State) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return mustOpen(t, f.dir)
}

// Promise: "Missing file in an empty directory: first start, zero State."
func TestFirstStartIsTermZero(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "yet", "there")
	_, s := mustOpen(t, dir)
	if s != (algorithms.State{}) {
		t.Errorf("first start: %+v, want the zero State", s)
	}
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		t.Errorf("the directory's mode is %o: others may look in", mode)
	}
}

// Promise: what was saved last is what the next Open returns.
func TestSaveThenOpen(t *testing.T) {
	states := map[string]algorithms.State{
		"a term": {Term: 1, Reserved: 2},
		"a vote": voted,
		"the largest values": {
			Term: proto.MaxTerm, Reserved: proto.MaxTerm,
			Vote:   algorithms.Vote{Term: proto.MaxTerm, ID: proto.MaxNodeID},
			Voters: algorithms.VoterState{List: "1-3", Version: proto.MaxVoterVersion, Changed: proto.MaxNodeID},
		},
		"voters that are committed": {
			Term: 1, Reserved: 1, Voters: algorithms.VoterState{List: "1-3", Version: 2, Committed: true},
		},
		"no vote up to a term": {Term: 1, Reserved: 1, Vote: algorithms.Vote{Term: 9}},
	}
	for name, want := range states {
		t.Run(name, func(t *testing.T) {
			f, _ := mustOpen(t, t.TempDir())
			mustSave(t, f, algorithms.State{Term: 1, Reserved: 1})
			mustSave(t, f, want)
			f, got := reopen(t, f)
			if got != want {
				t.Errorf("kept %+v, saved %+v", got, want)
			}
			// "Nor this one in a file that begins with another record": no number comes again.
			if f.last != 4 {
				t.Errorf("the new file begins with record %d, want 4", f.last)
			}
			// Neither the term nor the vote is ever forgotten.
			forgets := algorithms.State{Term: want.Term, Reserved: want.Reserved}
			if err := f.Save(forgets); want.Vote.Term > 0 && !errors.Is(err, ErrTermBack) {
				t.Errorf("Save without the vote: %v", err)
			}
		})
	}
}

// Promise: the file is for people to read.
func TestFileIsReadable(t *testing.T) {
	f, _ := mustOpen(t, t.TempDir())
	mustSave(t, f, voted)
	got, err := os.ReadFile(filepath.Join(f.dir, stateName))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(got), "\n")
	const want = `{"version":3,"record":2,"sectors":1,"cluster":"demo","id":4,"term":7,"reserved":8,` +
		`"vote":{"term":9,"id":5,"session":"ab000000000000000000000000000001"},` +
		`"promise":"2.5s","voters":{"list":"1-4","version":1,"committed":false,"changed":4},"crc32c":"0c5d09e8"}`
	const first = `{"version":3,"record":1,"sectors":1,"cluster":"demo","id":4,"term":0,"reserved":0,` +
		`"crc32c":"34e5b3cd"}`
	if len(lines) != 3 || strings.TrimRight(lines[0], " ") != first ||
		strings.TrimRight(lines[1], " ") != want || strings.TrimSpace(lines[2]) != "" {
		t.Errorf("the file reads\n%s\nwant\n%s\n%s", got, first, want)
	}
	for records := json.NewDecoder(bytes.NewReader(got)); ; {
		var any map[string]any
		if err := records.Decode(&any); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("no stream of JSON: %v", err)
		}
	}
}

// "With a term and nobody it is what a voter that lost its disk must not vote up to, but for
// who leads that term": a vote in that term is the first.
func TestSaveTheFirstVoteOfATerm(t *testing.T) {
	f, _ := mustOpen(t, t.TempDir())
	back := voted
	back.Vote = algorithms.Vote{Term: voted.Vote.Term}
	mustSave(t, f, back)
	mustSave(t, f, voted)
	if err := f.Save(back); !errors.Is(err, ErrTermBack) {
		t.Errorf("Save(%+v) = %v, want %v", back, err, ErrTermBack)
	}
}

// Promise: "Save refuses a term below the saved one." And a state that Open
// would refuse must not be written in the first place.
func TestSaveRefuses(t *testing.T) {
	cases := []struct {
		name   string
		change func(s *algorithms.State)
		want   error
	}{
		{"a lower term", func(s *algorithms.State) { s.Term-- }, ErrTermBack},
		{"fewer terms reserved", func(s *algorithms.State) { s.Reserved-- }, ErrTermBack},
		{"a shorter promise", func(s *algorithms.State) { s.Promise-- }, ErrTermBack},
		{"a vote in a lower term", func(s *algorithms.State) { s.Vote.Term-- }, ErrTermBack},
		{"another vote in the term", func(s *algorithms.State) { s.Vote.ID-- }, ErrTermBack},
		{"another incarnation in the term", func(s *algorithms.State) { s.Vote.Incarnation[3]++ }, ErrTermBack},
		{"an older list of voters", func(s *algorithms.State) {
			s.Voters = algorithms.VoterState{List: "1-3", Committed: true}
		}, ErrTermBack},
		{"a term that is not reserved", func(s *algorithms.State) { s.Term = s.Reserved + 1 }, ErrState},
		{"an absurd term", func(s *algorithms.State) { s.Reserved = proto.MaxTerm + 1 }, ErrState},
		{"an incarnation of nobody", func(s *algorithms.State) {
			s.Vote = algorithms.Vote{Term: 10, Incarnation: proto.Incarnation{1}}
		}, ErrState},
		{"a vote for an absurd id", func(s *algorithms.State) { s.Vote.ID = proto.MaxNodeID + 1 }, ErrState},
		{"a vote for an absurd id in no incarnation", func(s *algorithms.State) {
			s.Vote = algorithms.Vote{Term: 10, ID: proto.MaxNodeID + 1}
		}, ErrState},
		{"a vote in no term", func(s *algorithms.State) { s.Vote.Term = 0 }, ErrState},
		{"a vote in an absurd term", func(s *algorithms.State) { s.Vote.Term = proto.MaxTerm + 1 }, ErrState},
		{"a promise of less than nothing", func(s *algorithms.State) { s.Promise = -1 }, ErrState},
		{"a former holder in no term", func(s *algorithms.State) {
			s.Former = proto.PackLeaderships([]proto.Leadership{{Leader: 1, Incarnation: proto.Incarnation{1}}})
		}, ErrState},
		{"an absurd list of voters", func(s *algorithms.State) {
			s.Voters.Version = proto.MaxVoterVersion + 1
		}, ErrState},
		{"voters of an absurd id", func(s *algorithms.State) { s.Voters.Changed = proto.MaxNodeID + 1 }, ErrState},
		{"a list of voters out of order", func(s *algorithms.State) { s.Voters.List = "3-1" }, ErrState},
		{"no list of voters", func(s *algorithms.State) { s.Voters.List = "" }, ErrState},
		{"voters that are committed and changed", func(s *algorithms.State) { s.Voters.Committed = true }, ErrState},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f, _ := mustOpen(t, t.TempDir())
			mustSave(t, f, voted)
			next := voted
			c.change(&next)
			if err := f.Save(next); !errors.Is(err, c.want) {
				t.Errorf("Save(%+v) = %v, want %v", next, err, c.want)
			}
			if _, got := reopen(t, f); got != voted {
				t.Errorf("kept %+v, want %+v", got, voted)
			}
		})
	}
}

func TestSaveAfterClose(t *testing.T) {
	f, _ := mustOpen(t, t.TempDir())
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Save(voted); !errors.Is(err, ErrClosed) {
		t.Errorf("Save after Close: %v, want ErrClosed", err)
	}
}

// Promise: "After a failed Save every later Save fails too."
func TestFailedSaveIsFinal(t *testing.T) {
	f, _ := mustOpen(t, t.TempDir())
	log := f.log
	var err error
	if f.log, err = (system{}).Open(filepath.Join(f.dir, stateName)); err != nil {
		t.Fatal(err)
	}
	if err := f.Save(voted); err == nil {
		t.Fatal("Save succeeded on a file that is open for reading only")
	}
	if err := f.log.Close(); err != nil {
		t.Fatal(err)
	}
	f.log = log // from here on nothing but the promise is in its way
	err = f.Save(voted)
	if err == nil || !strings.Contains(err.Error(), "earlier save failed") {
		t.Errorf("Save after a failed one: %v, want it refused", err)
	}
	if _, got := reopen(t, f); got != (algorithms.State{}) {
		t.Errorf("kept %+v, want the state before the failed Save", got)
	}
}

// Promise: "Other cluster or id: ErrForeign."
func TestForeignDirectory(t *testing.T) {
	f, _ := mustOpen(t, t.TempDir())
	mustSave(t, f, voted)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, other := range []Owner{{"demo", 5}, {"prod", 4}, {"", 4}} {
		if _, _, err := Open(f.dir, other); !errors.Is(err, ErrForeign) {
			t.Errorf("Open as %+v: %v, want ErrForeign", other, err)
		}
	}
	if _, got := mustOpen(t, f.dir); got != voted {
		t.Errorf("its owner then finds %+v, want %+v", got, voted)
	}
}

// A directory that has no absolute name, since the working directory was removed, is a clear
// error.
func TestDirectoryIsGone(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	if err := os.Remove(here); err != nil {
		t.Fatal(err)
	}
	_, _, err := Open("data", demo4)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "directory data:") {
		t.Errorf("Open: %v, want an error that names the directory", err)
	}
}

func TestOpenRefusesOwner(t *testing.T) {
	bad := []Owner{
		{"demo", 0},
		{"demo", proto.MaxNodeID + 1},
		{"\xff", 4},
		{strings.Repeat("x", 256), 4},
	}
	for _, owner := range bad {
		if _, _, err := Open(t.TempDir(), owner); err == nil {
			t.Errorf("Open as %+v succeeded", owner)
		}
	}
	// The longest label there is, every byte of it escaped in JSON.
	longest := Owner{strings.Repeat("\x01", 255), proto.MaxNodeID}
	dir := t.TempDir()
	for range 2 {
		f, _, err := Open(dir, longest)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A crash in the middle of a Save leaves a temporary file: the whole next
// state, a part of it, or garbage. Nothing of that Save left the node, so none
// of it counts.
func TestLeftoverTempFile(t *testing.T) {
	next := encode(demo4, algorithms.State{Term: 99, Reserved: 99}, 1)
	for name, leftover := range map[string][]byte{
		"whole":   next,
		"cut":     next[:len(next)/2],
		"empty":   nil,
		"garbage": bytes.Repeat([]byte{0xff}, 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			temp := filepath.Join(dir, tempName)
			if err := os.WriteFile(temp, leftover, 0o600); err != nil {
				t.Fatal(err)
			}
			f, s := mustOpen(t, dir)
			if s != (algorithms.State{}) {
				t.Errorf("first start with a leftover: %+v, want the zero State", s)
			}
			mustSave(t, f, voted)
			if err := os.WriteFile(temp, leftover, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, got := reopen(t, f); got != voted {
				t.Errorf("kept %+v, want %+v", got, voted)
			}
			if _, err := os.Stat(temp); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the leftover is still there: %v", err)
			}
		})
	}
}

func BenchmarkSave(b *testing.B) {
	f, _, err := Open(b.TempDir(), demo4)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	s := voted
	for b.Loop() {
		s.Term++
		s.Reserved++
		if err := f.Save(s); err != nil {
			b.Fatal(err)
		}
	}
}
