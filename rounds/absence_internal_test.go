package rounds

import (
	"testing"
	"time"
)

// Two nodes may see a third again at the same instant. Whoever looks for the next time after
// that instant finds a later one: the explanation of such logs never ended.
func TestFirstAfterSeveralAtOnce(t *testing.T) {
	at := time.Unix(100, 0)
	for _, tt := range []struct {
		times []time.Time
		want  time.Time
	}{
		{[]time.Time{at, at, at, at.Add(1)}, at.Add(1)},
		{[]time.Time{at, at}, time.Time{}},
	} {
		if got := firstAfter(tt.times, at); !got.Equal(tt.want) {
			t.Errorf("after %v comes %v, want %v", at, got, tt.want)
		}
	}
}
