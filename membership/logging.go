package membership

import (
	"log"
	"strings"
	"time"

	"github.com/rs/zerolog"
)

// memberlistLog writes memberlist's lines, "[ERR] memberlist: text", to the logger l, each line at its own
// level and without its prefix. It lets only some warnings through, since anybody who can send a packet can
// make memberlist complain.
func memberlistLog(l zerolog.Logger) *log.Logger {
	some := &zerolog.BurstSampler{Burst: 5, Period: 10 * time.Second}
	return log.New(lineWriter{l.Sample(zerolog.LevelSampler{WarnSampler: some})}, "", 0)
}

type lineWriter struct{ log zerolog.Logger }

// Write takes one line: a log.Logger calls it once for each line.
func (w lineWriter) Write(line []byte) (int, error) {
	level, text := parseLine(string(line))
	w.log.WithLevel(level).Msg(text)
	return len(line), nil
}

// ownWords occur in lines about things that this package logs itself, once instead of for each
// packet.
var ownWords = []string{
	errRefused.Error(),
	errUnsealed.Error(), errUnknownKey.Error(), errNoKeyring.Error(),
	"Conflicting address for ",
	"Refuting an alive message for ",
}

// parseLine splits a line of memberlist into its level and its text. Errors of memberlist are no failures
// here, so they become warnings. Its informational lines become debug lines, since the evidence of a view
// says the same.
func parseLine(line string) (zerolog.Level, string) {
	line = strings.TrimSpace(line)
	level := zerolog.DebugLevel
	for prefix, l := range map[string]zerolog.Level{
		"[ERR]": zerolog.WarnLevel, "[ERROR]": zerolog.WarnLevel, "Err:": zerolog.WarnLevel,
		"[WARN]": zerolog.WarnLevel,
		"[INFO]": zerolog.DebugLevel, "[DEBUG]": zerolog.DebugLevel,
	} {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			level, line = l, strings.TrimSpace(rest)
			break
		}
	}
	for _, words := range ownWords {
		if strings.Contains(line, words) {
			level = zerolog.DebugLevel
		}
	}
	return level, strings.TrimSpace(strings.TrimPrefix(line, "memberlist:"))
}
