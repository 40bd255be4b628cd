package storeurl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each server may have a port, and none may be named twice.
func TestServers(t *testing.T) {
	for text, want := range map[string][]string{
		"x://a/k":                     {"a:7"},
		"x://a:1,b,c:3/k":             {"a:1", "b:7", "c:3"},
		"x://a:1,b/k":                 {"a:1", "b:7"},
		"x://[::1]:1,[::2]/k":         {"[::1]:1", "[::2]:7"},
		"x://me@a,b/k?" + password(t): {"a:7", "b:7"},
	} {
		u, err := Split(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		p, err := Read(u, "7", false)
		if err != nil || !slices.Equal(p.Servers, want) || p.Path != "k" {
			t.Errorf("%s: %+v, %v, want %v", text, p, err, want)
		}
	}
}

func password(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Password(file); got != "secret" || err != nil {
		t.Errorf("the password is %q, %v", got, err)
	}
	return "password-file=" + file
}

// Promise: an error says what is wrong, and no secret.
func TestWrong(t *testing.T) {
	for text, want := range map[string]string{
		"a/k":                      "not a URL",
		"x:///k":                   `the server ""`,
		"x://a,/k":                 `the server ""`,
		"x://a:b:c/k":              `the server "a:b:c"`,
		"x://a:99999/k":            `the server "a:99999"`,
		"x://a:0/k":                `the server "a:0"`,
		"x://a:/k":                 `the server "a:"`,
		"x://http://a/k":           `the server "http:"`,
		"x://a b/k":                `the server "a b": write HOST, HOST:PORT or [IPv6]:PORT, and a comma between two`,
		"x://a;b/k":                `the server "a;b"`,
		"x://a,a:7/k":              "a:7 is named twice",
		"x://me:secret@a/k":        "give password-file=FILE",
		"x://me:secret%zz@a/k":     "not well formed: a % stands before two hexadecimal digits",
		"x://me@a/k?user=you":      "named twice",
		"x://a/k?pass=secret":      `no option "pass": there are ca, cert, key-file, more, password-file, tls, user`,
		"x://a/k?tls=1":            "tls=1: write tls=true",
		"x://a/k?tls=false&ca=f":   "contradicts",
		"x://a/k?cert=f":           "go together",
		"x://a/k?ca=/none":         "read the CA",
		"x://a/k?more=":            "needs one value",
		"x://a/k?more=1&more=2":    "needs one value",
		"x://a/k#part":             "follow #",
		"x://a/k?cert=f&key-file=": "needs one value",
	} {
		u, err := Split(text)
		if err == nil {
			_, err = Read(u, "7", false, "more")
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// An option that cannot be read is refused: left out, the election would be another.
func TestOptionsThatCannotBeRead(t *testing.T) {
	u, err := Split("postgres://h/db?table=no;drop")
	if err != nil {
		t.Fatal(err)
	}
	if p, err := Read(u, "5432", false, "table"); err == nil {
		t.Errorf("it is read as %+v", p)
	}
}

// Promise: no password of a URL is shown, whether the URL can be read or not.
func TestRedact(t *testing.T) {
	for _, text := range []string{
		"redis://:s3cret@h:1,g:2/k", "redis://:a/s3cret@h/k", "redis://:s3cret%t@h/k", "redis://h/k?password=s3cret",
		"redis://me:x@s3cret@h/k?a=s3cret;b", "redis://me:s3cret/a@h/k", "redis://me:s3cret?a@h/k",
		"redis://me:a#s3cret@h/k",
	} {
		if got := Redact(text); strings.Contains(got, "s3cret") || !strings.HasPrefix(got, "redis://") {
			t.Errorf("%s is shown as %s", text, got)
		}
		u, err := Split(text)
		if err == nil {
			_, err = Read(u, "1", false)
		}
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s gives %v", text, err)
		}
	}
}

// An empty password file is a mistake, and one that others may read is worth a word.
func TestPasswordFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	for _, text := range []string{"", "\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Password(file); err == nil || !strings.Contains(err.Error(), file+" is empty") {
			t.Errorf("the file %q: %v", text, err)
		}
	}
	for mode, want := range map[os.FileMode]string{0o600: "", 0o400: "", 0o640: "mode 0640", 0o444: "mode 0444"} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if got := Exposed(file); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%v: %q", mode, got)
		}
	}
}
