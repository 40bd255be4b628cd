// Package figures prints what was measured, for people.
package figures

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// Printer writes lines and keeps the first error.
type Printer struct {
	out io.Writer
	err error
}

// To returns a Printer to w.
func To(w io.Writer) *Printer { return &Printer{out: w} }

// Line writes a line.
func (p *Printer) Line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}

// Partial marks a table that is not what was asked for. what is counted may be empty.
func (p *Printer) Partial(done, of int, what string) {
	if done < of {
		p.Line("%s", strings.TrimSpace(fmt.Sprintf("PARTIAL: ended after %d of %d %s", done, of, what)))
	}
}

// Err is the first error.
func (p *Printer) Err() error { return p.err }

// Number has three digits or so that mean something.
func Number(x float64) string {
	switch {
	case x >= 1000 || x == float64(int(x)):
		return fmt.Sprintf("%.0f", x)
	case x >= 100:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// Millis is d in milliseconds, to the microsecond.
func Millis(d time.Duration) float64 { return math.Round(float64(d)/1e3) / 1e3 }
