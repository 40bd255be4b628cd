package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"github.com/xrash/smetrics"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
)

// alike is how much a word has to be like a known one to be suggested, by the library's measure.
const alike = 0.8

// didYouMean is "; did you mean WORD?" for the known word that is most like the given one,
// "" when none is like it.
func didYouMean(given string, known []string) string {
	best, likeness := "", alike
	for _, word := range known {
		if l := smetrics.JaroWinkler(given, word, 0.7, 4); l > likeness {
			best, likeness = word, l
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// wordOf is the value of a flag that takes one of a few words.
func wordOf(ctx *cli.Context, flag string, known ...string) (string, error) {
	word := ctx.String(flag)
	if err := oneOf(word, known); err != nil {
		return "", usagef("--%s %s: %w", flag, word, err)
	}
	return word, nil
}

// oneOf refuses a word that is not among the known ones.
func oneOf(text string, known []string) error {
	if slices.Contains(known, text) {
		return nil
	}
	return fmt.Errorf("want one of %s%s", strings.Join(known, ", "), didYouMean(text, known))
}

func algorithmFlag() cli.Flag {
	return &cli.StringFlag{Name: "algorithm", Value: "bully", Usage: "the election algorithm's `NAME`"}
}

// algorithmNamed looks name up in the catalogue.
func algorithmNamed(name string) (catalog.Entry, error) {
	entry, err := catalog.Lookup(name)
	if err != nil {
		return entry, fmt.Errorf("%w%s", err, didYouMean(name, catalog.Names()))
	}
	return entry, nil
}
