package rounds

import (
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/proto"
)

// Ballot is how the voters answered the one that stood for election: the winner, or
// where nobody won the last that asked. It is nil where none decide,
// or when no record tells of a question.
type Ballot struct {
	Candidate uint64   `json:"candidate"`
	Ref       Ref      `json:"ref"`    // its last question of the round
	Voters    []uint64 `json:"voters"` // by id, the candidate among them
	Voices    []Voice  `json:"voices"` // one a voter, by id
	// Theory is what the votes cost by the book; nil when nobody won, or without one.
	Theory *Theory `json:"theory"`
}

// Voice is what one voter answered.
type Voice struct {
	Voter uint64 `json:"voter"`
	// Granted: it promised the candidate the term. Counted: in time to make it
	// the winner, as the candidate's own vote always is.
	Granted bool `json:"granted"`
	Counted bool `json:"counted"`
	// Yes: it said that it would grant, when last asked.
	Yes bool `json:"yes"`
	// No is why it last refused, "promised 5"; empty when it never did. Bar is a word for
	// that, and To the node that it is bound to, if any; Rule is the sentence behind it,
	// Ref the record.
	No   string         `json:"no,omitempty"`
	Bar  algorithms.Bar `json:"bar,omitempty"`
	To   uint64         `json:"to,omitempty"`
	Rule string         `json:"rule,omitempty"`
	Ref  Ref            `json:"ref,omitzero"`
}

// Majority is how many voters make a leader.
func (b *Ballot) Majority() int { return len(b.Voters)/2 + 1 }

// Missing are the voters of whom no answer is in the records.
func (b *Ballot) Missing() (ids []uint64) {
	for _, v := range b.Voices {
		if !v.Granted && !v.Yes && v.No == "" {
			ids = append(ids, v.Voter)
		}
	}
	return ids
}

// The kinds of messages by which voters are asked, and by which they answer; with the words
// of version 0.1.
var (
	askKinds = []string{
		proto.KindPreVote.String(), proto.KindRequestVote.String(), "ASK", "CLAIM",
	}
	voteKinds = []string{proto.KindVote.String(), "GRANT"}
)

// ballot gathers the voters' answers.
func (r *Round) ballot() {
	if r.Guarantee != lease {
		return
	}
	candidate := uint64(0)
	if r.Winner != nil {
		candidate = r.Winner.Node
	}
	b := Ballot{Voters: []uint64{}, Voices: []Voice{}}
	for _, m := range slices.Backward(r.Messages) {
		if !slices.Contains(askKinds, m.Kind) || m.SendStep < 0 {
			continue
		}
		if candidate == 0 {
			candidate = m.From
		}
		if m.From != candidate {
			continue
		}
		if b.Ref.IsZero() {
			b.Candidate, b.Ref = candidate, r.Steps[m.SendStep].Ref
			b.Voters = append(b.Voters, candidate)
		}
		if !slices.Contains(b.Voters, m.To) {
			b.Voters = append(b.Voters, m.To)
		}
	}
	if b.Ref.IsZero() {
		return
	}
	slices.Sort(b.Voters)
	for _, id := range b.Voters {
		b.Voices = append(b.Voices, r.voice(id, candidate))
	}
	r.Ballot = &b
}

// voice is what a voter said to the candidate, by its own records and by the
// candidate's.
func (r *Round) voice(voter, candidate uint64) Voice {
	v := Voice{Voter: voter}
	if voter == candidate {
		v.Granted, v.Counted, v.Yes = r.Winner != nil, r.Winner != nil, true
		return v
	}
	for i := range r.Steps {
		st := &r.Steps[i]
		for j := range st.reasons {
			why := &st.reasons[j]
			answers, ok := decided[algorithms.Answers](why)
			if !ok || why.node(answers.Voter, st.Ref.Node) != voter ||
				why.node(answers.Candidate, st.Ref.Node) != candidate {
				continue
			}
			v.Yes = answers.Yes
			if !v.Yes {
				v.Bar, v.To, v.No = answers.Bar, why.number(answers.To), no(answers.Bar, why.words(answers.To))
				v.Rule, v.Ref = why.rule(r.Algorithm), st.Ref
			}
		}
	}
	won := r.place()
	for _, m := range r.Messages {
		if !slices.Contains(voteKinds, m.Kind) || m.From != voter || m.To != candidate || r.refuses(m) {
			continue
		}
		v.Granted, v.Yes = true, true
		seen := m.ReceiveStep
		if seen < 0 {
			seen = m.SendStep // its receipt may decide nothing, and is not written at level info
		}
		v.Counted = v.Counted || won >= 0 && seen <= won
	}
	return v
}

// refuses reports whether a voter's answer is a no, by the reasons of who sent it or read it.
func (r *Round) refuses(m Message) bool {
	for _, step := range []int{m.SendStep, m.ReceiveStep} {
		if step < 0 {
			continue
		}
		st := &r.Steps[step]
		for i := range st.reasons {
			why := &st.reasons[i]
			answers, ok := decided[algorithms.Answers](why)
			if ok && !answers.Yes && why.node(answers.Voter, st.Ref.Node) == m.From &&
				why.node(answers.Candidate, st.Ref.Node) == m.To {
				return true
			}
		}
	}
	return false
}

// no puts what keeps a voter from granting into few words.
func no(bar algorithms.Bar, to string) string {
	switch bar {
	case algorithms.BarPromised:
		return "promised " + to
	case algorithms.BarVoted:
		return "voted " + to
	case algorithms.BarStands:
		return "stands itself " + to
	case algorithms.BarStarted:
		return "just started"
	}
	return to
}

// votersTheory puts the messages of the office beside what they cost by the book. An
// algorithm whose own voters decide has all its cost by them.
func (r *Round) votersTheory(own func(voters, live int) catalog.Theory, sent map[string]int) {
	if r.Ballot == nil {
		return
	}
	live := 0
	for _, id := range r.Ballot.Voters {
		if slices.Contains(r.Winner.Live, id) {
			live++
		}
	}
	if own != nil {
		r.Theory = theoryOf(own(len(r.Ballot.Voters), live), len(r.Winner.Live), sent)
		return
	}
	r.Ballot.Theory = theoryOf(catalog.OfficeTheory(len(r.Ballot.Voters), live), len(r.Winner.Live), sent)
}

func theoryOf(book catalog.Theory, n int, sent map[string]int) *Theory {
	t := &Theory{
		Live: n, Best: book.Best(n), Worst: book.Worst(n),
		BestCase: book.BestCase, WorstCase: book.WorstCase,
	}
	for _, k := range book.Kinds {
		t.Sent += sent[k.String()]
	}
	for word, was := range oldWords {
		if slices.Contains(book.Kinds, was.kind) {
			t.Sent += sent[word]
		}
	}
	return t
}
