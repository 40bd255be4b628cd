package logs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// maxLine bounds a line: a record of a thousand nodes has some 50 KB.
const maxLine = 4 << 20

// Sink takes what a Reader finds, as a rounds.Builder does.
type Sink interface {
	// Add takes a record. It may keep what the fields of rec refer to, but not rec.
	Add(rec *trace.Record)
	// Death takes the time at which a node died, as a simulation says it.
	Death(cluster string, node uint64, at time.Time)
	// Left takes the last line of a process, in which it says that it ends.
	Left(last trace.Farewell)
}

// Reader reads the records of one stream. One goroutine calls Line. Any goroutine may call
// Flush.
type Reader struct {
	Stats Stats // for the goroutine that calls Line

	lines *bufio.Reader
	at    int    // the number of the present line, from 1 on
	long  []byte // a line that outgrew the buffer
	parts []byte // the beginning of a line that Kubernetes or docker cut into parts
	to    Sink

	mu   sync.Mutex // guards the fields below, and the calls of to
	rec  trace.Record
	json *scanner
	text text
}

// NewReader returns a Reader that reads r and hands the records to the Sink to. It reads UTF-8, and
// UTF-16 that begins with its mark.
func NewReader(r io.Reader, to Sink) *Reader {
	lines := bufio.NewReaderSize(newUTF16Reader(r), 1<<16)
	return &Reader{lines: lines, json: newScanner(), text: newText(to), to: to}
}

// Read reads all of r, and hands the records to the Sink to. It decompresses gzip and bzip2.
func Read(r io.Reader, to Sink) (Stats, error) {
	text, err := Unpack(r)
	if err != nil {
		return Stats{}, err
	}
	reader := NewReader(text, to)
	for {
		err := reader.Line()
		if err == nil {
			continue
		}
		reader.Flush()
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return reader.Stats, err
	}
}

// Line reads one line. If the stream ends with that line, it still reads the line, and returns
// io.EOF or the error of the underlying reader.
func (r *Reader) Line() error {
	line, err := r.line()
	r.Stats.Bytes += int64(len(line)) + 1
	r.at++
	if len(line) > 0 {
		r.Stats.Lines++
		r.mu.Lock()
		if r.find(line) {
			r.Stats.Records++
		}
		r.mu.Unlock()
	}
	return err
}

// Flush hands over the records of text whose lines are still coming in. Call it when nothing has
// come for a while.
func (r *Reader) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text.flush()
}

// line returns the next line without its line break. If the line is longer than maxLine, it returns
// only the first byte.
func (r *Reader) line() ([]byte, error) {
	part, err := r.lines.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return bytes.TrimRight(part, "\r\n"), err
	}
	r.long = append(r.long[:0], part...)
	dropped := false
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = r.lines.ReadSlice('\n')
		if len(r.long)+len(part) > maxLine {
			dropped = true
			continue
		}
		r.long = append(r.long, part...)
	}
	if dropped {
		r.Stats.TooLong++
		return r.long[:1], err
	}
	return bytes.TrimRight(r.long, "\r\n"), err
}

// find reads a line, and hands over the record in it. It returns true if a record of JSON ends in
// the line, or if a record of text begins in it.
func (r *Reader) find(line []byte) bool {
	begins := 0 // where an object may begin
	if len(r.parts) == 0 {
		begins = bytes.IndexByte(line, '{')
	}
	switch {
	case begins < 0:
		return r.other(line)
	case len(r.parts) == 0 && bytes.HasPrefix(line, nodesBegin) && // nearly always
		r.json.record(line, &r.rec) && r.rec.IsRecord():
		r.text.end()
		r.to.Add(&r.rec)
		return true
	}
	line, whole := r.join(line)
	if !whole {
		return false
	}
	if r.json.parse(line, &r.rec) {
		r.text.end()
		r.to.Add(&r.rec)
		return true
	}
	if node, at, ok := deathNote(line); ok {
		r.to.Death("", node, at)
		return false
	}
	if note, ok := left(line); ok {
		r.text.end()
		r.to.Left(note)
		return false
	}
	if !passUp(r.to, line) {
		passMismatch(r.to, line)
		passLine(r.to, line)
	}
	return r.other(line)
}

// other reads a line without a record of JSON. It returns true if a record of text begins in it.
func (r *Reader) other(line []byte) bool {
	if r.text.line(line) {
		return true
	}
	if bytes.IndexByte(line, 0) >= 0 {
		r.Stats.Binary++
		return false
	}
	if looksBroken(line) {
		if r.Stats.Broken++; r.Stats.Broken == 1 {
			r.Stats.FirstBroken = fmt.Sprintf("line %d", r.at)
		}
	}
	return false
}

// looksBroken reports whether a line that is no record looks like a part of one: it has names of fields that only
// records have, in JSON or in a string of it.
func looksBroken(line []byte) bool {
	has := func(name string) bool {
		at := bytes.Index(line, []byte(`"`+name))
		return at >= 0 && bytes.HasPrefix(bytes.TrimPrefix(line[at+1+len(name):], []byte(`\`)), []byte(`":`))
	}
	return (has("algo") || has("hlc")) && (has("node") || has("event"))
}

// join puts together a line that the container runtime cut into parts. whole is false
// while parts are missing.
func (r *Reader) join(line []byte) (joined []byte, whole bool) {
	content, partial, marked := criContent(line)
	switch {
	case marked && partial && len(r.parts)+len(content) <= maxLine:
		r.parts = append(r.parts, content...)
		return nil, false
	case marked && len(r.parts) > 0:
		joined = append(r.parts, content...)
		r.parts = r.parts[:0]
		return joined, true
	}
	return line, true
}

// criContent returns the text behind the prefix of the container runtime interface,
// "2026-11-20T15:04:05.1Z stderr P ". partial says that the line goes on in the next one, marked
// that there was such a prefix.
func criContent(line []byte) (content []byte, partial, marked bool) {
	for _, stream := range []string{" stdout ", " stderr "} {
		at := bytes.Index(line[:min(len(line), 64)], []byte(stream))
		rest := line[max(at, 0)+min(len(stream), len(line)):]
		if at > 0 && len(rest) > 2 && rest[1] == ' ' && (rest[0] == 'P' || rest[0] == 'F') {
			return rest[2:], rest[0] == 'P', true
		}
	}
	return nil, false, false
}
