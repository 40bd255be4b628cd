package main

import (
	"context"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/fence"
)

const rows = 5

// storage has some rows, and the highest token that it has seen.
type storage struct {
	row     [rows]string
	highest fence.Token
}

// write is of the bad way: whoever believes that he leads may write.
func (s *storage) write(_ fence.Token, row int, value string) { s.row[row] = value }

// writeFenced is of the right way: "Storage validates token".
func (s *storage) writeFenced(token fence.Token, row int, value string) {
	if fence.Admit(s.highest, token) == nil {
		s.highest, s.row[row] = token, value
	}
}

type leader struct {
	node  *ringleader.Node
	token fence.Token
}

// unfenced lets the leader be paused in the middle of `if am_i_leader(): do_write()`, by its garbage collector
// for instance. Meanwhile another leads, and writes all rows. It counts those that are lost when the first one
// wakes up.
func unfenced(dir string, s *storage, write func(fence.Token, int, string)) (lost int) {
	nodes := side(dir, []ringleader.NodeID{1, 2, 3}, 1, 2, 3)
	defer leave(nodes...)
	leaders, wake := make(chan leader), make(chan bool)
	defer close(wake)
	for _, n := range nodes {
		whenLeading(n, func(_ context.Context, lease ringleader.Lease) {
			if lease.Valid() { // if am_i_leader():
				leaders <- leader{n, lease.Token()}
				<-wake
			}
		})
	}
	paused := <-leaders
	go func() { _ = paused.node.Resign(context.Background(), "paused: it renews its lease no more") }()
	next := <-leaders // when the lease of the first has ended
	for row := range rows {
		write(next.token, row, "of the present leader")
	}
	for row := range rows { // the first wakes up, and believes that it has just looked: do_write()
		write(paused.token, row, "of the former leader")
	}
	for _, value := range s.row {
		if value != "of the present leader" {
			lost++
		}
	}
	return lost
}
