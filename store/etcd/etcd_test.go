package etcd

import (
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/storeurl"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"etcd://h1:2379,h2:23790/prefix":       "",
		"etcd://h1,h2:7/a/b":                   "etcd://h1:2379,h2:7/a/b",
		"etcd://[::1]:7/p":                     "",
		"etcd://[::1]/p":                       "etcd://[::1]:2379/p",
		"etcd://h:1/p?tls=true":                "",
		"etcd://h:1/p?tls=false":               "etcd://h:1/p",
		"etcd://me@h:1/p?password-file=%2Ff":   "etcd://h:1/p",
		"etcd://[::1],h:1/p":                   "etcd://[::1]:2379,h:1/p",
		"etcd://h:1/p?password-file=f&user=me": "etcd://h:1/p",
	} {
		u, err := storeurl.Split(text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(u)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if want == "" {
			want = text
		}
		if s.String() != want {
			t.Errorf("%s is %s, want %s", text, s, want)
		}
		if s.Name() != "etcd "+u.Path || s.MinTTL() != 2*time.Second || s.Guarantee() != algorithms.Lease {
			t.Errorf("%s is %q, with a TTL of %v or more, and %s", text, s.Name(), s.MinTTL(), s.Guarantee())
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"redis://h:1/p":                "redis: write etcd://SERVER/PREFIX",
		"etcd:///p":                    `the server ""`,
		"etcd://h:1":                   `the prefix ""`,
		"etcd://h:1/":                  `the prefix "/"`,
		"etcd://h:1/p/":                `the prefix "/p/"`,
		"etcd://h:1,,k:1/p":            `the server ""`,
		"etcd://me:secret@h:1/p":       "password-file=FILE",
		"etcd://me@h:1/p":              "a user needs a password",
		"etcd://h:1/p?password-file=f": "a password a user",
		"etcd://h:1/p?cert=f":          "cert and key-file go together",
		"etcd://h:1/p?key=f":           `no option "key"`,
		"etcd://h:1/p?tls=false&ca=f":  "tls=false",
	} {
		u, err := storeurl.Split(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(u); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error tells the password: %v", err)
		}
	}
}
