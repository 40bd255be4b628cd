package statefile

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// life is a file of three records, each one state after the other, the middle and the
// last of several sectors if long is set, and what the last acknowledged one says.
func life(long bool) (file []byte, acked algorithms.State) {
	small := algorithms.State{Term: 1, Reserved: 1}
	middle, acked := voted, later
	if long {
		var former []proto.Leadership
		for i := range 16 {
			former = append(former, proto.Leadership{
				Term: 1, Leader: proto.NodeID(i + 1), Incarnation: proto.Incarnation{1},
			})
		}
		middle.Former, acked.Former = proto.PackLeaderships(former[:12]), proto.PackLeaderships(former)
	}
	return fileOf(encode(demo4, small, 1), encode(demo4, middle, 2), encode(demo4, acked, 3)), acked
}

// "Torn is only what a crash of ours can leave": whichever sector is wiped, or holds what
// belongs elsewhere, the state is the one that was last acknowledged, or damaged; never
// an older one, or none.
func TestWipedSector(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, sector)
	for i := range random {
		random[i] = byte(dice.Uint32())
	}
	text := []byte("The quick brown fox jumps over the lazy dog; \"record\":3, and {json:1}\n\tor none. ")
	for _, long := range []bool{false, true} {
		good, acked := life(long)
		older := newFile(pad(encode(demo4, voted, 9)), 9) // another file of the same node
		content := map[string][]byte{
			"zeroes": make([]byte, sector), "0xff": bytes.Repeat([]byte{0xff}, sector), "random bytes": random,
			"spaces": bytes.Repeat([]byte{' '}, sector), "letters": bytes.Repeat([]byte{'x'}, sector),
			"tabs": bytes.Repeat([]byte{'\t'}, sector),
			"text": bytes.Repeat(text, 10)[:sector], "text on one line": bytes.Repeat(text[:60], 10)[:sector],
		}
		for from := 0; from < len(good); from += sector {
			content[fmt.Sprintf("what is at %d", from)] = good[from : from+sector]
			if from < len(older) {
				content[fmt.Sprintf("what was at %d of another file", from)] = older[from : from+sector]
			}
		}
		damaged := 0
		for at := 0; at < len(good); at += sector {
			for name, bad := range content {
				for _, sectors := range []int{1, 8, 32} { // what a disk, a page and a file system may lose
					file := bytes.Clone(good)
					for i := at; i < min(at+sectors*sector, len(file)); i += sector {
						copy(file[i:], bad)
					}
					_, s, _, err := latest(file)
					if err == nil && s != acked {
						t.Errorf("long %v: %d sectors from %d are %s: read %+v", long, sectors, at, name, s)
					}
					if err != nil && !errors.Is(err, ErrCorrupt) {
						t.Error(err)
					}
					if err != nil {
						damaged++
					}
				}
			}
		}
		for cut := range good {
			if _, s, _, err := latest(good[:cut]); !errors.Is(err, ErrCorrupt) {
				t.Errorf("cut to %d bytes: %+v, %v", cut, s, err)
			}
		}
		if damaged == 0 {
			t.Error("nothing was damaged")
		}
	}
}

// "The records are numbered, so that none can be missing": where sectors are as they were
// before anything was written there, and what was written later is not, the file is damaged.
// Unless it is what a crash leaves of one record: then the disk acknowledged a write and lost
// it, and all behind it.
func TestLostSectors(t *testing.T) {
	for _, long := range []bool{false, true} {
		good, _ := life(long)
		var begin []int // the sectors in which a record begins, and at last the first empty one
		for at := 0; ; at += recordSize(good[at:]) {
			begin = append(begin, at/sector)
			if [sector]byte(good[at:]) == fill(1, at/sector) {
				break
			}
		}
		written := begin[len(begin)-1]
		for from := range written {
			for to := from + 1; to <= written; to++ {
				file := bytes.Clone(good)
				for i := from; i < to; i++ {
					empty := fill(1, i)
					copy(file[i*sector:], empty[:])
				}
				next := slices.IndexFunc(begin, func(at int) bool { return at > from })
				whole := slices.ContainsFunc(begin[next:], func(at int) bool { return to <= at && at < written })
				lengthKnown, more := begin[next-1] < from, max(to, begin[next]) < written
				_, s, _, err := latest(file)
				if (next == 1 || whole || lengthKnown && more) && !errors.Is(err, ErrCorrupt) {
					t.Errorf("long %v: sectors %d to %d of %v are lost: %+v, %v", long, from, to-1, begin, s, err)
				}
			}
		}
	}
}

