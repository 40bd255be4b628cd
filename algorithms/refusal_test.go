package algorithms

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// "Refused clearly": each refusal says why nothing changes, and what to do next.
func TestRefusals(t *testing.T) {
	two := Refusing{Others: []proto.NodeID{1, 2}}
	one := Refusing{Others: []proto.NodeID{4}}
	none := Refusing{}
	const start = "start one, or resume one that is paused, with --cluster if all are"
	const heal = "its status says why: resume it if it is paused, with --cluster if all are, mend what ails it if not"
	for _, c := range []struct {
		got  Refusal
		want string
	}{
		{two.Nobody(), "nobody leads; ask again once a node does"},
		{two.Elsewhere(3), "3 leads, not this node; ask node 3"},
		{one.Elsewhere(3), "3 leads, not this node; ask node 3"},
		{one.Lost(), "the leader leads no more; ask again once a node does"},
		{two.UnderWay(2), "a transfer to 2 is under way; wait until it is over, and ask again if another shall lead"},
		{two.UnderWay(0), "another transfer is under way; wait until it is over, and ask again if another shall lead"},
		{two.NoOther(), "no other that could lead is alive and eligible; " + start},
		{two.Self(), "it leads already; name one that could take over: 1 or 2"},
		{none.Self(), "it leads already; " + start + ": no other could take over now"},
		{two.NoVoter(), "it is no voter; name one that could take over: 1 or 2"},
		{one.Dead(), "it is not alive, as far as the leader knows; start it, or name one that could take over: 4"},
		{none.Dead(), "it is not alive, as far as the leader knows; start it: no other could take over now"},
		{two.NotEligible(), "it is not eligible, as far as the leader knows; " + heal +
			", or name one that could take over: 1 or 2"},
		{one.Silent(), "it did not answer in time; see whether it hangs or is cut off, or name one that could " +
			"take over: 4"},
		{none.Declined(proto.DeclineIncarnation), "it has restarted since; ask again: no other could take over now"},
		{one.Declined(proto.DeclineBehind), "it has not caught up with this term; ask again in a moment, or " +
			"name one that could take over: 4"},
		{none.Declined(proto.DeclineAside), "it does not stand for election; " + heal +
			": no other could take over now"},
		{one.Declined(proto.DeclineNonVoter), "it is no voter; name one that could take over: 4"},
		{one.Started([]proto.NodeID{3}, 1234*time.Millisecond), "no majority of the voters would vote for it: 3 has " +
			"just started, and votes for no other for up to 1.24s more; ask again then, or name one that could " +
			"take over: 4"},
		{none.Started([]proto.NodeID{1, 3}, 1), "no majority of the voters would vote for it: 1 and 3 have just " +
			"started, and vote for no other for up to 10ms more; ask again then: no other could take over now"},
		{Refusal{}, ""},
	} {
		if got := c.got.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A large cluster gives no endless sentence.
func TestRefusalOfMany(t *testing.T) {
	r := Refusing{}
	for id := range proto.NodeID(13) {
		r.Others = append(r.Others, id+1)
	}
	const want = "it is no voter; name one that could take over: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 or one of 3 more"
	if got := r.NoVoter().String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// "Who asked and why in the record", and what came of it.
func TestReasonOfTransferEnd(t *testing.T) {
	for want, end := range map[string]TransferEnd{
		"": {To: 3},
		"a transfer to 3: it is no voter; ask 2 -> change nothing":    {To: 3, Refused: "it is no voter; ask 2"},
		"a transfer to the best node: nobody leads -> change nothing": {Refused: "nobody leads"},
	} {
		if got := end.Reason(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
