package rounds

import (
	"slices"
	"strings"
	"sync"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/trace"
)

// reason is one reason of a record. Its kind and arguments say what it decides. Its sentence
// is for people, and nothing reads it.
type reason struct {
	kind *algorithms.ReasonKind // nil if this version does not know the code: it decides nothing then
	code string                 // if this version does not know it
	args []trace.Arg
	why  string
	// most is the highest term that the reason may be about; see trace.Record.NextTerm.
	most uint64
	// former: the record has no code, so that kind and args come from its sentence.
	former bool
}

// reasonsOf returns the reasons of a record, and their sentences. If this version does not know the code of a
// reason, the code stands after the sentence. If a sentence is missing, the code stands alone.
func (g *group) reasonsOf(rec *trace.Record) ([]reason, []string) {
	n := max(len(rec.Why), len(rec.Reasons))
	if n == 0 {
		return nil, rec.Why
	}
	reasons, sentences := g.reasons(n), rec.Why
	if n > len(rec.Why) { // what has no sentence is shown by its code
		sentences = append(slices.Clone(rec.Why), make([]string, n-len(rec.Why))...)
	}
	for i, why := range sentences {
		coded := trace.Reason{}
		if i < len(rec.Reasons) {
			coded = rec.Reasons[i]
		}
		if coded.Code == "" {
			reasons[i] = g.formerReason(why)
			continue
		}
		reasons[i] = read(coded, why)
		reasons[i].most = rec.NextTerm()
		if reasons[i].kind == nil || why == "" {
			if len(rec.Why) == n && &sentences[0] == &rec.Why[0] {
				sentences = slices.Clone(rec.Why)
			}
			sentences[i] = strings.TrimLeft(why+" ("+coded.Code+")", " ")
			reasons[i].why = sentences[i]
		}
	}
	return reasons, sentences
}

// reasonsAtOnce is for how many reasons memory is allocated at a time.
const reasonsAtOnce = 64

// reasons returns memory for n reasons.
func (g *group) reasons(n int) []reason {
	if len(g.reasonRoom) < n {
		g.reasonRoom = make([]reason, max(reasonsAtOnce, n))
	}
	reasons := g.reasonRoom[:n:n]
	g.reasonRoom = g.reasonRoom[n:]
	return reasons
}

// read returns the reason with a code and a sentence. If the number of its arguments is not that of
// its kind, another version wrote the reason, and its kind counts as unknown.
func read(coded trace.Reason, why string) reason {
	kind := kindOf(coded.Code)
	if kind.ReasonKind == nil || kind.takes != len(coded.Args) {
		return reason{code: coded.Code, args: coded.Args, why: why}
	}
	return reason{kind: kind.ReasonKind, args: coded.Args, why: why}
}

// knownKind is a kind of reason, and how many arguments its sentence takes.
type knownKind struct {
	*algorithms.ReasonKind
	takes int
}

// knownKinds returns all kinds of reasons by code. Nothing but the reading of logs needs the map.
var knownKinds = sync.OnceValue(func() map[string]knownKind {
	known := map[string]knownKind{}
	for _, kind := range catalog.Reasons() {
		known[kind.Code] = knownKind{kind, strings.Count(kind.Sentence, "%")}
	}
	return known
})

// kindOf returns the kind with the code. Its ReasonKind is nil if this version knows no such kind.
func kindOf(code string) knownKind { return knownKinds()[code] }

// decided returns the reason's decision of type D. ok is false if it has none.
func decided[D algorithms.Decision](r *reason) (d D, ok bool) {
	if r.kind == nil {
		return d, false
	}
	return algorithms.Decided[D](r.kind)
}

// decides reports whether one of the reasons has a decision of type D.
func decides[D algorithms.Decision](reasons []reason) bool {
	for i := range reasons {
		if _, ok := decided[D](&reasons[i]); ok {
			return true
		}
	}
	return false
}

