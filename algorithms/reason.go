package algorithms

import "fmt"

// Reason is why a Machine decided something: its kind, and what fills the places of the
// kind's sentence. It is put into words when a record is written, not in a Step.
type Reason struct {
	Kind *ReasonKind
	// Args are numbers, ids, terms, times, words, or the Reason that this one follows from.
	Args []any
}

// String is the sentence, "cause -> decision".
func (r Reason) String() string { return fmt.Sprintf(r.Kind.Sentence, r.Args...) }

// ReasonKind is one kind of reason. It is declared once, as a package variable beside the
// branch that gives it, and never changes: any goroutine may read it.
type ReasonKind struct {
	// Code is the package, a dot, and one word: "bully.below". It is what programs read.
	Code string
	// Sentence is a format of package fmt, with a place for each of the Args.
	Sentence string
	// Rule is the sentence of the source that is followed, "" where none is quoted.
	Rule string
	// Decides is what the reason decides, as whoever reads records understands it.
	Decides []Decision
}

// Of is a Reason of the kind.
func (k *ReasonKind) Of(args ...any) Reason { return Reason{Kind: k, Args: args} }

// Follows makes the kind quote the sentence of the source that it follows. It is for
// the declaration.
func (k *ReasonKind) Follows(rule string) *ReasonKind {
	k.Rule = rule
	return k
}

// Reasons are the kinds that a package declares.
type Reasons struct {
	of   string
	list []*ReasonKind
}

// ReasonsOf is for the kinds of a package, or of an algorithm.
func ReasonsOf(name string) *Reasons { return &Reasons{of: name} }

// Kind declares one.
func (r *Reasons) Kind(word, sentence string, decides ...Decision) *ReasonKind {
	k := &ReasonKind{Code: r.of + "." + word, Sentence: sentence, Decides: decides}
	r.list = append(r.list, k)
	return k
}

// All are those that were declared.
func (r *Reasons) All() []*ReasonKind { return r.list }

// said is the kind of all that is given as a sentence only: it has no code.
var said = &ReasonKind{Sentence: "%s"}

// Said is a reason that is a sentence and nothing else. It decides nothing.
func Said(sentence string) Reason { return said.Of(sentence) }
