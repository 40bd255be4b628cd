package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of a process's times in /proc: USER_HZ, 100 on every Linux.
const tick = 10 * time.Millisecond

// cpuTime returns the processor time that a process has used, in user and in system mode.
func cpuTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name, in parentheses, may contain anything; utime is the 12th field
	// after it, stime the 13th.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields after the name", pid, len(fields))
	}
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	system, err := strconv.Atoi(fields[12])
	if err != nil {
		return 0, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	return time.Duration(user+system) * tick, nil
}

// establishedSockets returns the inodes of this network namespace's established TCP connections.
func establishedSockets() (map[string]bool, error) {
	const inode, state, established = 9, 3, "01"
	found := make(map[string]bool)
	for _, path := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(path)
		if err != nil {
			continue // no IPv6
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			if len(fields) > inode && fields[state] == established {
				found["socket:["+fields[inode]+"]"] = true
			}
		}
		_ = f.Close()
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no established connection in /proc/net/tcp")
	}
	return found, nil
}

// socketsIn counts which of these sockets the process has open.
func socketsIn(pid int, sockets map[string]bool) (int, error) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, e := range entries {
		target, err := os.Readlink(dir + "/" + e.Name())
		if err == nil && sockets[target] { // a file that was closed meanwhile is none
			n++
		}
	}
	return n, nil
}

// loopbackPackets returns the number of packets over loopback since the machine started.
func loopbackPackets() (uint64, error) {
	return procField("/proc/net/dev", "lo", 1) // the second number of a line
}
