package health

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The directories in which the kernel says how much memory is used. Tests replace them.
var (
	procDir   = "/proc"
	cgroupDir = "/sys/fs/cgroup"
)

// memoryUsed returns the share of memory in use, in percent: of the machine's memory or of the
// control group's, whichever is larger. Memory that the kernel could reclaim does not count as
// used.
func memoryUsed() (float64, error) {
	text, err := os.ReadFile(filepath.Join(procDir, "meminfo"))
	if err != nil {
		return 0, fmt.Errorf("measure memory: %w", err)
	}
	sizes := fields(text)
	total, available := sizes["MemTotal:"], sizes["MemAvailable:"]
	if total == 0 {
		return 0, fmt.Errorf("measure memory: no MemTotal in meminfo")
	}
	return max(share(total-min(available, total), total), groupUsed()), nil
}

// groupUsed returns how much of the control group's limit is in use, in percent; 0 if there is no
// limit. In a container the group's files are at the root.
func groupUsed() float64 {
	for _, v := range []struct{ limit, used, stat, idle string }{
		{"memory.max", "memory.current", "memory.stat", "inactive_file"},
		{
			"memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat",
			"total_inactive_file",
		},
	} {
		limit, used := number(v.limit), number(v.used)
		if limit == 0 || limit > 1<<60 { // none, or as large as can be
			continue
		}
		text, _ := os.ReadFile(filepath.Join(cgroupDir, v.stat))
		idle := fields(text)[v.idle]
		return share(used-min(idle, used), limit)
	}
	return 0
}

// number returns the number in a file of the control group; 0 for "max" and for a missing file.
func number(name string) uint64 {
	text, err := os.ReadFile(filepath.Join(cgroupDir, name))
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n
}

// fields parses lines of the form "name number …".
func fields(text []byte) map[string]uint64 {
	found := map[string]uint64{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) < 2 {
			continue
		}
		if n, err := strconv.ParseUint(words[1], 10, 64); err == nil {
			found[words[0]] = n
		}
	}
	return found
}

func share(used, total uint64) float64 { return 100 * float64(used) / float64(total) }

// diskUsed returns the share of dir's file system that is in use, in percent, and how many bytes
// of it are free for this process.
func diskUsed(dir string) (used float64, free uint64, err error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, 0, fmt.Errorf("measure %s: %w", dir, err)
	}
	taken := fs.Blocks - fs.Bfree
	if taken+fs.Bavail == 0 { // as for a file system without a size
		return 0, leastFree, nil
	}
	// What is reserved for root is neither: df counts so, too.
	return share(taken, taken+fs.Bavail), fs.Bavail * uint64(fs.Bsize), nil
}
