package rounds

import (
	"strings"
	"testing"
	"time"
)

// Promise: flapping is told with "what keeps starting them", where anything does.
func TestWhatStartsMostRounds(t *testing.T) {
	for want, texts := range map[string][]string{
		"what starts most of them, 3 times: leader 5 is gone.":               {"a", "leader 5 is gone", "b"},
		"each starts for another reason, the first one for this: it starts.": {"it starts", "b", "c"},
	} {
		var spell []*Round
		for i, text := range texts {
			at := time.Unix(int64(i), 0)
			spell = append(spell, &Round{Term: uint64(i + 1), Cause: Cause{Text: text, At: at}})
			if strings.HasPrefix(want, "what") && i == 1 {
				spell = append(spell, spell[1], spell[1])
			}
		}
		if got := flap(spell).Text; !strings.HasSuffix(got, want) {
			t.Errorf("%q; want %q", got, want)
		}
	}
}
