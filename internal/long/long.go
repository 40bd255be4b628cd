// Package long lets one test serve twice: TestX runs a little of it in make test, and its
// twin TestLongX runs much of it in make test-long. The prefix decides, and nothing else:
//
//	func TestLongX(t *testing.T) { TestX(t) }
//
// A test without a twin that takes long has the prefix too. No test is skipped: the two
// targets run all there are.
package long

import (
	"strings"
	"testing"
)

// Prefix is the beginning of the names of the tests of make test-long.
const Prefix = "TestLong"

// Test reports whether t is a test of make test-long, or a part of one.
func Test(t testing.TB) bool { return strings.HasPrefix(t.Name(), Prefix) }

// Runs returns many in a test of make test-long, and few in a test of make test.
func Runs(t testing.TB, few, many int) int {
	if Test(t) {
		return many
	}
	return few
}
