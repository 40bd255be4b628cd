package logs

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"fmt"
	"io"
)

// packed are the beginnings of compressed files, whatever their names are. open is nil for what only other programs
// decompress.
var packed = []struct {
	begin, name string
	open        func(io.Reader) (io.Reader, error)
}{
	{"\x1f\x8b", "gzip", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"BZh", "bzip2", func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
	{"\x28\xb5\x2f\xfd", "zstd", nil},
	{"\xfd7zXZ\x00", "xz", nil},
	{"\x04\x22\x4d\x18", "lz4", nil},
	{"PK\x03\x04", "zip", nil},
}

// Unpack returns a reader of what r has, decompressed if that begins as gzip or bzip2 does.
func Unpack(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	for _, p := range packed {
		begin, err := buffered.Peek(len(p.begin))
		if err != nil || !bytes.Equal(begin, []byte(p.begin)) {
			continue // shorter than that, or something else
		}
		if p.open == nil {
			return nil, fmt.Errorf("it is compressed with %s, which is not read: decompress it first", p.name)
		}
		return p.open(buffered)
	}
	return buffered, nil
}
