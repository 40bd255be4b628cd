package main

import (
	"testing"

	"github.com/ringleader-dev/ringleader/internal/smalldisk"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// "The node ends when it has to save more than it set room aside for, with what to do;
// nothing that was promised is lost": here a voter that now and then leads.
func TestDiskFullUnderAVoter(t *testing.T) {
	dir := smalldisk.Mount(t, "96k")
	e := newE2E(t, "bully", 3, append([]string{"--voters", "1-3", "--preempt=false"}, calm...)...)
	e.check(e.Start(1))
	e.check(e.Start(2))
	e.check(e.Start(3, "--data-dir", dir))
	before := e.agreed()
	free := smalldisk.Fill(t, dir)
	ended := make(chan int, 1)
	go func() {
		code, err := e.WaitExit(e.ctx, 3)
		if err != nil {
			code = -1
		}
		ended <- code
	}()
	for to := proto.NodeID(1); len(ended) == 0; to = 4 - to {
		// Each transfer is a vote. Some fail: the leader may end in the middle.
		_, _ = e.do(2, httpapi.Transfer, httpapi.Order{To: to})
	}
	if code := <-ended; code != exitError {
		t.Errorf("ended with code %d, want %d", code, exitError)
	}
	e.logs(3, "no space left on device")
	e.logs(3, "writable with some space left, and start the node again")
	// It gave nothing back: its kernel proves its death, and nobody waits.
	e.logs(1, `"event":"gone","detail":"3 `)
	e.logs(2, `"event":"gone","detail":"3 `)
	now := e.agreed(1, 2)
	if now.Term <= before.Term {
		t.Errorf("term %d after %d", now.Term, before.Term)
	}
	free()
	e.check(e.Start(3, "--data-dir", dir))
	if b := e.agreed(); b.Term < now.Term {
		t.Errorf("term %d after %d", b.Term, now.Term)
	}
}
