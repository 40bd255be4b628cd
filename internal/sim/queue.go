package sim

import "time"

// planned is an event that will happen.
type planned struct {
	at    time.Duration // true time since the run began
	order uint64
	do    func()
}

// queue is a heap of the future events of a run, ordered by time. Events of the same instant are in
// the order in which they were planned.
type queue struct {
	heap  []planned
	count uint64
}

// plan puts a call of do into the queue, for the time at.
func (q *queue) plan(at time.Duration, do func()) {
	q.count++
	q.heap = append(q.heap, planned{at: at, order: q.count, do: do})
	q.up(len(q.heap) - 1)
}

// peek returns the time of the next event. ok is false if there is none.
func (q *queue) peek() (at time.Duration, ok bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].at, true
}

// pop removes and returns the next event. The queue must not be empty.
func (q *queue) pop() planned {
	first, last := q.heap[0], len(q.heap)-1
	q.heap[0] = q.heap[last]
	q.heap[last] = planned{} // lets go of the closure
	q.heap = q.heap[:last]
	q.down(0)
	return first
}

func (q *queue) before(i, j int) bool {
	a, b := &q.heap[i], &q.heap[j]
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (q *queue) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !q.before(i, parent) {
			return
		}
		q.heap[i], q.heap[parent] = q.heap[parent], q.heap[i]
		i = parent
	}
}

func (q *queue) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(q.heap) {
			return
		}
		if child+1 < len(q.heap) && q.before(child+1, child) {
			child++
		}
		if !q.before(child, i) {
			return
		}
		q.heap[i], q.heap[child] = q.heap[child], q.heap[i]
		i = child
	}
}
