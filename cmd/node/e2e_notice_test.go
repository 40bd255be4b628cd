package main

import (
	"encoding/binary"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/node/statefile"
	"github.com/ringleader-dev/ringleader/proto"
)

// "Versions are bounded before they are kept, and an operator's command always wins": one
// UDP packet of 21 bytes to each node pauses no cluster for longer than an operator wants.
func TestAForgedPause(t *testing.T) {
	e := newE2E(t, "bully", 3, "--voters", "1-3")
	e.check(e.StartAll())
	e.agreed()
	forge := func(version uint64) {
		const user, notice = 8, 'N' // the message type of memberlist, and ours
		packet := binary.BigEndian.AppendUint64([]byte{user, notice}, version)
		packet = binary.BigEndian.AppendUint64(packet, 9) // by this node
		packet = append(packet, 0, 1, 'x')
		for _, n := range e.Nodes() {
			conn, err := net.Dial("udp", n.Gossip)
			e.check(err)
			_, err = conn.Write(packet)
			e.check(err)
			e.check(conn.Close())
		}
	}
	forged := func(s httpapi.Status) bool { return strings.HasSuffix(s.Ineligible, "x") }
	resume := func(at proto.NodeID) {
		e.must(at, httpapi.Resume, httpapi.Order{Cluster: true})
		for _, n := range e.Nodes() {
			e.status(n.ID, func(s httpapi.Status) bool { return s.Ineligible == "" })
			e.kept(n.ID, `"text":""`)
		}
		e.agreed()
	}

	forge(1<<63 - 1)
	e.eventually(func() string {
		for _, n := range e.Nodes() {
			s, err := httpapi.Client{Addr: n.HTTP}.Status(e.Context())
			if err != nil || !forged(s) && !strings.Contains(e.Log(n.ID), "dropped a notice") {
				return "a packet did not come"
			}
		}
		return ""
	})
	resume(1)

	forge(uint64(time.Now().UnixMicro())) // the highest that is taken
	for _, n := range e.Nodes() {
		e.status(n.ID, forged)
	}
	resume(2)

	for _, n := range e.Nodes() {
		_, err := e.Kill(n.ID)
		e.check(err)
	}
	disk, _, err := statefile.Open(e.Node(3).DataDir, e.owner(3)) // as one was left before there was a bound
	e.check(err)
	e.check(disk.SaveNotice(statefile.Notice{Version: 1<<63 - 1, Origin: 9, Text: "x"}))
	e.check(disk.Close())
	e.check(e.Start(3))
	e.status(3, forged)
	e.must(3, httpapi.Resume, httpapi.Order{Cluster: true})
	e.kept(3, `"text":""`)
	e.check(e.Start(1))
	e.check(e.Start(2))
	e.agreed()
}
