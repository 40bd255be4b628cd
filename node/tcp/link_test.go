package tcp

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
)

// When a write fails, a reset is a reset, even if the reader, coming second,
// finds an ended stream; with a broken pipe it is the reader that knows.
func TestWhyAWriteFailed(t *testing.T) {
	near, far := net.Pipe()
	defer func() { _, _ = near.Close(), far.Close() }()
	p := &peer{t: &Transport{cfg: Config{timing: timingFor(defaultPatience)}}}
	failed := func(err error) error { return fmt.Errorf("write: %w", err) }
	for _, c := range []struct {
		write, read, want error
	}{
		{syscall.ECONNRESET, io.EOF, syscall.ECONNRESET},
		{os.ErrDeadlineExceeded, io.EOF, os.ErrDeadlineExceeded},
		{syscall.EPIPE, io.EOF, io.EOF},
		{syscall.EPIPE, syscall.ECONNRESET, syscall.ECONNRESET},
	} {
		verdict := make(chan error, 1)
		verdict <- c.read
		taken, got := p.judge(&link{conn: near}, failed(c.write), verdict)
		if !errors.Is(got, c.want) || taken != (len(verdict) == 0) {
			t.Errorf("%v, then %v: %v, want %v", c.write, c.read, got, c.want)
		}
	}
}
