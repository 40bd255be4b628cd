package rounds

import "strings"

// numbers are those of a phrase: none has more.
type numbers [4]uint64

// phrase matches text against a pattern, in which each # stands for a number,
// and returns the numbers. The reasons in records are such phrases: machines
// write them with numbers filled in.
func phrase(pattern, text string) (found numbers, ok bool) {
	if !strings.HasSuffix(text, pattern[strings.LastIndexByte(pattern, '#')+1:]) {
		return found, false // nearly always, and found out fast
	}
	for i := 0; ; i++ {
		before, after, more := strings.Cut(pattern, "#")
		rest, fits := strings.CutPrefix(text, before)
		if !fits {
			return found, false
		}
		if !more {
			return found, rest == ""
		}
		n, tail, isNumber := leadingNumber(rest)
		if !isNumber {
			return found, false
		}
		found[i] = n
		pattern, text = after, tail
	}
}

// leadingNumber cuts the decimal digits off the front of s.
func leadingNumber(s string) (n uint64, rest string, ok bool) {
	i := 0
	for i < len(s) && i < 20 && s[i] >= '0' && s[i] <= '9' {
		n = n*10 + uint64(s[i]-'0')
		i++
	}
	return n, s[i:], i > 0
}
