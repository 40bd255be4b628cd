package trace

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// indent aligns a record's reasons and messages under its event.
const indent = "            "

// Text writes r for people, with its time counted from the instant zero:
//
//	[  2.104] 4 > peers 1 2 3 4 (link-closed 5)
//	            leader 5 is gone -> call an election of term 2  [nomination.call(nomination.gone(5), 2)]
//	            COORDINATOR > 1 2 3
func Text(w io.Writer, zero time.Time, r Record) error { return r.text(w, zero, Line) }

// Codes writes r as Text does, without the sentences of reasons that have a code.
func Codes(w io.Writer, zero time.Time, r Record) error {
	return r.text(w, zero, func(sentence string, told Reason) string {
		if told.Code == "" {
			return sentence
		}
		return told.String()
	})
}

func (r Record) text(w io.Writer, zero time.Time, line func(sentence string, told Reason) string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "[%7.3f] %d > %s\n", r.Time.Sub(zero).Seconds(), r.Node, r.headline())
	for i, why := range r.Why {
		var told Reason
		if i < len(r.Reasons) {
			told = r.Reasons[i]
		}
		fmt.Fprintf(&b, "%s%s\n", indent, line(why, told))
	}
	for _, burst := range bursts(r.Sent) {
		fmt.Fprintf(&b, "%s%s\n", indent, burst)
	}
	for _, s := range r.Splits {
		fmt.Fprintf(&b, "%ssplit: %s\n", indent, s)
	}
	if r.LeaderChange != "" {
		fmt.Fprintf(&b, "%s%s\n", indent, r.belief())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// headline describes the event.
func (r Record) headline() string {
	switch r.Event {
	case "receive":
		return fmt.Sprintf("receive %s from %d", r.Detail, r.From)
	case "peers":
		ids := make([]string, len(r.Alive))
		for i, id := range r.Alive {
			ids[i] = fmt.Sprint(id)
		}
		line := "peers " + strings.Join(ids, " ")
		if r.Evidence != "" {
			line += " (" + r.Evidence + ")"
		}
		return line
	}
	if r.Detail != "" {
		return r.Event + ": " + r.Detail
	}
	return r.Event
}

// belief describes the changed belief.
func (r Record) belief() string {
	switch {
	case r.Role == Leading:
		return fmt.Sprintf("= leads term %d (%s)", r.LeaderTerm(), r.LeaderChange)
	case r.Leader == 0:
		return fmt.Sprintf("= nobody leads (%s)", r.LeaderChange)
	}
	return fmt.Sprintf("= follows %d in term %d (%s)", r.Leader, r.LeaderTerm(), r.LeaderChange)
}

// bursts groups consecutive messages of one kind: "COORDINATOR > 1 2 3".
func bursts(sent []string) []string {
	var lines []string
	last := ""
	for _, s := range sent {
		kind, to, _, err := SentID(s)
		if err != nil {
			lines, last = append(lines, s), ""
			continue
		}
		if kind != last {
			lines, last = append(lines, kind+" >"), kind
		}
		lines[len(lines)-1] += " " + to.String()
	}
	return lines
}
