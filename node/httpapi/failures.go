package httpapi

import (
	"container/list"
	"sync"
	"time"
)

const (
	// failuresAtOnce is how many wrong tokens a source may send one after another, and failureEvery how long it then
	// waits for each more.
	failuresAtOnce = 5
	failureEvery   = time.Second
	// maxFailing is how many sources are remembered.
	maxFailing = 1024
)

// failures limits how often a source may send a wrong token: each has a bucket of failuresAtOnce tries. Of the
// sources it remembers those that failed last. Any goroutine may call its methods.
type failures struct {
	mu      sync.Mutex
	sources map[string]*list.Element
	order   list.List // of *failing; the one that failed longest ago is the first
}

// failing is a source that sent wrong tokens.
type failing struct {
	from string
	full time.Time // when its bucket is full again
}

// add counts a failure of a source. It returns how long the source must wait until it may fail again: 0 if it may
// do so this time. A failure above the limit does not make the wait longer.
func (f *failures) add(from string, now time.Time) (wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, known := f.sources[from]
	if !known {
		if f.order.Len() >= maxFailing {
			delete(f.sources, f.order.Remove(f.order.Front()).(*failing).from)
		}
		if f.sources == nil {
			f.sources = map[string]*list.Element{}
		}
		at = f.order.PushBack(&failing{from: from})
		f.sources[from] = at
	}
	f.order.MoveToBack(at)
	source := at.Value.(*failing)
	if source.full.Before(now) {
		source.full = now
	}
	if wait = source.full.Sub(now) - (failuresAtOnce-1)*failureEvery; wait > 0 {
		return wait
	}
	source.full = source.full.Add(failureEvery)
	return 0
}
