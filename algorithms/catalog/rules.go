package catalog

import "strings"

// rule is a sentence of an algorithm's source, and the reason that records give
// when it is followed: "cause -> decision", or the cause alone. # stands for a
// number.
type rule struct{ why, sentence string }

// rules quote the sources that the algorithms' code quotes, by algorithm.
var rules = map[string][]rule{
	"bully": {
		{
			"no higher node is alive",
			"If you're next-in-line, Assume Leadership, Broadcasts COORDINATOR message.",
		},
		{
			"no higher node is alive any more",
			"If you're next-in-line, Assume Leadership, Broadcasts COORDINATOR message.",
		},
		{
			"no higher node said OK in time",
			"If no one responds within timeout: Assume Leadership (broadcast COORDINATOR)",
		},
		{
			"# ranks below this node -> say OK",
			"A process that receives an Election message replies with OK message, and starts its own " +
				"leader election protocol (unless it has already done so)",
		},
		{
			"# asks the leader of term # -> say OK and who leads",
			"A process that receives an Election message replies with OK message, and starts its own " +
				"leader election protocol (unless it has already done so)",
		},
		{
			"# is higher and alive -> wait for COORDINATOR",
			"Else, someone responded: Wait for COORDINATOR message",
		},
		{"no COORDINATOR came in time -> ask again", "If timeout waiting: Re-send ELECTION messages"},
		{
			"no COORDINATOR came in time",
			"If none received after another timeout, start a new election run",
		},
	},
	"ring": {
		{
			"its own id:attr is back",
			"If the arrived id:attr matches that of pi, then pi's attr must be the greatest (why?), " +
				"and it becomes the new coordinator.",
		},
		{
			"# ranks above this node -> pass it on",
			"If the arrived attr is greater, pi forwards the message.",
		},
		{
			"# ranks below this node -> put itself in its place",
			"If the arrived attr is smaller and pi has not forwarded an election message earlier, it " +
				"overwrites the message with its own id:attr, and forwards it.",
		},
		{
			"initiator # is below # -> suppress its ELECTION",
			"Each process suppresses Election/Elected messages of any lower-id initiators",
		},
	},
	// The rules that all nominating algorithms share.
	"": {
		{"asked to lead", "L1 sends TimeoutNow to L2 (start election immediately)"},
	},
}

// Sentence is the sentence of the algorithm's source behind a reason in a
// record, be it the whole "cause -> decision" or its cause; "" when none is
// quoted. An unknown algorithm has only what all share.
func Sentence(algorithm, why string) string {
	whole := numbersAway(why)
	cause, _, _ := strings.Cut(whole, " -> ")
	for _, of := range []string{algorithm, ""} {
		for _, r := range rules[of] {
			if r.why == whole || r.why == cause {
				return r.sentence
			}
		}
	}
	return ""
}

// numbersAway puts # for each number in s.
func numbersAway(s string) string {
	var b strings.Builder
	in := false
	for _, c := range []byte(s) {
		digit := c >= '0' && c <= '9'
		switch {
		case !digit:
			b.WriteByte(c)
		case !in:
			b.WriteByte('#')
		}
		in = digit
	}
	return b.String()
}
