package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/rounds"
)

// quorum says how the voters answered the last that asked them, when a majority
// did not say yes.
func quorum(g *rounds.Group) []string {
	for _, r := range slices.Backward(g.Rounds) {
		if r.Ballot != nil {
			return noQuorum(r)
		}
	}
	return nil
}

// noVoter says that the node was not asked for its vote, and so is no voter.
func noVoter(g *rounds.Group, id uint64) []string {
	for _, r := range slices.Backward(g.Rounds) {
		switch b := r.Ballot; {
		case b == nil:
			continue
		case slices.Contains(b.Voters, id):
			return nil
		default:
			return []string{fmt.Sprintf("Node %d is none of the voters that node %d asked (%s): it may follow, and "+
				"never leads.", id, b.Candidate, list(b.Voters))}
		}
	}
	return nil
}

// noQuorum says which voters answered, who said no and why, and who is missing;
// that none granted in time where a majority would; nothing where one did.
func noQuorum(r *rounds.Round) []string {
	b := r.Ballot
	if b == nil {
		return nil
	}
	yes := len(voices(b, func(v rounds.Voice) bool { return v.Yes || v.Granted }))
	if yes >= b.Majority() {
		if r.Winner != nil {
			return nil
		}
		if former := unstopped(r); former != "" {
			return []string{former}
		}
		return []string{fmt.Sprintf("Node %d asked the voters (%s), and %d of %d would grant, but no majority "+
			"granted it in time (%v).", b.Candidate, list(b.Voters), yes, len(b.Voters), b.Ref)}
	}
	sentences := []string{fmt.Sprintf("No quorum: node %d asked the voters (%s) and %d of %d would grant, %d are "+
		"needed (%v).", b.Candidate, list(b.Voters), yes, len(b.Voters), b.Majority(), b.Ref)}
	if missing := b.Missing(); len(missing) > 0 {
		sentences = append(sentences, fmt.Sprintf("No answer of %s is in the records.", nodes(missing)))
	}
	for _, no := range refusals(b) {
		if !no.yes {
			sentences = append(sentences, fmt.Sprintf("%s, which %s, said no (%s).",
				upper(nodes(no.voters)), bar(no.why), refs(no.refs)))
		}
	}
	return sentences
}

// voices are the voters whose answer is such.
func voices(b *rounds.Ballot, such func(rounds.Voice) bool) (ids []uint64) {
	for _, v := range b.Voices {
		if such(v) {
			ids = append(ids, v.Voter)
		}
	}
	return ids
}

// bars say what keeps a voter from granting, by how the records begin to.
var bars = []struct{ record, words string }{
	{"promised ", "had promised node %s to grant nobody else for a while"},
	{"voted ", "had voted in that term or a later one, for node %s"},
	{"stands itself", "stood itself, or led"},
	{"just started", "had just started, and may have promised something in a former life"},
}

// bar puts a voter's no into words.
func bar(no string) string {
	for _, b := range bars {
		if rest, ok := strings.CutPrefix(no, b.record); ok {
			if strings.Contains(b.words, "%s") {
				return fmt.Sprintf(b.words, rest)
			}
			return b.words
		}
	}
	return no
}

// granted says which voters made the winner: "a majority of the voters (1 to 5)
// granted it: nodes 2, 3 and 4".
func granted(r *rounds.Round) string {
	counted := voices(r.Ballot, func(v rounds.Voice) bool { return v.Counted })
	return fmt.Sprintf("a majority of the voters, %d of %s, granted it the term: %s",
		len(counted), list(r.Ballot.Voters), nodes(counted))
}

// refusal is a no that several voters gave, and what became of it.
type refusal struct {
	why, then string
	yes       bool // when last asked, or it granted
	voters    []uint64
	refs      []rounds.Ref
}

// refusals are the voters' noes, alike ones together, in the order of the first
// voter that gave each.
func refusals(b *rounds.Ballot) (list []refusal) {
	for _, v := range b.Voices {
		if v.No == "" {
			continue
		}
		no := refusal{why: v.No, then: "and did not grant it", yes: v.Yes || v.Granted}
		switch {
		case v.Counted:
			no.then = "and granted it when that was over"
		case v.Granted:
			no.then = "and granted it when it had won"
		}
		i := slices.IndexFunc(list, func(r refusal) bool {
			return r.why == no.why && r.then == no.then && r.yes == no.yes
		})
		if i < 0 {
			i = len(list)
			list = append(list, no)
		}
		list[i].voters, list[i].refs = append(list[i].voters, v.Voter), append(list[i].refs, v.Ref)
	}
	return list
}

// firstRefused says which voters said no before they granted, or never did.
func firstRefused(r *rounds.Round) (sentences []string) {
	for _, no := range refusals(r.Ballot) {
		sentences = append(sentences, fmt.Sprintf("%s, which %s, first said no, %s (%s).",
			upper(nodes(no.voters)), bar(no.why), no.then, refs(no.refs)))
	}
	late := voices(r.Ballot, func(v rounds.Voice) bool { return v.Granted && !v.Counted && v.No == "" })
	if len(late) > 0 {
		sentences = append(sentences, fmt.Sprintf("%s granted it too, after it had won.", upper(nodes(late))))
	}
	if missing := r.Ballot.Missing(); len(missing) > 0 {
		sentences = append(sentences, fmt.Sprintf("No answer of %s is in the records.", nodes(missing)))
	}
	return sentences
}
