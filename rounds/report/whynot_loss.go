package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// Loss says that other nodes lost sight of a process, and by which evidence.
type Loss struct {
	At       time.Time // of the first evidence
	By       []uint64
	Evidence string // of all of them, in the words of the records
	Refs     []rounds.Ref
}

// Lost adds what one node saw of the end of a node's process to what others saw. It puts those together that
// saw the same: that the process ended, that it fell silent, or only that it was gone.
func Lost(list []Loss, id uint64, l Loss) []Loss {
	l.Evidence = about(l.Evidence, id)
	i := slices.IndexFunc(list, func(known Loss) bool { return known.fate(id) == l.fate(id) })
	if i < 0 {
		return append(list, l)
	}
	same := &list[i]
	same.By, same.Refs = append(same.By, l.By...), append(same.Refs, l.Refs...)
	if l.At.Before(same.At) {
		same.At = l.At
	}
	for piece := range strings.SplitSeq(l.Evidence, ", ") {
		if !slices.Contains(strings.Split(same.Evidence, ", "), piece) {
			same.Evidence += ", " + piece
		}
	}
	return list
}

// about returns those pieces of the evidence that are about a node.
func about(evidence string, id uint64) string {
	pieces := slices.DeleteFunc(strings.Split(evidence, ", "), func(piece string) bool {
		return !strings.HasSuffix(piece, fmt.Sprint(" ", id))
	})
	return strings.Join(pieces, ", ")
}

// fate is what became of a process, as far as evidence tells.
type fate int

const (
	unclear fate = iota
	cutOff
	silent
	ended
)

// fate returns what the evidence says.
func (l Loss) fate(id uint64) fate {
	has := func(kind string) bool {
		return slices.Contains(strings.Split(l.Evidence, ", "), fmt.Sprint(kind, " ", id))
	}
	switch {
	case rounds.EndedProcess(l.Evidence, id):
		return ended
	case has("heartbeat-missed"):
		return silent
	case has("unreachable"):
		return cutOff
	}
	return unclear
}

// losses says who lost the node, when and how, in the past tense, and whether it was there again.
func (c *Case) losses() (sentences []string) {
	slices.SortStableFunc(c.Losses, func(a, b Loss) int { return a.At.Compare(b.At) })
	for _, l := range c.Losses {
		sentences = append(sentences, c.loss(l))
	}
	if c.Again != "" && len(sentences) > 0 {
		sentences = append(sentences, c.Again)
	}
	return sentences
}

// sawEnd reports whether a node saw that the process had ended, then or soon before: others that only lost it saw the
// same.
func (c *Case) sawEnd(t time.Time) bool {
	return slices.ContainsFunc(c.Losses, func(l Loss) bool {
		return l.fate(c.Node) == ended && l.At.Before(t.Add(time.Second))
	})
}

// loss says how the node was lost. If it was there again afterwards, it says no more than what was seen.
func (c *Case) loss(l Loss) string {
	id, again := c.Node, c.Again != ""
	slices.Sort(l.By)
	proof := proof(c.names, rounds.PeersSaw, l.Refs...)
	if l.Evidence == "" {
		return fmt.Sprintf("By %s %s had lost node %d: no record says how%s.", c.at(l.At), words.Nodes(l.By), id, proof)
	}
	how := rounds.Meaning(l.Evidence, id)
	text := fmt.Sprintf("At %s %s lost node %d: %s", c.at(l.At), words.Nodes(l.By), id, how)
	switch f := l.fate(id); {
	case f == silent:
		text = fmt.Sprintf("At %s node %d stopped answering heartbeats of %s", c.at(l.At), id, words.Nodes(l.By))
		if !again {
			text += ": it was paused, hung or cut off"
		}
	case again, f < silent && c.sawEnd(l.At):
	case f == ended && (strings.Contains(how, "its process") || l.Evidence == fmt.Sprint("left ", id)): // it ends later
		return text + cmp.Or(proof, " (peers saw it)") + "."
	case f == ended:
		return text + "; its process ended" + cmp.Or(proof, " (peers saw it)") + "."
	case f == cutOff:
		text += "; its machine was down, or the network between them was cut"
	default:
		text += "; it was paused, hung or cut off, or its process ended: nobody saw which"
	}
	return text + proof + "."
}

// termList lists terms: "term 5", "terms 5, 7 and 8". Of many it names the last ones.
func termList(list []uint64) string {
	const most = 8
	list = slices.Compact(slices.SortedFunc(slices.Values(list), cmp.Compare))
	if extra := len(list) - most; extra > 0 {
		return fmt.Sprintf("%d terms, the last of them %s", len(list), words.List(list[extra:]))
	}
	return words.Either(len(list), "term ", "terms ") + words.List(list)
}
