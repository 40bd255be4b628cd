package rounds

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// "By how many µs the hybrid clock of the node was ahead of its own clock at most": also if that is first asked when
// the rounds of the records are built, and their entries empty.
func TestLeadOfRoundsThatAreOver(t *testing.T) {
	p := pairing{
		mails:  map[mail]int{{from: 1, to: 2, n: 1}: 0},
		places: []place{{0, 1}},
		posts:  []post{{by: &entry{}, clock: proto.HLC{Micros: 5_000_000}, wall: time.UnixMicro(1_000_000)}},
	}
	if got := p.lead(1); got != 4_000_000 {
		t.Errorf("ahead by %d µs, want 4 s", got)
	}
}
