package rounds

import (
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/proto"
)

// Ballot says how the voters answered a candidate: the winner, or else the last candidate that
// asked them. A round has none if no voters decide, or if no record has the question.
type Ballot struct {
	Candidate uint64   `json:"candidate"`
	Ref       Ref      `json:"ref"`    // the record of its last question in the round
	Voters    []uint64 `json:"voters"` // by id, the candidate among them
	Voices    []Voice  `json:"voices"` // one for each voter, by id
	// Requested: the last question wanted the votes themselves, and not only how the voters would vote.
	Requested bool `json:"requested"`
	// Theory is the cost of the votes in theory; nil if nobody won, or if no theory exists.
	Theory *Theory `json:"theory"`
}

// Voice is the answer of one voter.
type Voice struct {
	Voter uint64 `json:"voter"`
	// Granted: the voter voted for the candidate. Counted: the vote came before the candidate won.
	// The vote of a winner for itself always counts.
	Granted bool `json:"granted"`
	Counted bool `json:"counted"`
	// Yes: when last asked, the voter would have voted for the candidate.
	Yes bool `json:"yes"`
	// No says why the voter last refused: "promised 5". It is empty if the voter never refused.
	// Denial is a word for the reason, To the node that the voter is bound to, 0 for none. Rule is
	// the sentence of the source, and Ref the record.
	No     string            `json:"no,omitempty"`
	Denial algorithms.Denial `json:"denial,omitempty"`
	To     uint64            `json:"to,omitempty"`
	Rule   string            `json:"rule,omitempty"`
	Ref    Ref               `json:"ref,omitzero"`
	// Late: it refused when the candidate had won.
	Late bool `json:"late,omitempty"`
	// Vote is the record of the vote, or else of the last yes: the candidate's, or the voter's if that has none.
	Vote Ref `json:"vote,omitzero"`

	came    bool      // the candidate received a counted vote by the record in which it won
	refused time.Time // when the voter last refused
}

// Majority returns how many voters make a leader.
func (b *Ballot) Majority() int { return len(b.Voters)/2 + 1 }

// Verb says what those voters did that said yes: they granted the term, or they would.
func (b *Ballot) Verb() string {
	if would := func(v Voice) bool { return v.Yes && !v.Granted && v.Voter != b.Candidate }; !b.Requested ||
		slices.ContainsFunc(b.Voices, would) {
		return "would grant"
	}
	return "granted"
}

// Missing returns the voters whose answer is not in the records.
func (b *Ballot) Missing() (ids []uint64) {
	for _, v := range b.Voices {
		if !v.Granted && !v.Yes && v.No == "" {
			ids = append(ids, v.Voter)
		}
	}
	return ids
}

// The kinds of messages with which a candidate asks the voters, those with which voters vote, and those that want a
// vote and not only a word.
// The names of version 0.1 come last.
var (
	askKinds = []string{
		proto.KindPreVote.String(), proto.KindRequestVote.String(), "ASK", "CLAIM",
	}
	voteKinds    = []string{proto.KindVote.String(), "GRANT"}
	requestKinds = []string{proto.KindRequestVote.String(), "CLAIM"}
)

