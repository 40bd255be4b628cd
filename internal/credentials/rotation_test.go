package credentials_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/internal/credentials"
)

// "Replace the authority: put both certificates into every ca.crt; then new certificates; then take the old one out."
// A list of the old one that is left behind keeps no node from believing the old one no more.
func TestTheAuthorityIsReplaced(t *testing.T) {
	for name, later := range map[string]time.Duration{
		"in time": 0, "once it and its list have expired": 11 * 365 * 24 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, _ := authority(t)
				dir, other := issue(t, a, node(1)), issue(t, a, node(2))
				issue(t, a, node(9))
				if err := a.Revoke(9); err != nil {
					t.Fatal(err)
				}
				k := open(t, dir, node(1))
				conn, _, _, err1, err2 := shake(t, open(t, other, node(2)), k, 1)
				if err := errors.Join(err1, err2); err != nil {
					t.Fatal(err)
				}
				time.Sleep(later)
				b, _ := authority(t)
				next := issue(t, b, node(1))
				replace(t, dir, "ca.crt", dir, next)
				replace(t, dir, "tls.key", next)
				replace(t, dir, "tls.crt", next)
				if changed, err := k.Reload(); !changed || err != nil {
					t.Fatalf("with both: %v, %v", changed, err)
				}
				replace(t, dir, "ca.crt", next)
				says := filepath.Join(dir, "revoked.crl") + ": no authority of ca.crt signed the list of " +
					`"CN=Ringleader cluster blue": take that list out of the file, or delete the file`
				for _, first := range []bool{true, false} {
					changed, err := k.Reload()
					if changed != first || err == nil || !strings.HasPrefix(err.Error(), says) {
						t.Errorf("with the new one: changed %v, %v, want %s", changed, err, says)
					}
				}
				if err := k.Check(conn); err == nil || k.Refused() != nil {
					t.Errorf("the old authority's node: %v; this node: %v", err, k.Refused())
				}
				if _, err := credentials.Open(dir, node(1)); err == nil || !strings.HasPrefix(err.Error(), says) {
					t.Errorf("a node starts: %v, want %s", err, says)
				}
				if err := os.Remove(filepath.Join(dir, "revoked.crl")); err != nil {
					t.Fatal(err)
				}
				if changed, err := k.Reload(); !changed || err != nil {
					t.Errorf("without the list: %v, %v", changed, err)
				}
				open(t, dir, node(1))
			})
		})
	}
}

// While both authorities are believed, the file has the lists of both, and one that is of neither hides no other.
func TestListsOfSeveralAuthorities(t *testing.T) {
	a, _ := authority(t)
	b, _ := authority(t)
	c, _ := authority(t)
	dir := issue(t, a, node(1))
	k := open(t, dir, node(1))
	var lists, nodes []string
	for _, by := range []*credentials.Authority{c, a, b} {
		nodes = append(nodes, issue(t, by, node(2)))
		if err := by.Revoke(2); err != nil {
			t.Fatal(err)
		}
		lists = append(lists, nodes[len(nodes)-1])
	}
	replace(t, dir, "ca.crt", nodes[1:]...)
	replace(t, dir, "revoked.crl", lists...)
	if changed, err := k.Reload(); !changed || err == nil {
		t.Errorf("a list of nobody: %v, %v", changed, err)
	}
	for i, n := range nodes[1:] {
		if err := os.Remove(filepath.Join(n, "revoked.crl")); err != nil {
			t.Fatal(err)
		}
		replace(t, n, "ca.crt", dir)
		two := open(t, n, node(2))
		_, _, _, _, err := shake(t, two, k, 1)
		if err == nil || !strings.Contains(err.Error(), "was revoked") {
			t.Errorf("node 2 of authority %d: %v", i, err)
		}
	}
}
