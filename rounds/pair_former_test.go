package rounds_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// arrivedOf returns the ids of the messages of the process that count as received.
func (v *voters) arrivedOf(incarnation string) (ids []string) {
	for _, r := range v.b.History().Groups[0].Rounds {
		for _, m := range r.Messages {
			sent := m.SendStep >= 0 && r.Steps[m.SendStep].Ref.Incarnation == incarnation
			if sent && m.Delivery == rounds.Arrived {
				ids = append(ids, m.ID)
			}
		}
	}
	return ids
}

// "Called arrived, and never received": a process that is not in the log, which ends before, numbered its messages as
// the one whose messages are here. What came twice came first from that one: this tells how fast messages are, and that
// the others never came.
func TestReceiptsOfALaterProcess(t *testing.T) {
	const ahead = 900e3 // of the receiver
	v := newVoters()
	v.start(1, 0)
	v.start(2, ahead)
	for n := 2; n < 8; n++ {
		v.send(1, 4000+n, 2, fmt.Sprint("1:", n), "x -> y")
	}
	v.receive(2, ahead+4040, 2, "1:3")
	v.receive(2, ahead+4041, 2, "1:4")
	v.start(1, 9300)
	v.add(1, 10200, trace.Record{Event: "timeout", Term: 2})
	for n := 2; n < 8; n++ {
		v.receive(2, ahead+13900+n, 2, fmt.Sprint("1:", n))
	}
	if ids := v.arrivedOf("n1life1"); !slices.Equal(ids, []string{"1:3", "1:4"}) {
		t.Errorf("%v arrived", ids)
	}
}
