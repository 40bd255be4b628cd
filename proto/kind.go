package proto

import (
	"fmt"
	"slices"
)

// Kind is one kind of message, with all that there is to know of it. It is declared once,
// by NewKind, as a variable of the package whose messages they are. Two Kinds are equal when
// they are the same declaration; the zero Kind is none. Any goroutine may use one.
type Kind struct{ *row }

type row struct {
	number     uint8
	name, says string
	traits     Trait
	// blank is an empty wire struct, and wrap is a message in one, nil for a message with
	// another kind of body. Both are nil for a kind of this package.
	blank func() wire
	wrap  func(Message) wire
}

// Trait is what the rules that all algorithms share have to know of a kind.
type Trait uint8

// The traits.
const (
	// Nominates: it is of an algorithm that says who should lead, and that a lease may be
	// around.
	Nominates Trait = 1 << iota
	// TellsAll: a new leader sends it at once to all that it believes alive.
	TellsAll
	// HandsOver: its sender leads no more, and its receiver is to lead.
	HandsOver
)

// NewKind declares the kind of the messages whose body is a B. The number stands in the frame
// header: it is 16 or above, since those below are the link's, and is never used again for
// anything else. The name is the word of the source, and is what records carry. says is what
// such a message says, in the words of the one who sends it.
func NewKind[B Payload](number uint8, name, says string, traits ...Trait) Kind {
	k := newRow(number, name, says, traits)
	k.blank = func() wire { return new(framed[B]) }
	k.wrap = func(m Message) wire {
		b, ok := m.Body.(B)
		if !ok {
			return nil
		}
		return &framed[B]{envelopeOf(m), b}
	}
	return k
}

func newRow(number uint8, name, says string, traits []Trait) Kind {
	k := Kind{&row{number: number, name: name, says: says}}
	for _, t := range traits {
		k.traits |= t
	}
	return k
}

// Number is the kind's number in the frame header, zero for none.
func (k Kind) Number() uint8 {
	if k.row == nil {
		return 0
	}
	return k.number
}

// String is the kind's name. Several algorithms have an ELECTION of their own: one word, as
// many kinds.
func (k Kind) String() string {
	if k.row == nil {
		return "no kind"
	}
	return k.name
}

// Says is what a message of the kind says, in the words of the one who sends it.
func (k Kind) Says() string { return k.says }

// Is reports whether the kind has the trait.
func (k Kind) Is(t Trait) bool { return k.traits&t != 0 }

// Kinds is a table of kinds: those that a process can read. It never changes; any goroutine
// may use it.
type Kinds struct{ byNumber [256]Kind }

// NewKinds returns the table of these kinds. It refuses a number that is the link's, and two
// kinds of one number.
func NewKinds(kinds ...Kind) (*Kinds, error) {
	t := &Kinds{}
	for _, k := range kinds {
		switch was := t.byNumber[k.Number()]; {
		case k.Number() < firstNumber:
			return nil, fmt.Errorf("kind %v has number %d: want %d to 255", k, k.Number(), firstNumber)
		case was.row != nil && was != k:
			return nil, fmt.Errorf("kinds %v (%q) and %v (%q) both have number %d: give one of them another",
				was, was.says, k, k.says, k.number)
		}
		t.byNumber[k.number] = k
	}
	return t, nil
}

// firstNumber is the lowest number of a message; the link has those below.
const firstNumber = 16

// All are the kinds of the table, in the order of their numbers.
func (t *Kinds) All() []Kind {
	return slices.DeleteFunc(slices.Clone(t.byNumber[:]), func(k Kind) bool { return k.row == nil })
}

// Of is the kind of this number, or ErrKind, wrapped.
func (t *Kinds) Of(number uint8) (Kind, error) {
	k := t.byNumber[number]
	if k.row == nil {
		return k, fmt.Errorf("%w: no algorithm of this program has number %d; run the same release on all nodes",
			ErrKind, number)
	}
	return k, nil
}
