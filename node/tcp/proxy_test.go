package tcp

import (
	"bufio"
	"io"
	"net"
	"sync"
	"testing"
)

// proxy stands between two nodes and can cut what runs through it.
type proxy struct {
	addr  string
	mu    sync.Mutex
	to    string
	conns []net.Conn
	dark  bool
	light sync.Cond // dark changed
}

func newProxy(t testing.TB, to string) *proxy {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{addr: ln.Addr().String(), to: to}
	p.light.L = &p.mu
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			if out := p.pair(in); out != nil {
				wg.Go(func() { p.relay(out, in) })
				wg.Go(func() { p.relay(in, out) })
			}
		}
	})
	t.Cleanup(func() { _ = ln.Close(); p.stall(false); p.cut(); wg.Wait() })
	return p
}

// pair connects in to the target.
func (p *proxy) pair(in net.Conn) net.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	out, err := net.Dial("tcp", p.to)
	if err != nil {
		_ = in.Close()
		return nil
	}
	p.conns = append(p.conns, in, out)
	return out
}

// relay copies small pieces, so that a cut falls between any two bytes.
func (p *proxy) relay(to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	_, _ = io.CopyBuffer(gate{p, to}, bufio.NewReaderSize(from, 16), make([]byte, 97))
}

// gate lets bytes through unless the proxy is dark.
type gate struct {
	p  *proxy
	to net.Conn
}

func (g gate) Write(b []byte) (int, error) {
	g.p.mu.Lock()
	for g.p.dark {
		g.p.light.Wait()
	}
	g.p.mu.Unlock()
	return g.to.Write(b)
}

// stall keeps every byte back from now on, as a cut network does, or lets them
// go on.
func (p *proxy) stall(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dark = yes
	p.light.Broadcast()
}

// cut ends every connection that runs through the proxy.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

// aim sends the connections from now on to another address.
func (p *proxy) aim(to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = to
}
