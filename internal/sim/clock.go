package sim

import "time"

// beginning is the instant at which every run begins, in true time.
var beginning = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// million turns parts per million into a ratio.
const million = 1_000_000

// clock is one machine's clock. It differs from true time by an offset, and runs fast or slow at a
// constant rate. It never goes back, and goes on through crashes. It is computed in whole numbers,
// so it is the same on every processor.
type clock struct {
	offset   time.Duration
	driftPPM int64 // 1,000,000 means twice as fast; must be above -1,000,000
}

// read returns what the clock shows at the true time t since the run began.
func (c clock) read(t time.Duration) time.Time {
	return beginning.Add(c.offset + scale(t, million+c.driftPPM, million))
}

// when returns the first true time, counted from the start of the run, when the clock has reached
// the time at.
func (c clock) when(at time.Time) time.Duration {
	t := scale(at.Sub(beginning)-c.offset, million, million+c.driftPPM)
	for c.read(t).Before(at) {
		t++
	}
	return t
}

// scale returns t·num/den, rounded towards zero. It does not overflow for times of less than a
// century.
func scale(t time.Duration, num, den int64) time.Duration {
	whole, rest := int64(t)/den, int64(t)%den
	return time.Duration(whole*num + rest*num/den)
}
