package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ringleader-dev/ringleader/rounds"
)

const lastTerm = "last"

// termNamed reads a term. It returns 0 if word is "last".
func termNamed(word string) (uint64, error) {
	if word == lastTerm {
		return 0, nil
	}
	from, last, several := strings.Cut(word, "-") // as in a line of several terms, of which the last one is led
	if !several {
		from, last = "", word
	}
	first, wrong := strconv.ParseUint(from, 10, 64)
	term, err := strconv.ParseUint(last, 10, 64)
	if err != nil || term == 0 || several && (wrong != nil || first == 0 || first >= term) {
		return 0, usagef("term %q: want a number from 1 on, or %q", word, lastTerm)
	}
	return term, nil
}

// picker picks the rounds of one term, at most one of each group.
type picker struct {
	term  uint64          // 0 for the last one of each group
	there map[uint64]bool // the terms of rounds that it did not pick
}

// bounds are those of a Builder that keeps only the picked rounds.
func (p *picker) bounds() *rounds.Bounds {
	return &rounds.Bounds{
		Records: heldRecords,
		Steps:   func(term uint64) bool { return p.term == 0 || term == p.term },
		Retain:  p.retain,
	}
}

// retain returns the round that is picked of those of one group, and notes the terms of the others.
func (p *picker) retain(over []*rounds.Round) (picked []*rounds.Round) {
	if p.there == nil {
		p.there = map[uint64]bool{}
	}
	for i, r := range over {
		if r.Term == p.term || p.term == 0 && i == len(over)-1 {
			picked = append(picked, r)
		} else {
			p.there[r.Term] = true
		}
	}
	return picked
}

// from returns the picked rounds of the history. The parameter word is the term as the user wrote it.
func (p *picker) from(h *rounds.History, word string) (found []*rounds.Round, err error) {
	for _, g := range h.Groups {
		if p.term == 0 && !g.Replaced.IsZero() {
			continue // its last round is not the cluster's
		}
		found = append(found, p.retain(g.Rounds)...)
	}
	switch {
	case len(found) > 0:
		return found, nil
	case len(p.there) == 0:
		return nil, errors.New("the records tell of no round: nobody called an election in them")
	}
	var there []string
	for _, term := range slices.Sorted(maps.Keys(p.there)) {
		there = append(there, fmt.Sprint(term))
	}
	return nil, fmt.Errorf("no round of term %s: there are %s", word, shortList(there))
}

// shortList joins the words with commas. It leaves out the middle of a long list: "1, 2, 3, … 17".
func shortList(words []string) string {
	const most = 20
	if len(words) > most {
		words = append(append(words[:most-1:most-1], "…"), words[len(words)-1])
	}
	return strings.Join(words, ", ")
}
