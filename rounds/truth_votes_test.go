package rounds_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/rounds"
)

// compareVoices compares what is said of each voter with the votes that were really granted.
func (r *reading) compareVoices() {
	for _, one := range r.group.Rounds {
		if one.Ballot == nil {
			continue
		}
		for _, v := range one.Ballot.Voices {
			r.compareVote(one, v)
			r.compareRefusal(one, v)
		}
	}
}

// voted returns the vote that the voter granted the candidate in the term; nil if it granted none.
func (r *reading) voted(voter, candidate, term uint64) *sim.Voted {
	for i, v := range r.run.truth.Votes {
		if uint64(v.Voter) == voter && uint64(v.For) == candidate && uint64(v.Term) == term {
			return &r.run.truth.Votes[i]
		}
	}
	return nil
}

func (r *reading) compareVote(one *rounds.Round, v rounds.Voice) {
	vote := r.voted(v.Voter, one.Ballot.Candidate, one.Term)
	if v.Granted {
		r.judge("votes")
	}
	switch {
	case v.Granted && vote == nil:
		r.fail("voice: a vote that was never granted", one.Term, "%d for %d", v.Voter, one.Ballot.Candidate)
	case v.Counted && !v.Granted:
		r.fail("voice: counted, and not granted", one.Term, "%+v", v)
	case v.Counted && one.Winner != nil && !one.Winner.Ref.IsZero():
		won := r.trueTime(one.Winner.Node, one.Winner.At)
		if vote.At.After(won.Add(rounding)) {
			r.fail("voice: counted, and granted after the win", one.Term, "%d at %v, won at %v", v.Voter, vote.At, won)
		}
	case !v.Granted && vote != nil && r.complete() && !r.info && r.arrived(one, vote):
		r.fail("voice: a vote that is missing", one.Term, "%+v", *vote)
	}
}

// arrived reports whether the VOTE reached the candidate before it won, in truth.
func (r *reading) arrived(one *rounds.Round, vote *sim.Voted) bool {
	if one.Winner == nil {
		return false
	}
	won := r.trueTime(one.Winner.Node, one.Winner.At)
	return slices.ContainsFunc(r.run.records, func(rec trace.Record) bool {
		return rec.Node == one.Ballot.Candidate && rec.Detail == "VOTE" && rec.From == uint64(vote.Voter) &&
			rec.RoundTerm() == one.Term && !rec.Time.Before(vote.At) && !rec.Time.After(won)
	})
}

// compareRefusal compares the no of a voter with the truth: it said no, and was bound to the node To.
func (r *reading) compareRefusal(one *rounds.Round, v rounds.Voice) {
	rec := r.byRef[v.Ref]
	if v.No == "" || rec == nil {
		return
	}
	r.judge("refusals")
	if !r.saidNo(v.Voter, one.Ballot.Candidate, rec) {
		r.fail("voice: a no that was never said", one.Term, "%+v by %+v", v, rec)
	}
	if v.Denial != algorithms.DeniedPromised && v.Denial != algorithms.DeniedVoted || v.To == 0 {
		return
	}
	bound := slices.ContainsFunc(r.run.truth.Votes, func(vote sim.Voted) bool {
		return uint64(vote.Voter) == v.Voter && uint64(vote.For) == v.To && !vote.At.After(rec.Time)
	}) || slices.ContainsFunc(r.run.truth.Answers, func(yes sim.Answered) bool {
		return yes.Yes && uint64(yes.Voter) == v.Voter && uint64(yes.Candidate) == v.To && !yes.At.After(rec.Time)
	})
	if !bound {
		r.fail("voice: bound to a node for which it never voted", one.Term, "%+v", v)
	}
}

// saidNo reports whether the voter said no to the candidate by the time of the record or, if that is its own, then.
func (r *reading) saidNo(voter, candidate uint64, rec *trace.Record) bool {
	if life := r.lives[rec.Incarnation]; rec.Node == voter && life != nil && life.Until.Equal(rec.Time) {
		return true // it crashed after it wrote what it decided, and before it sent the answer
	}
	return slices.ContainsFunc(r.run.truth.Answers, func(no sim.Answered) bool {
		return !no.Yes && uint64(no.Voter) == voter && uint64(no.Candidate) == candidate &&
			!no.At.After(rec.Time) && (rec.Node != voter || no.At.Equal(rec.Time))
	})
}

