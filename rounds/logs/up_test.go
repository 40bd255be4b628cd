package logs

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

type greeted struct {
	collector
	ups []string
}

func (g *greeted) Up(first trace.Greeting) {
	g.ups = append(g.ups, strconv.FormatUint(first.Node, 10)+" "+first.Incarnation)
}

// At level info only this line tells when a process began.
func TestUp(t *testing.T) {
	up := func(node, message string) string {
		return `{"level":"info","cluster":"c","node":` + node + `,"incarnation":"a` + node + `","algorithm":"bully",` +
			`"time":"2026-11-25T12:33:00.67Z","message":"` + message + `"}`
	}
	log := strings.Join([]string{
		up("1", "node 1 is up; guarantee best-effort"), `n2 | ` + up("2", "node 2 is up"),
		`{"log":` + strconv.Quote(up("3", "node 3 is up")+"\n") + `}`,
		up("4", "node 1 is up"), up("5", "the store is up"), `the link of node 6 is up`,
	}, "\n")
	var all, some greeted
	for to, sink := range map[*greeted]Sink{&all: &all, &some: Only("d", &some)} {
		if _, err := Read(strings.NewReader(log), sink); err != nil {
			t.Fatal(to, err)
		}
	}
	if want := []string{"1 a1", "2 a2", "3 a3"}; !slices.Equal(all.ups, want) || len(some.ups) > 0 {
		t.Errorf("%q, and %q of another cluster", all.ups, some.ups)
	}
}
