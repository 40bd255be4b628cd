package cluster

import (
	"os"
	"os/exec"
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
