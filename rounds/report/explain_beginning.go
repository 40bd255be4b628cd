package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// beginning says why the election was held.
func beginning(names *rounds.Names, r *rounds.Round) (sentences []string) {
	c := r.Cause
	say := func(format string, args ...any) { sentences = append(sentences, fmt.Sprintf(format, args...)) }
	at, by := clock(began(r)), cite(names, causeRefs(r)...)
	if w := r.Winner; w != nil && (!wonAtOnce(r) && r.Split.Won > 0 || !c.Back.IsZero()) {
		at = fmt.Sprintf("%s (%s of term %d)", at, firstSign, r.Term)
	}
	switch c.Kind {
	case rounds.LeaderLost, rounds.LeaderSilent:
		if c.Lost == 0 { // it may have given up the term, and be well
			say("At %s node %d gave this as its reason: %s%s.", at, c.Node, c.Text, by)
			break
		}
		if c.Kind == rounds.LeaderSilent && c.Evidence == "" {
			say("At %s node %d found that nobody had heard the leader, node %d, of late%s.", at, c.Node, c.Lost, by)
			break
		}
		noticed := "node %d noticed that the leader, node %d, was gone"
		if !c.Back.IsZero() {
			noticed = "node %d took the leader, node %d, for gone"
		}
		say("At %s "+noticed+"%s%s.", at, c.Node, c.Lost, colon(rounds.Meaning(c.Evidence, c.Lost)), by)
	case rounds.FirstLeader:
		say("At %s node %d had heard of no leader since it started%s.", at, c.Node, by)
	case rounds.Operator:
		say("At %s somebody asked node %d for an election: %s%s.", at, c.Node, c.Text, by)
	case rounds.Vacant:
		say("At %s node %d %s, as nobody led%s%s.", at, c.Node, stood(r), colon(besides(c)), by)
	case rounds.HandOver:
		if beside := askedBeside(names, r, at); beside != "" {
			return append(sentences, beside)
		}
		say("At %s the leader handed over%s: node %d was asked to lead the next term%s.",
			at, bracketed(c.Request), c.Node, cite(names, c.Asked(), c.Ref))
	case rounds.HigherRank:
		say("At %s node %d, which %s, began to take over%s.", at, c.Node, outranks(r), by)
	case rounds.SplitRecovered:
		say("At %s a split brain was recovered from: two leaders had met, and all who led had stopped%s.", at, by)
	case rounds.Readmitted:
		say("At %s node %d, which had lost what it voted, took term %d without an election, to vote above that: %s%s.",
			at, c.Node, r.Term, c.Text, by)
	case rounds.NomineeLost:
		say("At %s node %d called again: %s%s.", at, c.Node, c.Text, by)
	case rounds.Renominated:
		say("At %s node %d asked for another nominee: %s%s.", at, c.Node, c.Text, by)
	case rounds.Released, rounds.EntryLost:
		say("At %s node %d stood: %s%s.", at, c.Node, c.Text, cite(names, append(causeRefs(r), c.Asked())...))
	case rounds.RoundFailed:
		say("At %s node %d gave up on the round before: %s%s.", at, c.Node, c.Text, by)
	default:
		if c.Text != "" {
			say("At %s node %d began term %d: %s%s.", at, c.Node, r.Term, c.Text, by)
			break
		}
		say("%s", untold(names, r))
	}
	if more, seen := otherDetectors(r); len(more) > 0 {
		say("%s had evidence of %s own within %s%s.", words.Upper(words.Nodes(more)),
			words.Either(len(more), "its", "their"), rounds.Span(lastDetection(r)), cite(names, seen...))
	}
	if c.Kind == rounds.Vacant || c.Kind == rounds.EntryLost {
		return sentences
	}
	if callers, calls := initiators(r, false); len(callers) > 0 {
		say("%s called the election of term %d%s.", words.Upper(words.Nodes(callers)), r.Term, cite(names, calls...))
	}
	if callers, calls := initiators(r, true); len(callers) > 0 {
		say("%s called it when it was decided already%s.", words.Upper(words.Nodes(callers)), cite(names, calls...))
	}
	return sentences
}