// ballot sets the round's Ballot.
func (r *Round) ballot(g *group) {
	if !leased(r.Guarantee) {
		return
	}
	candidate := uint64(0)
	if r.Winner != nil {
		candidate = r.Winner.Node
	}
	b := Ballot{Voters: []uint64{}}
	for i := range slices.Backward(r.Messages) {
		m := &r.Messages[i]
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
			b.Requested = slices.Contains(requestKinds, m.Kind)
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
	b.Voices = make([]Voice, 0, len(b.Voters))
	for _, id := range b.Voters {
		v := r.voice(g, id, candidate, false)
		if id == candidate && v.Vote.IsZero() {
			v.Vote = b.Ref
		}
		b.Voices = append(b.Voices, v)
	}
	r.doubt(g, &b)
	r.Ballot = &b
}

// doubt takes back the votes that only the candidate tells of, if with them it had a majority and won neither then nor
// before: at least one of them is late, for an earlier candidacy.
func (r *Round) doubt(g *group, b *Ballot) {
	won, votes, most := r.place(), 1, b.Majority()
	if r.Winner == nil {
		most--
	} else if won < 0 || !decides[algorithms.Leads](r.Steps[won].reasons) {
		return // a record may be missing, or it had waited
	}
	if slices.ContainsFunc(r.Steps, func(st Step) bool { return st.Ref.Node == b.Candidate && st.Unstopped() != "" }) {
		return // it had a majority, and waited for former leaders
	}
	for _, v := range b.Voices {
		if v.Voter != b.Candidate && (v.came || r.Winner == nil && v.Granted) {
			votes++
		}
	}
	for i := range b.Voices {
		if v := &b.Voices[i]; votes > most && v.Granted && v.Voter != b.Candidate {
			*v = r.voice(g, v.Voter, b.Candidate, true)
		}
	}
}

// voice returns a voter's answer to the candidate, by the records of both nodes. If it is strict, it leaves out the
// votes before the one with which the candidate won that no record of the voter tells of.
func (r *Round) voice(g *group, voter, candidate uint64, strict bool) Voice {
	v := Voice{Voter: voter}
	if voter == candidate {
		v.Granted, v.Counted, v.Yes = r.Winner != nil, r.Winner != nil, true
		if v.Granted {
			v.Vote = r.Winner.Ref
		}
		return v
	}
	won := r.decidedAt()
	for i := range r.Steps {
		if won >= 0 && i > won {
			break // what it answers now is about later elections
		}
		r.answer(&v, &r.Steps[i], candidate)
	}
	r.countVotes(g, &v, candidate, strict)
	for i := won + 1; won >= 0 && i < len(r.Steps) && !v.Granted && !v.Yes && v.No == ""; i++ {
		if st := &r.Steps[i]; st.Received >= 0 && slices.Contains(askKinds, r.Messages[st.Received].Kind) {
			r.answer(&v, st, candidate) // it read the question late
			off := g.apart(voter, r.Steps[won].Ref.Node)
			v.Late = v.No != "" && off != unbounded && st.At.After(r.Steps[won].At.Add(off))
		}
	}
	return v
}

// answer notes what the voter answers to the candidate in the step, by the reasons of that.
func (r *Round) answer(v *Voice, st *Step, candidate uint64) {
	for j := range st.reasons {
		why := &st.reasons[j]
		answers, ok := decided[algorithms.Answers](why)
		if !ok || why.node(answers.Voter, st.Ref.Node) != v.Voter ||
			why.node(answers.Candidate, st.Ref.Node) != candidate ||
			answers.Term >= 0 && why.term(answers.Term) != r.Term {
			continue
		}
		v.Yes = answers.Yes
		if v.Yes {
			v.Vote = st.Ref
		} else {
			v.Denial, v.To, v.No = answers.Denial, why.number(answers.To), no(answers.Denial, why.words(answers.To))
			v.Rule, v.Ref, v.refused = why.rule(r.Algorithm), st.Ref, st.At
		}
	}
}

// countVotes notes the votes of the voter for the candidate.
func (r *Round) countVotes(g *group, v *Voice, candidate uint64, strict bool) {
	won := r.decidedAt()
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.From != v.Voter || m.To != candidate || !slices.Contains(voteKinds, m.Kind) || m.elsewhere ||
			r.refuses(m) || m.SendStep < 0 && !r.answered(g, m) {
			continue
		}
		if strict && m.SendStep < 0 && (won < 0 || m.ReceiveStep < won) {
			continue
		}
		was, at := *v, m.ReceiveStep
		if at < 0 {
			at = m.SendStep
		}
		v.Granted, v.Yes = true, true
		switch {
		case m.ReceiveStep >= 0:
			v.came = v.came || won >= 0 && m.ReceiveStep <= won
			v.Counted = v.Counted || v.came
		case !m.arrived.IsZero() && won >= 0:
			v.Counted = v.Counted || !m.arrived.After(r.Steps[won].At)
		case won >= 0 && !m.unsure && g.wroteAll(r.Steps[won].Ref, candidate): // and no receipt of it
		default: // at level info a receipt that decided nothing is not written
			off := g.apart(v.Voter, candidate)
			v.Counted = v.Counted || won >= 0 && m.SendStep <= won && off != unbounded &&
				!r.Steps[m.SendStep].At.Add(off).After(r.Steps[won].At)
		}
		if !was.Granted || v.Counted && !was.Counted {
			v.Vote = r.Steps[at].Ref
		}
	}
}

