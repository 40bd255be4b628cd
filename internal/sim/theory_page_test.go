package sim

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Promise: the page of theory names each invariant once, and no other.
func TestTheoryNamesEachInvariant(t *testing.T) {
	page, err := os.ReadFile("../../docs/THEORY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- invariants -->\n")
	table, _, _ := strings.Cut(rest, "<!-- end of invariants -->")
	var named []string
	for _, found := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(table, -1) {
		named = append(named, found[1])
	}
	are := []string{
		agreement.Name, quiet.Name, bestInTheEnd.Name, ends.Name, pure.Name, "damped", newBestLeads(plan{}).Name,
		recoveredInTheEnd.Name, removesTheDead.Name, leavesLast.Name, neverEnds.Name,
	}
	for _, k := range slices.Concat(safetyCheckers(), quorumCheckers(), leaseCheckers(), storeCheckers(),
		fenceCheckers(true), recoveryCheckers(&cluster{leaderships: &trueOverlap{}})) {
		are = append(are, k.Name)
	}
	slices.Sort(named)
	slices.Sort(are)
	are = slices.Compact(are) // what is checked with voters and on a store has one name
	if !slices.Equal(named, are) {
		t.Errorf("docs/THEORY.md names\n%q\nthe invariants are\n%q", named, are)
	}
}
