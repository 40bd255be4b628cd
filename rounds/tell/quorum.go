package tell

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/rounds"
)

// poll is a round of questions by which a node asked the voters for the office.
type poll struct {
	asker  uint64
	ref    rounds.Ref
	term   uint64
	voters []uint64          // the asker among them
	said   map[uint64]string // what a voter answered; "yes", "no, …"
}

// lastPoll is the last time that anybody asked the voters, by the records; ok is
// false when nobody did.
func lastPoll(g *rounds.Group) (p poll, ok bool) {
	for _, r := range slices.Backward(g.Rounds) {
		for i := range slices.Backward(r.Steps) {
			if p, ok = askedIn(r, i); ok {
				p.listen(r, i)
				return p, true
			}
		}
	}
	return p, false
}

// askedIn is the poll that step i of the round began.
func askedIn(r *rounds.Round, i int) (p poll, ok bool) {
	st := r.Steps[i]
	p = poll{asker: st.Ref.Node, ref: st.Ref, term: r.Term, said: map[uint64]string{}}
	for _, m := range st.Sent {
		if r.Messages[m].Kind == "ASK" {
			p.voters = append(p.voters, r.Messages[m].To)
		}
	}
	if len(p.voters) == 0 {
		return p, false
	}
	p.voters = append(p.voters, p.asker)
	slices.Sort(p.voters)
	p.said[p.asker] = "yes"
	return p, true
}

// listen takes the answers that follow step i: a voter writes down what it says.
func (p *poll) listen(r *rounds.Round, i int) {
	for _, st := range r.Steps[i+1:] {
		for _, why := range st.Why {
			cause, answer, _ := strings.Cut(why, " -> ")
			if strings.HasPrefix(cause, fmt.Sprintf("%d asks for term ", p.asker)) &&
				slices.Contains(p.voters, st.Ref.Node) {
				p.said[st.Ref.Node] = answer
			}
		}
	}
}

// quorum says how many voters answered, who said no and why, and who is missing,
// when a majority did not say yes.
func quorum(g *rounds.Group) []string {
	p, ok := lastPoll(g)
	if !ok {
		return nil
	}
	var missing []uint64
	var refused []string
	yes := 0
	for _, v := range p.voters {
		switch said := p.said[v]; said {
		case "":
			missing = append(missing, v)
		case "yes":
			yes++
		default:
			refused = append(refused, fmt.Sprintf("node %d said %s", v, rounds.Printable(said)))
		}
	}
	need := len(p.voters)/2 + 1
	if yes >= need {
		return nil
	}
	sentences := []string{fmt.Sprintf("No quorum: node %d asked the voters (%s) and %d of %d would grant, %d are "+
		"needed (%v).", p.asker, list(p.voters), yes, len(p.voters), need, p.ref)}
	if len(missing) > 0 {
		sentences = append(sentences, fmt.Sprintf("No answer of %s is in the records.", nodes(missing)))
	}
	if len(refused) > 0 {
		sentences = append(sentences, upper(and(refused))+".")
	}
	return sentences
}
