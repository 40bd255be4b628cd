package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a new one: the end of who types, and that of a process.
func terminal(t *testing.T) (typist, process *os.File) {
	t.Helper()
	typist, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = typist.Close() })
	number, err := unix.IoctlGetInt(int(typist.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(typist.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	process, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Close() })
	return typist, process
}

// "stdin/stdout/stderr pass through", a terminal too: the command reads what is typed,
// and an interrupt from the keyboard is the command's.
func TestExecTerminal(t *testing.T) {
	t.Parallel()
	typist, process := terminal(t)
	addrs := threeAddresses(t)
	cmd := exec.Command("ringleader", "exec", "--id", "1", "--voters", "1", "--profile", "fast", "--lease", "1m",
		"--gossip-bind", addrs[0], "--election-bind", addrs[1], "--http-bind", addrs[2],
		"--data-dir", t.TempDir(), "--log-level", "error", "--", "cat")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = process, process, process
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string)
	go func() {
		text, buf := "", make([]byte, 100)
		for {
			n, err := typist.Read(buf)
			if err != nil {
				return
			}
			text += string(buf[:n])
			lines <- text
		}
	}()
	if _, err := typist.WriteString("word\n"); err != nil {
		t.Fatal(err)
	}
	for limit := time.After(patience); ; {
		text := ""
		select {
		case text = <-lines:
		case <-limit:
			_ = cmd.Process.Kill()
			t.Fatal("the command does not read the terminal")
		}
		if strings.Count(text, "word") == 2 { // the terminal's echo, and cat's
			break
		}
	}
	go func() { // what is written must be read
		for range lines {
		}
	}()
	if _, err := typist.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGINT) {
		t.Errorf("exit code %d", code)
	}
}
