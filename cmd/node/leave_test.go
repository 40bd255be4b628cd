package main

import (
	"testing"

	"github.com/ringleader-dev/ringleader/proto"
)

// "All are being stopped at once, as it seems": the leader waits for no successor.
func TestAllStoppedAtOnce(t *testing.T) {
	for name, args := range map[string][]string{"office": {"--voters", "1-3"}, "best-effort": nil} {
		t.Run(name, func(t *testing.T) {
			e := newE2E(t, "bully", 3, append(args, calm...)...)
			e.check(e.StartAll())
			e.leads(3)
			for id := proto.NodeID(1); id <= 3; id++ {
				e.check(e.Terminate(id))
			}
			e.exits(3, exitOK)
			e.logs(3, "no other node is there that could lead")
		})
	}
}
