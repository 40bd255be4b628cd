package main

import "fmt"

// didYouMean is "; did you mean WORD?" for the known word nearest to the given
// one, "" when none is near enough to be what was meant.
func didYouMean(given string, known []string) string {
	best, bestDistance := "", max(1, len(given)/3)+1
	for _, word := range known {
		if d := distance(given, word); d < bestDistance {
			best, bestDistance = word, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is the least number of steps that turn a into b: to insert, delete
// or replace a byte, or to swap two neighbours.
func distance(a, b string) int {
	d := make([][]int, len(a)+1) // d[i][j] is the distance of a[:i] and b[:j]
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
