package logs

import (
	"bytes"
	"encoding/json"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// lastWords are the messages of the last line of a process: it was told to end, or it failed.
var lastWords = []string{"the node resigned and left", "the node ended"}

// left reads the last line of a process: "the node resigned and left", or "the node ended" with the error before it.
func left(line []byte) (note trace.Farewell, ok bool) {
	if !saysGoodbye(line) || !decode(line, &note) {
		return note, false
	}
	return note, note.Node != 0 && !note.Time.IsZero() && (note.Message == lastWords[0] || note.Message == lastWords[1])
}

// decode reads the object in a line that is no record. The line may have it as a string. What the object quotes is not
// read.
func decode(line []byte, note any) bool {
	own, quoted := bytes.Index(line, nodesBegin), bytes.Index(line, quotedBegin)
	switch {
	case own >= 0 && (quoted < 0 || own < quoted):
		line = line[own:]
	case quoted >= 0:
		line = unquote(nil, line[quoted:])
	}
	from, to := bytes.IndexByte(line, '{'), bytes.LastIndexByte(line, '}')
	return from >= 0 && from <= to && json.Unmarshal(line[from:to+1], note) == nil
}

// saysGoodbye reports whether the line may be the last of a process.
func saysGoodbye(line []byte) bool {
	return bytes.Contains(line, []byte(lastWords[0])) || bytes.Contains(line, []byte(lastWords[1]))
}
