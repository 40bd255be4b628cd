package archtest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/needs"
)

// Of a failed gate one often sees only the end: it shows what each failed test said, not
// what the nodes of its cluster logged, and is short.
func TestTheGateEndsWithWhatFailed(t *testing.T) {
	awk, err := exec.LookPath("awk")
	needs.Here(t, "awk", err)
	var log strings.Builder
	fmt.Fprintln(&log, "--- FAIL: TestCluster (0.00s)\n    --- FAIL: TestCluster/20 (12.30s)")
	fmt.Fprintf(&log, "        why_test.go:51: no \"leads\" in: %s: nobody does\n", strings.Repeat("x", 1000))
	for node := range 20 {
		fmt.Fprintf(&log, "        e2e_test.go:71: node %d:\n", node+1)
		for range 20 {
			fmt.Fprintf(&log, "            {\"level\":\"info\",\"message\":\"%s\"}\n", strings.Repeat("y", 1000))
		}
	}
	for i := range 100 {
		fmt.Fprintf(&log, "--- FAIL: Test%d (0.00s)\n    a_test.go:%d: got 1\n        want 2\n", i, i+7)
	}
	fmt.Fprint(&log, "FAIL\nFAIL\texample.org/cluster\t12.3s\nok  \texample.org/other\t1.0s\n")

	cmd := exec.Command(awk, "-f", filepath.Join("..", "..", ".ci", "failures.awk"))
	cmd.Stdin = strings.NewReader(log.String())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	said := string(out)
	for _, want := range []string{
		"    --- FAIL: TestCluster/20 (12.30s)\n        why_test.go:51: no \"leads\" in: xx", "x: nobody does\n",
		"--- FAIL: Test3 (0.00s)\n    a_test.go:10: got 1\n        want 2\n", "… and 83 more", "see above",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	if strings.Contains(said, "yy") || len(said) > 6000 {
		t.Errorf("%d bytes, or the log of a node:\n%s", len(said), said)
	}
}
