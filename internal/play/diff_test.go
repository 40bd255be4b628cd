package play

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// told reads messages such as "1>2 A, 2>3 A+2"; the term +1 is left out.
func told(t *testing.T, text string) (sent []message) {
	t.Helper()
	for one := range strings.SplitSeq(text, ", ") {
		m := message{term: 1}
		var from, to uint64
		way, kind, _ := strings.Cut(one, " ")
		if _, err := fmt.Sscanf(way, "%d>%d", &from, &to); err != nil {
			t.Fatalf("%q: %v", one, err)
		}
		m.from, m.to = proto.NodeID(from), proto.NodeID(to)
		kind, term, other := strings.Cut(kind, "+")
		m.kind = kind
		if other {
			_, _ = fmt.Sscan(term, &m.term)
		}
		sent = append(sent, m)
	}
	return sent
}

// Promise: "Two messages are the same if sender, receiver, kind and term are, and their order among those from that
// sender to that receiver: on different ways they may overtake each other."
func TestCompare(t *testing.T) {
	for _, c := range []struct{ name, virtual, real, want string }{
		{"the same", "1>2 A, 2>3 A", "1>2 A, 2>3 A", "  1>2 A\n  2>3 A"},
		{"overtaken elsewhere", "1>2 A, 3>2 B, 1>3 A", "3>2 B, 1>3 A, 1>2 A", "  1>2 A\n  3>2 B\n  1>3 A"},
		{"overtaken on its way", "1>2 A, 1>2 B", "1>2 B, 1>2 A", "- 1>2 A\n  1>2 B\n+ 1>2 A"},
		{"one less", "1>2 A, 2>3 A, 3>1 A", "1>2 A, 3>1 A", "  1>2 A\n- 2>3 A\n  3>1 A"},
		{"one more", "1>2 A, 3>1 A", "1>2 A, 2>3 A, 3>1 A", "  1>2 A\n+ 2>3 A\n  3>1 A"},
		{"more at first", "3>1 A", "1>2 A, 2>3 A, 3>1 A", "+ 1>2 A\n+ 2>3 A\n  3>1 A"},
		{"twice", "1>2 A, 1>2 B", "1>2 A, 1>2 A, 1>2 B", "  1>2 A\n+ 1>2 A\n  1>2 B"},
		{"another term", "1>2 A", "1>2 A+2", "+ 1>2 A, term +2\n- 1>2 A"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, l := range compare(told(t, c.virtual), told(t, c.real)) {
				got = append(got, string(l.sign)+" "+strings.Replace(l.message.String(), " > ", ">", 1))
			}
			if text := strings.Join(got, "\n"); text != c.want {
				t.Errorf("got\n%s\nwant\n%s", text, c.want)
			}
		})
	}
}

func TestWrite(t *testing.T) {
	var out strings.Builder
	if write(&out, compare(told(t, "6>12 ELECTION, 3>5 ELECTED"), told(t, "6>12 ELECTION, 3>5 ELECTION+2"))) {
		t.Error("they are the same")
	}
	const want = "     1  6 > 12 ELECTION\n+       3 > 5 ELECTION, term +2\n-    2  3 > 5 ELECTED\n" +
		"1 of 2 messages are the same; 1 more in reality\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if !write(&strings.Builder{}, compare(told(t, "1>2 A"), told(t, "1>2 A"))) {
		t.Error("they are not the same")
	}
}

// Promise: "What a leader sends on a timer, and the answers, are left out, unless a node's leader changes by them", and
// terms "count from the last agreement".
func TestStory(t *testing.T) {
	leading := trace.Leading
	var s story
	records := []trace.Record{{Node: 3, Event: "start", Term: 4, Sent: []string{"A>1#3:1"}}}
	s.begin(records)
	records = append(records,
		trace.Record{Node: 3, Event: "timeout", Role: leading, Term: 4, Sent: []string{"BEAT>1#3:2", "BEAT>2#3:3"}},
		trace.Record{Node: 1, Event: "receive", MsgID: "3:2", Term: 4, Sent: []string{"BACK>3#1:1"}},
		trace.Record{
			Node: 2, Event: "receive", MsgID: "3:3", Term: 4, LeaderChange: trace.Elected, Sent: []string{"B>1#2:1"},
		},
		trace.Record{Node: 1, Event: "receive", MsgID: "2:1", Term: 5, Sent: []string{"C>3#1:2"}},
		trace.Record{Node: 1, Event: "timeout", Term: 5, Round: 6, Sent: []string{"D>3#1:3"}},
	)
	if got := fmt.Sprint(s.part(records)); got != "[2 > 1 B, term +0 1 > 3 C 1 > 3 D, term +2]" {
		t.Errorf("the first part is %s", got)
	}
	s.next(records)
	records = append(records, trace.Record{Node: 1, Event: "campaign", Term: 5, Round: 6, Sent: []string{"E>2#1:4"}})
	if got := fmt.Sprint(s.part(records)); got != "[1 > 2 E]" {
		t.Errorf("the second part is %s", got)
	}
}
