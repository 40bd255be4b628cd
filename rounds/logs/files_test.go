package logs

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A directory stands for all in it, an archive is decompressed, and what cannot
// be read does not hide the rest.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	lines := strings.Join(realRecords(t), "\n") + "\n"
	plain, packed := filepath.Join(dir, "a.log"), filepath.Join(dir, "sub", "b.log.gz")
	if err := os.Mkdir(filepath.Dir(packed), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(plain, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(packed)
	if err != nil {
		t.Fatal(err)
	}
	w := gzip.NewWriter(f)
	if _, err := io.WriteString(w, lines); err != nil || w.Close() != nil || f.Close() != nil {
		t.Fatal(err)
	}
	files, errs := Files([]string{dir, filepath.Join(dir, "missing")})
	if len(files) != 2 || len(errs) != 1 {
		t.Fatalf("files %q, errors %v", files, errs)
	}
	for _, file := range files {
		stats, err := readFile(file, &collector{})
		if err != nil || stats.Records < 40 {
			t.Errorf("%s: %+v, %v", file, stats, err)
		}
	}
}

// A followed file is read on as it grows, and anew when another takes its place;
// the end of the context is the end of the stream.
func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.log")
	write := func(text string, flags int) {
		t.Helper()
		f, err := os.OpenFile(path, flags|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, text); err != nil || f.Close() != nil {
			t.Fatal(err)
		}
	}
	write("one\n", os.O_TRUNC)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ends := 0
	tail, err := NewTail(ctx, path, func() { ends++ })
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tail.Close() }()
	expect := func(want string) {
		t.Helper()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(tail, got); err != nil || string(got) != want {
			t.Fatalf("read %q, %v, want %q", got, err, want)
		}
	}
	expect("one\n")
	write("two\n", os.O_APPEND)
	expect("two\n")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	write("three\n", os.O_TRUNC)
	expect("three\n")
	stop()
	if _, err := tail.Read(make([]byte, 1)); err != io.EOF || ends != 1 {
		t.Fatalf("%v at the end, which was reached %d times", err, ends)
	}
}

// Lines of megabytes are passed over, and what stands behind them is read.
func TestALongLine(t *testing.T) {
	good := realRecords(t)[len(realRecords(t))-1]
	c := &collector{}
	stats, err := Read(strings.NewReader(strings.Repeat("{\"event\"x", 1<<20)+"\n"+good+"\n"), c)
	if err != nil || stats.TooLong != 1 || len(c.records) != 1 {
		t.Fatalf("%+v, %v, %d records", stats, err, len(c.records))
	}
}

// readFile hands the records of a file to the Sink to.
func readFile(path string, to Sink) (Stats, error) {
	f, err := os.Open(path)
	if err != nil {
		return Stats{}, err
	}
	defer f.Close()
	return Read(f, to)
}