// compareVerdicts checks that each voter which is told to have refused a node said no to it.
func (r *reading) compareVerdicts() {
	for _, one := range r.group.Rounds {
		for _, v := range one.Verdicts {
			rec := r.byRef[v.Ref]
			if v.Kind != rounds.Refused || v.Denial == "" || rec == nil {
				continue
			}
			r.judge("verdicts of voters")
			if !r.saidNo(v.By, v.Loser, rec) {
				r.fail("verdict: a no that was never said", one.Term, "%+v by %+v", v, rec)
			}
		}
	}
}

// compareCauses compares the loss of each leader with the truth.
func (r *reading) compareCauses() {
	for _, one := range r.group.Rounds {
		r.compareAsked(one)
		c := &one.Cause
		if c.Kind != rounds.LeaderLost || c.Lost == 0 {
			continue
		}
		if !slices.ContainsFunc(r.run.truth.Leaderships, func(l sim.Reign) bool {
			return uint64(l.Node) == c.Lost && uint64(l.Term) <= one.Term
		}) {
			r.fail("cause: lost a node that never led", one.Term, "%d: %s", c.Lost, c.Text)
		}
		for _, d := range c.Detections {
			r.compareDetection(one, d)
		}
		called := r.byRef[c.Ref]
		if called != nil && len(c.Detections) == 0 && !r.everTrouble(c.Node, c.Lost, called.Time) {
			kind := "cause: lost a leader that was well"
			if slices.ContainsFunc(r.run.truth.Leaderships, func(l sim.Reign) bool {
				return uint64(l.Node) == c.Lost && l.Ended == sim.ByBelief && !l.Until.After(called.Time)
			}) {
				kind += ", and had stepped down"
			}
			r.fail(kind, one.Term, "%d by %d: %s", c.Lost, c.Node, c.Text)
		}
		if back := r.byRef[c.Back]; back != nil {
			r.compareBack(one, back.Time, back.Incarnation)
		}
	}
}

// compareAsked checks that the candidate which asked first, by the record of a voter, had asked somebody by then.
func (r *reading) compareAsked(one *rounds.Round) {
	asked, ok := one.FirstAsked()
	if !ok {
		return
	}
	r.judge("questions that voters tell of")
	shown := r.byRef[asked.Ref]
	asks, wants := fmt.Sprintf("%d asks for term %d ", asked.Candidate, one.Term),
		fmt.Sprintf("%d wants term %d ", asked.Candidate, one.Term)
	if shown == nil || !says(shown, asks) && !says(shown, wants) ||
		!slices.ContainsFunc(r.run.records, func(rec trace.Record) bool {
			return rec.Node == asked.Candidate && !rec.Time.After(shown.Time) &&
				slices.ContainsFunc(rec.Sent, func(sent string) bool {
					return strings.Contains(sent, fmt.Sprintf("VOTE>%d#", asked.Ref.Node))
				})
		}) {
		r.fail("cause: a candidate that did not ask", one.Term, "%+v by %+v", asked, shown)
	}
}

// compareDetection checks that a node with evidence against another had a reason for it in its record.
func (r *reading) compareDetection(one *rounds.Round, d rounds.Detection) {
	r.judge("detections")
	rec := r.byRef[d.Ref]
	switch {
	case rec == nil:
		r.fail("detection: by a record that does not exist", one.Term, "%+v", d)
	case rec.Event == "gone": // a proof, which may come late
		if !r.everDied(one.Cause.Lost, rec.Time) {
			r.fail("detection: proof of a death that was none", one.Term, "%+v", d)
		}
	case !accuses(rec, one.Cause.Lost):
		if !r.everTrouble(d.Node, one.Cause.Lost, rec.Time) { // at level info, an earlier view is not written
			r.fail("detection: of a node that was always well", one.Term, "%d lost: %+v by %+v", one.Cause.Lost, d, rec)
		}
	case r.run.trouble(d.Node, one.Cause.Lost, rec.Time) == "":
		r.fail("detection: of a node that was well", one.Term, "%d lost: %+v by %+v", one.Cause.Lost, d, rec)
	}
}

