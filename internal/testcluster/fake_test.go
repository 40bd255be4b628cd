package testcluster

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// The test binary is also the node under test, and the owner of a Cluster that
// dies without closing it.
const roleEnv = "CLUSTER_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "owner":
		fakeOwner()
	case "node":
		os.Exit(fakeNode(os.Args[1:]))
	default:
		os.Exit(m.Run())
	}
}

// fakeNode writes one record that names the leader it is told to name, then
// waits for SIGTERM, or ends at once when it is told an exit code.
func fakeNode(args []string) int {
	flags := flag.NewFlagSet("run", flag.ExitOnError)
	id := flags.Uint64("id", 0, "")
	leader := flags.Uint64("leader", 0, "")
	end := flags.Int("exit", -1, "")
	for _, ignored := range []string{
		"algorithm", "profile", "gossip-bind", "election-bind", "http-bind", "data-dir",
		"log-format", "join",
	} {
		flags.String(ignored, "", "")
	}
	_ = flags.Parse(args[1:]) // ends the process by itself
	told, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fmt.Println("not a record")
	trace.Write(zerolog.New(os.Stderr), trace.Record{
		Time: time.Now(), Node: *id, Seq: 1, HLC: strconv.FormatUint(100-*id, 10) + ".0",
		Event: "start", Term: 7, Leader: *leader,
	})
	if *end >= 0 {
		fmt.Fprintln(os.Stderr, "the last words")
		return *end
	}
	<-told.Done()
	return 3
}

// fakeOwner starts a Cluster, prints the pids of its nodes and waits to be
// killed.
func fakeOwner() {
	c, err := fakeCluster(2)
	if err == nil {
		err = c.StartAll()
	}
	if err != nil {
		panic(err)
	}
	for _, n := range c.Nodes() {
		fmt.Println(c.PID(n.ID))
	}
	fmt.Println()
	select {}
}

// fakeCluster is a Cluster of fake nodes.
func fakeCluster(nodes int, args ...string) (*Cluster, error) {
	if err := os.Setenv(roleEnv, "node"); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return New(Config{Binary: self, Nodes: nodes, Algorithm: "bully", Args: args})
}
