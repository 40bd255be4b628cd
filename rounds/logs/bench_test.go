package logs

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// counter is a Sink that drops everything.
type counter struct{ n *int }

func (c counter) Add(*trace.Record)               { *c.n++ }
func (c counter) Death(string, uint64, time.Time) {}
func (c counter) Left(trace.Farewell)             {}

// benchBytes is the size of a benchmark's log.
const benchBytes = 20 << 20

// BenchmarkRead is the way from the bytes of a log to its records. The promise is 100 MB/s on one
// core, with what is built of the records: run it with -cpu 1. The other shapes are what people
// have who collect logs, or nodes of a version to come.
func BenchmarkRead(b *testing.B) {
	plain := func(line string) string { return line }
	for _, c := range []struct {
		name, level string
		shape       func(line string) string
	}{
		{"info", "info", plain},
		{"debug", "debug", plain},
		{"debug-behind-compose", "debug", func(s string) string { return "node-1  | " + s }},
		{"debug-in-docker-files", "debug", func(s string) string {
			return `{"log":` + strconv.Quote(s+"\n") + `,"stream":"stderr","time":"2026-11-20T15:04:05.123456789Z"}`
		}},
		{"debug-in-kubernetes", "debug", func(s string) string {
			return "2026-11-20T15:04:05.123456789Z stderr F " + s
		}},
		{"info-with-umlauts", "info", func(s string) string { return strings.Replace(s, `"demo"`, `"größer"`, 1) }},
		{"info-with-escapes", "info", func(s string) string { return strings.Replace(s, `->`, `\u003e`, 1) }},
		{"info-with-newer-field", "info", func(s string) string {
			return strings.Replace(s, `"role":`, `"newer":{"a":[1,"b"]},"role":`, 1)
		}},
	} {
		b.Run(c.name, func(b *testing.B) { benchRead(b, longLog(b, c.level, c.shape)) })
	}
	b.Run("many-alive", func(b *testing.B) {
		line := `{"node":1,"seq":1,"event":"peers","alive":[` + strings.Repeat("1234567,", 200_000) + "1]}\n"
		benchRead(b, bytes.Repeat([]byte(line), benchBytes/len(line)))
	})
	b.Run("text", func(b *testing.B) {
		text, err := os.ReadFile("../testdata/raft-kill.log")
		if err != nil {
			b.Fatal(err)
		}
		benchRead(b, bytes.Repeat(text, benchBytes/len(text)))
	})
}

// benchRead reads a log. On a machine that has else to do, cpu-MB/s counts: the process's own time.
func benchRead(b *testing.B, log []byte) {
	b.Helper()
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	began := cpuTime(b)
	for b.Loop() {
		n := 0
		if _, err := Read(bytes.NewReader(log), counter{&n}); err != nil || n == 0 {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(log))/1e6/(cpuTime(b)-began).Seconds(), "cpu-MB/s")
}

// cpuTime is what the process has used so far.
func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// longLog returns what several clusters write in a long time, at a level: each line in a shape.
func longLog(b *testing.B, level string, shape func(line string) string) []byte {
	b.Helper()
	var lines []string
	for _, name := range []string{"bully-kill", "ring-restart", "office-cut", "office-ring-kill"} {
		data, err := os.ReadFile("../testdata/" + name + ".log")
		if err != nil {
			b.Fatal(err)
		}
		lines = append(lines, strings.Split(strings.TrimSpace(string(data)), "\n")...)
	}
	var log bytes.Buffer
	for again := 0; log.Len() < benchBytes; again++ {
		for _, line := range lines {
			if level == "debug" || !strings.HasPrefix(line, `{"level":"debug"`) {
				log.WriteString(shape(later(line, again)) + "\n")
			}
		}
	}
	return log.Bytes()
}

// later returns the same line from another process at a later time, in the words of the present
// version: with the codes of its reasons. It returns a line that is no record as it is.
func later(line string, again int) string {
	rec, err := trace.Parse([]byte(line))
	if err != nil {
		return line
	}
	const apart, messages = 20 * time.Second, 1000
	rec.Time = rec.Time.Add(time.Duration(again) * apart)
	micros, _ := strconv.ParseInt(strings.Split(rec.HLC, ".")[0], 10, 64)
	rec.HLC = fmt.Sprintf("%d.0", micros+int64(again)*apart.Microseconds())
	rec.Incarnation = fmt.Sprintf("%06x%s", again, rec.Incarnation[:2])
	rec.Seq += uint64(again) * messages
	rec.Term += uint64(again)
	if from, seq, ok := strings.Cut(rec.MsgID, ":"); ok {
		n, _ := strconv.Atoi(seq)
		rec.MsgID = fmt.Sprintf("%s:%d", from, n+again*messages)
	}
	for i, sent := range rec.Sent {
		kind, to, id, _ := trace.SentID(sent)
		rec.Sent[i] = fmt.Sprintf("%s>%d#%s%d", kind, to, id, again)
	}
	codes := []string{"nomination.adopt", "nomination.follow", "lease.grant", "bully.lead"}
	for i := range rec.Why {
		rec.Reasons = append(rec.Reasons, trace.Reason{
			Code: codes[(int(rec.Seq)+i)%len(codes)],
			Args: []trace.Arg{{Number: rec.Node}, {Number: rec.Term}},
		})
	}
	var written bytes.Buffer
	trace.Write(zerolog.New(&written), rec)
	return strings.TrimSpace(written.String())
}