// number returns the argument at this place if it is a number; else 0.
func (r *reason) number(at algorithms.Place) uint64 {
	if at < 0 || int(at) >= len(r.args) || r.args[at].Is != trace.Number {
		return 0
	}
	return r.args[at].Number
}

// isNumber reports whether the argument at this place is a number.
func (r *reason) isNumber(at algorithms.Place) bool {
	return at >= 0 && int(at) < len(r.args) && r.args[at].Is == trace.Number
}

// term returns the term at this place; else 0.
func (r *reason) term(at algorithms.Place) uint64 {
	if term := r.number(at); r.most == 0 || term < r.most {
		return term
	}
	return r.most
}

// node returns the node at a place of a reason that the node self gave. It returns 0 if there is none.
func (r *reason) node(at algorithms.Place, self uint64) uint64 {
	if at == algorithms.Self {
		return self
	}
	return r.number(at)
}

// words returns the argument at a place, as text.
func (r *reason) words(at algorithms.Place) string {
	if at < 0 || int(at) >= len(r.args) {
		return ""
	}
	if r.args[at].Is == trace.Words {
		return r.args[at].Words
	}
	return r.args[at].String()
}

// inner returns the reason that is the argument at a place, without a sentence. ok is false if there is none.
func (r *reason) inner(at algorithms.Place) (inner reason, ok bool) {
	if at < 0 || int(at) >= len(r.args) || r.args[at].Is != trace.Cause {
		return reason{}, false
	}
	inner = read(*r.args[at].Reason, "")
	inner.most = r.most
	return inner, true
}

// from returns the reason that is the argument at a place, without a sentence, or else this reason itself.
func (r *reason) from(at algorithms.Place) reason {
	if inner, ok := r.inner(at); ok {
		return inner
	}
	return *r
}

// cause is from with a sentence that says only the cause.
func (r *reason) cause(at algorithms.Place) reason {
	cause, ok := r.inner(at)
	switch {
	case !ok:
		cause = *r
		cause.why = r.before()
	case r.former:
		cause.former, cause.why = true, formerCauseWords(r.why)
	default:
		cause.why = sentenceOf(*r.args[at].Reason, false)
	}
	cause.why = Quoted(cause.why)
	return cause
}

// before returns the part of the reason's sentence that says the cause.
func (r *reason) before() string {
	switch {
	case r.former:
		return formerCauseWords(r.why)
	case r.kind != nil:
		return sentenceOf(trace.Reason{Code: r.kind.Code, Args: r.args}, true)
	}
	return r.why
}

// arrow stands between the cause and the decision in a sentence.
const arrow = " -> "

// sentenceOf returns the sentence that the reason's kind declares, with the arguments filled in: all of it,
// or only the cause. Of a reason that this version does not know it returns code and arguments.
func sentenceOf(coded trace.Reason, causeOnly bool) string {
	kind := read(coded, "").kind
	if kind == nil {
		return coded.String()
	}
	pattern := kind.Sentence
	if causeOnly {
		pattern, _, _ = strings.Cut(pattern, arrow)
	}
	var b strings.Builder
	for n := 0; pattern != ""; n++ {
		words, rest, place := strings.Cut(pattern, "%")
		b.WriteString(words)
		if !place {
			break
		}
		switch arg := coded.Args[n]; arg.Is {
		case trace.Cause:
			b.WriteString(sentenceOf(*arg.Reason, false))
		case trace.Words:
			b.WriteString(arg.Words)
		default:
			b.WriteString(arg.String())
		}
		pattern = rest[1:] // behind the verb, a letter
	}
	return b.String()
}

// rule returns the sentence of the algorithm's source for the reason, or else for its cause. It
// returns "" if the algorithm quotes none.
func (r *reason) rule(algorithm string) string {
	if r.kind == nil {
		return ""
	}
	if rule := catalog.Sentence(algorithm, r.kind); rule != "" {
		return rule
	}
	if len(r.args) > 0 && r.args[0].Is == trace.Cause {
		from := read(*r.args[0].Reason, "")
		return from.rule(algorithm)
	}
	return ""
}
