package play

import (
	"fmt"
	"io"
	"slices"

	"github.com/ringleader-dev/ringleader/proto"
)

// way is the way from one node to another: messages do not overtake each other on it.
type way struct{ from, to proto.NodeID }

// matches returns for each message of a the index of the same message in b, or -1.
func matches(a, b []message) []int {
	pair := make([]int, len(a))
	for i := range pair {
		pair[i] = -1
	}
	onA, onB := byWay(a), byWay(b)
	for w, as := range onA {
		bs := onB[w]
		// longest[i][j] is how many of as[i:] and bs[j:] can be paired in order.
		longest := make([][]int, len(as)+1)
		for i := range longest {
			longest[i] = make([]int, len(bs)+1)
		}
		for i, x := range slices.Backward(as) {
			for j, y := range slices.Backward(bs) {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
				if a[x] == b[y] {
					longest[i][j] = longest[i+1][j+1] + 1
				}
			}
		}
		for i, j := 0, 0; i < len(as) && j < len(bs); {
			switch {
			case a[as[i]] == b[bs[j]]:
				pair[as[i]] = bs[j]
				i, j = i+1, j+1
			case longest[i+1][j] >= longest[i][j+1]:
				i++
			default:
				j++
			}
		}
	}
	return pair
}

// byWay returns the indices of the messages on each way, in order.
func byWay(sent []message) map[way][]int {
	on := map[way][]int{}
	for i, m := range sent {
		w := way{m.from, m.to}
		on[w] = append(on[w], i)
	}
	return on
}

// line is a line of a comparison: a message of both sides or of one.
type line struct {
	sign byte // ' ' for both, '-' for virtual time alone, '+' for reality alone
	message
}

// compare returns the messages of both sides in the order of the virtual side. What is real alone stands after
// the message of both that came before it.
func compare(virtual, real []message) (lines []line) {
	pair := matches(virtual, real)
	after := make([][]message, len(virtual)+1) // those that are real alone, by how many virtual ones stand before
	last := 0
	for j, m := range real {
		if i := slices.Index(pair, j); i >= 0 {
			last = i + 1
		} else {
			after[last] = append(after[last], m)
		}
	}
	for i := range after {
		if i > 0 {
			sign := byte(' ')
			if pair[i-1] < 0 {
				sign = '-'
			}
			lines = append(lines, line{sign, virtual[i-1]})
		}
		for _, m := range after[i] {
			lines = append(lines, line{'+', m})
		}
	}
	return lines
}

// write writes the lines, those of virtual time numbered, and their sum. It reports whether both sides are the
// same.
func write(w io.Writer, lines []line) (same bool) {
	number, signs := 0, map[byte]int{}
	for _, l := range lines {
		signs[l.sign]++
		if l.sign == '+' {
			fmt.Fprintf(w, "+       %v\n", l.message)
			continue
		}
		number++
		fmt.Fprintf(w, "%c %4d  %v\n", l.sign, number, l.message)
	}
	fmt.Fprintf(w, "%d of %d messages are the same", signs[' '], number)
	if signs['+'] > 0 {
		fmt.Fprintf(w, "; %d more in reality", signs['+'])
	}
	fmt.Fprintln(w)
	return signs[' '] == len(lines)
}
