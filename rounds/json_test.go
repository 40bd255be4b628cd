package rounds_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
)

// "believed_at":"0001-01-01T00:00:00Z" was written of a node that no record shows to have followed: a time that is not
// known is left out.
func TestNoTimeThatIsNotKnownIsWritten(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.log")
	cases, _ := filepath.Glob("testdata/cases/*")
	if len(files) == 0 || len(cases) == 0 {
		t.Fatal(files, cases)
	}
	for _, path := range append(files, cases...) {
		b := rounds.NewBuilder()
		batch := logs.Batch{Paths: []string{path}}
		if of, _ := filepath.Glob(path + "/*"); len(of) > 0 {
			batch.Paths = of
		}
		batch.Read(b, func(err error) { t.Fatal(err) })
		written, err := json.Marshal(b.History())
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range regexp.MustCompile(`"[a-z_]+":"0001-[^"]*"`).FindAll(written, -1) {
			t.Errorf("%s: %s", path, field)
		}
	}
}
