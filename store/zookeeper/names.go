package zookeeper

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// digits is how many digits the number of a znode in a sequence has.
const digits = 10

// contender returns the recipe and the number of a candidate's name, or false if it is none.
func contender(name string) (r Recipe, number int64, ok bool) {
	if len(name) < digits {
		return "", 0, false
	}
	before, after := name[:len(name)-digits], name[len(name)-digits:]
	number, err := strconv.ParseInt(after, 10, 64)
	if err != nil || number < 0 {
		return "", 0, false
	}
	for r, text := range infix {
		if strings.HasSuffix(before, text) {
			return r, number, true
		}
	}
	return "", 0, false
}

// inOrder returns the candidates among the names, the first first.
func inOrder(names []string) []string {
	names = slices.DeleteFunc(names, func(name string) bool {
		_, _, ok := contender(name)
		return !ok
	})
	slices.SortFunc(names, func(a, b string) int {
		_, first, _ := contender(a)
		_, second, _ := contender(b)
		return cmp.Or(cmp.Compare(first, second), strings.Compare(a, b))
	})
	return names
}

// prefix returns the name of a new candidate, without its number: "a GUID generated on create".
func prefix(r Recipe) (string, error) {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return "", err
	}
	if r == Kazoo {
		return fmt.Sprintf("%x%s", id, infix[r]), nil
	}
	return fmt.Sprintf("_c_%x-%x-%x-%x-%x-%s", id[:4], id[4:6], id[6:8], id[8:10], id[10:], infix[r]), nil
}
