package proto

import (
	"math"
	"testing"
	"time"
)

var noon = time.UnixMicro(1_795_186_664_000_000)

func micros(d time.Duration) int64 { return noon.Add(d).UnixMicro() }

func TestHLCTick(t *testing.T) {
	for name, c := range map[string]struct {
		h    HLC
		now  time.Time
		want HLC
	}{
		"first":             {HLC{}, noon, HLC{Micros: micros(0)}},
		"the wall went on":  {HLC{micros(-1), 9}, noon, HLC{Micros: micros(0)}},
		"the wall stands":   {HLC{micros(0), 9}, noon, HLC{micros(0), 10}},
		"the wall set back": {HLC{micros(time.Minute), 0}, noon, HLC{micros(time.Minute), 1}},
	} {
		if got := c.h.Tick(c.now); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Logical Physical Clocks, section 3: "if e hb f then l.e ≤ l.f", and the
// counter breaks the tie: the reading of a receipt is later than that of the
// send, whatever the two wall clocks say.
func TestHLCMergeIsLaterThanBoth(t *testing.T) {
	readings := []HLC{
		{},
		{micros(-time.Minute), 3},
		{micros(0), 0},
		{micros(0), 7},
		{micros(time.Minute), 1},
		{micros(MaxHLCSkew), 2},
	}
	for _, local := range readings {
		for _, remote := range readings {
			got := local.Merge(remote, noon)
			if got.Compare(local) <= 0 || got.Compare(remote) <= 0 {
				t.Errorf("%v after %v: %v is not later than both", remote, local, got)
			}
		}
	}
}

// A single absurd reading would otherwise drag the clocks of a whole cluster
// into the future for good.
func TestHLCMergeIgnoresAReadingTooFarAhead(t *testing.T) {
	local := HLC{micros(-1), 0}
	absurd := HLC{micros(MaxHLCSkew + time.Microsecond), 5}
	if got, want := local.Merge(absurd, noon), local.Tick(noon); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	atBound := HLC{micros(MaxHLCSkew), 5}
	if got, want := local.Merge(atBound, noon), (HLC{micros(MaxHLCSkew), 6}); got != want {
		t.Errorf("at the bound: %v, want %v", got, want)
	}
}

func TestHLCText(t *testing.T) {
	for _, h := range []HLC{{}, {1795186664073742, 2}, {-5, 0}, {1<<63 - 1, 1<<32 - 1}} {
		if back, err := ParseHLC(h.String()); err != nil || back != h {
			t.Errorf("%q came back as %v, %v", h, back, err)
		}
	}
	for _, s := range []string{
		"", "1", ".", "1.", ".1", "1.x", "x.1", "1.-1", "1.4294967296", "1.2.3",
	} {
		if h, err := ParseHLC(s); err == nil {
			t.Errorf("%q was read as %v", s, h)
		}
	}
	if !(HLC{}).IsZero() || (HLC{Logical: 1}).IsZero() {
		t.Error("only {0 0} is no reading at all")
	}
}

// A reading whose counter is at its end does not make the clock go back.
func TestTickAtTheCountersEnd(t *testing.T) {
	full := HLC{Micros: 5, Logical: math.MaxUint32}
	if got := full.Tick(time.UnixMicro(1)); got.Compare(full) <= 0 {
		t.Errorf("%v after %v", got, full)
	}
}
