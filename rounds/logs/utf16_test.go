package logs

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

// inUTF16 writes text as a shell of Windows does.
func inUTF16(order binary.AppendByteOrder, text string) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

// A file in UTF-16 has the records of the same file in UTF-8, however few bytes come at once.
func TestUTF16(t *testing.T) {
	log := strings.ReplaceAll(strings.Join(realRecords(t), "\r\n")+"\r\n", `"demo"`, `"größer 😀 Ċ"`)
	want := readAll(t, log).records
	if len(want) < 40 || want[0].Cluster != "größer 😀 Ċ" {
		t.Fatalf("%d records, the first %+v", len(want), want[0])
	}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		data := inUTF16(order, log)
		file := filepath.Join(t.TempDir(), "n.log")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		c := &collector{}
		if stats, err := readFile(file, c); err != nil || !reflect.DeepEqual(c.records, want) {
			t.Errorf("%v: %d records, want %d: %+v, %v", order, len(c.records), len(want), stats, err)
		}
		for _, slow := range []func(io.Reader) io.Reader{
			iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader,
		} {
			c := &collector{}
			if _, err := Read(slow(bytes.NewReader(data)), c); err != nil || !reflect.DeepEqual(c.records, want) {
				t.Errorf("%v, a few bytes at once: %d records, want %d: %v", order, len(c.records), len(want), err)
			}
		}
	}
}

// Streams that are not UTF-16 come through as they are, and broken UTF-16 to its end.
func TestNotUTF16(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "\xff": "\xff", "\xff\xfe": "\xff\xfe", "\xff\xfea": "\xff\xfea", "\xfe\xff\x00": "\xfe\xff\x00",
		"\xff\xfe\x00\n{}": "\xff\xfe\x00\n{}", "\xff\xfe{\"": "\xff\xfe{\"", "\xef\xbb\xbf{}": "\xef\xbb\xbf{}",
		"plain": "plain", "\xfe\xffa\x00": "\xfe\xffa\x00",
		"\xff\xfea\x00": "a", "\xff\xfea\x00b": "a\ufffd", "\xff\xfea\x00\x3d\xd8": "a\ufffd",
		"\xfe\xff\x00a\xd8\x3d\x00b": "a\ufffdb", "\xff\xfea\x00\x3d\xd8\x3d\xd8\x00\xde": "a\ufffd😀",
	} {
		for _, slow := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.DataErrReader} {
			got, err := io.ReadAll(newUTF16Reader(slow(strings.NewReader(in))))
			if err != nil || string(got) != want {
				t.Errorf("%q: %q, %v, want %q", in, got, err, want)
			}
		}
	}
}

// "No word that two files were unreadable": UTF-16 without its mark is counted.
func TestUTF16WithoutMarkIsCounted(t *testing.T) {
	var text []byte
	for _, c := range []byte(realRecords(t)[0] + "\n") {
		text = append(text, c, 0)
	}
	stats, err := Read(bytes.NewReader(text), &collector{})
	if err != nil || stats.Records > 0 || stats.Binary == 0 || !strings.Contains(stats.Remark(), "UTF-16") {
		t.Errorf("%+v, %v: %q", stats, err, stats.Remark())
	}
}
