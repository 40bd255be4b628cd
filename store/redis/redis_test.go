package redis

import (
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
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
		name, url string
		guarantee algorithms.Guarantee
	}{
		"redis://a/leader":     {"redis leader", "redis://a:6379/leader", algorithms.LeaseUntilFailover},
		"redis://a:1/my/key":   {"redis my/key", "redis://a:1/my/key", algorithms.LeaseUntilFailover},
		"rediss://a/k?db=3":    {"redis k of database 3", "rediss://a:6379/k?db=3", algorithms.LeaseUntilFailover},
		"redis://a/k?tls=true": {"redis k", "rediss://a:6379/k", algorithms.LeaseUntilFailover},
		"redis://a,b:2,c/k":    {"redis k", "redis://a:6379,b:2,c:6379/k", algorithms.LeaseByClocks},
		"redis://me@a/k?password-file=f": {
			"redis k", "redis://a:6379/k", algorithms.LeaseUntilFailover,
		},
	} {
		s, err := parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if s.Name() != want.name || s.String() != want.url || s.Guarantee() != want.guarantee {
			t.Errorf("%s: %s, %s, %s, want %v", text, s.Name(), s, s.Guarantee(), want)
		}
	}
	for text, want := range map[string]string{
		"http://a/k":          "write redis://",
		"redis://a":           "the key of the election is missing",
		"redis://a/":          "the key of the election is missing",
		"redis://a,b/k":       "2 servers: name one primary, or an odd number",
		"redis://a,b,c,d/k":   "4 servers",
		"redis://me@a/k":      "a user needs a password",
		"redis://a/k:token":   `the key "k:token" is where the election "k" keeps what belongs to it: name another`,
		"redis://a/k:ask":     `the key "k:ask"`,
		"redis://a/k?db=x":    "db=x is not the number",
		"redis://a/k?db=-1":   "db=-1 is not the number",
		"redis://:pw@a/k":     "password-file=FILE",
		"redis://a/k?ttl=3":   `no option "ttl"`,
		"redis://a,a:6379,b/": "named twice",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestShortTTL(t *testing.T) {
	s, err := parse("redis://a/k")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(store.Candidate{TTL: 99 * time.Millisecond}); err == nil {
		t.Error("it opens with a TTL that it cannot keep")
	}
}
