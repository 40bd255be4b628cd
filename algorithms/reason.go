package algorithms

import "fmt"

// Reason says why a Machine decided something: a kind, and the arguments of the kind's sentence. The
// sentence is made when a record is written, not in a Step.
type Reason struct {
	Kind *ReasonKind
	// Args are numbers, ids, terms, times or words; one may be the Reason that led to this one.
	Args []any
}

// String returns the sentence, in the form "cause -> decision".
func (r Reason) String() string { return fmt.Sprintf(r.Kind.Sentence, r.Args...) }

// ReasonKind is one kind of reason. It is declared once, as a package variable beside the code that
// gives such reasons. It never changes, so any goroutine may read it.
type ReasonKind struct {
	// Code is what programs read: the package, a dot and one word, as in "bully.below".
	Code string
	// Sentence is a format of package fmt with a place for each of the Args.
	Sentence string
	// Rule is the sentence of the source that this code follows; "" if no source is quoted.
	Rule string
	// Decides says what the reason decides, for programs that explain elections.
	Decides []Decision
}

// Of returns a Reason of this kind with these arguments.
func (k *ReasonKind) Of(args ...any) Reason { return Reason{Kind: k, Args: args} }

// Follows sets Rule, and returns the kind. It is for the declaration of the kind only.
//
//go:noinline
func (k *ReasonKind) Follows(rule string) *ReasonKind {
	k.Rule = rule
	return k
}

// Reasons collects the kinds of reasons that a package declares.
type Reasons struct {
	of   string
	list []*ReasonKind
}

// ReasonsOf returns an empty collection for the package, or the algorithm, of this name.
func ReasonsOf(name string) *Reasons { return &Reasons{of: name} }

// Kind declares a kind of reason. Inlined at each declaration, it would make the program 80 KiB larger.
//
//go:noinline
func (r *Reasons) Kind(word, sentence string, decides ...Decision) *ReasonKind {
	k := &ReasonKind{Code: r.of + "." + word, Sentence: sentence, Decides: decides}
	r.list = append(r.list, k)
	return k
}

// All returns the declared kinds.
func (r *Reasons) All() []*ReasonKind { return r.list }

// said is the kind of a reason that has a sentence and no code.
var said = &ReasonKind{Sentence: "%s"}

// Said returns a reason that has a sentence, no code, and no decision.
func Said(sentence string) Reason { return said.Of(sentence) }
