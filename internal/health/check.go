package health

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/supervise"
)

// Check is one thing that is asked for.
type Check struct {
	// Name is what it is called in answers: "command".
	Name string
	// Ask returns nil if all is well, or what is not, in words that follow the name:
	// "ended with code 1: no database". It is called from one goroutine, and returns
	// soon after ctx is done.
	Ask func(ctx context.Context) error
	// Presumed: it counts as well until it fails, also before it is asked.
	Presumed bool
	// Fall, Rise and, while it fails, Again, unless 0, are used instead of Config's Fall,
	// Rise and Interval.
	Fall, Rise int
	Again      time.Duration
	// Brief: once well again it holds the node back for about as long as it had failed, at
	// most Config.HoldDown, and no longer the next time.
	Brief bool
}

// Stall is the failure of a check that found something standing still for so long.
type Stall struct {
	For  time.Duration
	What string // "has been at one event"
}

// Error is what stands still, and for how long.
func (s Stall) Error() string { return fmt.Sprintf("%s for %v", s.What, s.For.Round(time.Millisecond)) }

const (
	// maxSaid bounds what of a check's own words is kept, in bytes.
	maxSaid = 200

	// Shell runs a Command.
	Shell = "/bin/sh"
)

// Command is a check that passes when a shell command ends with 0. Its first line of
// output goes into the reason.
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

// firstLine is ": " and what stands in the first line of text, "" for nothing.
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

// ErrURL says that something is no address to ask.
var ErrURL = errors.New("want a URL like http://127.0.0.1:8080/healthz")

// ParseURL checks an address for HTTP. Errors wrap ErrURL.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrURL, err)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%w: it begins with http:// or https://", ErrURL)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%w: it names no host", ErrURL)
	}
	return u, nil
}

// HTTP is a check that passes when a GET of the address is answered with a status
// from 200 to 399. Redirections are not followed, proxies not used.
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

// Loop is a check that passes while the node's elections go on: busy is for how long
// they have been at one event. One failure counts: it stands for a long time. So does one
// pass: what slows a node for a second keeps it from leading for about as long.
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

// Memory is a check that fails when percent of the memory that this process may use
// is in use: of the machine's, or of its control group's.
func Memory(percent int) Check {
	return Check{Name: "memory", Presumed: true, Ask: func(context.Context) error {
		used, err := memoryUsed()
		if err != nil {
			return err
		}
		return full(used, percent)
	}}
}

// Disk is a check that fails when percent of the file system of dir is in use, or
// less than leastFree is free.
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

// leastFree is what a disk must have free in any case: the state of a node fits in it
// many times.
const leastFree = 1 << 20

// full says that a store is too full.
func full(used float64, limit int) error {
	if used < float64(limit) {
		return nil
	}
	return fmt.Errorf("%d %% full", int(used))
}
