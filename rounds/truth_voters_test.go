package rounds_test

import (
	"regexp"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/rounds"
)

// voterWords are how an incident says that a voter was missing.
const voterWords = "ended|stopped|started again and refusing to run|refused to run|paused|silent|" +
	"not heard to answer|without a sign of life here|voting for nobody, with nothing saved"

var votersDid = regexp.MustCompile(`((?:\d+(?:, | and )?)+) (` + voterWords + `)(?: and then (` + voterWords + `))?`)

// compareVoters checks that each voter which an incident tells to have been missing was so, in each way that is told.
func (r *reading) compareVoters(in *rounds.Incident) {
	for _, part := range votersDid.FindAllStringSubmatch(in.Why, -1) {
		for _, id := range number.FindAllString(part[1], -1) {
			for _, how := range part[2:] {
				if how != "" {
					r.judge("voters " + how)
					r.compareVoter(in, numberOf(id), how)
				}
			}
		}
	}
}

// compareVoter compares one way in which a voter is told to have been missing with the truth.
func (r *reading) compareVoter(in *rounds.Incident, id uint64, how string) {
	if how == "ended" && !in.Missing(id, "dead").IsZero() { // and ran no process then
		how = "dead"
	}
	from, until := in.MissingFor(id, how)
	if from.IsZero() {
		r.fail("incident: a voter that was missing at no time", in.Term, "%d %s: %+v", id, how, in)
		return
	}
	if was := r.wasNot(id, how, from, until); was != "" {
		kind := "incident: a voter was " + how + ", but it was " + was
		r.fail(kind, in.Term, "%d from %v until %v: %+v", id, from, until, in)
	}
}

// wasNot returns how a voter was that is told to have been so from one time to another, "" if it was so.
func (r *reading) wasNot(id uint64, how string, from, until time.Time) (was string) {
	switch how {
	case "not heard to answer":
		return r.answered(id, from, until)
	case "without a sign of life here":
		return r.showed(id, from, until)
	case "voting for nobody, with nothing saved":
		return r.votedWithin(id, from, until)
	case "refused to run":
		return r.refusedNever(id, from)
	}
	for n := range time.Duration(3) {
		at := from.Add((n + 1) * until.Sub(from) / 4)
		is, paused, so := r.run.state(id, at), r.run.paused(id, at), false
		switch how {
		case "ended":
			so = r.everDied(id, r.trueTime(id, at))
		case "paused":
			so = paused
		case "silent":
			so = is != "well" || !r.heard(id, from, until)
		default:
			so = is == "dead"
		}
		if !so {
			return is
		}
	}
	return ""
}

// refusedNever says that no process that was to be the node had refused to run by the time at, "" if one had.
func (r *reading) refusedNever(id uint64, at time.Time) string {
	by := r.trueTime(id, at).Add(r.blur() + rounding)
	if !slices.ContainsFunc(r.refused[id], func(refused time.Time) bool { return !refused.After(by) }) {
		return "never started in vain"
	}
	return ""
}

// answered says that another node got an answer of the voter which it sent well within a time, or that nobody had asked
// it. It returns "" if it was asked in vain.
func (r *reading) answered(id uint64, from, until time.Time) string {
	asked := slices.ContainsFunc(r.run.records, func(rec trace.Record) bool {
		return rec.Time.After(from.Add(-longSilent)) && rec.Time.Before(until) && asks(&rec, id)
	})
	switch {
	case !asked:
		return "never asked"
	case r.heard(id, from, until, answers...):
		return "heard to answer"
	case r.run.state(id, from.Add(until.Sub(from)/2)) == "well":
		r.note("voters that were well, and not heard to answer")
	}
	return ""
}

// asks reports whether a record sends a question, or a HEARTBEAT, to a node.
func asks(rec *trace.Record, id uint64) bool {
	return slices.ContainsFunc(rec.Sent, func(sent string) bool {
		kind, to, _, err := trace.SentID(sent)
		return err == nil && uint64(to) == id && slices.Contains(questions, kind)
	})
}

// heard reports whether another node got a message that the node sent well within a time: of one of these kinds, or of
// any.
func (r *reading) heard(id uint64, from, until time.Time, kinds ...string) bool {
	edge := r.blur() + rounding
	within := func(at time.Time) bool { return at.After(from.Add(edge)) && at.Before(until.Add(-edge)) }
	return slices.ContainsFunc(r.run.records, func(rec trace.Record) bool {
		return rec.From == id && (len(kinds) == 0 || slices.Contains(kinds, rec.Msg)) && within(rec.Time) &&
			within(r.sentAt(&rec))
	})
}

// questions are the kinds of the messages that ask a voter for its vote or its promise, and answers those with which it
// answers.
var (
	questions = []string{
		proto.KindPreVote.String(), proto.KindRequestVote.String(), proto.KindHeartbeat.String(),
	}
	answers = []string{
		proto.KindVote.String(), proto.KindPreVoteReply.String(), proto.KindHeartbeatReply.String(),
	}
)

// showed says what record that is here tells of the node well within a time, "" if none does.
func (r *reading) showed(id uint64, from, until time.Time) string {
	edge, before := r.blur()+rounding, map[string][]uint64{}
	within := func(at time.Time) bool { return at.After(from.Add(edge)) && at.Before(until.Add(-edge)) }
	for i := range r.shown {
		rec := &r.shown[i]
		switch {
		case rec.Node == id && within(rec.Time):
			return "there by its own records"
		case rec.From == id && within(rec.Time) && within(r.sentAt(rec)):
			return "heard"
		case rec.Event == "peers":
			saw, known := before[rec.Incarnation]
			if known && within(rec.Time) && slices.Contains(rec.Alive, id) && !slices.Contains(saw, id) {
				return "seen"
			}
			before[rec.Incarnation] = rec.Alive
		}
	}
	return ""
}

// sentAt returns when the message of a receipt was sent.
func (r *reading) sentAt(got *trace.Record) time.Time {
	for i := range r.run.records {
		rec := &r.run.records[i]
		if rec.Node != got.From || got.Sender != "" && rec.Incarnation != got.Sender || rec.Time.After(got.Time) {
			continue
		}
		for _, sent := range rec.Sent {
			if _, to, id, err := trace.SentID(sent); err == nil && uint64(to) == got.Node && id == got.MsgID {
				return rec.Time
			}
		}
	}
	return time.Time{}
}

// votedWithin says that the voter voted well within a time, "" if it did not.
func (r *reading) votedWithin(id uint64, from, until time.Time) string {
	edge := r.blur() + rounding
	if slices.ContainsFunc(r.run.truth.Votes, func(v sim.Voted) bool {
		return uint64(v.Voter) == id && v.At.After(from.Add(edge)) && v.At.Before(until.Add(-edge))
	}) {
		return "voting"
	}
	return ""
}
