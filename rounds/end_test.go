package rounds_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// "Nobody led for at least 4.76 s", where it was 3.56 s: a proof that a former process of the leader had ended came
// late, to a voter that followed the leader on, or began to after that. The leader has no log.
func TestAProofOfAFormerProcessEndsNoLeadership(t *testing.T) {
	for _, followed := range []int{20, 600} { // node 1, which is given the proof at 500
		v := newVoters()
		v.follow(2, 20, 3, 1)
		gone := trace.Record{Event: "gone", About: 3, Detail: "3 n3life0", Term: 1}
		if followed > 500 {
			v.add(1, 500, gone)
		}
		v.follow(1, followed, 3, 1)
		if followed < 500 {
			gone.Leader, gone.Token = 3, 1
			v.add(1, 500, gone)
		}
		v.miss(2, 2500, 3)
		v.miss(1, 2500, 3)
		v.ask(2, 2600, 2)
		v.lead(2, 2610, 2)
		if in := v.last(); in.Ended.Kind == rounds.EndedByProcess {
			t.Errorf("followed at %d: %+v", followed, in)
		}
	}
}

// "Node 3 leads" was told of one that had said that it leads no more, where its own log is cut: who got that word had
// found before that the lease was not renewed, and no majority had. When it ceased to is not known: the word may have
// been long on its way.
func TestAWordAfterTheLeaseWasFoundOverEndsIt(t *testing.T) {
	for said, over := range map[bool]bool{false: false, true: true} {
		v := newVoters()
		v.ask(3, 0, 1)
		v.elect(3, 1, 1, 2)
		v.miss(2, 1500, 3)
		if said {
			v.add(2, 4000, trace.Record{
				Term: 1, Event: "receive", From: 3, Msg: "RELEASE", MsgID: "3:99",
				Why:     []string{"3 releases term 1 -> the promise to it is over"},
				Reasons: []trace.Reason{{Code: "lease.release", Args: []trace.Arg{{Number: 3}, {Number: 1}}}},
			})
		}
		v.add(2, 4100, trace.Record{Term: 1, Event: "peers", Alive: []uint64{1, 2, 3}})
		g := v.b.History().Groups[0]
		led := g.Led(3, 1)
		want := rounds.Ending{Kind: rounds.EndedByWord, Known: rounds.PeersSaw, Ref: rounds.Ref{Node: 2, Seq: 3}}
		switch {
		case led == nil || led.End.IsZero() == over:
			t.Errorf("said %v: %+v", said, led)
		case over && (!led.End.Equal(atMS(4000)) || led.Ended.Kind != want.Kind || led.Ended.Ref.Seq != want.Ref.Seq):
			t.Errorf("%+v", led)
		}
		if in := v.last(); over && (in.Leader != 0 || in.Former != 3 || !in.Perhaps.Equal(atMS(1500))) {
			t.Errorf("%+v", in)
		}
	}
}

// "Nobody led since 300 ms: the process of node 3 ended", and it led on: that was the end of a former process of its
// node, which has no log. Its follower names another one.
func TestTheEndOfAFormerProcessIsNotThatOfALeaderWithoutALog(t *testing.T) {
	for process, want := range map[string]bool{"former": false, "leader": true} {
		v := newVoters()
		v.ask(1, 0, 1)
		v.add(2, 100, trace.Record{
			Event: "receive", From: 3, Sender: "leader", Msg: "HEARTBEAT", MsgID: "3:1", Term: 1, Leader: 3, Token: 1,
			LeaderChange: trace.Elected, ValidUntil: atMS(1080), Why: []string{"3 leads term 1 -> follow it"},
		})
		v.add(1, 300, trace.Record{Event: "gone", About: 3, Detail: "3 " + process, Term: 1})
		v.miss(2, 1090, 3)
		v.ask(1, 2990, 2)
		v.lead(1, 3000, 2)
		if in := v.last(); in.Former != 3 || (in.Ended.Kind == rounds.EndedByProcess) != want {
			t.Errorf("the end of the process %s: %+v", process, in)
		}
	}
}
