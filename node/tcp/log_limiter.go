package tcp

import (
	"sync"
	"time"
)

const (
	maxOffenders = 512
	limitPeriod  = time.Minute
)

// logLimiter keeps the log readable while something stays wrong. It lets a complaint through once for each
// peer and reason, until forget names the peer. It remembers at most maxOffenders peers; then it lets no
// complaint about other peers through, until limitPeriod after it heard of the first. Any goroutine may call
// its methods.
type logLimiter struct {
	mu    sync.Mutex
	since time.Time
	heard map[string]uint32 // one bit for each reason
}

// first reports whether the complaint is to be logged.
func (l *logLimiter) first(who string, r reason) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.heard == nil || len(l.heard) >= maxOffenders && now.Sub(l.since) > limitPeriod {
		l.heard, l.since = map[string]uint32{}, now
	}
	heard, known := l.heard[who]
	if heard&(1<<r) != 0 || !known && len(l.heard) >= maxOffenders {
		return false
	}
	l.heard[who] = heard | 1<<r
	return true
}

// forget lets complaints about who through again.
func (l *logLimiter) forget(who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.heard, who)
}
