package health

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/smalldisk"
)

// write makes a file of the kernel's kind.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Memory in use is the machine's or the control group's, whichever is fuller, without
// what the kernel would give back.
func TestMemory(t *testing.T) {
	defer func(proc, group string) { procDir, cgroupDir = proc, group }(procDir, cgroupDir)
	const machine = "MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:  400 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  float64
	}{
		"machine":  {nil, 60},
		"no limit": {map[string]string{"memory.max": "max\n", "memory.current": "999"}, 60},
		"version 2": {map[string]string{
			"memory.max": "1000\n", "memory.current": "900\n", "memory.stat": "anon 1\ninactive_file 50\n",
		}, 85},
		"emptier": {map[string]string{
			"memory.max": "1000\n", "memory.current": "900\n", "memory.stat": "inactive_file 800\n",
		}, 60},
		"version 1": {map[string]string{
			"memory/memory.limit_in_bytes": "1000\n", "memory/memory.usage_in_bytes": "990\n",
			"memory/memory.stat": "inactive_file 7\ntotal_inactive_file 20\n",
		}, 97},
		"version 1, no limit": {map[string]string{
			"memory/memory.limit_in_bytes": "9223372036854771712\n", "memory/memory.usage_in_bytes": "990\n",
		}, 60},
	} {
		procDir, cgroupDir = t.TempDir(), t.TempDir()
		write(t, procDir, "meminfo", machine)
		for file, text := range c.files {
			write(t, cgroupDir, file, text)
		}
		used, err := memoryUsed()
		if err != nil || used != c.want {
			t.Errorf("%s: %v %%, %v, want %v", name, used, err, c.want)
		}
		if got, want := ask(t, Memory(int(c.want)), ""), " % full"; !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q", name, got)
		}
		if got := ask(t, Memory(int(c.want)+1), ""); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	procDir = t.TempDir()
	if got := ask(t, Memory(99), ""); !strings.Contains(got, "measure memory") {
		t.Errorf("%q", got)
	}
}

// "unhealthy: disk 98 % full": a real file system that fills up.
func TestDisk(t *testing.T) {
	dir := smalldisk.Mount(t, "16m")
	for _, step := range []struct {
		fill, limit int
		want        string
	}{
		{0, 50, ""},
		{9 << 20, 50, "56 % full"},
		{9 << 20, 60, ""},
		{15<<20 + 1<<19, 100, "100 % full"}, // less than is needed in any case
	} {
		if err := os.WriteFile(filepath.Join(dir, "fill"), make([]byte, step.fill), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, Disk(dir, step.limit), ""); got != step.want {
			t.Errorf("%d bytes in use, limit %d %%: %q, want %q", step.fill, step.limit, got, step.want)
		}
	}
	if got := ask(t, Disk(filepath.Join(dir, "none"), 90), ""); !strings.Contains(got, "no such file") {
		t.Errorf("%q", got)
	}
}
