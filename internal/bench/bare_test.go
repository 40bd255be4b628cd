package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

// The test binary is also what a benchmark starts beside the nodes.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[2] == "part" {
		if err := RunPart(os.Args[3], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// Promise: "SIGKILL the highest; on end-of-stream the next-highest sends one
// message to all others": all survivors know, and the first knows no later
// than the last.
func TestFloor(t *testing.T) {
	for _, n := range []int{2, 5} {
		f, err := measureFloor(deadline(t), n)
		if err != nil {
			t.Fatal(err)
		}
		if f.First <= 0 || f.All < f.First || f.All > 20_000 {
			t.Errorf("%d processes: %+v", n, f)
		}
	}
}

func TestRelay(t *testing.T) {
	hop, err := measureHop(deadline(t), 4)
	if err != nil || hop <= 0 || hop > 10_000 {
		t.Errorf("a hop of %v ms, %v", hop, err)
	}
}

// Promise: "no process left", whatever a bare process was doing.
func TestCloseLeavesNoBareProcess(t *testing.T) {
	g, err := startBare(deadline(t), roleMesh, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.close(); err != nil {
		t.Fatal(err)
	}
	for _, m := range g.members {
		if err := syscall.Kill(m.PID(), 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("pid %d is still there: %v", m.PID(), err)
		}
	}
}

// A bare process that ends by itself ends the wait for it, at once.
func TestBareProcessEnds(t *testing.T) {
	_, err := startBare(deadline(t), "nonsense", 2)
	if !errors.Is(err, errBare) {
		t.Errorf("got %v, want %v", err, errBare)
	}
}

func TestBareRefuses(t *testing.T) {
	two := []string{"127.0.0.1:0", "127.0.0.1:0"}
	for name, b := range map[string]bareProcess{
		"no id": {Role: roleMesh, Addrs: two}, "no such id": {Role: roleMesh, ID: 3, Addrs: two},
		"alone": {Role: roleMesh, ID: 1, Addrs: two[:1]}, "no role": {ID: 1, Addrs: two},
	} {
		if err := b.run(&bytes.Buffer{}, &bytes.Buffer{}); err == nil {
			t.Errorf("%s: ran", name)
		}
	}
}

func TestFrame(t *testing.T) {
	message, err := announcement(4, 4)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readFrame(bytes.NewReader(message), make([]byte, bareFrame))
	if err != nil || !bytes.Equal(got, message) {
		t.Errorf("read %x, %v; want %x", got, err, message)
	}
	long := frame(make([]byte, bareFrame))
	if _, err := readFrame(bytes.NewReader(long), make([]byte, bareFrame)); err == nil {
		t.Error("a frame that is too long was read")
	}
}
