package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// quorum says why the last candidate that asked the voters did not win, if it did not (see noQuorum), and in which term
// if others were called since.
func quorum(g *rounds.Group) []string {
	for i, r := range slices.Backward(g.Rounds) {
		if r.Ballot == nil {
			continue
		}
		told := noQuorum(g.Names, r)
		if len(told) > 0 && i < len(g.Rounds)-1 {
			told[0] = fmt.Sprintf("In term %d, %s%s", r.Term, strings.ToLower(told[0][:1]), told[0][1:])
		}
		return told
	}
	return nil
}

// noQuorum says which voters said no to the candidate and why, and whose answers are missing. If a
// majority would have said yes, it says that too few voted in time, or which former leader had not
// stopped. It returns nothing if the candidate won.
func noQuorum(names *rounds.Names, r *rounds.Round) []string {
	b := r.Ballot
	if b == nil {
		return nil
	}
	would := func(v rounds.Voice) bool { return v.Yes || v.Granted }
	yes, asked := len(voices(b, would)), cite(names, append(votes(b, would), b.Ref)...)
	if yes >= b.Majority() {
		if r.Winner != nil {
			return nil
		}
		if former := unstopped(names, r); former != "" {
			return []string{former}
		}
		return []string{fmt.Sprintf("Node %d asked the voters (%s), and %d of %d would grant, but no majority "+
			"granted it in time%s.", b.Candidate, words.List(b.Voters), yes, len(b.Voters), asked)}
	}
	sentences := []string{fmt.Sprintf("No quorum: node %d asked the voters (%s) and %d of %d %s; %d %s "+
		"needed%s.", b.Candidate, words.List(b.Voters), yes, len(b.Voters), b.Verb(), b.Majority(),
		words.Either(b.Majority(), "is", "are"), asked)}
	if missing := b.Missing(); len(missing) > 0 {
		sentences = append(sentences, fmt.Sprintf("No answer of %s is in the records.", words.Nodes(missing)))
	}
	for _, no := range refusals(b) {
		if !no.yes {
			sentences = append(sentences, fmt.Sprintf("%s, which %s, said no%s.",
				words.Upper(words.Nodes(no.voters)), denied(no), cite(names, no.refs...)))
		}
	}
	return sentences
}

// voices returns the voters for whose answers the function such returns true.
func voices(b *rounds.Ballot, such func(rounds.Voice) bool) (ids []uint64) {
	for _, v := range b.Voices {
		if such(v) {
			ids = append(ids, v.Voter)
		}
	}
	return ids
}

// votes returns the records of the answers of these voters.
func votes(b *rounds.Ballot, such func(rounds.Voice) bool) (list []rounds.Ref) {
	for _, v := range b.Voices {
		if such(v) {
			list = append(list, v.Vote)
		}
	}
	return list
}

// counted reports whether the vote made the winner.
func counted(v rounds.Voice) bool { return v.Counted }

// denied says in words why a voter did not vote for a candidate.
func denied(no refusal) string {
	switch no.denial {
	case algorithms.DeniedPromised:
		return fmt.Sprintf("had promised node %d to grant nobody else for a while", no.to)
	case algorithms.DeniedVoted:
		return fmt.Sprintf("had voted in that term or a later one, for node %d", no.to)
	case algorithms.DeniedStands:
		return "stood itself, or led"
	case algorithms.DeniedStarted:
		return "had started anew, and might have promised something before that"
	}
	return no.why
}

// granted says which voters made the winner: "a majority of the voters (1, 2 and 3) granted it the term: nodes
// 2 and 3".
func granted(r *rounds.Round) string {
	return fmt.Sprintf("a majority of the voters (%s) granted it the term: %s",
		words.List(r.Ballot.Voters), words.Nodes(voices(r.Ballot, counted)))
}

// mostRefused is for how many others it is told who said no to them, and why: when many nodes start at once, nearly
// each says no to nearly each.
const mostRefused = 2

