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
		Date: time.Now().UTC().Truncate(time.Second), Cores: runtime.NumCPU(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
	}
	if kib, err := memInfo("MemTotal"); err == nil {
		m.MemoryMiB = kib / 1024
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

// MemoryMiB is how much memory is available without swapping, in MiB; 0 if that is not known.
func MemoryMiB() int {
	available, err := memInfo("MemAvailable")
	if err != nil {
		return 0 // another system than Linux
	}
	return available / 1024
}

// memInfo reads one line of /proc/meminfo, in KiB.
func memInfo(key string) (int, error) { return procField("/proc/meminfo", key) }

// procField reads the number after "key:" in a file of /proc.
func procField(path, key string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, rest, ok := strings.Cut(lines.Text(), ":")
		if !ok || name != key {
			continue
		}
		number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		return strconv.Atoi(number)
	}
	return 0, fmt.Errorf("%s has no %s", path, key)
}
