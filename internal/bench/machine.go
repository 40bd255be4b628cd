package bench

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Machine describes the machine on which a report was made, and when that was.
type Machine struct {
	Date      time.Time `json:"date"`
	Cores     int       `json:"cores"`
	MemoryMiB int       `json:"memory_mib"`
	Platform  string    `json:"platform"`
	Go        string    `json:"go"`
	// Load is the average number of processes that wanted to run, in the minute before the start.
	// If it is more than a fraction of the cores, the figures measure those processes too.
	Load float64 `json:"load"`
}

// ThisMachine describes the machine that this process runs on, now.
func ThisMachine() Machine {
	m := Machine{
		Date: time.Now().UTC().Truncate(time.Second), Cores: runtime.NumCPU(), MemoryMiB: memoryMiB("MemTotal"),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(text), " ")
		m.Load, _ = strconv.ParseFloat(first, 64)
	}
	return m
}

func (m Machine) String() string {
	return fmt.Sprintf("%d cores, %d MiB, %s, %s, load %.2f at the start, %s",
		m.Cores, m.MemoryMiB, m.Platform, m.Go, m.Load, m.Date.Format(time.RFC3339))
}

// MemoryMiB returns how much memory is available without swapping, in MiB; 0 if that is not known.
func MemoryMiB() int { return memoryMiB("MemAvailable") }

// memoryMiB returns the value of one line of /proc/meminfo, in MiB; 0 if there is no such line.
func memoryMiB(key string) int {
	kib, err := procField("/proc/meminfo", key, 0)
	if err != nil {
		return 0 // another system than Linux
	}
	return int(kib / 1024)
}

// procField reads a number after "key:" in a file of /proc: the one with this index.
func procField(path, key string, index int) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		if fields := strings.Fields(rest); strings.TrimSpace(name) == key && len(fields) > index {
			return strconv.ParseUint(fields[index], 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", path, key)
}
