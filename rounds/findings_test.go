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
