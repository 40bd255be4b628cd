package play

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// message is one message as its sender's record tells it.
type message struct {
	from, to proto.NodeID
	kind     string
	term     int // counted from the last agreement's
}

// String returns "6 > 12 ELECTION". In an election the term is the next one; any other is said.
func (m message) String() string {
	text := fmt.Sprintf("%d > %d %s", m.from, m.to, m.kind)
	if m.term != 1 {
		text += fmt.Sprintf(", term %+d", m.term)
	}
	return text
}

// story is what the records of one cluster tell. It is told in parts, from one agreement to the next.
type story struct {
	zero uint64 // the term in which it began
	base uint64 // the term in which the present part began
	told int    // the records before are of former parts
}

// begin lets the story begin after these records.
func (s *story) begin(records []trace.Record) {
	s.told = len(records)
	s.base = highest(records)
	s.zero = s.base
}

// part returns the messages of the present part. The records are all since the cluster was made, in causal
// order.
func (s *story) part(records []trace.Record) (sent []message) {
	chatter := map[string]bool{} // by the number of the message
	for i, r := range records {
		idle := r.LeaderChange == "" &&
			(r.Event == "timeout" && r.Role == trace.Leading || r.MsgID != "" && chatter[r.MsgID])
		for _, text := range r.Sent {
			kind, to, id, err := trace.SentID(text)
			if err != nil {
				continue // not of this version
			}
			chatter[id] = idle
			if i >= s.told && !idle {
				term := int(r.RoundTerm()) - int(s.base) //nolint:gosec // no cluster comes so far
				sent = append(sent, message{proto.NodeID(r.Node), to, kind, term})
			}
		}
	}
	return sent
}

// next ends the present part.
func (s *story) next(records []trace.Record) {
	s.told, s.base = max(s.told, len(records)), max(s.base, highest(records))
}

// highest returns the highest term in which a node was.
func highest(records []trace.Record) (term uint64) {
	for _, r := range records {
		term = max(term, r.Term, r.LeaderTerm())
	}
	return term
}

// counts returns how many messages there are of each kind.
func counts(sent []message) map[string]int {
	n := map[string]int{"total": len(sent)}
	for _, m := range sent {
		n[m.kind]++
	}
	return n
}

// summary returns "ELECTED 6, ELECTION 11, total 17".
func summary(sent []message) string {
	n := counts(sent)
	delete(n, "total")
	var words []string
	for _, kind := range slices.Sorted(maps.Keys(n)) {
		words = append(words, fmt.Sprintf("%s %d", kind, n[kind]))
	}
	return strings.Join(append(words, fmt.Sprintf("total %d", len(sent))), ", ")
}
