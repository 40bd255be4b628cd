package cluster

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
)

// loopback is where every node binds and advertises.
const loopback = "127.0.0.1"

// Ports are drawn below the ranges that kernels take ports for outgoing
// connections from (Linux from 32768, the BSDs from 49152). So a node that was
// killed finds its ports still free when it comes back.
const (
	lowestPort  = 10000
	highestPort = 29999
	portTries   = 1000
)

// errNoPort says that no free port was found in portTries draws.
var errNoPort = errors.New("no free port on 127.0.0.1")

// FreeAddresses returns n distinct addresses on loopback whose port nobody uses,
// neither over TCP nor over UDP, as "127.0.0.1:port". All are held until the
// last is found.
func FreeAddresses(n int) ([]string, error) {
	var held []io.Closer
	defer func() {
		for _, h := range held {
			_ = h.Close()
		}
	}()
	addrs := make([]string, 0, n)
	for range portTries {
		if len(addrs) == n {
			return addrs, nil
		}
		port := lowestPort + rand.IntN(highestPort-lowestPort+1)
		addr := fmt.Sprintf("%s:%d", loopback, port)
		tcp, err := net.Listen("tcp4", addr)
		if err != nil {
			continue
		}
		held = append(held, tcp)
		udp, err := net.ListenPacket("udp4", addr)
		if err != nil {
			continue
		}
		held = append(held, udp)
		addrs = append(addrs, addr)
	}
	return nil, fmt.Errorf("%w: %d of %d found in ports %d to %d",
		errNoPort, len(addrs), n, lowestPort, highestPort)
}
