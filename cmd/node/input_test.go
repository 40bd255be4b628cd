package main

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/ringleader-dev/ringleader/rounds"
)

// "rounds <(zcat n.log.gz)" said that there are no records, where the logs are so much out of order that they are read
// a second time.
func TestPipeIsReadTwice(t *testing.T) {
	line := `{"level":"info","time":"2026-11-20T15:04:05Z","cluster":"c","node":1,"incarnation":"aa","algo":"bully",` +
		`"seq":1,"term":1,"event":"start","role":"looking","leader":0}` + "\n"
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	go func() { _ = os.WriteFile(pipe, []byte(line), 0o600) }()
	in := input{files: []string{pipe}}
	if err := in.takePipes(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(os.TempDir()); runtime.GOOS == "linux" && (err != nil || len(left) > 0) {
		t.Errorf("an interrupt would leave %v, %v", left, err)
	}
	for range 2 {
		if sum, problems := in.read(rounds.NewBuilder()); sum.Records != 1 || len(problems) > 0 {
			t.Errorf("%+v, %v", sum, problems)
		}
	}
	kept := in.copies[pipe]
	in.close()
	if _, err := os.Stat(kept); !os.IsNotExist(err) {
		t.Errorf("%q was left: %v", kept, err)
	}
}
