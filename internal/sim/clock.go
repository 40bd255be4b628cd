package sim

import "time"

// epoch is the instant at which every run begins, in true time.
var epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// million turns parts per million into a ratio.
const million = 1_000_000

// clock is one machine's clock: wrong by an offset from the start, and fast or
// slow at a constant rate. It never goes back, and goes on through crashes.
// Whole numbers keep it the same on every processor.
type clock struct {
	offset   time.Duration
	driftPPM int64 // a million means twice as fast; above minus a million
}

// read is the clock's reading at true time t since the run began.
func (c clock) read(t time.Duration) time.Time {
	return epoch.Add(c.offset + scale(t, million+c.driftPPM, million))
}

// when is the earliest true time, since the run began, at which the clock reads
// at or later.
func (c clock) when(at time.Time) time.Duration {
	t := scale(at.Sub(epoch)-c.offset, million, million+c.driftPPM)
	for c.read(t).Before(at) {
		t++
	}
	return t
}

// scale is t·num/den, rounded towards zero, without overflow on the way for any
// time of less than a century.
func scale(t time.Duration, num, den int64) time.Duration {
	whole, rest := int64(t)/den, int64(t)%den
	return time.Duration(whole*num + rest*num/den)
}
