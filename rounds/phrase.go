package rounds

import "strings"

// numbers are the numbers in a phrase. No phrase has more than four.
type numbers [4]uint64

// phrase matches text against a pattern, in which each # stands for a number, and returns
// the numbers. Evidence in records is such a phrase: "link-closed 5".
func phrase(pattern, text string) (found numbers, ok bool) {
	if !strings.HasSuffix(text, pattern[strings.LastIndexByte(pattern, '#')+1:]) {
		return found, false // nearly always
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
