package etcd

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"etcd://h1:2379,h2:23790/prefix":       "",
		"etcd://h1,h2:7/a/b":                   "etcd://h1:2379,h2:7/a/b",
		"etcd://[::1]:7/p":                     "",
		"etcd://[::1]/p":                       "etcd://[::1]:2379/p",
		"etcd://h:1/p?tls=true":                "",
		"etcd://h:1/p?tls=false":               "etcd://h:1/p",
		"etcd://me@h:1/p?password-file=%2Ff":   "etcd://h:1/p?password-file=%2Ff&user=me",
		"etcd://h:1/p?ca=a&cert=b&key=c":       "",
		"etcd://h:1/p?password-file=f&user=me": "",
	} {
		u, err := url.Parse(text)
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
		"redis://h:1/p":                        `scheme "redis"`,
		"etcd:///p":                            "no host",
		"etcd:h:1/p":                           "no host",
		"etcd://h:1":                           "no prefix",
		"etcd://h:1/":                          "no prefix",
		"etcd://h:1/p/":                        `prefix "/p/"`,
		"etcd://h:1/p#x":                       "%23",
		"etcd://h:0/p":                         `port "0"`,
		"etcd://h:65536/p":                     `port "65536"`,
		"etcd://h:1,,k:1/p":                    `address ""`,
		"etcd://:1/p":                          `address ":1"`,
		"etcd://me:secret@h:1/p":               "password-file=FILE",
		"etcd://me@h:1/p":                      "a user needs a password",
		"etcd://me@h:1/p?user=you":             "two users",
		"etcd://h:1/p?password-file=f":         "a password a user",
		"etcd://h:1/p?cert=f":                  "a certificate needs its key",
		"etcd://h:1/p?tls=maybe":               "tls=maybe",
		"etcd://h:1/p?tls=false&ca=f":          "tls=false",
		"etcd://h:1/p?ttl=3":                   `no option "ttl"`,
		"etcd://h:1/p?ca=":                     "option ca",
		"etcd://h:1/p?ca=a&ca=b":               "option ca",
		"etcd://h:1/p?ca=%zz":                  "options in the URL",
		"etcd://me:secret@h:1/p?user=me&key=k": "password-file=FILE",
	} {
		u, err := url.Parse(text)
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
