package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"github.com/xrash/smetrics"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
)

// alike is the least likeness of two words, by the library's measure, for one to be suggested.
const alike = 0.8

// didYouMean returns "; did you mean WORD?" with the known word that is most like the given one;
// "" if none is like it.
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

// wordOf returns the value of a flag, or an error if the value is not one of the known words.
func wordOf(ctx *cli.Context, flag string, known ...string) (string, error) {
	word := ctx.String(flag)
	if err := oneOf(word, known); err != nil {
		return "", usagef("--%s %s: %w", flag, word, err)
	}
	return word, nil
}

// oneOf returns an error if text is not one of the known words.
func oneOf(text string, known []string) error {
	if slices.Contains(known, text) {
		return nil
	}
	return fmt.Errorf("want one of %s%s", strings.Join(known, ", "), didYouMean(text, known))
}

func algorithmFlag() cli.Flag {
	return &cli.StringFlag{Name: "algorithm", Value: "bully", Usage: "the election algorithm's `NAME`"}
}

// algorithmNamed returns the algorithm with this name from the catalogue.
func algorithmNamed(name string) (catalog.Entry, error) {
	entry, err := catalog.Lookup(name)
	if err != nil {
		return entry, fmt.Errorf("%w%s", err, didYouMean(name, catalog.Names()))
	}
	return entry, nil
}
