// Package needs ends tests for which this machine lacks something. On somebody's own
// machine they are skipped, and say so; in CI they fail, since it must not pass
// without them. No test skips in any other way: internal/archtest looks.
package needs

import (
	"os"
	"testing"
)

// Here ends the test unless missing is nil. What is not tested then is a noun, like
// "the page in a browser".
func Here(t testing.TB, what string, missing error) {
	t.Helper()
	if !Has(t, what, missing) {
		t.SkipNow()
	}
}

// Has is Here for what is only a part of a test: it reports whether that can be done.
func Has(t testing.TB, what string, missing error) bool {
	t.Helper()
	switch {
	case missing == nil:
		return true
	case os.Getenv("CI") == "true":
		t.Fatalf("%s cannot be tested, and CI must not pass without: %v", what, missing)
	}
	t.Logf("NOT TESTED: %s: %v", what, missing)
	return false
}
