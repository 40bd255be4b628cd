package render

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ringleader-dev/ringleader/rounds"
)

// note is one printable line about a band's steps.
type note struct {
	about    about
	text     string
	messages []int // for aboutSent: the indexes in Messages of the messages that were sent
}

// about is the topic of a note.
type about byte

const (
	aboutWho    about = iota // which nodes took the steps of a folded band
	aboutEvent               // what the node was told
	aboutWhy                 // what it decided, and why
	aboutSent                // what it sent
	aboutBelief              // what it believes from here on
)

var aboutNames = [...]string{"who", "event", "why", "sent", "belief"}

// notes returns the notes of a band. It describes the steps of one kind together.
func (s *layout) notes(b band) []note {
	if b.single() {
		return s.alike([]int{b.first})
	}
	var order []string
	kinds := map[string][]int{}
	for i := b.first; i < b.last; i++ {
		kind := s.kind(i)
		if kinds[kind] == nil {
			order = append(order, kind)
		}
		kinds[kind] = append(kinds[kind], i)
	}
	var list []note
	for _, kind := range order {
		list = append(list, note{about: aboutWho, text: s.doers(kinds[kind])})
		list = append(list, s.alike(kinds[kind])...)
	}
	return list
}

// doers names the nodes that took the steps: "nodes 2-9, 12 times".
func (s *layout) doers(steps []int) string {
	var nodes []uint64
	for _, i := range steps {
		nodes = append(nodes, s.round.Steps[i].Ref.Node)
	}
	slices.Sort(nodes)
	distinct := slices.Compact(slices.Clone(nodes))
	text := "node "
	if len(distinct) > 1 {
		text = "nodes "
	}
	text += ranges(distinct)
	if len(distinct) < len(nodes) {
		text += fmt.Sprintf(", %d times", len(nodes))
	}
	return text
}

// alike returns the notes that describe several steps together. All the steps are of one kind.
func (s *layout) alike(steps []int) []note {
	first := &s.round.Steps[steps[0]]
	var list []note
	add := func(a about, of func(*rounds.Step) string) {
		if text := s.common(steps, of); text != "" {
			list = append(list, note{about: a, text: text})
		}
	}
	add(aboutEvent, s.told)
	for i := range first.Why {
		add(aboutWhy, func(st *rounds.Step) string { return st.Why[i] })
	}
	list = append(list, s.sent(steps)...)
	if after(first, 0).stand == leader && first.Change != "" || len(first.Why) == 0 {
		add(aboutBelief, s.change)
	}
	return list
}

// common returns one text for all the steps. The function of returns the text of each step; common
// writes N instead of each number in which these texts differ.
func (s *layout) common(steps []int, of func(*rounds.Step) string) string {
	words, numbers := takeApart(of(&s.round.Steps[steps[0]]))
	for _, i := range steps[1:] {
		_, others := takeApart(of(&s.round.Steps[i]))
		for j := range numbers {
			if j >= len(others) || others[j] != numbers[j] {
				numbers[j] = "N"
			}
		}
	}
	text := words[0]
	for j, number := range numbers {
		text += number + words[j+1]
	}
	return clean(text)
}

// told returns a text that says what caused the step; "" if the step's reason says it.
func (s *layout) told(st *rounds.Step) string {
	switch {
	case st.Received >= 0:
		m := s.round.Messages[st.Received]
		return fmt.Sprintf("from %d: %s", m.From, cmp.Or(st.Detail, m.Detail, m.Kind))
	case st.Event == "peers" && st.Evidence != "":
		return st.Evidence
	case st.Event == "peers":
		return "alive: " + ranges(st.Alive)
	case st.Event == "timeout" && len(st.Why) > 0: // the reason names it
		return ""
	case st.Detail != "":
		return st.Event + ": " + st.Detail
	}
	return st.Event
}

// change returns a text with the node's new belief, or "" if the step did not change it.
func (s *layout) change(st *rounds.Step) string {
	if st.Change == "" {
		return ""
	}
	switch after(st, 0).stand {
	case leader:
		return fmt.Sprintf("★ leads term %d", s.round.Term)
	case follower:
		return fmt.Sprintf("follows %d", st.Leader)
	default:
		return "knows no leader"
	}
}

// sent returns one note for each kind of message that the steps sent: "ELECTION > 2 3 4".
func (s *layout) sent(steps []int) []note {
	var list []note
	at := map[string]int{}
	for _, i := range steps {
		for _, m := range s.round.Steps[i].Sent {
			kind := s.round.Messages[m].Kind
			if _, ok := at[kind]; !ok {
				at[kind] = len(list)
				list = append(list, note{about: aboutSent})
			}
			n := &list[at[kind]]
			n.messages = append(n.messages, m)
		}
	}
	for i := range list {
		list[i].text = s.sentText(list[i].messages, len(steps) > 1)
	}
	return list
}

// sentText returns the text about messages of one kind: their receivers, and which receivers they never
// reached. If many is true, the text begins with the number of messages.
func (s *layout) sentText(messages []int, many bool) string {
	undelivered := map[rounds.Delivery][]uint64{}
	var to []uint64
	for _, i := range messages {
		m := s.round.Messages[i]
		to = append(to, m.To)
		undelivered[m.Delivery] = append(undelivered[m.Delivery], m.To)
	}
	text := fmt.Sprintf("%s > %s", clean(s.round.Messages[messages[0]].Kind), ranges(to))
	if many {
		text = fmt.Sprintf("%d × %s", len(messages), text)
	}
	if lost := undelivered[rounds.Lost]; len(lost) > 0 {
		text += "; lost: " + ranges(lost)
	}
	if gone := undelivered[rounds.ToGone]; len(gone) > 0 {
		text += "; gone: " + ranges(gone)
	}
	return text
}