// "Torn is only what a crash of ours can leave": a record of which bytes are missing is
// damaged all the same where another byte of it, or behind it, is none that we write there.
func TestTornAndWrong(t *testing.T) {
	long, _ := life(true)
	before := fileOf(encode(demo4, algorithms.State{Term: 1, Reserved: 1}, 1))
	record := long[sector:][:recordSize(long[sector:])]
	number, length := len(`{"version":3,"record":`), len(`{"version":3,"record":2,"sectors":`)
	if len(record) != 3*sector || record[number] != '2' || record[length] != '3' {
		t.Fatalf("not record 2 of 3 sectors: %s", record)
	}
	never := string([]byte{before[sector+200] ^ '\t' ^ '\r'})
	cases := []struct {
		name  string
		lost  int
		place int
		wrong string
	}{
		{"nothing", 100, 0, ""},
		{"nothing, its length unknown", length, 0, ""},
		{"its version", 100, len(`{"version":`), "4"},
		{"its number", 100, number, "3"},
		{"its length is shorter", 100, length, "2"},
		{"its length is longer", 100, length, "4"},
		{"its length is none", 100, length, "0"},
		{"its length is that of no room", 3*sector - 1, length, "33,"},
		{"what its place never held", 100, 200, never},
		{"a control character", 100, 200, "\x1f"},
		{"what is no ASCII", 100, 200, "\x7f"},
		{"a newline in its first sector", 100, 200, "\n"},
		{"a newline in its last sector", 100, 2*sector + 200, "\n"},
		{"a newline at the end of its first sector", 100, sector - 1, "\n"},
		{"a newline there, its length unknown", length, sector - 1, "\n"},
		{"no newline at its end", 100, 3*sector - 1, " "},
		{"a later record within", 100, sector, `{"version":3,"record":3`},
		{"a byte behind it", 100, 3*sector + 7, "x"},
		{"a byte behind it, its length unknown", length, 3*sector + 7, "x"},
		{"a byte at the end of the room", 100, room - 1, "x"},
	}
	for _, c := range cases {
		file := bytes.Clone(before)
		copy(file[sector:], record)
		file[sector+c.lost] = before[sector+c.lost]
		copy(file[sector+c.place:], c.wrong)
		_, s, _, err := latest(file)
		if c.wrong == "" && err != nil || c.wrong != "" && !errors.Is(err, ErrCorrupt) {
			t.Errorf("wrong is %s: %+v, %v", c.name, s, err)
		}
	}
}

// A crash in the middle of a save leaves, of the bytes that are written, any: the state is
// the last that was acknowledged, or the one being saved.
func TestCrashWhileSaving(t *testing.T) {
	dice := rand.New(rand.NewPCG(3, 4))
	for _, long := range []bool{false, true} {
		before, acked := life(long)
		next := acked
		next.Term, next.Reserved = next.Term+1, next.Reserved+1
		record := pad(encode(demo4, next, 4))
		at := 0
		for [sector]byte(before[at:]) != fill(1, at/sector) {
			at += sector // behind the records
		}
		look := func(what string, written func(i int) bool) {
			file, all := bytes.Clone(before), true
			for i, b := range record {
				if written(i) {
					file[at+i] = b
				} else {
					all = false
				}
			}
			want := acked
			if all {
				want = next
			}
			if _, s, _, err := latest(file); err != nil || s != want {
				t.Fatalf("long %v, %s: %+v, %v; want %+v", long, what, s, err, want)
			}
		}
		sectors := len(record) / sector
		for some := range 1 << sectors {
			look(fmt.Sprintf("sectors %b", some), func(i int) bool { return some>>(i/sector)&1 == 1 })
		}
		for n := range len(record) + 1 {
			look(fmt.Sprintf("the first %d bytes", n), func(i int) bool { return i < n })
			look(fmt.Sprintf("all but the first %d bytes", n), func(i int) bool { return i >= n })
			look(fmt.Sprintf("all but byte %d", n), func(i int) bool { return i != n })
			look(fmt.Sprintf("byte %d", n), func(i int) bool { return i == n })
		}
		for range 2000 {
			share := dice.Float64()
			look("some bytes", func(int) bool { return dice.Float64() < share })
		}
	}
}
