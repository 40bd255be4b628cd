package logs

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// "files with different compression": a rotated log is called n.log.1, and zcat is forgotten before a pipe. What is
// not read is said, and not passed over as a log without records.
func TestPackedByItsBeginning(t *testing.T) {
	lines := strings.Join(realRecords(t), "\n") + "\n"
	stats, err := Read(bytes.NewReader(zipped(t, lines)), &collector{})
	if err != nil || stats.Records < 40 {
		t.Errorf("standard input: %+v, %v", stats, err)
	}
	path := filepath.Join(t.TempDir(), "n.log.1")
	if err := os.WriteFile(path, zipped(t, lines), 0o644); err != nil {
		t.Fatal(err)
	}
	batch := Batch{Paths: []string{path}}
	if stats := batch.Read(&collector{}, func(err error) { t.Error(err) }); stats.Records < 40 {
		t.Errorf("%+v", stats)
	}
	for _, begin := range []string{"\x28\xb5\x2f\xfd rest", "\xfd7zXZ\x00 rest", "PK\x03\x04 rest"} {
		if _, err := Read(strings.NewReader(begin), &collector{}); err == nil {
			t.Errorf("%q was read", begin)
		}
	}
	for _, short := range []string{"", "B", "\x1f", "{"} {
		if _, err := Read(strings.NewReader(short), &collector{}); err != nil {
			t.Errorf("%q: %v", short, err)
		}
	}
}

// A pipe in a directory, as supervisors keep them beside their logs, has no end. One that is named is meant.
func TestPipeInADirectory(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "control")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if files, _ := Files([]string{dir}); len(files) != 1 || filepath.Base(files[0]) != "link" {
		t.Errorf("%q", files)
	}
	if files, _ := Files([]string{pipe}); len(files) != 1 {
		t.Errorf("%q", files)
	}
}
