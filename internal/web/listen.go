package web

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Source returns what counts as one client of those at an address, as host:port: an IPv4 address, or the /64 of an
// IPv6 address, since one machine can have all addresses of that. It is "" for what is no such address.
func Source(remote string) string {
	from, err := netip.ParseAddrPort(remote)
	if err != nil {
		return ""
	}
	addr := from.Addr().Unmap().WithZone("")
	if addr.Is4() {
		return addr.String()
	}
	net64, _ := addr.Prefix(64) // fails for more bits than an address has
	return net64.String()
}

// encrypted is a listener of connections under TLS. It answers in words to one who speaks plain HTTP.
type encrypted struct {
	net.Listener
	tls    func(net.Conn) *tls.Conn
	answer []byte
}

func (e encrypted) Accept() (net.Conn, error) {
	conn, err := e.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return e.tls(&opening{Conn: conn, answer: e.answer}), nil
}

// opening is a connection whose first byte says whether it is one of TLS.
type opening struct {
	net.Conn
	answer []byte
	seen   bool
}

const (
	tlsHandshake = 0x16 // the type of the first record of a connection of TLS
	drained      = 64 << 10
	drainFor     = 500 * time.Millisecond
)

var errPlainHTTP = errors.New("the client speaks plain HTTP")

func (o *opening) Read(b []byte) (int, error) {
	n, err := o.Conn.Read(b)
	if n == 0 || o.seen {
		return n, err
	}
	o.seen = true
	if b[0] == tlsHandshake || b[0] < 'A' || b[0] > 'Z' { // methods of HTTP are in capitals
		return n, err
	}
	o.refuse()
	return 0, errPlainHTTP
}

// refuse answers with 400. Then it reads on for a moment: a connection that is closed with something unread is
// reset, and the answer is lost.
func (o *opening) refuse() {
	_ = o.SetDeadline(time.Now().Add(drainFor))
	_, err := fmt.Fprintf(o.Conn, "HTTP/1.1 400 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
		"Connection: close\r\n\r\n%s", http.StatusText(http.StatusBadRequest), len(o.answer), o.answer)
	if half, ok := o.Conn.(interface{ CloseWrite() error }); ok && err == nil {
		err = half.CloseWrite()
	}
	if err == nil {
		_, _ = io.CopyN(io.Discard, o.Conn, drained)
	}
}