// accuses reports whether the record itself has evidence against the node.
func accuses(rec *trace.Record, node uint64) bool {
	return slices.Contains(strings.FieldsFunc(rec.Evidence, func(c rune) bool { return c == ' ' || c == ',' }),
		strconv.FormatUint(node, 10))
}

// everDied reports whether a process of the node had ended by then.
func (r *reading) everDied(node uint64, by time.Time) bool {
	return slices.ContainsFunc(r.run.truth.Processes, func(p sim.Process) bool {
		return uint64(p.Node) == node && !p.Until.IsZero() && !p.Until.After(by)
	})
}

// everTrouble reports whether the observer had a reason, by then, to hold the node for gone.
func (r *reading) everTrouble(observer, node uint64, by time.Time) bool {
	if r.everDied(node, by) || r.run.trouble(observer, node, by) != "" {
		return true
	}
	truth := &r.run.truth
	return slices.ContainsFunc(truth.Pauses, func(p sim.Paused) bool {
		return uint64(p.Node) == node && !p.From.After(by)
	}) || slices.ContainsFunc(truth.Cuts, func(c sim.CutLink) bool {
		return (uint64(c.Source) == node || uint64(c.Target) == node) && !c.From.After(by)
	}) || slices.ContainsFunc(truth.Lies, func(l sim.Deception) bool {
		return uint64(l.Observer) == observer && uint64(l.Target) == node && !l.From.After(by)
	})
}

// compareBack checks that the process which is said to be back had not ended, and did run when it was
// declared gone.
func (r *reading) compareBack(one *rounds.Round, back time.Time, incarnation string) {
	p, first := r.lives[incarnation], r.byRef[one.Cause.Ref]
	if p == nil || first == nil {
		return
	}
	r.judge("leaders that are back")
	if one.Cause.Slept && !slices.ContainsFunc(r.run.truth.Pauses, func(f sim.Paused) bool {
		return uint64(f.Node) == one.Cause.Lost && !f.From.After(back) && f.Until.After(p.From)
	}) {
		r.fail("cause: a leader that ran did not run", one.Term, "%+v", one.Cause)
	}
	if p.From.After(first.Time) {
		r.fail("cause: the same process went on, but it was another", one.Term, "began %v, gone %v", p.From, first.Time)
	} else if back.Before(first.Time) {
		r.fail("cause: back before it was gone", one.Term, "gone %v, back %v", first.Time, back)
	}
}

// receipt says in which term the receiver's record of a message is: in the one of the round, or another.
func (r *reading) receipt(term, to uint64, at time.Time) string {
	for i := range r.shown {
		switch rec := &r.shown[i]; {
		case rec.Node != to || !rec.Time.Equal(at) || rec.MsgID == "":
		case rec.RoundTerm() == term:
			return " in the same term"
		default:
			return " in another term"
		}
	}
	return ", by a record that is missing"
}

// heldUp reports whether a message was under way for more than a second, and its receipt is not in the logs.
func (r *reading) heldUp(m rounds.Message, sent time.Time, received []time.Time) bool {
	return received[0].Sub(sent) > time.Second && !slices.ContainsFunc(r.shown, func(rec trace.Record) bool {
		return rec.Node == m.To && rec.MsgID == m.ID && slices.ContainsFunc(received, rec.Time.Equal)
	})
}

// outlived reports whether a message of another process of the sender with the same id was received after m was sent,
// although it is a copy, or its process had ended for a while. No node receives such a message: the connections of a
// process end with it. Nor can be told of which process it is, if the record that sent it is not read, and it is said
// that nothing compares the clocks.
func (r *reading) outlived(m rounds.Message, sent time.Time) bool {
	for other, times := range r.run.truth.Receipts {
		id := fmt.Sprintf("%d:%d", other.From, other.Seq)
		if uint64(other.From) != m.From || uint64(other.To) != m.To || m.ID != id {
			continue
		}
		for i, at := range times {
			if r.sends[other] == nil && (r.uncompared(m.From) || r.uncompared(m.To)) {
				return true
			}
			until := r.lives[other.Incarnation].Until
			if at.After(sent) && (i > 0 || !until.IsZero() && at.Sub(until) > 100*time.Millisecond) {
				return true
			}
		}
	}
	return false
}

