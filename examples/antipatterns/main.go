// The notes' three anti-patterns, each beside the right way, with the same faults:
//
//	go run ./examples/antipatterns
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ringleader-dev/ringleader"
)

func main() {
	dir, err := os.MkdirTemp("", "antipatterns-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var bad, good storage
	show("No fencing: the leader is paused between am_i_leader() and do_write()", "acknowledged writes lost",
		unfenced(filepath.Join(dir, "bad-fencing"), &bad, bad.write),
		unfenced(filepath.Join(dir, "fencing"), &good, good.writeFenced))
	show("A clock decides: five times, somebody sets a machine's clock", "times two led",
		clockDecides(), votesDecide(filepath.Join(dir, "clock")))
	show("A ping decides: five nodes are cut into three and two", "leader too many",
		partition(filepath.Join(dir, "ping"), nil)-1,
		partition(filepath.Join(dir, "votes"), []ringleader.NodeID{1, 2, 3, 4, 5})-1)
}

// show prints what was counted.
func show(fault, counted string, bad, right int) {
	fmt.Printf("%s\n    bad way: %d %s; right way: %d\n", fault, bad, counted, right)
}
