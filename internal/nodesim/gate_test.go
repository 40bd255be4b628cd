package nodesim

import "sync"

// gate is between a process and the world. Whatever the process does to the world, and
// each look at its clock, passes it. So a process that is paused does nothing, and one
// that was killed does nothing any more, though its goroutines still have to end.
type gate struct {
	mu       sync.Mutex
	shut     chan struct{} // not nil while paused; closed at its end
	dead     bool
	deferred []func() // what a paused process will have its kernel do
}

// pass returns once the process goes on; false when it is dead.
func (g *gate) pass() bool {
	for {
		g.mu.Lock()
		shut, dead := g.shut, g.dead
		g.mu.Unlock()
		if dead || shut == nil {
			return !dead
		}
		<-shut
	}
}

// later does do now, or when the pause is over, or never when the process is dead. It is
// called, and calls, with the network's mutex held.
func (g *gate) later(do func()) {
	g.mu.Lock()
	if g.shut != nil {
		g.deferred = append(g.deferred, do)
		do = func() {}
	}
	if g.dead {
		do = func() {}
	}
	g.mu.Unlock()
	do()
}

func (g *gate) isDead() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dead
}

func (g *gate) isPaused() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut != nil
}

func (g *gate) pause() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil && !g.dead {
		g.shut = make(chan struct{})
	}
}

// resume ends a pause, and returns what is to be done with the network's mutex held.
func (g *gate) resume() []func() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil {
		return nil
	}
	close(g.shut)
	todo := g.deferred
	g.shut, g.deferred = nil, nil
	return todo
}

func (g *gate) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dead, g.deferred = true, nil
	if g.shut != nil {
		close(g.shut)
		g.shut = nil
	}
}
