package main

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// "docker network disconnect and connect by hand come back by themselves": a node notices
// that its machine has another address than the one that it chose. It does not while the
// machine has none, has both, or gets the old one back; nor with an address that was given.
func TestNoticesAnotherAddress(t *testing.T) {
	const chosen, other = "10.1.2.3/24", "172.19.0.4/16"
	for name, c := range map[string]struct {
		environ []string
		after   [][]string // the machine's addresses, second by second
		moved   bool
	}{
		"another":       {nil, [][]string{{}, {other}, {other}}, true},
		"none":          {nil, [][]string{{}, {}, {}}, false},
		"a second one":  {nil, [][]string{{other, chosen}, {other, chosen}}, false},
		"back again":    {nil, [][]string{{}, {other}, {other, chosen}, {chosen}}, false},
		"given":         {[]string{"RINGLEADER_GOSSIP_ADVERTISE=10.1.2.3"}, [][]string{{other}, {other}}, false},
		"bound to it":   {[]string{"RINGLEADER_GOSSIP_BIND=10.1.2.3:7946"}, [][]string{{other}, {other}}, false},
		"only loopback": {nil, [][]string{{"127.0.0.1/8"}, {"127.0.0.1/8"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, in := time.Now(), machine()
				in.environ = c.environ
				in.Addrs = func() ([]net.Addr, error) {
					second := int(time.Since(began) / time.Second)
					if second == 0 {
						return addresses(chosen)()
					}
					return addresses(c.after[min(second, len(c.after))-1]...)()
				}
				r, err := resolve(in)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				select {
				case m := <-r.moved(ctx):
					if !c.moved || m.From.String() != "10.1.2.3" || m.To.String() != "172.19.0.4" {
						t.Errorf("moved: %v", m)
					}
				case <-ctx.Done():
					if c.moved {
						t.Error("it was not noticed")
					}
				}
				synctest.Wait()
			})
		})
	}
}