// wroteAll reports whether the record is of the node, whose process wrote down all that it received, and none of its
// records is missing.
func (g *group) wroteAll(ref Ref, node uint64) bool {
	if ref.Node != node {
		return false
	}
	l := g.nodes[node].byIncarnation[ref.Incarnation]
	return l != nil && l.debug && l.complete()
}

// decidedAt returns the index of the step in which the winner won, or else of the first that names it; -1 if
// nobody won.
func (r *Round) decidedAt() int {
	if at := r.place(); at >= 0 || r.Winner == nil {
		return at
	}
	return slices.IndexFunc(r.Steps, func(st Step) bool { return st.led() == r.Winner.Node })
}

// refuses reports whether the message m is a voter's no, or its vote in another term, by the reasons of its sender or
// receiver, or whether neither of them says that it is a yes. A voter that repeats its vote gives no reason again.
func (r *Round) refuses(m *Message) bool {
	if strings.HasPrefix(m.Detail, m.Kind+" no") {
		return true
	}
	says := m.SendStep < 0 || m.Kind != proto.KindVote.String()
	for _, step := range []int{m.SendStep, m.ReceiveStep} {
		if step < 0 {
			continue
		}
		st := &r.Steps[step]
		for i := range st.reasons {
			why := &st.reasons[i]
			drops, ok := decided[algorithms.Drops](why)
			if ok && step == m.ReceiveStep && why.term(drops.Term) != r.Term {
				return true
			}
			votes, ok := decided[algorithms.Votes](why)
			if ok && step == m.SendStep && why.term(votes.Term) != r.Term {
				return true
			}
			_, wins := decided[algorithms.Wins](why)
			says = says || ok || wins
			answers, ok := decided[algorithms.Answers](why)
			if ok && !answers.Yes && why.node(answers.Voter, st.Ref.Node) == m.From &&
				why.node(answers.Candidate, st.Ref.Node) == m.To {
				return true
			}
		}
	}
	return !says
}

// answered reports whether a vote of which only the receipt is known is for the candidacy in this term. It may be an
// answer to an earlier one: a voter whose records are there would have written that it votes in this term, and one
// whose messages had lower numbers all the while since it was asked did not send it. A voter that refuses later had not
// voted, nor had one that answered before, with a higher number, whether it would. Nor is it known of one that sent a
// vote with the number in an earlier term, which may have taken this long. The record in which a voter received the
// request has its answer: if that is here, the vote answers another one.
func (r *Round) answered(g *group, m *Message) bool {
	got := &r.Steps[m.ReceiveStep]
	for i := range got.reasons {
		if _, wins := decided[algorithms.Wins](&got.reasons[i]); wins {
			return true
		}
	}
	older := slices.ContainsFunc(r.Messages, func(other Message) bool {
		refuses := slices.Contains(voteKinds, other.Kind) && strings.HasPrefix(other.Detail, other.Kind+" no")
		before := other.Kind == proto.KindPreVoteReply.String() && other.ReceiveStep >= 0 &&
			other.ReceiveStep < m.ReceiveStep
		return other.From == m.From && other.To == m.To && numberOf(other.ID) > numberOf(m.ID) && (refuses || before)
	})
	same := g.pairing.same(&receipt{n: numberOf(m.ID), from: m.From, to: m.To})
	former := func(sent post) bool {
		return sent.kind == m.Kind && sent.by.log.term < r.Term && m.maySend(sent.by.life)
	}
	return !older && !slices.ContainsFunc(same, former) && slices.ContainsFunc(r.Messages, func(ask Message) bool {
		return slices.Contains(requestKinds, ask.Kind) && ask.From == m.To && ask.To == m.From &&
			ask.SendStep >= 0 && ask.SendStep < m.ReceiveStep && ask.ReceiveStep < 0 &&
			r.Steps[ask.SendStep].Ref.Incarnation == got.Ref.Incarnation &&
			r.mayLack(g, m, r.Steps[ask.SendStep].At)
	})
}

