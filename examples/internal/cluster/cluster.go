// Package cluster is what the examples share: a node with flags that three shells differ in by one
// number, requests that only the leader answers, and what the leader keeps in a fenced storage.
package cluster

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/fence/kv"
)

// Node is a node of an example, one of three.
type Node struct {
	*ringleader.Node
	ID    ringleader.NodeID
	Addrs []string  // at which the nodes answer requests: that of node 1 is the first
	Store kv.Client // of `ringleader fence`
	Dir   string    // of this node's own data
	http  net.Listener
}

// Join starts the node that the flags describe. It joins a cluster named after the program.
func Join() *Node {
	id := flag.Uint64("id", 1, "the number of this node: 1, 2 or 3")
	gossip := flag.String("gossip", "127.0.0.1:7101,127.0.0.1:7102,127.0.0.1:7103", "where the nodes meet")
	serve := flag.String("http", "127.0.0.1:7201,127.0.0.1:7202,127.0.0.1:7203", "where they answer requests")
	storage := flag.String("store", "http://127.0.0.1:7949", "the storage that looks at tokens")
	data := flag.String("data", "ringleader-data", "the directory for what must survive a crash")
	flag.Parse()
	name, meet := filepath.Base(os.Args[0]), strings.Split(*gossip, ",")
	n := &Node{
		ID: ringleader.NodeID(*id), Addrs: strings.Split(*serve, ","), Store: kv.NewClient(*storage),
		Dir: filepath.Join(*data, name, fmt.Sprint(*id)),
	}
	var err error
	if n.http, err = net.Listen("tcp", n.Addrs[*id-1]); err != nil {
		log.Fatal(err)
	}
	n.Node, err = ringleader.Start(context.Background(), ringleader.Config{
		ID: n.ID, Voters: []ringleader.NodeID{1, 2, 3}, Cluster: name, DataDir: n.Dir,
		Join: meet, GossipBind: meet[*id-1], ElectionBind: "127.0.0.1:0",
	})
	if err != nil {
		log.Fatal(err)
	}
	return n
}
