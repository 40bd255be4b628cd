package bench

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/ringleader-dev/ringleader/fence/fencehttp"
)

// proxy passes connections from a Unix socket on to the storage. So a worker whose network is cut
// still reaches the storage: tokens protect against a leader that the others have lost and that can
// still write. When the proxy has closed, nothing that came through it is under way any more.
type proxy struct {
	ln    net.Listener
	store string // host:port
	open  sync.WaitGroup
}

func openProxy(path, store string) (*proxy, error) {
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	p := &proxy{ln: ln, store: store}
	p.open.Go(p.accept)
	return p, nil
}

func (p *proxy) accept() {
	for {
		conn, err := p.ln.Accept()
		if err != nil {
			return // closed
		}
		p.open.Go(func() { p.pass(conn) })
	}
}

// pass copies in both directions. It ends when the storage has closed its end of the connection:
// then nothing of the connection is under way any more.
func (p *proxy) pass(conn net.Conn) {
	defer conn.Close()
	up, err := net.Dial("tcp", p.store)
	if err != nil {
		p.refuse(conn)
		return
	}
	defer up.Close()
	p.open.Go(func() {
		_, _ = io.Copy(up, conn)
		if tcp, ok := up.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
	})
	_, _ = io.Copy(conn, up)
}

// refuse tells the worker that the storage is down, so that the worker knows that its call had no
// effect.
func (p *proxy) refuse(conn net.Conn) {
	_, _ = conn.Read(make([]byte, 1)) // an answer before the question is none
	const problem = `{"title":"the storage is down","status":503}`
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"+
		"Content-Type: %s\r\nContent-Length: %d\r\n\r\n%s", fencehttp.ProblemType, len(problem), problem)
	if half, ok := conn.(*net.UnixConn); ok {
		_ = half.CloseWrite()
	}
	_, _ = io.Copy(io.Discard, conn) // what is left unread would reset the connection
}

// close waits until the storage has finished all that came through. The worker must have ended
// before.
func (p *proxy) close() error {
	err := p.ln.Close()
	p.open.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
