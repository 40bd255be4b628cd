package main

import (
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// "All are being stopped at once, as it seems": the leader waits for no successor. It is told
// last, once it knows that the others leave: one that does not know it yet leads.
func TestAllStoppedAtOnce(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"lease": {"--voters", "1-3", "--lease", "30s"}, "best-effort": nil} {
		t.Run(name, func(t *testing.T) {
			e := newE2E(t, "bully", 3, append(args, calm...)...)
			e.check(e.StartAll())
			e.leads(3)
			for _, id := range []proto.NodeID{1, 2} {
				told := e.leaves(id)
				e.check(e.Wait(e.ctx, func() bool {
					_, knows := e.recorded(told, func(r trace.Record) bool {
						return r.Node == 3 && strings.Contains(r.Evidence, "left "+id.String())
					})
					return knows
				}))
			}
			e.check(e.Terminate(3))
			e.exits(3, exitOK)
			e.logs(3, "no other node is there that could lead")
		})
	}
}
