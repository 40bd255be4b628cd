package proto

import (
	"fmt"
	"slices"
)

// Kind is one kind of message, with all that programs need to know of it. NewKind declares a Kind
// once, as a variable of the package that defines the messages. Two Kinds are equal if they come
// from the same declaration. The zero Kind is no kind. Any goroutine may use a Kind.
type Kind struct{ *row }

type row struct {
	number     uint8
	name, says string
	traits     Trait
	// blank returns an empty wire struct. wrap returns the wire struct of a message, or nil if the
	// message has a body of another kind. Both are nil for a kind of the link.
	blank func() wire
	wrap  func(Message) wire
}

// Trait is a property of a kind that the rules shared by all algorithms need to know.
type Trait uint8

// The traits.
const (
	// Nominates: the message belongs to an algorithm that nominates a leader. With voters, such an
	// algorithm is combined with a lease.
	Nominates Trait = 1 << iota
	// TellsAll: a new leader sends the message at once to all processes that it believes alive.
	TellsAll
	// TellsMembers: a new leader sends the message at once to all processes that have joined it.
	TellsMembers
	// HandsOver: the sender no longer leads, and the receiver is to lead.
	HandsOver
)

// NewKind declares the kind of the messages whose body has the type B. The frame header contains
// number. It is 16 or above, since links use the lower numbers, and is never used again for another
// kind. name is the name of the message in the algorithm's source; records contain it. says is the
// meaning of such a message, in the words of its sender.
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

// Number returns the kind's number in the frame header, or zero for the zero Kind.
func (k Kind) Number() uint8 {
	if k.row == nil {
		return 0
	}
	return k.number
}

// String returns the kind's name. Kinds of several algorithms may have the same name, such as ELECTION.
func (k Kind) String() string {
	if k.row == nil {
		return "no kind"
	}
	return k.name
}

// Says returns the meaning of a message of this kind, in the words of its sender.
func (k Kind) Says() string { return k.says }

// Is reports whether the kind has the trait t.
func (k Kind) Is(t Trait) bool { return k.traits&t != 0 }

// Kinds is the table of the kinds that a process can read. It never changes, so any goroutine may
// use it.
type Kinds struct{ byNumber [256]Kind }

// NewKinds returns a table with these kinds. It refuses a kind with a number that links use, and two
// kinds with the same number.
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

// firstNumber is the lowest number of a message's kind. Links use the lower numbers.
const firstNumber = 16

// All returns the kinds of the table, in the order of their numbers.
func (t *Kinds) All() []Kind {
	return slices.DeleteFunc(slices.Clone(t.byNumber[:]), func(k Kind) bool { return k.row == nil })
}

// Of returns the kind with this number. The error wraps ErrKind.
func (t *Kinds) Of(number uint8) (Kind, error) {
	k := t.byNumber[number]
	if k.row == nil {
		return k, fmt.Errorf("%w: no algorithm of this program has number %d; run the same release on all nodes",
			ErrKind, number)
	}
	return k, nil
}
