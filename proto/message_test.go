package proto

import (
	"testing"
	"time"
)

func TestLinkKindNames(t *testing.T) {
	for kind, want := range map[LinkKind]string{
		KindHello: "HELLO", KindWelcome: "WELCOME", KindRefuse: "REFUSE", KindAck: "ACK",
		0: "KIND(0)", 255: "KIND(255)",
	} {
		if got := kind.String(); got != want {
			t.Errorf("kind %d is %q, want %q", uint8(kind), got, want)
		}
	}
}

// Messages "contain id:attr", and are shown with it.
func TestBodiesForPeople(t *testing.T) {
	p := Peer{ID: 5, Incarnation: Incarnation{1}, Attr: 80}
	for want, b := range map[string]Body{
		"PLAIN":                            plain{},
		"RICH best 5:80, roll 5 5":         rich{Best: p, Roll: Roll("").Add(p).Add(p)},
		"RICH best 5:80, roll 9 ids":       rich{Best: p, Roll: fullRoll(p)[:9*peerSize]},
		"RICH best 5:80, roll nobody":      rich{Best: p},
		"RICH best 5:chosen, roll nobody":  rich{Best: Peer{ID: 5, Attr: ChosenAttr}},
		"PRE_VOTE_REPLY yes":               PreVoteReply{Incarnation: p.Incarnation},
		"PRE_VOTE_REPLY no, promised 4":    PreVoteReply{Answer: Answer{DeniedPromised, 4}},
		"VOTE no, just started":            Vote{Incarnation: p.Incarnation, Answer: Answer{Denial: DeniedStarted}},
		"PRE_VOTE":                         PreVote{},
		"REQUEST_VOTE":                     RequestVote{},
		"VOTE":                             Vote{},
		"HEARTBEAT_REPLY":                  HeartbeatReply{},
		"HEARTBEAT_REPLY no, voted 2":      HeartbeatReply{Answer: Answer{DeniedVoted, 2}},
		"HEARTBEAT leader 5:80, for 2.95s": Heartbeat{Leader: p, Remaining: 2950 * time.Millisecond},
	} {
		if got := b.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestMessageID(t *testing.T) {
	if got := (Message{From: 4, To: 5, Seq: 31}).ID(); got != "4:31" {
		t.Errorf("%q, want sender:seq", got)
	}
}
