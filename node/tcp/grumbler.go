package tcp

import (
	"sync"
	"time"
)

const (
	maxGrudges   = 512
	grudgePeriod = time.Minute
)

// grumbler keeps the log readable while something stays wrong: a complaint is
// new once for each offender and reason, until the offender is forgiven. One
// who comes under ever new names is not new for ever: when too many are
// remembered, nothing is new until a minute after the first of them.
type grumbler struct {
	mu    sync.Mutex
	since time.Time
	heard map[string]uint32 // a bit a reason
}

// first reports whether the complaint is new.
func (g *grumbler) first(who string, r reason) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if g.heard == nil || len(g.heard) >= maxGrudges && now.Sub(g.since) > grudgePeriod {
		g.heard, g.since = map[string]uint32{}, now
	}
	heard, known := g.heard[who]
	if heard&(1<<r) != 0 || !known && len(g.heard) >= maxGrudges {
		return false
	}
	g.heard[who] = heard | 1<<r
	return true
}

// forgive makes every complaint about who new again.
func (g *grumbler) forgive(who string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.heard, who)
}
