package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Reason is the form of a record's reason for programs: its code and arguments. The code is empty if
// the record has only a sentence.
type Reason struct {
	Code string `json:"code"`
	Args []Arg  `json:"args,omitempty"`
}

// Arg is one argument of a Reason. As JSON it is a number, a string or an object.
type Arg struct {
	Is     ArgKind
	Number uint64
	Words  string
	Reason *Reason // the reason that is this argument
}

// ArgKind is the type of an Arg's value.
type ArgKind uint8

// The kinds of arguments.
const (
	Number ArgKind = iota
	Words
	Cause
)

// ReasonOf returns r in the form of records.
func ReasonOf(r algorithms.Reason) Reason {
	told := Reason{Code: r.Kind.Code}
	if told.Code == "" || len(r.Args) == 0 {
		return told
	}
	told.Args = make([]Arg, len(r.Args))
	for i, arg := range r.Args {
		told.Args[i] = argOf(arg)
	}
	return told
}

func argOf(arg any) Arg {
	switch arg := arg.(type) {
	case proto.NodeID:
		return Arg{Number: uint64(arg)}
	case proto.Term:
		return Arg{Number: uint64(arg)}
	case uint64:
		return Arg{Number: arg}
	case int:
		if arg >= 0 {
			return Arg{Number: uint64(arg)}
		}
	case algorithms.Reason:
		cause := ReasonOf(arg)
		return Arg{Is: Cause, Reason: &cause}
	}
	return Arg{Is: Words, Words: fmt.Sprint(arg)}
}

// reasonsOf returns the reasons of a Step in the form of records, and their sentences.
func reasonsOf(why []algorithms.Reason) (reasons []Reason, sentences []string) {
	if len(why) == 0 {
		return nil, nil
	}
	reasons, sentences = make([]Reason, len(why)), make([]string, len(why))
	for i, r := range why {
		reasons[i], sentences[i] = ReasonOf(r), r.String()
	}
	return reasons, sentences
}

// String returns the code with its arguments: "nomination.call(nomination.gone(5), 2)".
func (r Reason) String() string {
	if len(r.Args) == 0 {
		return r.Code
	}
	words := make([]string, len(r.Args))
	for i, a := range r.Args {
		words[i] = a.String()
	}
	return r.Code + "(" + strings.Join(words, ", ") + ")"
}

// String returns the number, the reason or the words. Words are quoted unless they are a single
// word.
func (a Arg) String() string {
	switch a.Is {
	case Cause:
		return a.Reason.String()
	case Words:
		if isBare(a.Words) {
			return a.Words
		}
		return strconv.Quote(a.Words)
	}
	return strconv.FormatUint(a.Number, 10)
}

// MarshalJSON writes a number, a string or an object.
func (a Arg) MarshalJSON() ([]byte, error) {
	switch a.Is {
	case Cause:
		return plainJSON(a.Reason)
	case Words:
		return plainJSON(a.Words)
	}
	return strconv.AppendUint(nil, a.Number, 10), nil
}

// UnmarshalJSON reads what MarshalJSON writes. It takes any other value as words.
func (a *Arg) UnmarshalJSON(b []byte) error {
	*a = Arg{}
	switch {
	case len(b) > 0 && b[0] == '{':
		a.Is, a.Reason = Cause, &Reason{}
		return json.Unmarshal(b, a.Reason)
	case len(b) > 0 && b[0] == '"':
		a.Is = Words
		return json.Unmarshal(b, &a.Words)
	}
	n, err := strconv.ParseUint(string(b), 10, 64)
	if err != nil {
		*a = Arg{Is: Words, Words: string(b)}
		return nil
	}
	a.Number = n
	return nil
}

// plainJSON encodes v without escaping <, > and &, like a record's other fields: -> stays ->.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
