package proto

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// HLC is a reading of a hybrid logical clock: microseconds of a wall clock, and a counter that
// breaks ties. Records of different nodes that are sorted by HLC are in causal order, even if the
// nodes' wall clocks differ.
//
// Source: Kulkarni, Demirbas, Madappa, Avva, Leone, "Logical Physical Clocks" (2014), section 3.
type HLC struct {
	Micros  int64
	Logical uint32
}

// MaxHLCSkew is the longest time by which a received reading may be ahead of the local wall clock.
// Merge ignores a reading that is further ahead: otherwise a single absurd reading would move the
// clocks of a whole cluster into the future for ever.
const MaxHLCSkew = time.Hour

// Tick returns the reading for a local event at the wall clock time now. The result is later than h.
func (h HLC) Tick(now time.Time) HLC {
	if wall := now.UnixMicro(); wall > h.Micros {
		return HLC{Micros: wall}
	}
	if h.Logical == math.MaxUint32 { // as only a hostile reading makes it
		return HLC{Micros: h.Micros + 1}
	}
	return HLC{Micros: h.Micros, Logical: h.Logical + 1}
}

// Merge returns the reading for the receipt of a message: remote is the reading in the message, and
// now is the wall clock time of the receipt. The result is later than h and remote. Merge ignores
// remote if it is more than MaxHLCSkew ahead of now.
func (h HLC) Merge(remote HLC, now time.Time) HLC {
	tooFar := remote.Micros > now.Add(MaxHLCSkew).UnixMicro()
	if !tooFar && remote.Compare(h) > 0 {
		h = remote
	}
	return h.Tick(now)
}

// Compare orders readings by time: it returns a negative number if h is earlier than g.
func (h HLC) Compare(g HLC) int {
	return cmp.Or(cmp.Compare(h.Micros, g.Micros), cmp.Compare(h.Logical, g.Logical))
}

// IsZero reports whether h is the zero HLC, which is no reading.
func (h HLC) IsZero() bool { return h == HLC{} }

// String returns "microseconds.counter", the form in records.
func (h HLC) String() string { return fmt.Sprintf("%d.%d", h.Micros, h.Logical) }

// ParseHLC reads a text that String wrote.
func ParseHLC(s string) (HLC, error) {
	if h, ok := plainHLC(s); ok { // nearly always
		return h, nil
	}
	micros, logical, found := strings.Cut(s, ".")
	us, err := strconv.ParseInt(micros, 10, 64)
	if err != nil || !found {
		return HLC{}, fmt.Errorf("hybrid clock %q: want microseconds.counter", s)
	}
	n, err := strconv.ParseUint(logical, 10, 32)
	if err != nil {
		return HLC{}, fmt.Errorf("hybrid clock %q: want microseconds.counter", s)
	}
	return HLC{Micros: us, Logical: uint32(n)}, nil
}

// plainHLC reads a reading without a sign whose numbers are so short that they cannot be too large.
func plainHLC(s string) (h HLC, ok bool) {
	const micros, logical = 18, 9 // digits
	at := 0
	for ; at < len(s) && at < micros && s[at]-'0' <= 9; at++ {
		h.Micros = h.Micros*10 + int64(s[at]-'0')
	}
	if at == 0 || at == len(s) || s[at] != '.' {
		return HLC{}, false
	}
	rest := s[at+1:]
	if len(rest) == 0 || len(rest) > logical {
		return HLC{}, false
	}
	for i := range len(rest) {
		if rest[i]-'0' > 9 {
			return HLC{}, false
		}
		h.Logical = h.Logical*10 + uint32(rest[i]-'0')
	}
	return h, true
}
