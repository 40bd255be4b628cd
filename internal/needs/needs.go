// Package needs skips tests that need something which this machine lacks. The log of a
// skipped test says so. In CI the test fails instead, so that CI cannot pass without having run
// it. Tests skip in no other way: internal/archtest checks that.
package needs

import (
	"os"
	"testing"
)

// Here skips the test, or fails it in CI, if missing is not nil. The error missing says what this
// machine lacks. The text what names the untested thing, as in "the page in a browser".
func Here(t testing.TB, what string, missing error) {
	t.Helper()
	if !Has(t, what, missing) {
		t.SkipNow()
	}
}

// Has reports whether a part of a test can run: whether missing is nil. If it cannot, Has logs
// that, or fails the test in CI. See Here for the parameters.
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
