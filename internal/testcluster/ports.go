package testcluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// loopback is the IP that every node binds and advertises, unless the Config has Hosts.
const loopback = "127.0.0.1"

// HoldPorts draws ports below the ranges from which kernels take ports for outgoing
// connections (Linux from 32768, the BSDs from 49152). So a node that was killed
// finds its ports still free when it comes back.
//
// It draws ports in blocks. The process that listens on the first port of a block owns
// the block. So no other process draws a port that is unused for a while because its
// node starts late or was killed.
const (
	lowestPort = 10000
	blockSize  = 16
	blocks     = 20000 / blockSize
	blockTries = 1000
)

// errNoPort says that no free port was found in blockTries draws.
var errNoPort = errors.New("no free port on 127.0.0.1")

// Ports are addresses on loopback that are reserved for this process, until it ends or releases
// them.
type Ports struct {
	Addrs []string // "127.0.0.1:port"
	locks []net.Listener
}

// HoldPorts reserves n ports that nobody uses, neither over TCP nor over UDP. No other caller gets
// them, in this process or another.
func HoldPorts(n int) (*Ports, error) {
	p := &Ports{}
	for range blockTries {
		if len(p.Addrs) >= n {
			p.Addrs = p.Addrs[:n]
			return p, nil
		}
		p.hold(lowestPort + blockSize*rand.IntN(blocks))
	}
	p.Release()
	return nil, fmt.Errorf("%w: %d of %d found in ports %d to %d",
		errNoPort, len(p.Addrs), n, lowestPort, lowestPort+blocks*blockSize-1)
}

// hold reserves the block that begins with the port first, and adds the free ports of the block. If
// another owner has the block, it does nothing.
func (p *Ports) hold(first int) {
	lock, err := net.Listen("tcp4", onLoopback(first))
	if err != nil {
		return
	}
	p.locks = append(p.locks, lock)
	for port := first + 1; port < first+blockSize; port++ {
		if addr := onLoopback(port); isFree(addr) {
			p.Addrs = append(p.Addrs, addr)
		}
	}
}

func onLoopback(port int) string { return fmt.Sprintf("%s:%d", loopback, port) }

// isFree reports whether nobody uses the port.
func isFree(addr string) bool {
	tcp, err := net.Listen("tcp4", addr)
	if err != nil {
		return false
	}
	_ = tcp.Close()
	udp, err := net.ListenPacket("udp4", addr)
	if err != nil {
		return false
	}
	_ = udp.Close()
	return true
}

// Release releases the ports.
func (p *Ports) Release() {
	for _, lock := range p.locks {
		_ = lock.Close()
	}
	p.locks = nil
}
