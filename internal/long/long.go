// Package long lets two tests share their code: TestX runs it a few times in make test, and
// TestLongX runs it many times in make test-long. Only the prefix of the name decides:
//
//	func TestLongX(t *testing.T) { TestX(t) }
//
// A slow test without a short form has the prefix, too. No test is skipped: the two
// targets together run all tests.
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