// compareMessages checks that no message which is called lost was received.
func (r *reading) compareMessages() {
	for _, one := range r.group.Rounds {
		for _, m := range one.Messages {
			if m.SendStep < 0 {
				continue
			}
			sent := r.byRef[one.Steps[m.SendStep].Ref]
			times := r.run.truth.Receipts[mail(m.From, m.To, m.ID, sent.Incarnation)]
			what := fmt.Sprintf("%s %s from %d to %d, sent %v, received %v",
				m.Kind, m.ID, m.From, m.To, sent.Time, times)
			if m.Delivery == rounds.Lost {
				r.judge("lost messages")
			}
			switch {
			case len(times) > 0 && m.Delivery == rounds.Lost && r.heldUp(m, sent.Time, times):
				r.note("message: called lost, and held up for so long that the log of its receiver ends before")
			case len(times) > 0 && m.Delivery == rounds.Lost:
				r.fail("message: called lost, and received"+r.receipt(one.Term, m.To, times[0]), one.Term, "%s", what)
			case len(times) > 0 && m.Delivery == rounds.ToGone:
				r.note("message: called one to a gone receiver, and received")
			case len(times) == 0 && m.Delivery == rounds.Arrived && r.outlived(m, sent.Time):
				r.note("message: called arrived, and it was one that outlived its sender")
			case len(times) == 0 && m.Delivery == rounds.Arrived:
				r.fail("message: called arrived, and never received", one.Term, "%s", what)
			}
			if m.ReceiveStep < 0 || len(times) == 0 {
				continue
			}
			receipt := r.byRef[one.Steps[m.ReceiveStep].Ref]
			if !slices.ContainsFunc(times, receipt.Time.Equal) && !r.outlived(m, sent.Time) {
				r.fail("message: paired with the receipt of another", one.Term, "%s, paired with %+v", what, receipt)
			}
		}
	}
}

// sends are how many messages a term took, by when.
type sends struct {
	number int
	until  time.Time
	open   bool // nobody sent some of them, or an answer came late: so it may, from records that are missing
}

// sent returns how many messages each term took.
func (r *reading) sent() map[uint64]sends {
	all := map[uint64]sends{}
	for _, one := range r.group.Rounds {
		n := all[one.Term]
		for _, c := range one.Counts {
			n.number += c.Sent
		}
		for i := range one.Steps {
			if at := one.Steps[i].At; at.After(n.until) {
				n.until = at
			}
		}
		n.open = n.open || one.AtLeast || slices.ContainsFunc(one.Messages, func(m rounds.Message) bool {
			last := one.Steps[one.Aftermath-1].At
			late := m.SendStep >= one.Aftermath && one.Steps[m.SendStep].At.Sub(last) > time.Second
			return m.Counted && (m.Repeats > 0 || late)
		})
		all[one.Term] = n
	}
	return all
}

// compareSent checks that no round took more messages than it is said to have taken, where that is no lower bound.
// Where clocks are off, which steps came before the last node followed is known within their errors only. A log that
// is cut within 200 ms of its end may have ended with a crash.
func (r *reading) compareSent() {
	told := r.sent()
	for i := range r.run.records {
		rec := &r.run.records[i]
		last := r.last[rec.Incarnation]
		if r.tail && last != nil && rec.Time.After(last.Time) && rec.Time.Sub(last.Time) <= 200*time.Millisecond {
			return
		}
	}
	for _, one := range r.group.Rounds {
		whole := r.run.sent[one.Term]
		if one.AtLeast || whole.open || r.complete() || r.shifted() || r.mid && whole.until.After(r.stood) {
			continue
		}
		r.judge("counts of messages")
		if n := told[one.Term].number; n < whole.number {
			r.fail("sent: more", one.Term, "%d, and not %d", whole.number, n)
		}
	}
}
