package rounds_test

import (
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// "Term 2 began at 12:00:00.510, and no record says why", and "Why node 2 asked for term 2, and whether another one
// called before: no record of term 2 says so": its record of the term before says why, and is here.
func TestWhyAFollowerAskedInTheTermOfItsLeader(t *testing.T) {
	v := newVoters()
	v.level = "info"
	v.elect(3, 1, 1, 2)
	v.add(2, 505, trace.Record{
		Term: 1, Event: "receive", From: 3, Leader: 3, Token: 1, Sent: []string{"PRE_VOTE>1#2:24", "PRE_VOTE>3#2:25"},
		Why: []string{"3 offers to hand over -> ask the voters whether they would vote in term 2 but for it"},
	})
	v.add(1, 510, trace.Record{
		Term: 1, Event: "receive", From: 2, Msg: "PRE_VOTE", MsgID: "2:24",
		Why: []string{"2 asks for term 2 -> no, stands itself 1"}, Sent: []string{"PRE_VOTE_REPLY>2#1:1"},
	})
	v.resign(3, 600, 1)
	const asked = "Node 2 had asked for term 2 by 12:00:00.510, and wrote “3 offers to hand over -> ask the voters " +
		"whether they would vote in term 2 but for it” [1:2 2:2]."
	g := v.b.History().Groups[0]
	for name, text := range map[string]string{"explain": told(t, g), "why-not": v.whyNot(t, 1)} {
		if !strings.Contains(text, asked) ||
			strings.Contains(text, "no record says why") || strings.Contains(text, "no record of term 2") {
			t.Errorf("%s: want %q in: %s", name, asked, text)
		}
	}
}
