//go:build realtruth

package truth_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// counted says how much was compared.
func (f *faults) counted() string {
	return fmt.Sprintf("%d runs, %d of them healthy; the quorum was lost %d times; %d kinds of faults",
		f.runs, f.healthy, f.quorums, len(f.kinds))
}

// table lists the kinds of faults, the most frequent first.
func (f *faults) table() string {
	var out strings.Builder
	fmt.Fprintf(&out, "# What is told falsely of real processes\n\n%s.\n\n", f.counted())
	kinds := slices.SortedFunc(maps.Keys(f.kinds), func(a, b string) int {
		if len(f.kinds[a].runs) != len(f.kinds[b].runs) {
			return len(f.kinds[b].runs) - len(f.kinds[a].runs)
		}
		return strings.Compare(a, b)
	})
	for _, kind := range kinds {
		k := f.kinds[kind]
		fmt.Fprintf(&out, "## %s\n\n%d times in %d runs: %v; by variant: %v\n\n",
			kind, k.count, len(k.runs), k.runs[:min(len(k.runs), 20)], k.variants)
		for _, example := range k.examples {
			fmt.Fprintf(&out, "- %s\n", example)
		}
		out.WriteString("\n")
	}
	return out.String()
}
