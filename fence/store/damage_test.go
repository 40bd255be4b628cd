package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/fence/fencetest"
)

// image is the file of a store with a value under "a", and its records.
func image(t *testing.T) (data []byte, records [][]byte) {
	t.Helper()
	s := mustOpen(t, t.TempDir())
	five := fencetest.Token(5, 1)
	must(t, s.Put(five, "a", []byte("value of a")))
	path := s.db.Path()
	must(t, s.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	return data, [][]byte{
		encode([]byte("a"), five, []byte("value of a")), encode(highest, five, nil),
	}
}

// openImage opens a store with that file.
func openImage(t *testing.T, dir string, data []byte) (*Store, error) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, fileName), data, 0o600))
	return Open(dir)
}

// Promise: "corrupt db file: clear error at start": one bit is enough, also
// where bbolt has no checksum.
func TestFlippedBits(t *testing.T) {
	data, records := image(t)
	dir := t.TempDir()
	for _, record := range records {
		if !bytes.Contains(data, record) {
			t.Fatalf("record %x is not in the file", record)
		}
		for i := range record {
			flipped := bytes.Clone(record)
			flipped[i] ^= 1 << (i % 8)
			_, err := openImage(t, dir, bytes.ReplaceAll(data, record, flipped))
			wantCorrupt(t, err, dir)
		}
	}
	s, err := openImage(t, dir, data)
	must(t, err)
	must(t, s.Close())
}

// A file that is cut short, or none of ours, is not taken for an empty store.
func TestWrongFiles(t *testing.T) {
	data, _ := image(t)
	for _, wrong := range [][]byte{
		{},
		data[:1], data[:4096], data[:2*4096], data[:3*4096], data[:len(data)/2],
		make([]byte, len(data)), []byte(strings.Repeat("not a store\n", 4096)),
	} {
		dir := t.TempDir()
		_, err := openImage(t, dir, wrong)
		wantCorrupt(t, err, dir)
	}
}

func wantCorrupt(t *testing.T, err error, dir string) {
	t.Helper()
	if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), filepath.Join(dir, fileName)) ||
		!strings.Contains(err.Error(), "restore it from a copy") {
		t.Errorf("%v: want ErrCorrupt, the file and what to do", err)
	}
}

// What is decoded was encoded, for this key.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("k"), encode([]byte("k"), fencetest.Token(5, 1), []byte("value")))
	f.Add([]byte("k"), []byte{})
	f.Fuzz(func(t *testing.T, key, record []byte) {
		token, value, err := decode(key, record)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Error(err)
			}
			return
		}
		if string(encode(key, token, value)) != string(record) {
			t.Errorf("%q under %q is %v, %q", record, key, token, value)
		}
	})
}
