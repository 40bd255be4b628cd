package logs

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ringleader-dev/ringleader/internal/words"
)

// Stats counts what a Reader saw.
type Stats struct {
	Bytes   int64
	Lines   int // without empty ones
	Records int
	TooLong int // lines of more than 4 MiB, which are not read
	Broken  int // lines that look like records and are none: cut off, or damaged
	// FirstBroken says where the first of these lines is: "line 17", with its file if it is known.
	FirstBroken string
	// Binary counts the lines with bytes of value 0. FirstBinary is the first of their files, if it is known.
	Binary      int
	FirstBinary string
}

// Add adds what another Reader saw.
func (s *Stats) Add(other Stats) {
	s.Bytes += other.Bytes
	s.Lines += other.Lines
	s.Records += other.Records
	s.TooLong += other.TooLong
	s.Broken += other.Broken
	s.FirstBroken = cmp.Or(s.FirstBroken, other.FirstBroken)
	s.Binary += other.Binary
	s.FirstBinary = cmp.Or(s.FirstBinary, other.FirstBinary)
}

// Of says which file the Reader read.
func (s *Stats) Of(file string) {
	if s.Broken > 0 {
		s.FirstBroken += " of " + file
	}
	if s.Binary > 0 {
		s.FirstBinary = file
	}
}

// Remark says in sentences which lines could not be read, "" if there are none.
func (s *Stats) Remark() string {
	var list []string
	if s.Broken > 0 {
		list = append(list, fmt.Sprintf("%s %s like %s, but cut off or damaged, and not read: the first is %s.",
			words.Plural(s.Broken, "line"), words.Either(s.Broken, "looks", "look"),
			words.Either(s.Broken, "a record", "records"), s.FirstBroken))
	}
	if s.TooLong > 0 {
		list = append(list, fmt.Sprintf("%s of more than 4 MiB %s not read.",
			words.Plural(s.TooLong, "line"), words.Either(s.TooLong, "was", "were")))
	}
	if s.Binary > 0 {
		of := ""
		if s.FirstBinary != "" {
			of = ", first in " + s.FirstBinary
		}
		list = append(list, fmt.Sprintf("%s %s no text, and not read%s: UTF-16 needs its mark at the beginning.",
			words.Plural(s.Binary, "line"), words.Either(s.Binary, "is", "are"), of))
	}
	return strings.Join(list, " ")
}