// askedBeside says that another node than the former leader asked for the election; "" if that one did.
func askedBeside(names *rounds.Names, r *rounds.Round, at string) string {
	c, beside := r.Cause, ""
	from := c.Handing()
	switch {
	case from == 0, r.Incident != nil && from == r.Incident.Former:
		return ""
	case r.Incident != nil:
		beside = ", which did not lead,"
	}
	return fmt.Sprintf("At %s node %d%s%s asked node %d to call the next election%s.",
		at, from, bracketed(c.Request), beside, c.Node, cite(names, c.Asked(), c.Ref))
}

// untold says who asked for the term, as far as voters tell, where no record says who called the election.
func untold(names *rounds.Names, r *rounds.Round) string {
	asked, ok := r.FirstAsked()
	if !ok {
		return fmt.Sprintf("Who called the election of term %d, and why, is not known.", r.Term)
	}
	if asked.Why != "" {
		return fmt.Sprintf("Node %d had asked for term %d by %s, and wrote “%s”%s.", asked.Candidate, r.Term,
			clock(asked.At), asked.Why, cite(names, asked.Ref, asked.By))
	}
	why := "; why is not known"
	if r.Incident != nil && len(r.Incident.Loss().Noticed) > 0 { // which is told above
		why = ""
	}
	return fmt.Sprintf("Node %d had asked for term %d by %s%s%s.", asked.Candidate, r.Term, clock(asked.At), why,
		cite(names, asked.Ref))
}

// stood says that a node stood, and whether it did so as soon as what had kept it from that was over.
func stood(r *rounds.Round) string {
	if slices.ContainsFunc(r.Steps, func(s rounds.Step) bool {
		return s.Ref == r.Cause.Ref && s.Event == "eligible"
	}) {
		return "was eligible again, and stood"
	}
	return "stood"
}

// besides returns what the cause tells besides that nobody leads.
func besides(c rounds.Cause) string {
	return strings.TrimSuffix(strings.TrimSuffix(told(c), "nobody leads"), " and ")
}

// outranks says whom the first initiator outranks.
func outranks(r *rounds.Round) string {
	if below := r.Cause.Outranks(); below != 0 {
		return fmt.Sprintf("outranks node %d", below)
	}
	if in := r.Incident; in != nil && in.Former != 0 && in.Former != r.Cause.Node {
		return fmt.Sprintf("outranks node %d", in.Former)
	}
	return "outranks the leader"
}

func bracketed(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

func colon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// otherDetectors returns the nodes that had evidence besides the first one, and their records.
func otherDetectors(r *rounds.Round) (ids []uint64, seen []rounds.Ref) {
	for _, w := range r.Cause.Detections {
		if w.Node != r.Cause.Node {
			ids, seen = append(ids, w.Node), append(seen, w.Refs()...)
		}
	}
	slices.Sort(ids)
	return ids, seen
}

// initiators returns the nodes that first called the election before all who should follow the winner did so, or
// after that, and the records of these calls.
func initiators(r *rounds.Round, after bool) (ids []uint64, calls []rounds.Ref) {
	known := map[uint64]bool{}
	for _, in := range r.Initiators {
		at := slices.IndexFunc(r.Steps, func(s rounds.Step) bool { return s.Ref == in.Ref })
		if late := r.Aftermath > 0 && at >= r.Aftermath; late == after && !known[in.Node] {
			ids, calls = append(ids, in.Node), append(calls, in.Ref)
		}
		known[in.Node] = true
	}
	slices.Sort(ids)
	return ids, calls
}

func lastDetection(r *rounds.Round) (late time.Duration) {
	for _, w := range r.Cause.Detections {
		late = max(late, w.At.Sub(r.Cause.At))
	}
	return late
}
