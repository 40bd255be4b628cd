package logs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// The record with which a process begins came before those of the former process of its node, if each had a file of its
// own: it is of no term yet. So nobody could tell that somebody had set the clock before that process began.
func TestAProcessComesBehindTheFormerOneOfItsNode(t *testing.T) {
	dir := t.TempDir()
	write := func(file string, records ...string) string {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, []byte(strings.Join(records, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	record := func(node int, incarnation string, seq, second, term int) string {
		return fmt.Sprintf(`{"time":"2026-11-25T09:25:%02dZ","cluster":"c","node":%d,"incarnation":%q,"algo":"ring",`+
			`"seq":%d,"hlc":"%d.0","term":%d,"event":"timeout","role":"looking","leader":0}`,
			second, node, incarnation, seq, 1764062700000000+second*1000000, term)
	}
	const up = `{"time":"2026-11-25T09:25:20Z","cluster":"c","node":1,"incarnation":"later","message":"node 1 is up"}`
	batch := Batch{Paths: []string{
		write("1-previous.log", record(1, "former", 1, 1, 0), record(1, "former", 2, 9, 5)),
		write("1.log", up, record(1, "later", 1, 20, 0), record(1, "later", 2, 21, 6)),
		write("2.log", record(2, "other", 1, 2, 0), record(2, "other", 2, 30, 7), record(2, "another", 1, 31, 0)),
	}}
	for range 2 {
		var got ordered
		batch.Read(&got, func(err error) { t.Error(err) })
		order := strings.Join(got.order, " ")
		if want := "former:1 other:1 former:2 later up later:1 later:2 other:2 another:1"; order != want {
			t.Errorf("got %s, want %s", order, want)
		}
		batch.Split()
	}
}

// ordered is an UpSink.
type ordered struct{ order []string }

func (o *ordered) Add(rec *trace.Record) {
	o.order = append(o.order, fmt.Sprint(rec.Incarnation, ":", rec.Seq))
}

func (o *ordered) Up(first trace.Greeting)         { o.order = append(o.order, first.Incarnation+" up") }
func (o *ordered) Left(trace.Farewell)             {}
func (o *ordered) Death(string, uint64, time.Time) {}
