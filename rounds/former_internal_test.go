package rounds

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// A sentence is read by its shape, which was read before, as it is read by itself.
func TestFormerReasonIsThatOfTheSentence(t *testing.T) {
	var sentences []string
	for _, f := range formerTable() {
		for _, numbers := range []string{"7 8 9 10 11 12", "1234 5 0 18446744073709551615 3 2"} {
			s := f.pattern
			for n := range strings.FieldsSeq(numbers) {
				s = strings.Replace(s, "#", n, 1)
			}
			s = strings.ReplaceAll(s, "_", "42")
			words := strings.NewReplacer("$", "4 leads term 6", "*", "node 3 waits 20s")
			sentences = append(sentences, words.Replace(s))
		}
	}
	sentences = append(sentences,
		"# leads term 5 -> follow it", "# leads term # -> follow it", "", "words", "1",
		"5 leads term 123456789012345678901 -> follow it", "# leads term 123456789012345678901234 -> follow it",
		strings.Repeat("1 ", 40))
	g := newGroup(groupKey{algo: "bully"}, false)
	for range 2 {
		for _, s := range sentences {
			told := formerly("bully", s)
			want := reason{kind: kindOf(told.Code).ReasonKind, args: told.Args, why: s, former: true}
			if got := g.formerReason(s); !reflect.DeepEqual(got, want) {
				t.Errorf("%q: %s, want %s", s, fmt.Sprint(got.args), fmt.Sprint(want.args))
			}
		}
	}
}

// "# stands for a number": a sentence that has this sign itself in the place of one is none of that release.
func TestNoFormerReasonHasSignsForNumbers(t *testing.T) {
	for _, f := range formerTable() {
		if !strings.ContainsAny(f.pattern, "#_") || strings.ContainsAny(f.pattern, "$*") {
			continue
		}
		if told := formerly(f.algorithm, shapeOfPattern(f.pattern)); told.Code == f.code {
			t.Errorf("%q tells %s", shapeOfPattern(f.pattern), told)
		}
	}
}
