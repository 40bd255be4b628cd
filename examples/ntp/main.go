// NTP: "Who is the root server in a NTP hierarchy". The leader is the root, stratum 1: its clock is right by
// definition. The others, stratum 2, set theirs by it, so that the next root goes on with the same time.
//
//	go run ./examples/ntp -id 1 -wrong 1h    # in three shells: -id 2 -wrong -1h, -id 3
//	curl 127.0.0.1:7201/clock                # the stratum and the time of one node; kill the root
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/examples/internal/cluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// clock is the wrong clock of a machine, and by how much it was set right.
type clock struct {
	wrong *time.Duration
	right atomic.Int64
}

func (c *clock) now() time.Time {
	return time.Now().Add(*c.wrong + time.Duration(c.right.Load()))
}

func main() {
	own := &clock{wrong: flag.Duration("wrong", 0, "how wrong the clock of this machine is")}
	node := cluster.Join()
	http.HandleFunc("GET /clock", func(w http.ResponseWriter, _ *http.Request) {
		stratum := 2
		if node.Leader().ID == node.ID {
			stratum = 1
		}
		fmt.Fprintln(w, stratum, own.now().UnixNano())
	})
	go follow(node, own)
	node.Serve(func(_ context.Context, lease ringleader.Lease) (http.Handler, error) {
		root := http.NewServeMux()
		root.Handle("GET /root", cluster.Answer(func(*http.Request) (string, error) {
			return fmt.Sprintln(lease.Term(), own.now().UnixNano()), nil
		}))
		return root, nil
	})
}

// follow sets the clock by the root's (Cristian): what the root said is half a round trip old.
func follow(node *cluster.Node, own *clock) {
	var latest proto.Term
	for ; ; time.Sleep(50 * time.Millisecond) {
		sent := time.Now()
		answer, err := node.Ask("GET", "/root")
		trip := time.Since(sent)
		var term proto.Term
		var root int64
		if _, bad := fmt.Sscan(answer, &term, &root); err != nil || bad != nil {
			continue
		}
		if node.Leader().ID == node.ID || term < latest || trip > time.Second {
			continue // the root follows nobody; a root of before is none; and what is late says little
		}
		latest = term
		off := time.Unix(0, root).Add(trip / 2).Sub(own.now())
		own.right.Add(int64(off))
		fmt.Println("set by", off)
	}
}
