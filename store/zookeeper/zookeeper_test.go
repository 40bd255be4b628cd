package zookeeper

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/storeurl"
	"github.com/ringleader-dev/ringleader/store"
)

func parse(text string) (store.Store, error) {
	u, err := storeurl.Split(text)
	if err != nil {
		return nil, err
	}
	return Parse(u)
}

func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		url    string
		minTTL time.Duration
	}{
		"zookeeper://a/leader":                   {"zookeeper://a:2181/leader", 4 * time.Second},
		"zookeeper://a:1,b/my/path":              {"zookeeper://a:1,b:2181/my/path", 4 * time.Second},
		"zookeeper://a/k?tick=500ms":             {"zookeeper://a:2181/k?tick=500ms", time.Second},
		"zookeeper://a/k?recipe=latch&tls=true":  {"zookeeper://a:2181/k?recipe=latch&tls=true", 4 * time.Second},
		"zookeeper://a/k?user=me&password-file=": {"", 0},
		"zookeeper://me@a/k?password-file=f":     {"zookeeper://a:2181/k", 4 * time.Second},
	} {
		s, err := parse(text)
		if want.url == "" {
			if err == nil {
				t.Errorf("%s is read", text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if s.String() != want.url || s.MinTTL() != want.minTTL {
			t.Errorf("%s: %s, %v, want %v", text, s, s.MinTTL(), want)
		}
		if _, err := s.Open(store.Candidate{TTL: want.minTTL - 1}); err == nil {
			t.Errorf("%s opens with a TTL that it cannot keep", text)
		}
	}
	for text, want := range map[string]string{
		"zk://a/k":                            "write zookeeper://",
		"zookeeper://a":                       "the path of the election is missing",
		"zookeeper://a/":                      "the path of the election is missing",
		"zookeeper://a/k/":                    "is not a path",
		"zookeeper://a//k":                    "is not a path",
		"zookeeper://a/../k":                  "is not a path",
		"zookeeper://a/k/x__lock__0000000001": `"x__lock__0000000001" is the name of a candidate`,
		"zookeeper://a/zookeeper/k":           "/zookeeper is ZooKeeper's own",
		"zookeeper://a/k?tick=2":              "tick=2 is no duration",
		"zookeeper://a/k?tick=-2s":            "tick=-2s is no duration",
		"zookeeper://a/k?recipe=x":            "there are kazoo, latch, lock",
		"zookeeper://a/k?db=1":                `no option "db"`,
		"zookeeper://me@a/k":                  "a user needs a password",
		"zookeeper://a/k?password-file=/none": "a password needs a user",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// The number counts, whoever made the znode; what is no candidate does not.
func TestInOrder(t *testing.T) {
	want := []string{
		"ffff__lock__0000000002", "_c_0a-latch-0000000003", "_c_0a-lock-0000000004", "latch-0000000009",
		"0000__lock__0000000010",
	}
	others := []string{"x", "0000000001", "a__rlock__000000000", "__lock__-000000001", "other-0000000000"}
	names := append(others, want...)
	slices.Reverse(names)
	if got := inOrder(names); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for r := range infix {
		name, err := prefix(r)
		if got, n, ok := contender(name + "0000000007"); err != nil || !ok || got != r || n != 7 {
			t.Errorf("%s7 is of %s, %d, %v", name, got, n, err)
		}
	}
}
