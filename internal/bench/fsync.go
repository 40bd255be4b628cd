package bench

import (
	"errors"
	"os"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/chart"
)

// fsyncs is how many fsyncs are measured for one sample, which is their median.
const fsyncs = 5

// fsyncTime measures a small write with its fsync, in milliseconds. It writes to the directory for
// temporary files, where the nodes keep their votes too.
func fsyncTime() (took float64, err error) {
	f, err := os.CreateTemp("", "ringleader-fsync-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	var times []float64
	for range fsyncs {
		began := time.Now()
		if _, err := f.WriteAt(make([]byte, 128), 0); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		times = append(times, chart.Millis(time.Since(began)))
	}
	slices.Sort(times)
	return times[fsyncs/2], nil
}
