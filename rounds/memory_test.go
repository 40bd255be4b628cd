package rounds_test

import (
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ringleader-dev/ringleader/rounds/logs"
)

// BenchmarkMemory is how much memory the commands take for long logs at level info, and how much time of a processor.
// The promise is 200 MB at most, for 300 MB of logs.
func BenchmarkMemory(b *testing.B) {
	command := filepath.Join(b.TempDir(), "ringleader")
	if out, err := exec.Command("go", "build", "-o", command, "../cmd/node").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for _, log := range []struct {
		name  string
		times int
	}{{"shop-info", 3800}, {"bully-kill-info", 21_000}} {
		files, _ := logs.Files([]string{writeLong(b, log.name, log.times)})
		for _, args := range []string{"rounds", "rounds -o html", "explain 11000", "why-not 3"} {
			b.Run(log.name+"/"+args, func(b *testing.B) {
				for b.Loop() {
					run := exec.Command(command, append(strings.Fields(args), files...)...)
					run.Stdout, run.Stderr = io.Discard, io.Discard
					if err := run.Run(); err != nil {
						b.Fatal(err)
					}
					used := run.ProcessState.SysUsage().(*syscall.Rusage)
					b.ReportMetric(float64(used.Maxrss)*1024/1e6, "peak-MB")
					b.ReportMetric((run.ProcessState.UserTime() + run.ProcessState.SystemTime()).Seconds(), "cpu-s")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
