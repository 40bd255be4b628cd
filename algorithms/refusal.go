package algorithms

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Refusal says why a transfer changed nothing, and what the operator can do next. The zero Refusal
// means that the transfer was not refused.
type Refusal struct{ Why, Next string }

// String joins Why and Next; it is empty for the zero Refusal.
func (r Refusal) String() string {
	if r == (Refusal{}) {
		return ""
	}
	return r.Why + "; " + r.Next
}

// Refusing makes Refusals, so that records, answers over HTTP and commands all say the same words.
type Refusing struct {
	// Others are the nodes that could take over instead, as far as the leader knows, in the order
	// of their ids.
	Others []proto.NodeID
}

// mostOthers is the largest number of other nodes that a Refusal lists.
const mostOthers = 10

// startOne is the advice when no node could take over.
const startOne = "start one, or resume one that is paused, with --cluster if all are"

// Refuse returns a Refusing for a transfer to the node to. Its Others are all other nodes that are
// alive and eligible.
func Refuse(others iter.Seq[proto.Peer], to proto.NodeID) Refusing {
	r := Refusing{}
	for p := range others {
		if p.ID != to && !p.Ineligible {
			r.Others = append(r.Others, p.ID)
		}
	}
	return r
}

// Successor returns the node to which a leader may hand over: the node to or, if to is zero, the
// best of others. others are the nodes that are alive. If there is no such node, no says why.
func (r Refusing) Successor(others iter.Seq[proto.Peer], to proto.NodeID) (successor proto.Peer, no Refusal) {
	for p := range others {
		switch {
		case p.ID == to && p.Ineligible:
			return successor, r.NotEligible()
		case p.ID == to:
			return p, no
		case to == 0 && !p.Ineligible && (successor.ID == 0 || p.Above(successor)):
			successor = p
		}
	}
	switch {
	case to != 0:
		return successor, r.Dead()
	case successor.ID == 0:
		return successor, r.NoOther()
	}
	return successor, no
}

// Nobody refuses because the asked node knows no leader.
func (r Refusing) Nobody() Refusal {
	return Refusal{"nobody leads", "ask again once a node does"}
}

// Elsewhere refuses because the asked node follows another leader.
func (r Refusing) Elsewhere(leader proto.NodeID) Refusal {
	return Refusal{fmt.Sprintf("%d leads, not this node", leader), fmt.Sprintf("ask node %d", leader)}
}

// UnderWay refuses because a transfer is already under way: to the node to or, if to is zero, to a node
// that the leader has not chosen yet.
func (r Refusing) UnderWay(to proto.NodeID) Refusal {
	what := "another transfer"
	if to != 0 {
		what = "a transfer to " + to.String()
	}
	return Refusal{what + " is under way", "wait until it is over, and ask again if another shall lead"}
}

// Lost refuses because the leader was deposed, or its lease ended, while it waited for the answer.
func (r Refusing) Lost() Refusal {
	return Refusal{"the leader leads no more", "ask again once a node does"}
}

// NoOther refuses because the leader was to choose a successor and there is none.
func (r Refusing) NoOther() Refusal {
	return Refusal{"no other that could lead is alive and eligible", startOne}
}

// Self refuses because the leader was named as its own successor.
func (r Refusing) Self() Refusal { return r.of("it leads already", "") }

// NoVoter refuses because the successor may never lead, or nobody has heard of it.
func (r Refusing) NoVoter() Refusal { return r.of("it is no voter", "") }

// Dead refuses because the successor is not in the leader's view.
func (r Refusing) Dead() Refusal {
	return r.of("it is not alive, as far as the leader knows", "start it")
}

// healIt is the advice for a node that is not eligible.
const healIt = "its status says why: resume it if it is paused, with --cluster if all are, mend what ails it if not"

// NotEligible refuses because the successor told the others that it is not eligible.
func (r Refusing) NotEligible() Refusal {
	return r.of("it is not eligible, as far as the leader knows", healIt)
}

// Silent refuses because the successor was asked and did not answer.
func (r Refusing) Silent() Refusal {
	return r.of("it did not answer in time", "see whether it hangs or is cut off")
}

// Declined refuses because the successor was asked and said no.
func (r Refusing) Declined(no proto.Decline) Refusal {
	next := ""
	switch no {
	case proto.DeclineIncarnation:
		next = "ask again"
	case proto.DeclineBehind:
		next = "ask again in a moment"
	case proto.DeclineAside:
		next = healIt
	case proto.DeclineVoteless:
		next = "its status says what it waits for: ask again once it votes"
	case proto.DeclineStore:
		next = "mend its way to the store"
	case proto.DeclineMajority:
		next = "mend its links to the other voters, or ask again once no voter has just started"
	}
	return r.of(no.String(), next)
}

// Started refuses because these voters have just started and vote for no other for up to the time left, and the rest
// of the voters is no majority.
func (r Refusing) Started(voters []proto.NodeID, left time.Duration) Refusal {
	started, vote := "has", "votes"
	if len(voters) > 1 {
		started, vote = "have", "vote"
	}
	left = (left + 10*time.Millisecond).Truncate(10 * time.Millisecond)
	why := fmt.Sprintf("no majority of the voters would vote for it: %s %s just started, "+
		"and %s for no other for up to %v more", listed(texts(voters), " and "), started, vote, left)
	return r.of(why, "ask again then")
}

// of returns a Refusal of one successor. why is the reason, and next is what the operator can do about
// it, if anything. The Refusal also names the other nodes that could take over.
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

// others returns the list of Others for people.
func (r Refusing) others() string {
	words := texts(r.Others[:min(mostOthers, len(r.Others))])
	if more := len(r.Others) - mostOthers; more > 0 {
		words = append(words, fmt.Sprintf("one of %d more", more))
	}
	return listed(words, " or ")
}

func texts(ids []proto.NodeID) (words []string) {
	for _, id := range ids {
		words = append(words, id.String())
	}
	return words
}

// listed returns a list for people: "", "1", "1 or 2", "1, 2 or 3".
func listed(words []string, or string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + or + words[last]
}

// Reason returns the sentence for a transfer that was refused; "" if it was not refused.
func (end TransferEnd) Reason() string {
	if end.Refused == "" {
		return ""
	}
	return fmt.Sprintf("a transfer to %s: %s -> change nothing", end.Successor(), end.Refused)
}

// Successor returns the name, for people, of the node to which the leader should hand over.
func (end TransferEnd) Successor() string {
	if end.To == 0 {
		return "the best node"
	}
	return end.To.String()
}
