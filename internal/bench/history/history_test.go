package history

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/proto"
)

func token(term proto.Term, node proto.NodeID) fence.Token {
	return fence.Token{Term: term, Leader: node, Incarnation: proto.Incarnation{byte(node)}}
}

var (
	one, two = token(1, 1), token(2, 2)
	twin     = token(2, 3) // of the same term as two
)

func put(t fence.Token, value string, began, ended int64, outcome Outcome) Call {
	return Call{Kind: Put, Key: "k", Value: value, Token: t, Began: began, Ended: ended, Outcome: outcome}
}

func get(t fence.Token, value string, began, ended int64) Call {
	return Call{Kind: Get, Key: "k", Value: value, Token: t, Began: began, Ended: ended, Outcome: Done}
}

func refused(c Call, current fence.Token) Call {
	c.Outcome, c.Current = Stale, current
	return c
}

// Each history is judged as it should be, and one that is wrong in one way is not
// taken for right.
func TestCheck(t *testing.T) {
	seal := Call{Kind: Seal, Token: two, Began: 10, Ended: 20, Outcome: Done}
	for _, c := range []struct {
		name   string
		calls  []Call
		answer string
		stale  int
		shared int
	}{
		{"nothing", nil, "yes", 0, 0},
		{"one after the other", []Call{
			put(one, "a", 1, 2, Done), put(two, "b", 3, 4, Done), get(two, "b", 5, 6),
		}, "yes", 0, 0},
		{"the old leader is refused", []Call{
			put(one, "a", 1, 2, Done), seal, refused(put(one, "c", 30, 31, ""), two), get(two, "a", 40, 41),
		}, "yes", 0, 0},
		{"a stale write is accepted", []Call{put(one, "a", 1, 2, Done), seal, put(one, "c", 30, 31, Done)}, "no", 1, 0},
		{"it overlaps with the seal", []Call{
			put(one, "a", 1, 2, Done), seal, put(one, "c", 15, 31, Done),
		}, "yes", 0, 0},
		{"two holders of a term", []Call{put(two, "a", 1, 2, Done), put(twin, "b", 3, 4, Done)}, "no", 0, 1},
		{"a lost write", []Call{
			put(one, "a", 1, 2, Done), put(one, "b", 3, 4, Done), get(fence.Token{}, "a", 5, 6),
		}, "no", 0, 0},
		{"a read by an old leader", []Call{put(one, "a", 1, 2, Done), seal, get(one, "a", 30, 31)}, "no", 0, 0},
		{"refused for a token that nobody showed", []Call{
			put(one, "a", 1, 2, Done), refused(put(one, "b", 3, 4, ""), two),
		}, "no", 0, 0},
		{"an unknown write was done", []Call{put(one, "a", 1, 9, Unknown), get(fence.Token{}, "a", 3, 4)}, "yes", 0, 0},
		{"an unknown write was not done", []Call{
			put(one, "a", 1, 9, Unknown), get(fence.Token{}, "", 10, 11),
		}, "yes", 0, 0},
		{"an unknown write is seen and gone again", []Call{
			put(one, "a", 1, 9, Unknown), get(fence.Token{}, "a", 3, 4), get(fence.Token{}, "", 5, 6),
		}, "no", 0, 0},
		{"an unknown write of an old leader comes late", []Call{
			seal, put(one, "a", 30, 40, Unknown), get(fence.Token{}, "a", 41, 42),
		}, "no", 0, 0},
	} {
		v := Check(c.calls, time.Minute)
		if v.Linearizable != c.answer || v.Stale != c.stale || v.Shared != c.shared {
			t.Errorf("%s: %+v, want %s, %d stale, %d shared", c.name, v, c.answer, c.stale, c.shared)
		}
		if ok := c.answer == "yes" && c.stale+c.shared == 0; v.OK() != ok {
			t.Errorf("%s: OK is %v", c.name, v.OK())
		}
	}
}

// Without the fence the same history is wrong, and is found to be.
func TestUnfenced(t *testing.T) {
	calls := []Call{
		put(one, "a", 1, 2, Done), put(two, "b", 3, 4, Done), refused(put(one, "c", 5, 6, ""), two),
	}
	if v := Check(calls, time.Minute); !v.OK() {
		t.Errorf("with the fence: %+v", v)
	}
	if v := CheckUnfenced(calls, time.Minute); v.Linearizable != "no" || v.Stale != 1 {
		t.Errorf("without: %+v", v)
	}
	if v := CheckUnfenced(calls[:2], time.Minute); !v.OK() {
		t.Errorf("nothing was refused: %+v", v)
	}
}
