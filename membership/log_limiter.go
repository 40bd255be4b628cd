package membership

import (
	"cmp"
	"sync"
	"time"
)

// How many subjects a logLimiter remembers, and for how long, unless it says otherwise.
const (
	maxLogged   = 256
	limitPeriod = time.Hour
)

// logLimiter keeps a log short. It lets a subject's reason through once, until the reason changes. It forgets
// everything after a period, and lets only so many reasons through in a period, so that nobody can fill the log from
// outside. Any goroutine may call its methods.
type logLimiter struct {
	period time.Duration // limitPeriod if it is zero
	most   int           // reasons in a period; maxLogged if it is zero

	mu     sync.Mutex
	since  time.Time
	count  int
	reason map[string]string
}

// first reports whether the subject's reason is to be logged now.
func (l *logLimiter) first(subject, reason string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reason == nil || now.Sub(l.since) > cmp.Or(l.period, limitPeriod) {
		l.since, l.count, l.reason = now, 0, make(map[string]string)
	}
	said, ok := l.reason[subject]
	if ok && said == reason || l.count >= cmp.Or(l.most, maxLogged) {
		return false
	}
	l.count++
	l.reason[subject] = reason
	return true
}

// forget forgets the subject's last reason, so that first lets its next one through even if it is the same.
func (l *logLimiter) forget(subject string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.reason, subject)
}
