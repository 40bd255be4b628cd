// Package words puts counts and lists into English.
package words

import (
	"fmt"
	"strings"
)

// Plural formats a count: "1 message" or "2 messages".
func Plural(n int, word string) string { return fmt.Sprintf("%d %s", n, Either(n, word, word+"s")) }

// Either returns one if n is 1, and many otherwise: "was" or "were".
func Either(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// All names so many as a whole: "the only other", "both others" or "all 3 others".
func All(n int, word string) string {
	switch n {
	case 1:
		return "the only " + word
	case 2:
		return "both " + word + "s"
	}
	return fmt.Sprintf("all %d %ss", n, word)
}

// And joins words: "a", "a and b" or "a, b and c"; "none" if there are none.
func And(words ...string) string {
	switch n := len(words); n {
	case 0:
		return "none"
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// List joins ids: "1, 2 and 3".
func List(ids []uint64) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = fmt.Sprint(id)
	}
	return And(words...)
}

// Nodes names nodes: "node 3", "nodes 3 and 4" or "nodes 1, 2 and 3".
func Nodes(ids []uint64) string { return Either(len(ids), "node ", "nodes ") + List(ids) }

// Upper makes the first letter of a sentence a capital.
func Upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
