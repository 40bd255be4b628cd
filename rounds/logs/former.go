package logs

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// Text of the last release before reasons had codes. Only this file reads its words, and
// nothing is ever added to it.

// former reads a sentence without a code. It notes whether leaders have a lease, and which term the node p is
// in.
func (m *textState) former(p *textNode, sentence string) {
	m.leased = m.leased || strings.Contains(sentence, "the office")
	p.term = max(p.term, parsed(inTerm(sentence)))
	if m.raft {
		p.term = max(p.term, parsed(inRaftTerm(sentence)))
	}
}

// inTerm returns the term of the step in a reason that contains it: "term 3 is above 2 -> adopt it",
// "4 asks for term 3 -> …", "… -> lead term 3".
func inTerm(sentence string) string {
	if rest, ok := strings.CutPrefix(sentence, "term "); ok {
		term, rest := leadingDigits(rest)
		rest, above := strings.CutPrefix(rest, " is above ")
		if former, rest := leadingDigits(rest); above && former != "" && rest == " -> adopt it" && fits(term) {
			return term
		}
	}
	if id, rest := leadingDigits(sentence); id != "" {
		if rest, asks := strings.CutPrefix(rest, " asks for term "); asks {
			if term, rest := leadingDigits(rest); fits(term) && strings.HasPrefix(rest, " -> ") {
				return term
			}
		}
	}
	rest, term := cutDigits(sentence)
	rest, ok := strings.CutSuffix(rest, " term ")
	if !ok || !fits(term) {
		return ""
	}
	for _, verb := range []string{" -> call an election of", " -> lead", " -> take", " -> ask the voters for"} {
		if strings.HasSuffix(rest, verb) {
			return term
		}
	}
	return ""
}

// inRaftTerm does the same for such reasons of Raft, whose heartbeats contain the term too.
func inRaftTerm(sentence string) string {
	rest, term := cutDigits(sentence)
	if fits(term) && strings.HasSuffix(rest, " in term ") {
		return term
	}
	return ""
}

// leadingDigits splits off the digits at the beginning of s.
func leadingDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return s[:i], s[i:]
}

// fits reports whether the digits may be a number.
func fits(digits string) bool { return digits != "" && len(digits) <= maxDigits }

// speak notes whether the record has a message that only Raft has.
func (m *textState) speak(d *draft) {
	if !m.raft && (speaksOfRaft(d.event) || slices.ContainsFunc(d.more, speaksOfRaft)) {
		m.raft, m.leased = true, true
	}
}

// formerAlgorithm returns the algorithm, if the record's messages show it, or else "".
func formerAlgorithm(rec *trace.Record) string {
	words := rec.Detail
	for _, s := range rec.Sent {
		words += " " + s
	}
	switch {
	case speaksOfRaft(words):
		return "raft"
	case strings.Contains(strings.Join(rec.Why, " "), "this server's turn"):
		return "chubby"
	case containsAny(words, "NEW_LEADER", "COMMIT", "WATCH", "EXISTS"):
		return "zookeeper"
	case containsAny(words, "PREPARE", "PROMISE", "ACCEPT", "CHOSEN", "ENQUIRY"):
		return "consensus"
	case strings.Contains(words, "ID self"), strings.Contains(words, " ID>"):
		return "broadcast"
	case strings.Contains(words, "ELECTION collected"), strings.Contains(words, "COORDINATOR round"):
		return "tokenring"
	case strings.Contains(words, "PROBE"), strings.Contains(words, "REPLY phase"):
		return "hs"
	case strings.Contains(words, "CANDIDATE round"), strings.Contains(words, "CANDIDATE>"):
		return "franklin"
	case strings.Contains(words, "HALT candidate"), strings.Contains(words, "HALT>"),
		strings.Contains(words, "LEADER leader"), strings.Contains(words, " LEADER>"),
		strings.Contains(words, "NOT_NORM"):
		return "stoller"
	case strings.Contains(words, "ARE_YOU_COORDINATOR"), strings.Contains(words, "INVITATION"),
		strings.Contains(words, "READY leader"), strings.Contains(words, " READY>"):
		return "invitation"
	case strings.Contains(words, "ELECTED"), strings.Contains(words, "ELECTION best"):
		return "ring"
	case strings.Contains(words, "COORDINATOR"), strings.Contains(words, "ELECTION candidate"):
		return "bully"
	}
	return ""
}

// speaksOfRaft reports whether the words contain a message that only Raft has.
func speaksOfRaft(words string) bool {
	return containsAny(words, "HEARTBEAT leader", "HEARTBEAT >")
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(s, word) })
}

// formerDeath reads a line that says "4 is dead".
func formerDeath(line []byte) (node uint64, at time.Time, ok bool) {
	if !bytes.HasSuffix(line, []byte(` is dead"}`)) {
		return 0, at, false
	}
	var note trace.Note
	if json.Unmarshal(line, &note) != nil {
		return 0, at, false
	}
	id, _, _ := strings.Cut(note.Message, " ")
	node, err := strconv.ParseUint(id, 10, 64)
	return node, note.Time, err == nil
}
