package rounds

import (
	"strings"
	"testing"
	"time"
)

// Promise: flapping is told with "what keeps starting them", where anything does.
func TestWhatStartsMostChanges(t *testing.T) {
	for want, texts := range map[string][]string{
		"what starts most of the changes, 3 times: node 5 stopped answering.": {"a", "node 5 stopped answering", "b"},
		"each starts for another reason, the first one for this: it starts.":  {"it starts", "b", "c"},
	} {
		var spell []Incident
		for i, text := range texts {
			spell = append(spell, Incident{Terms: []uint64{uint64(i + 1)}, Why: text, Until: time.Unix(int64(i), 0)})
			if strings.HasPrefix(want, "what") && i == 1 {
				spell = append(spell, spell[1], spell[1])
			}
		}
		if got := flap(spell).Text; !strings.HasSuffix(got, want) {
			t.Errorf("%q; want %q", got, want)
		}
	}
}

// "A term went back, and no disk was lost": a nominator reserves one term in advance, so that it need not have saved
// its last one; and it may have ended as it wrote its last record.
func TestTermThatWasNotSaved(t *testing.T) {
	process := func(place int, terms ...uint64) *life {
		l := &life{place: place, node: 1, incarnation: strings.Repeat("a", place), inOrder: true}
		for i, term := range terms {
			wall := time.Unix(int64(100*place+i), 0)
			l.marks = append(l.marks, mark{seq: uint64(i + 1), own: term, round: term, wall: wall, sent: 1})
		}
		l.from, l.until = l.marks[0].wall, l.marks[len(terms)-1].wall
		return l
	}
	for name, c := range map[string]struct {
		first, second []uint64
		nominates     bool
		found         int
	}{
		"one term back":                    {[]uint64{1, 2, 2}, []uint64{1, 1}, true, 0},
		"one term back, of a voter":        {[]uint64{1, 2, 2}, []uint64{1, 1}, false, 1},
		"two terms back":                   {[]uint64{1, 3, 3}, []uint64{1, 1}, true, 1},
		"two terms back, of the last word": {[]uint64{1, 1, 3}, []uint64{1, 1}, true, 0},
		"in one process":                   {[]uint64{1, 2, 1}, []uint64{2, 2}, true, 1},
	} {
		m := &member{lives: []*life{process(1, c.first...), process(2, c.second...)}}
		if found := termFell(m, c.nominates); len(found) != c.found {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// "It was alive, and it was paused": at level info a process may write nothing for long, and may have been paused.
func TestSilentAtLevelInfo(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	for wrote, want := range map[int]bool{1500: false, 2500: true} {
		l := &life{node: 1, inOrder: true}
		for i, ms := range []int{0, 900, wrote} {
			l.marks = append(l.marks, mark{seq: uint64(i + 1), wall: at(ms)})
		}
		if got := l.silentAround(at(1000), clockFix{}); got != want {
			t.Errorf("wrote on at %d ms: silent %v", wrote, got)
		}
	}
}
