package logs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
)

// "console-format lines of our own": they have a time of day and no date, and
// the times of a round are right nevertheless, over midnight too.
func TestTimeOfDay(t *testing.T) {
	for _, zero := range []string{"17:49:14.", "23:59:59."} {
		next := map[string]string{"17:49:14.": "17:49:15.", "23:59:59.": "00:00:00."}[zero]
		log := zero + `900 INF 2 > timeout
            no leader was heard of -> call an election of term 1
            no higher node is alive -> lead term 1
            COORDINATOR > 1
            = leads term 1 (elected)
` + next + `100 INF 1 > receive COORDINATOR leader 2:0 from 2
            2 leads term 1 -> follow it
            = follows 2 in term 1 (elected)
`
		b := rounds.NewBuilder()
		if _, err := logs.Read(strings.NewReader(log), b); err != nil {
			t.Fatal(err)
		}
		h := b.History()
		if len(h.Groups) != 1 || len(h.Groups[0].Rounds) != 1 {
			t.Fatalf("%+v", h)
		}
		if s := h.Groups[0].Rounds[0].Split; !s.AnnounceKnown || s.Announce != 200*time.Millisecond {
			t.Errorf("%s: announced within %v", zero, s.Announce)
		}
	}
}
