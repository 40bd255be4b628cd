package tcp

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/needs"
	"github.com/ringleader-dev/ringleader/proto"
)

// walledEnv says that the test runs in a network namespace of its own.
const walledEnv = "RINGLEADER_TEST_WALLED"

// "A refused dial alone proves nothing; a firewall refuses too": both nodes live, end
// their links for want of an ACK, and cannot dial each other any more, since a firewall
// rejects what is new and lets pass what is established.
func TestAFirewallProvesNobodyDead(t *testing.T) {
	if os.Getenv(walledEnv) == "" {
		var missing error
		for _, tool := range []string{"ip", "unshare", "iptables"} {
			if _, err := exec.LookPath(tool); err != nil {
				missing = err
			}
		}
		if missing == nil {
			missing = exec.Command("unshare", "--net", "iptables", "--list").Run()
		}
		needs.Here(t, "a firewall", missing)
		cmd := exec.Command("unshare", "--net", os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), walledEnv+"=yes")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	run(t, "ip link set lo up")
	slow := func(c *Config) {
		hurried(c)
		c.timing.ackDelay = time.Hour
		c.Heartbeat = 10 * time.Second // whose PONG would bring the ACK
	}
	a, b := start(t, 1, slow), start(t, 2, slow)
	connect(t, a, b)
	run(t, "iptables -A INPUT -p tcp --syn -j REJECT --reject-with tcp-reset")
	a.Send(message(1, 2, 1))
	b.Send(message(2, 1, 1))
	for n, other := range map[*node]proto.Incarnation{a: b.cfg.Incarnation, b: a.cfg.Incarnation} {
		eventually(t, "its links are gone, and its dials were refused", func() bool {
			return slices.Contains(n.events(), said(proto.DialRefused, other, 0))
		})
		if n.proven() {
			t.Errorf("node %v holds a living node for dead: %q", n.cfg.ID, n.events())
		}
	}
	if a.Stats().Rejected["too-slow"] == 0 && b.Stats().Rejected["too-slow"] == 0 {
		t.Errorf("no link ended for want of an ACK: %+v", a.Stats().Rejected)
	}
}

func run(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
}
