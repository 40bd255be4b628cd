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

// Reason is one of a record, for programs: its code, "" of one that is a sentence only,
// and its arguments.
type Reason struct {
	Code string `json:"code"`
	Args []Arg  `json:"args,omitempty"`
}

// Arg is one argument of a Reason. As JSON it is a number, a string or an object.
type Arg struct {
	Is     ArgKind
	Number uint64
	Words  string
	Reason *Reason // that the other one follows from
}

// ArgKind is what an Arg is.
type ArgKind uint8

// The kinds of arguments.
const (
	Number ArgKind = iota
	Words
	Cause
)

// ReasonOf is r as records tell it.
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

// reasonsOf are the reasons of a Step as records tell them, and their sentences.
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

// String is the code with its arguments: "nomination.call(nomination.gone(5), 2)".
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

// String is the number, the words as they are or, where they are no single word, quoted.
func (a Arg) String() string {
	switch a.Is {
	case Cause:
		return a.Reason.String()
	case Words:
		if a.Words == "" || strings.ContainsAny(a.Words, " ,()\"") {
			return strconv.Quote(a.Words)
		}
		return a.Words
	}
	return strconv.FormatUint(a.Number, 10)
}

// MarshalJSON writes a number, a string or an object.
func (a Arg) MarshalJSON() ([]byte, error) { return a.appendJSON(nil), nil }

// UnmarshalJSON reads what MarshalJSON writes. Whatever else stands there are words.
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

func appendReasons(b []byte, reasons []Reason) []byte {
	b = append(b, '[')
	for i, r := range reasons {
		if i > 0 {
			b = append(b, ',')
		}
		b = r.appendJSON(b)
	}
	return append(b, ']')
}

func (r Reason) appendJSON(b []byte) []byte {
	b = append(b, `{"code":`...)
	b = appendString(b, r.Code)
	if len(r.Args) > 0 {
		b = append(b, `,"args":[`...)
		for i, a := range r.Args {
			if i > 0 {
				b = append(b, ',')
			}
			b = a.appendJSON(b)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func (a Arg) appendJSON(b []byte) []byte {
	switch a.Is {
	case Cause:
		return a.Reason.appendJSON(b)
	case Words:
		return appendString(b, a.Words)
	}
	return strconv.AppendUint(b, a.Number, 10)
}

// appendString quotes as a record's other fields are: -> stays ->.
func appendString(b []byte, s string) []byte {
	var quoted bytes.Buffer
	e := json.NewEncoder(&quoted)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil { // no string fails
		return append(b, `""`...)
	}
	return append(b, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
}
