package testcluster

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/needs"
)

// Promise: a cut leaves both ends of the cable up, so that neither side hears
// of it; what was made is "deleted after".
func TestNetwork(t *testing.T) {
	needs.Here(t, "a network that is cut", MayCut(2))
	w, err := NewNetwork(2)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, step := range []struct {
		name     string
		do       func() error
		attached bool
	}{
		{"before", func() error { return nil }, true},
		{"cut", func() error { return w.Cut(1) }, false},
		{"healed", func() error { return w.Heal(1) }, true},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		port := show(t, w.hub(), port(0))
		if attached := strings.Contains(port, "master sw"); attached != step.attached {
			t.Errorf("%s: attached to the switch: %v, want %v", step.name, attached, step.attached)
		}
		for _, end := range []string{port, show(t, w.host(0), "eth0")} {
			if !strings.Contains(end, "LOWER_UP") {
				t.Errorf("%s: an end of the cable has no carrier: %s", step.name, end)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir("/run/netns")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if strings.HasPrefix(n.Name(), w.prefix) {
			t.Errorf("%s is left", n.Name())
		}
	}
}

// show is what the kernel says about a device.
func show(t *testing.T, namespace, device string) string {
	t.Helper()
	text, err := exec.Command("ip", "-n", namespace, "-o", "link", "show", device).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return string(text)
}

// A link that is dropped loses what is sent, one way; one that refuses answers new
// connections, and lets those that there are go on.
func TestLinks(t *testing.T) {
	if addr := os.Getenv("LINKS_SERVE"); addr != "" {
		t.Fatal(echo(addr))
	}
	needs.Here(t, "a network that is cut", MayCut(2))
	needs.Here(t, "links that are blocked one by one", MayBlock())
	w, err := NewNetwork(2)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	addr := net.JoinHostPort(ip(1), "7947")
	in := func(node int, line ...string) *exec.Cmd {
		return exec.Command("ip", slices.Concat([]string{"netns", "exec", w.host(node)}, line)...)
	}
	server := in(1, os.Args[0], "-test.run", "TestLinks")
	server.Env = append(os.Environ(), roleEnv+"=", "LINKS_SERVE="+addr) // none of the roles of other tests
	server.Stderr = os.Stderr
	said, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait() // says that it was killed
	}()
	if _, err := said.Read(make([]byte, 1)); err != nil { // it listens
		t.Fatal(err)
	}
	dialled := "exec 3<>/dev/tcp/" + ip(1) + "/7947"
	// A network that has just been made may refuse the first that is sent.
	open := "until (" + dialled + ") 2>/dev/null; do sleep 0.05; done; " +
		dialled + " && echo up && read -r; echo over >&3 && head -n1 <&3"
	old := in(0, "bash", "-c", open)
	stdin, err := old.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := old.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "up" {
		t.Fatalf("the first connection: %q", lines.Text())
	}
	there := Link{From: 1, To: 2}
	for _, step := range []struct {
		name string
		do   func() error
		want string
	}{
		{"before", func() error { return nil }, "done"},
		{"dropped there", func() error { return w.Drop(there) }, "124"},
		{"dropped back", func() error { return w.Drop(Link{From: 2, To: 1}) }, "124"},
		{"healed", func() error { return w.Drop() }, "done"},
		{"refused", func() error { return w.Refuse(there) }, "refused"},
		{"refused back", func() error { return w.Refuse(Link{From: 2, To: 1}) }, "done"},
		{"refused again", func() error { return w.Refuse(there) }, "refused"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		patience := "30"
		if step.want == "124" { // what timeout says when it is over: nothing else ends that dial
			patience = "0.3"
		}
		dial := in(0, "bash", "-c", "timeout "+patience+" bash -c '"+dialled+"' && echo done || echo $?")
		if out, err := dial.CombinedOutput(); err != nil || !strings.Contains(string(out), step.want) {
			t.Errorf("%s: %s %v, want %s", step.name, out, err, step.want)
		}
	}
	if _, err := stdin.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() || lines.Text() != "over" {
		t.Errorf("the old connection does not go on: %q", lines.Text())
	}
	_ = old.Wait() // all that it had to say is read
}

// echo sends back what it is sent, and says when it listens.
func echo(addr string) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for {
		conn, err := ln.Accept()
		if err != nil {
			return err
		}
		go func() { _, _ = io.Copy(conn, conn) }()
	}
}
