package rank

import (
	"errors"
	"io/fs"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func mustParse(t *testing.T, spec string) Source {
	t.Helper()
	s, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustMeasure(t *testing.T, spec string, c Context) int64 {
	t.Helper()
	n, err := mustParse(t, spec).Measure(c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Promise: "Rank attributes: id, ip, cpu count, memory, free disk, number of
// files in a directory, or a number given by the operator."
func TestParse(t *testing.T) {
	for spec, live := range map[string]bool{
		"id": false, "ip": false, "cpu": false, "memory": false, "disk": true,
		"disk:/var/lib": true, "disk:C:\\data": true, "files:.": true, "files:/a:b c": true,
		"number:0": false, "number:-9223372036854775808": false,
	} {
		s := mustParse(t, spec)
		if s.String() != spec {
			t.Errorf("Parse(%q).String() = %q", spec, s)
		}
		if s.Live() != live {
			t.Errorf("%s: Live() = %v, want %v", spec, s.Live(), live)
		}
	}
}

// Promise: errors are clear and list what exists for unknown ones.
func TestParseRefuses(t *testing.T) {
	for _, spec := range []string{
		"", "ID", "cpus", "load", "id:3", "ip:", "cpu:2", "memory:1", "disk:", "files",
		"files:", "number", "number:", "number:1.5", "number:9223372036854775808", " id",
	} {
		s, err := Parse(spec)
		if !errors.Is(err, ErrSpec) {
			t.Errorf("Parse(%q) = %v, %v; want ErrSpec", spec, s, err)
			continue
		}
		if msg := err.Error(); !strings.Contains(msg, `"`+spec+`"`) ||
			!strings.Contains(msg, "files:DIR") {
			t.Errorf("Parse(%q): %q does not name it or list what exists", spec, msg)
		}
	}
}

func TestMeasure(t *testing.T) {
	ip := func(s string) Context { return Context{AdvertiseIP: netip.MustParseAddr(s)} }
	cases := []struct {
		name, spec string
		context    Context
		want       int64
	}{
		{"the id decides alone", "id", ip("10.0.0.1"), 0},
		{"IPv4", "ip", ip("10.0.0.1"), 10<<24 + 1},
		{"the highest IPv4", "ip", ip("255.255.255.255"), math.MaxUint32},
		{"IPv4 in IPv6", "ip", ip("::ffff:10.0.0.1"), 10<<24 + 1},
		{"IPv6", "ip", ip("fd00:1::2"), 0xfd00_0001_0000_0000 >> 1},
		{"the highest IPv6", "ip", ip("ffff:ffff:ffff:ffff::"), math.MaxInt64},
		{"processors", "cpu", Context{}, int64(runtime.NumCPU())},
		{"an operator's number", "number:-3", Context{}, -3},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := mustMeasure(t, c.spec, c.context); got != c.want {
				t.Errorf("%s of %+v = %d, want %d", c.spec, c.context, got, c.want)
			}
		})
	}
}

func TestMemory(t *testing.T) {
	n := mustMeasure(t, "memory", Context{})
	if n < 16<<20 {
		t.Errorf("memory = %d bytes: no machine that runs this has so little", n)
	}
	if again := mustMeasure(t, "memory", Context{}); again != n {
		t.Errorf("memory = %d, then %d: it must not follow what is in use", n, again)
	}
}

func TestDisk(t *testing.T) {
	dir := t.TempDir()
	for spec, c := range map[string]Context{
		"disk":        {DataDir: dir},
		"disk:" + dir: {DataDir: filepath.Join(dir, "missing")},
	} {
		if n := mustMeasure(t, spec, c); n <= 0 {
			t.Errorf("%s = %d bytes free, with room for this test", spec, n)
		}
	}
}

func TestFilesCountsRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	count := func() int64 { return mustMeasure(t, "files:"+dir, Context{}) }
	if n := count(); n != 0 {
		t.Errorf("an empty directory has %d files", n)
	}
	write := func(name string) error {
		return os.WriteFile(filepath.Join(dir, name), nil, 0o600)
	}
	err := errors.Join(
		write("a"),
		write(".hidden"),
		os.Mkdir(filepath.Join(dir, "below"), 0o700),
		write("below/b"),
		os.Symlink("a", filepath.Join(dir, "link")),
	)
	if err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 2 {
		t.Errorf("%d files, want 2: a and .hidden", n)
	}
}

func TestMeasureFails(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	cases := []struct {
		spec    string
		context Context
		is      error
		says    string
	}{
		{"ip", Context{}, nil, "advertise"},
		{"ip", Context{AdvertiseIP: netip.IPv4Unspecified()}, nil, "advertise"},
		{"ip", Context{AdvertiseIP: netip.IPv6Unspecified()}, nil, "advertise"},
		{"disk", Context{}, nil, "disk:/"},
		{"disk", Context{DataDir: missing}, fs.ErrNotExist, missing},
		{"disk:" + missing, Context{}, fs.ErrNotExist, missing},
		{"files:" + missing, Context{}, fs.ErrNotExist, missing},
		{"files:/dev/null", Context{}, nil, "/dev/null"},
	}
	for _, c := range cases {
		n, err := mustParse(t, c.spec).Measure(c.context)
		if err == nil {
			t.Errorf("%s of %+v = %d, want an error", c.spec, c.context, n)
			continue
		}
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %v", c.spec, err, c.is)
		}
		if msg := err.Error(); !strings.Contains(msg, c.says) ||
			!strings.Contains(msg, "rank attribute") {
			t.Errorf("%s: %q, want %q in it", c.spec, msg, c.says)
		}
	}
}

// Sizes beyond 63 bits stay the largest there are instead of turning negative.
func TestClamp(t *testing.T) {
	for n, want := range map[uint64]int64{
		0: 0, 5: 5, math.MaxInt64: math.MaxInt64,
		math.MaxInt64 + 1: math.MaxInt64, math.MaxUint64: math.MaxInt64,
	} {
		if got := clamp(n); got != want {
			t.Errorf("clamp(%d) = %d, want %d", n, got, want)
		}
	}
}
