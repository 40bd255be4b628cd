package membership

import "sync"

// queue brings calls, in order, from any goroutine to the goroutine that owns the group's state. Posting
// never blocks: memberlist's callbacks hold its lock.
type queue struct {
	mu    sync.Mutex
	calls []func()
	ready chan struct{} // holds a value while calls wait
}

func newQueue() *queue { return &queue{ready: make(chan struct{}, 1)} }

// post adds f to the calls that the owner is to make.
func (q *queue) post(f func()) {
	q.mu.Lock()
	q.calls = append(q.calls, f)
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take empties the queue and returns the calls in it.
func (q *queue) take() []func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	calls := q.calls
	q.calls = nil
	return calls
}
