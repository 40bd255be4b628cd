package rounds_test

import (
	"strings"
	"testing"
)

// "What the logs cannot tell is said to be unknown", and what they tell is said in the list as in the story: also where
// no record says who called the election.
func TestTheListKnowsWhyAsTheStoryDoes(t *testing.T) {
	for name, over := range map[string]func(v *voters){
		"the process of node 1 ended": func(v *voters) { v.lose(3, 400, "link-closed 1, dial-refused 1", 2, 3) },
		"the lease of node 1 ended":   func(v *voters) { v.expire(1, 1000, 1) },
	} {
		v := newVoters()
		v.level = "info"
		v.elect(1, 1, 2, 3)
		over(v)
		v.follow(3, 1200, 2, 2)
		text := told(t, v.b.History().Groups[0])
		if strings.Count(text, " "+name+" [") != 3 || !strings.Contains(text, " ms "+name+" [") {
			t.Errorf("want %q in the head, the list and the story:\n%s", name, text)
		}
	}
}

// "Simple, plain English": that nobody led is told once.
func TestThatNobodyLedIsToldOnce(t *testing.T) {
	v := newVoters()
	v.elect(1, 1, 2, 3)
	v.expire(1, 1000, 1)
	v.ask(2, 1500, 2)
	v.lead(2, 1600, 2)
	text := told(t, v.b.History().Groups[0])
	const want = "At 12:00:01.500 (the first sign of term 2) node 2 stood, as nobody led ["
	if !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
}
