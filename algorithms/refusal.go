package algorithms

import (
	"fmt"
	"iter"
	"strings"

	"github.com/ringleader-dev/ringleader/proto"
)

// Refusal is why a transfer changes nothing, and what whoever asked can do next. The
// zero Refusal is none.
type Refusal struct{ Why, Next string }

// String is both, "" for none.
func (r Refusal) String() string {
	if r == (Refusal{}) {
		return ""
	}
	return r.Why + "; " + r.Next
}

// Refusing words refusals. Its are the only words for them: records, answers over HTTP
// and commands show them as they stand.
type Refusing struct {
	// Leads is what the algorithm's leader does: "leads", "holds the office".
	Leads string
	// Others are those that could take over instead, as far as the leader knows, in
	// the order of their ids.
	Others []proto.NodeID
}

// mostOthers bounds a sentence in a large cluster.
const mostOthers = 10

// startOne is what to do where nobody could take over.
const startOne = "start one, or resume one that is paused, with --cluster if all are"

// Refuse is for a transfer to a node: Leads, and of the others that are alive and may lead
// at all those that could take over instead of it.
func Refuse(leads string, others iter.Seq[proto.Peer], to proto.NodeID) Refusing {
	r := Refusing{Leads: leads}
	for p := range others {
		if p.ID != to && !p.Ineligible {
			r.Others = append(r.Others, p.ID)
		}
	}
	return r
}

// Successor is to whom of the others that are alive, and may lead at all, a leader may
// hand over: to the one that it was asked to, or to the best of them if it was left the
// choice; or why not.
func (r Refusing) Successor(others iter.Seq[proto.Peer], to proto.NodeID) (heir proto.Peer, no Refusal) {
	for p := range others {
		switch {
		case p.ID == to && p.Ineligible:
			return heir, r.NotEligible()
		case p.ID == to:
			return p, no
		case to == 0 && !p.Ineligible && (heir.ID == 0 || p.Above(heir)):
			heir = p
		}
	}
	switch {
	case to != 0:
		return heir, r.Dead()
	case heir.ID == 0:
		return heir, r.NoOther()
	}
	return heir, no
}

// Nobody is of a node that knows no leader.
func (r Refusing) Nobody() Refusal {
	return Refusal{"nobody " + r.Leads, "ask again once a node does"}
}

// Elsewhere is of a node that follows another.
func (r Refusing) Elsewhere(leader proto.NodeID) Refusal {
	return Refusal{fmt.Sprintf("%d %s, not this node", leader, r.Leads), fmt.Sprintf("ask node %d", leader)}
}

// UnderWay is of a leader that hands over already, to a node or, if that is zero, to
// one that it has yet to choose.
func (r Refusing) UnderWay(to proto.NodeID) Refusal {
	what := "another transfer"
	if to != 0 {
		what = "a transfer to " + to.String()
	}
	return Refusal{what + " is under way", "wait until it is over, and ask again if another shall lead"}
}

// Lost is of a leader that was deposed, or expired, while it waited for the answer.
func (r Refusing) Lost() Refusal {
	return Refusal{"the leader " + r.Leads + " no more", "ask again once a node does"}
}

// NoOther is of a leader that was to choose, and has no choice.
func (r Refusing) NoOther() Refusal {
	return Refusal{"no other that could lead is alive and eligible", startOne}
}

// Self is of the leader itself as its successor.
func (r Refusing) Self() Refusal { return r.of("it leads already", "") }

// NoVoter is of a node that may never lead, or that nobody heard of.
func (r Refusing) NoVoter() Refusal { return r.of("it is no voter", "") }

// Dead is of a node that is not in the leader's view.
func (r Refusing) Dead() Refusal {
	return r.of("it is not alive, as far as the leader knows", "start it")
}

// healIt is what to do about a node that does not stand.
const healIt = "its status says why: resume it if it is paused, with --cluster if all are, mend what ails it if not"

// NotEligible is of a node that told the others that it does not stand.
func (r Refusing) NotEligible() Refusal {
	return r.of("it is not eligible, as far as the leader knows", healIt)
}

// Silent is of a node that was asked.
func (r Refusing) Silent() Refusal {
	return r.of("it did not answer in time", "see whether it hangs or is cut off")
}

// Declined is of a node that was asked, and would not.
func (r Refusing) Declined(no proto.Decline) Refusal {
	next := ""
	switch no {
	case proto.DeclineSession:
		next = "ask again"
	case proto.DeclineBehind:
		next = "ask again in a moment"
	case proto.DeclineAside:
		next = healIt
	case proto.DeclineVoteless:
		next = "its status says what it waits for: ask again once it votes"
	case proto.DeclineMajority:
		next = "mend its links to the other voters, or ask again once no voter has just started"
	}
	return r.of(no.String(), next)
}

// of is a refusal of one successor: what to do about it, if anything, or who else.
func (r Refusing) of(why, next string) Refusal {
	switch others := r.others(); {
	case others != "" && next != "":
		next += ", or name one that could take over: " + others
	case others != "":
		next = "name one that could take over: " + others
	case next != "":
		next += ": no other could take over now"
	default:
		next = startOne + ": no other could take over now"
	}
	return Refusal{why, next}
}

// others is "", "1", "1 or 2", "1, 2 or 3".
func (r Refusing) others() string {
	var words []string
	for _, id := range r.Others[:min(mostOthers, len(r.Others))] {
		words = append(words, id.String())
	}
	if more := len(r.Others) - mostOthers; more > 0 {
		words = append(words, fmt.Sprintf("one of %d more", more))
	}
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Reason is why nothing changed as a Machine gives it, "" when something did.
func (end TransferEnd) Reason() string {
	if end.Refused == "" {
		return ""
	}
	return fmt.Sprintf("a transfer to %s: %s -> change nothing", end.Successor(), end.Refused)
}

// Successor is to whom leadership was to be handed over, in words.
func (end TransferEnd) Successor() string {
	if end.To == 0 {
		return "the best node"
	}
	return end.To.String()
}
