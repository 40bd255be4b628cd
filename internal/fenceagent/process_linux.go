package fenceagent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// self describes this process.
func self() (Process, error) {
	start, err := startOf(os.Getpid())
	if err != nil {
		return Process{}, err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Process{}, err
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return Process{}, err
	}
	return Process{
		PID: os.Getpid(), Start: start, Boot: strings.TrimSpace(string(boot)),
		Machine: machine(), Namespace: namespace,
	}, nil
}

// machine returns the machine's id. It does not use the host name, since another machine may get
// the same name later.
func machine() string {
	id, _ := os.ReadFile("/etc/machine-id")
	return cmp.Or(strings.TrimSpace(string(id)), noMachine)
}

// startOf returns when a process started, in ticks since the boot. It reads field 22 of the process's
// stat file. The second field of that file may contain spaces and parentheses.
func startOf(pid int) (uint64, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	const startTime = 22 - 3 // the first after the name is field 3
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) <= startTime {
		return 0, fmt.Errorf("process %d: stat %.60q", pid, text)
	}
	return strconv.ParseUint(fields[startTime], 10, 64)
}

// handle refers to one process for good, even if its process id is given to another process.
type handle struct{ fd int }

// open returns a handle of the process that has the id pid and started at the tick start; nil if that
// process has ended. It opens the handle before it compares the start. So it notices if the kernel
// has given the id to another process.
func open(pid int, start uint64) (*handle, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	h := &handle{fd}
	began, err := startOf(pid)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ESRCH), err == nil && began != start:
		h.close()
		return nil, nil
	case err != nil:
		h.close()
		return nil, err
	}
	if h.ended(0) {
		h.close()
		return nil, nil
	}
	return h, nil
}

func (h *handle) close() { _ = unix.Close(h.fd) }

// kill kills the process and returns once it has ended. A zombie counts as ended.
func (h *handle) kill(ctx context.Context) error {
	err := unix.PidfdSendSignal(h.fd, unix.SIGKILL, nil, 0)
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	const look = 100 * time.Millisecond
	for !h.ended(look) {
		if ctx.Err() != nil {
			return fmt.Errorf("it has not ended yet: %w", context.Cause(ctx))
		}
	}
	return nil
}

// ended reports whether the process has ended, or ends within the time wait.
func (h *handle) ended(wait time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(wait.Milliseconds()))
	return err == nil && n == 1
}
