package health

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/supervise"
)

// Check is one health check of a node.
type Check struct {
	// Name identifies the check in answers, as in "command".
	Name string
	// Ask makes the check. It returns nil if the check passes, else an error whose text follows the
	// name: "ended with code 1: no database". One goroutine calls Ask. It must return soon after
	// ctx is done.
	Ask func(ctx context.Context) error
	// Presumed says that the check counts as passed until it fails, even before it was made.
	Presumed bool
	// Fall and Rise replace those of Config, and Again replaces Config's Interval while the check
	// fails; 0 means Config's.
	Fall, Rise int
	Again      time.Duration
	// Brief says that the check holds the node back only briefly once it passes again: for about as
	// long as it had failed, at most Config.HoldDown. That time does not grow with repetitions.
	Brief bool
}

// Stall is the failure of a check that found something that made no progress for a while.
type Stall struct {
	For  time.Duration
	What string // what made no progress, as in "has been at one event"
}

// Error says what made no progress, and for how long.
func (s Stall) Error() string { return fmt.Sprintf("%s for %v", s.What, s.For.Round(time.Millisecond)) }

const (
	// maxSaid is how much of a check's own words is kept, in bytes.
	maxSaid = 200

	// Shell is the shell that runs a Command.
	Shell = "/bin/sh"
)

// Command returns a check that passes if a shell command exits with 0. The reason for a failure
// contains its first line of output.
func Command(line string) Check {
	return Check{Name: "command", Ask: func(ctx context.Context) error {
		out, err := supervise.Output(ctx, maxSaid, Shell, "-c", line)
		said := firstLine(out)
		exit, failed := errors.AsType[*exec.ExitError](err)
		switch {
		case err == nil:
			return nil
		case failed && exit.ExitCode() >= 0:
			return fmt.Errorf("ended with code %d%s", exit.ExitCode(), said)
		case failed:
			return fmt.Errorf("ended by a signal (%w)%s", exit, said)
		}
		return fmt.Errorf("%w%s", err, said)
	}}
}

// firstLine returns ": " and the first line of text; "" if that is empty.
func firstLine(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(string(text), "�")), "\n")
	line = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, line)
	if line == "" {
		return ""
	}
	return ": " + line
}

// ErrURL says that a text is not the URL of a health check.
var ErrURL = errors.New("want a URL like http://127.0.0.1:8080/healthz")

// ParseURL reads the URL of a health check. Errors wrap ErrURL.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil: // the error quotes of the URL, and a password may be in it
		return nil, fmt.Errorf("%w: it is not well formed: in a password %% and two hexadecimal digits stand for a "+
			"character that is no letter and no digit", ErrURL)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%w: it begins with http:// or https://", ErrURL)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%w: it names no host", ErrURL)
	case !usable(u.Port()):
		return nil, fmt.Errorf("%w: the port is a number from 1 to 65535", ErrURL)
	}
	return u, nil
}

// usable reports whether a port of a URL can be dialled. "" stands for the scheme's own port.
func usable(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// HTTP returns a check that passes if a GET of the URL is answered with a status from 200 to 399.
// It follows no redirections and uses no proxy.
func HTTP(u *url.URL) Check {
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return Check{Name: "http", Ask: func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			if failed, ok := errors.AsType[*url.Error](err); ok {
				err = failed.Err // without the address, which the operator knows
			}
			return fmt.Errorf("no answer: %w", err)
		}
		defer resp.Body.Close()
		said, _ := io.ReadAll(io.LimitReader(resp.Body, maxSaid))
		if resp.StatusCode < 200 || resp.StatusCode > 399 {
			return fmt.Errorf("answered %s%s", resp.Status, firstLine(said))
		}
		return nil
	}}
}

// Loop returns a check that fails if the node's event loop has been at one event for limit or
// longer. The function busy returns how long the loop has been at its present event. One failure
// counts, since it shows a long delay. One pass counts too: after a delay of a second the node is
// kept from leading for about a second.
func Loop(busy func() time.Duration, limit time.Duration) Check {
	return Check{
		Name: "event loop", Presumed: true, Fall: 1, Rise: 1, Again: limit/4 + 1, Brief: true,
		Ask: func(context.Context) error {
			if at := busy(); at >= limit {
				return Stall{at, "has been at one event"}
			}
			return nil
		},
	}
}

// Memory returns a check that fails if percent of the memory that this process may use is in use:
// of the machine's, or of its control group's.
func Memory(percent int) Check {
	return Check{Name: "memory", Presumed: true, Ask: func(context.Context) error {
		used, err := memoryUsed()
		if err != nil {
			return err
		}
		return full(used, percent)
	}}
}

// Disk returns a check that fails if percent of the file system of dir is in use, or less than
// leastFree is free.
func Disk(dir string, percent int) Check {
	return Check{Name: "disk", Presumed: true, Ask: func(context.Context) error {
		used, free, err := diskUsed(dir)
		if err != nil {
			return err
		}
		if free < leastFree {
			return full(100, 100)
		}
		return full(used, percent)
	}}
}

// leastFree is the free space that a disk must have in any case, in bytes. It is many times what
// the state of a node needs.
const leastFree = 1 << 20

// full returns the error of a memory or disk that is used up to the limit, in percent.
func full(used float64, limit int) error {
	if used < float64(limit) {
		return nil
	}
	return fmt.Errorf("%d %% full", int(used))
}
