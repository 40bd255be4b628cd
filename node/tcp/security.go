package tcp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"syscall"

	"github.com/ringleader-dev/ringleader/proto"
)

// Security proves which node is at the other end of a connection, and encrypts what is sent. Any goroutine may call
// its methods. They wait for the other end; whoever calls them has limited the time by deadlines of the connection.
//
// Nobody may close the connection that it returns: a close would send a good-bye inside TLS, which looks like the
// end of a dead process. A Transport resets the connection below.
type Security interface {
	// Dial does the handshake on a connection to the node wanted; zero is any node. It returns the node that is
	// there.
	Dial(conn net.Conn, wanted proto.NodeID) (net.Conn, proto.NodeID, error)
	// Accept does the handshake on a connection that a node dialled, and returns the node. It gives up when ctx is
	// done, and may then close conn, which was reset.
	Accept(ctx context.Context, conn net.Conn) (net.Conn, proto.NodeID, error)
	// Check returns why the node at the other end of a connection, that Dial or Accept returned, is not believed any
	// more; nil if it is. An error with a method Expired() bool that returns true says that the certificate has
	// expired with which the node made the connection: it may have another one by now.
	Check(conn net.Conn) error
}

// secured is a connection under TLS. All but Read and Write is of the connection below, so that nobody says a
// good-bye inside TLS: see Security.
type secured struct {
	net.Conn          // of the Network
	sealed   net.Conn // what Security returned
}

func (c secured) Read(b []byte) (int, error)  { return c.sealed.Read(b) }
func (c secured) Write(b []byte) (int, error) { return c.sealed.Write(b) }

// secureDialled puts Security between this node and a connection that it dialled. Without Security it returns conn.
// The id is that of the node there; zero if nothing proves it.
func (t *Transport) secureDialled(conn net.Conn, wanted proto.NodeID) (net.Conn, proto.NodeID, error) {
	if t.cfg.Security == nil {
		return conn, 0, nil
	}
	c, id, err := t.cfg.Security.Dial(conn, wanted)
	if err != nil {
		return nil, 0, insecure(err)
	}
	return secured{conn, c}, id, nil
}

// secureAccepted is what secureDialled is, for a connection that somebody dialled.
func (t *Transport) secureAccepted(ctx context.Context, conn net.Conn) (net.Conn, proto.NodeID, error) {
	if t.cfg.Security == nil {
		return conn, 0, nil
	}
	c, id, err := t.cfg.Security.Accept(ctx, conn)
	if err != nil {
		return nil, 0, insecure(err)
	}
	return secured{conn, c}, id, nil
}

// insecure says in words why a handshake of TLS failed. Errors of the network stay what they are, since they tell
// how a process ends.
func insecure(err error) error {
	if isTimeout(err) || isDying(err) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, net.ErrClosed) {
		return err
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return faultf(plaintext, "the other end speaks without TLS: it runs without credentials, or is no node; "+
			"start all nodes of a cluster with credentials, or all without")
	}
	return refusedByPeer(err)
}

// refusedByPeer says in words what an alert of TLS means. It returns any other error as the fault that this node does
// not believe the other end.
func refusedByPeer(err error) error {
	op, ok := errors.AsType[*net.OpError](err)
	if ok && op.Op == "remote error" {
		return faultf(unproven, "the other end does not believe this node's credentials, as its log explains (%v)",
			op.Err)
	}
	return faultf(unproven, "the other end does not prove who it is: %v", err)
}

// alerted returns err, in words if it is an alert of TLS: a node that dialled learns only after its own handshake
// whether the other end believes it.
func alerted(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" {
		return refusedByPeer(err)
	}
	return err
}

// proves returns an error unless the node that was proven, if any, is the one that the other end says it is.
func proves(proven, said proto.NodeID) error {
	if proven != 0 && proven != said {
		return faultf(unproven, "it says that it is node %v, and its credentials are node %v's", said, proven)
	}
	return nil
}

// isTLS reports whether a frame's header is the beginning of a handshake of TLS.
func isTLS(header [headerLen]byte) bool { return header[0] == 0x16 && header[1] == 0x03 }

// Recheck ends each connection whose other end is not believed any more: its credentials were revoked, or expired,
// or are of an authority that this node does not know now. It does nothing without Config.Security.
func (t *Transport) Recheck() {
	if t.cfg.Security == nil {
		return
	}
	for id, p := range *t.peers.Load() {
		for _, l := range []*link{p.link.Load(), p.silent.conn.Load()} {
			if l != nil {
				t.recheck(l.conn, callerName(l.conn, id))
			}
		}
	}
	for _, in := range t.inbound.all() {
		t.recheck(in.conn, in.name())
	}
}

func (t *Transport) recheck(conn net.Conn, who string) {
	s, ok := conn.(secured)
	if !ok {
		return
	}
	err := t.cfg.Security.Check(s.sealed)
	if err == nil {
		return
	}
	type expiry interface {
		error
		Expired() bool
	}
	if e, ok := errors.AsType[expiry](err); ok && e.Expired() {
		t.cfg.Log.Info().Msgf("ended the link with %s: %v; if it was renewed in time, the link is made anew with the "+
			"new one", who, err)
	} else {
		t.counts.add(unproven, 1)
		t.complain(who, unproven, "ended the link with %s: %v", who, err)
	}
	reset(conn)
}
