package rounds

import (
	"strings"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/trace"
)

// reason is one of a record. What it decides is told by its kind and arguments; its
// sentence is for people, and nothing is read out of it.
type reason struct {
	kind *algorithms.ReasonKind // nil of one whose code this version does not know: it decides nothing
	args []trace.Arg
	why  string
}

// reasonsOf are the reasons of a record, and their sentences. A sentence with an unknown
// code has that behind it.
func reasonsOf(rec *trace.Record) ([]reason, []string) {
	if len(rec.Why) == 0 {
		return nil, rec.Why
	}
	reasons, sentences := make([]reason, len(rec.Why)), rec.Why
	for i, why := range rec.Why {
		told := trace.Reason{}
		if i < len(rec.Reasons) {
			told = rec.Reasons[i]
		}
		if told.Code == "" {
			reasons[i] = formerReason(rec.Algo, why)
			continue
		}
		reasons[i] = read(told, why)
		if reasons[i].kind == nil {
			if &sentences[0] == &rec.Why[0] {
				sentences = append([]string(nil), rec.Why...)
			}
			sentences[i] = why + " (" + told.Code + ")"
			reasons[i].why = sentences[i]
		}
	}
	return reasons, sentences
}

// read is the reason as it is told with that sentence. One with other arguments than its
// kind has is of another version.
func read(told trace.Reason, why string) reason {
	kind := catalog.Reason(told.Code)
	if kind != nil && strings.Count(kind.Sentence, "%") != len(told.Args) {
		kind = nil
	}
	return reason{kind, told.Args, why}
}

// decided is the reason's decision of that type, if it has one.
func decided[D algorithms.Decision](r *reason) (d D, ok bool) {
	if r.kind == nil {
		return d, false
	}
	return algorithms.Decided[D](r.kind)
}

// number is the one at a place, 0 for none.
func (r *reason) number(at algorithms.Place) uint64 {
	if at < 0 || int(at) >= len(r.args) || r.args[at].Is != trace.Number {
		return 0
	}
	return r.args[at].Number
}

// node is who a place stands for, 0 for nobody, in a reason that self gave.
func (r *reason) node(at algorithms.Place, self uint64) uint64 {
	if at == algorithms.Self {
		return self
	}
	return r.number(at)
}

// words are what stands at a place, as it is printed.
func (r *reason) words(at algorithms.Place) string {
	if at < 0 || int(at) >= len(r.args) {
		return ""
	}
	if r.args[at].Is == trace.Words {
		return r.args[at].Words
	}
	return r.args[at].String()
}

// cause is the reason that stands at a place, or the reason itself, with what its sentence
// says before the arrow.
func (r *reason) cause(at algorithms.Place) reason {
	before, _, _ := strings.Cut(r.why, " -> ")
	if at >= 0 && int(at) < len(r.args) && r.args[at].Is == trace.Cause {
		return read(*r.args[at].Reason, before)
	}
	return reason{r.kind, r.args, before}
}

// rule is the sentence of the algorithm's source that the reason follows, or the one that
// it follows from; "" when none is quoted.
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
