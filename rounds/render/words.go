package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// How many characters are shown at most: of one text from a log, and of a sentence about the logs.
const (
	maxText     = 160
	maxSentence = 1000
)

// clean makes a text from a log printable, and short.
func clean(s string) string { return shorten(s, maxText) }

// sentence makes a sentence about the logs printable. Where there is room for it, it is read to its end.
func sentence(s string) string { return shorten(s, maxSentence) }

func shorten(s string, most int) string {
	if len(s) > 4*most {
		s = s[:4*most]
	}
	s = rounds.Printable(s)
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// takeApart cuts a text into its numbers and the words around them. It returns one more word than
// numbers; a word may be empty.
func takeApart(s string) (words, numbers []string) {
	begin, digits := 0, false
	cut := func(end int) {
		if digits {
			numbers = append(numbers, s[begin:end])
		} else {
			words = append(words, s[begin:end])
		}
		begin, digits = end, !digits
	}
	for i := range len(s) {
		if isDigit := s[i] >= '0' && s[i] <= '9'; isDigit != digits {
			cut(i)
		}
	}
	if cut(len(s)); digits {
		return words, numbers
	}
	return append(words, ""), numbers
}

// withoutNumbers returns s with # instead of each number.
func withoutNumbers(s string) string {
	words, _ := takeApart(s)
	return strings.Join(words, "#")
}

// span formats a duration for people. It writes less than a millisecond in whole microseconds.
func span(d time.Duration) string {
	if d != 0 && d.Abs() < time.Millisecond {
		return fmt.Sprintf("%d µs", d.Round(time.Microsecond).Microseconds())
	}
	return rounds.Span(d)
}

// millis formats a duration in milliseconds with two decimals, without the unit.
func millis(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 2, 64)
}

// title returns one line that names the round and says who leads.
func title(r *rounds.Round) string {
	t := fmt.Sprintf("term %d, %s: ", r.Term, clean(r.Algorithm))
	switch {
	case r.Winner != nil:
		t += r.Lead()
	case r.State == rounds.Superseded && r.PerhapsLed:
		t += "nobody led, as far as the records tell, " + r.Superseding()
	case r.State == rounds.Superseded:
		t += "nobody led, " + r.Superseding()
	default:
		t += "nobody led yet"
	}
	return t
}

// because says in a few words why the round was held: why the leadership changed or, if the records tell no change, how
// the round began.
func because(r *rounds.Round) string {
	if in := r.Incident; in != nil && in.Why != "" {
		return clean(in.Why)
	}
	return clean(r.Cause.Text)
}

// cause returns a text that says why the round began, or "" if the records do not show it.
func cause(r *rounds.Round) string {
	c := r.Cause
	switch {
	case c.Text == "" && c.Evidence == "":
		return ""
	case c.Evidence == "":
		return fmt.Sprintf("%s (node %d)", clean(c.Text), c.Node)
	}
	return fmt.Sprintf("%s (node %d: %s)", clean(c.Text), c.Node, clean(c.Evidence))
}

// ranges formats ids as "1-4 7", in ascending order, each once.
func ranges(ids []uint64) string {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	var parts []string
	for i := 0; i < len(ids); {
		j := i
		for j+1 < len(ids) && ids[j+1] == ids[j]+1 {
			j++
		}
		switch {
		case j-i < 2: // "1 2" is not longer than "1-2"
			j = i
			parts = append(parts, strconv.FormatUint(ids[i], 10))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", ids[i], ids[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, " ")
}
