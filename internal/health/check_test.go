package health

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var errLate = errors.New("late")

// ask asks a check as a Monitor does, until a file is there: then it is late.
func ask(t *testing.T, c Check, mark string) string {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(mark); err == nil {
				cancel(errLate)
			}
			time.Sleep(time.Millisecond) // another process's file: it can only be looked at again
		}
	}()
	if err := c.Ask(ctx); err != nil {
		return err.Error()
	}
	return ""
}

// A real command: well, failing with and without words, ended by a signal, hanging
// with its own children, flooding, missing, with words that are no text.
func TestCommand(t *testing.T) {
	for line, want := range map[string]string{
		"true":                                  "",
		"echo fine; exit 0":                     "",
		"exit 3":                                "ended with code 3",
		"echo 'no database'; echo more; exit 1": "ended with code 1: no database",
		"echo broken >&2; false":                "ended with code 1: broken",
		"kill -9 $$":                            "ended by a signal (signal: killed)",
		"trap '' TERM; echo wait; : >MARK; sleep 600": "late: wait",
		"echo flood; : >MARK; while :; do echo; done": "late: flood",
		"yes | head -c 100000000; exit 4":             "ended with code 4: y",
		"no-such-command-here":                        "ended with code 127: ",
		`printf '\377\033[31mred\n'; exit 1`:          "ended with code 1: � [31mred",
	} {
		mark := filepath.Join(t.TempDir(), "mark")
		got := ask(t, Command(strings.ReplaceAll(line, "MARK", mark)), mark)
		if got != want && (want == "" || !strings.HasPrefix(got, want)) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestHTTP(t *testing.T) {
	release, mark := make(chan struct{}), filepath.Join(t.TempDir(), "mark")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/ill", http.StatusFound)
		case "/ill":
			http.Error(w, "no database\nat all", http.StatusServiceUnavailable)
		case "/hangs":
			_ = os.WriteFile(mark, nil, 0o600) // otherwise the test goes on for ever
			<-release
		case "/floods":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}
	}))
	defer server.Close()
	defer close(release)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	nobody := closed.Addr().String()
	for url, want := range map[string]string{
		server.URL + "/well":   "",
		server.URL + "/moved":  "",
		server.URL + "/floods": "",
		server.URL + "/ill":    "answered 503 Service Unavailable: no database",
		server.URL + "/hangs":  "late",
		"http://" + nobody:     "no answer: dial tcp " + nobody + ": connect: connection refused",
	} {
		_ = os.Remove(mark)
		u, err := ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		if got := ask(t, HTTP(u), mark); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

func TestParseURL(t *testing.T) {
	for _, bad := range []string{
		"", "localhost:80", "/healthz", "ftp://a/b", "http://", "http://:80/", "http://a b/",
		"http://[::1", "http://a:x/",
	} {
		if u, err := ParseURL(bad); !errors.Is(err, ErrURL) {
			t.Errorf("%q: %v, %v", bad, u, err)
		}
	}
	if _, err := ParseURL("https://[::1]:8080/healthz?deep=1"); err != nil {
		t.Error(err)
	}
}

// "Event-loop checks": below the limit all is well.
func TestLoop(t *testing.T) {
	busy := time.Duration(0)
	c := Loop(func() time.Duration { return busy }, time.Second)
	for _, step := range []struct {
		busy time.Duration
		want string
	}{{0, ""}, {time.Second - 1, ""}, {3 * time.Second, "has been at one event for 3s"}} {
		busy = step.busy
		if got := ask(t, c, ""); got != step.want {
			t.Errorf("busy for %v: %q, want %q", busy, got, step.want)
		}
	}
}
