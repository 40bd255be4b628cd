package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// "A paused cluster that is restarted stays paused": the notice outlives the process,
// and the state beside it does not change.
func TestNoticeIsKept(t *testing.T) {
	f, _ := mustOpen(t, t.TempDir())
	mustSave(t, f, voted)
	if n, err := f.Notice(); err != nil || n != (Notice{}) {
		t.Fatalf("nothing is saved, and it is %+v, %v", n, err)
	}
	for _, n := range []Notice{
		{Version: 7, Origin: 2, Text: "the cluster is paused\n\"é\""},
		{Version: 1<<63 - 1, Origin: 2, Text: strings.Repeat("x", maxNotice)},
		{Version: 8, Origin: 3},
	} {
		if err := f.SaveNotice(n); err != nil {
			t.Fatal(err)
		}
		again, state := reopen(t, f)
		if got, err := again.Notice(); err != nil || got != n || state != voted {
			t.Errorf("%+v came back as %+v, %v; the state as %+v", n, got, err, state)
		}
		f = again
	}
}

// A notice that cannot be trusted is a clear error, never "not paused".
func TestNoticeRefused(t *testing.T) {
	f, _ := mustOpen(t, t.TempDir())
	for _, n := range []Notice{
		{},
		{Version: 1},
		{Origin: 1},
		{Version: 1 << 63, Origin: 1},
		{1, 1, "\xff"},
		{1, 1, strings.Repeat("x", maxNotice+1)},
	} {
		if err := f.SaveNotice(n); !errors.Is(err, ErrState) {
			t.Errorf("saved %+v: %v", n, err)
		}
	}
	good := encodeNotice(f.owner.Cluster, Notice{1, 1, "paused"})
	body := string(good[:len(good)-sealSize])
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"cut short":       {good[:len(good)-1], ErrCorrupt},
		"empty":           {nil, ErrCorrupt},
		"changed":         {[]byte(strings.Replace(string(good), "paused", "resume", 1)), ErrCorrupt},
		"another format":  {resealed(strings.Replace(body, `"format":2`, `"format":1`, 1)), ErrCorrupt},
		"no text":         {resealed(strings.Replace(body, `"paused"`, `7`, 1)), ErrCorrupt},
		"another cluster": {encodeNotice("prod", Notice{1, 1, "paused"}), ErrForeign},
		"nobody's":        {encodeNotice(f.owner.Cluster, Notice{1, 0, "paused"}), ErrCorrupt},
	} {
		if err := os.WriteFile(filepath.Join(f.dir, noticeName), c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if n, err := f.Notice(); !errors.Is(err, c.want) {
			t.Errorf("%s: %+v, %v; want %v", name, n, err, c.want)
		}
	}
}

// Arbitrary bytes are a notice that encodes back to itself, or an error.
func FuzzDecodeNotice(f *testing.F) {
	f.Add(encodeNotice("demo", Notice{1, 1, "paused"}))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, input := range [][]byte{data, append(data, seal(data)...)} {
			cluster, n, err := decodeNotice(input)
			if err != nil {
				continue
			}
			c, m, err := decodeNotice(encodeNotice(cluster, n))
			if err != nil || m != n || c != cluster {
				t.Fatalf("%+v of %q came back as %+v of %q, %v", n, cluster, m, c, err)
			}
		}
	})
}