// refusedBeside says which voters said no to others than the candidate of the ballot, which asked them in the same
// round, and why.
func refusedBeside(names *rounds.Names, r *rounds.Round) (sentences []string) {
	type no struct {
		to  uint64
		why string
	}
	voters, refs := map[no][]uint64{}, map[no][]rounds.Ref{}
	var order []no
	for _, v := range r.Verdicts {
		if v.Kind != rounds.Refused || v.Denial == "" || r.Ballot != nil && v.Loser == r.Ballot.Candidate {
			continue
		}
		_, own, _ := strings.Cut(v.Why, "no, ")
		is := no{v.Loser, denied(refusal{denial: v.Denial, to: v.Over, why: own})}
		if voters[is] == nil {
			order = append(order, is)
		}
		voters[is], refs[is] = append(voters[is], v.By), append(refs[is], v.Ref)
	}
	var refused []uint64
	var first []rounds.Ref
	for _, is := range order {
		if !slices.Contains(refused, is.to) {
			refused, first = append(refused, is.to), append(first, refs[is][0])
		}
	}
	if len(refused) > mostRefused {
		slices.Sort(refused)
		return []string{fmt.Sprintf("%s asked for the term, too, and were refused%s.",
			words.Upper(words.Nodes(refused)), cite(names, first...))}
	}
	for _, is := range order {
		slices.Sort(voters[is])
		led := ""
		if r.Incident != nil && is.to == r.Incident.Former {
			led = ", which led before"
		}
		sentences = append(sentences, fmt.Sprintf("%s, which %s, said no to node %d%s%s.",
			words.Upper(words.Nodes(voters[is])), is.why, is.to, led, cite(names, refs[is]...)))
	}
	return sentences
}

// refusal is a reason for which voters refused, and what they did later.
type refusal struct {
	denial    algorithms.Denial
	to        uint64
	why, then string
	after     string // they said it when the candidate had won
	yes       bool   // they would have voted for the candidate when last asked, or did
	voters    []uint64
	refs      []rounds.Ref
}

// refusals returns the refusals of the voters. It puts equal ones together, in the order of their
// first voters.
func refusals(b *rounds.Ballot) (list []refusal) {
	for _, v := range b.Voices {
		if v.No == "" {
			continue
		}
		no := refusal{denial: v.Denial, to: v.To, why: v.No, yes: v.Yes || v.Granted}
		switch {
		case v.Late:
			no.after = fmt.Sprintf(" after node %d had won", b.Candidate)
		case v.Counted:
			no.then = ", and granted it when that was over"
		case v.Granted:
			no.then = ", and granted it when it had won"
		}
		i := slices.IndexFunc(list, func(r refusal) bool {
			return r.denial == no.denial && r.to == no.to && r.why == no.why && r.then == no.then && r.yes == no.yes &&
				r.after == no.after
		})
		if i < 0 {
			i = len(list)
			list = append(list, no)
		}
		list[i].voters, list[i].refs = append(list[i].voters, v.Voter), append(list[i].refs, v.Ref)
	}
	return list
}

// firstRefused says which voters refused at first or always, voted late, or are missing.
func firstRefused(names *rounds.Names, r *rounds.Round) (sentences []string) {
	for _, no := range refusals(r.Ballot) {
		first := ""
		if no.then != "" {
			first = "first "
		}
		sentences = append(sentences, fmt.Sprintf("%s, which %s, %ssaid no%s%s%s.",
			words.Upper(words.Nodes(no.voters)), denied(no), first, no.after, no.then, cite(names, no.refs...)))
	}
	isLate := func(v rounds.Voice) bool { return v.Granted && !v.Counted && v.No == "" }
	if late := voices(r.Ballot, isLate); len(late) > 0 {
		sentences = append(sentences, fmt.Sprintf("%s granted it too, after node %d had won%s.",
			words.Upper(words.Nodes(late)), r.Ballot.Candidate, cite(names, votes(r.Ballot, isLate)...)))
	}
	if missing := r.Ballot.Missing(); len(missing) > 0 {
		sentences = append(sentences, fmt.Sprintf("No answer of %s is in the records.", words.Nodes(missing)))
	}
	return sentences
}