// maySend reports whether the process may be the one that sent the message, as far as the receipt names that.
func (m *Message) maySend(l *life) bool { return m.sender == "" || m.sender == l.incarnation }

// mayLack reports whether the record may be missing in which the sender of m sent it, after its receiver asked it at
// the time from. No process sent it then that had ended, that began later, that the receipt does not name, whose
// records are all here, or that sent one with a lower number later.
func (r *Round) mayLack(g *group, m *Message, from time.Time) bool {
	sender, until, off := g.nodes[m.From], r.Steps[m.ReceiveStep].At, g.apart(m.From, m.To)
	if sender == nil || m.sender != "" && sender.byIncarnation[m.sender] == nil ||
		g.fix.at(m.From, sender.lives[len(sender.lives)-1].until).Before(until) {
		return true
	}
	if off == unbounded {
		lacks := func(l *life) bool { return m.maySend(l) && (!l.complete() || l.text) }
		return slices.ContainsFunc(sender.lives, lacks)
	}
	from, until = from.Add(-off), until.Add(off)
	wrote := time.Time{} // when the process before last wrote
	for _, l := range sender.lives {
		may := m.maySend(l) && !wrote.After(until) &&
			!g.endedSince(l, m.To, from) && !l.sendsLower(numberOf(m.ID), until, g.fix)
		if may && (l.text || !l.complete() && !g.tells(l, from, until)) {
			return true
		}
		wrote = g.fix.at(l.node, l.until)
	}
	return false
}

// sendsLower reports whether the process sent a message with a lower number than n after the time t.
func (l *life) sendsLower(n uint64, t time.Time, fix clockFix) bool {
	for _, m := range slices.Backward(l.sorted()) {
		if !fix.at(l.node, m.wall).After(t) {
			return false
		}
		if m.sent > 1 && m.sent-1 < n {
			return true
		}
	}
	return false
}

// endedSince reports whether the process had certainly ended at a time by the clock of a node.
func (g *group) endedSince(l *life, node uint64, at time.Time) bool {
	return slices.ContainsFunc(g.events(l), func(e LifeEvent) bool {
		off := g.apart(e.Ref.Node, node)
		return e.Kind == Ended && off != unbounded && e.At.Add(off).Before(at)
	})
}

// no says in a few words what keeps a voter from voting for the candidate.
func no(bar algorithms.Denial, to string) string {
	switch bar {
	case algorithms.DeniedPromised:
		return "promised " + to
	case algorithms.DeniedVoted:
		return "voted " + to
	case algorithms.DeniedStands:
		return "stands itself " + to
	case algorithms.DeniedStarted:
		return "just started"
	}
	return to
}

// votersTheory compares the messages of the votes with the theory. If the algorithm itself works
// with voters, own is its theory, and the comparison covers the whole round.
func (r *Round) votersTheory(
	own func(voters, live int) catalog.Theory, living []uint64, sent map[string]int,
) {
	if r.Ballot == nil {
		return
	}
	live := 0
	for _, id := range r.Ballot.Voters {
		if slices.Contains(living, id) {
			live++
		}
	}
	switch {
	case own != nil:
		r.Theory = theoryOf(own(len(r.Ballot.Voters), live), len(living), sent)
	case sent["LEASE"]+sent["RENEW"] == 0: // a former release's leader, which the book does not count
		r.Ballot.Theory = theoryOf(catalog.LeaseTheory(len(r.Ballot.Voters), live), len(living), sent)
	}
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
