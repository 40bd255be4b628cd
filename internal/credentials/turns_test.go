package credentials

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// accepting is a node to which somebody dials, over a pipe.
type accepting struct {
	*testing.T
	*Keeper
	peer *Keeper
}

func newAccepting(t *testing.T) accepting {
	a, err := NewAuthority(t.TempDir(), "blue")
	if err != nil {
		t.Fatal(err)
	}
	var keepers [2]*Keeper
	for i := range keepers {
		who := Identity{Cluster: "blue", ID: proto.NodeID(i + 1)}
		dir, err := a.Issue(who, nil, time.Hour)
		if err == nil {
			keepers[i], err = Open(dir, who)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return accepting{t, keepers[0], keepers[1]}
}

// answers has the node accept a connection. It returns the other end, and what comes of it.
func (a accepting) answers(ctx context.Context) (conn net.Conn, done chan error) {
	here, there := net.Pipe()
	a.Cleanup(func() { _, _ = here.Close(), there.Close() })
	done = make(chan error, 1)
	go func() {
		_, _, err := a.Accept(ctx, here)
		done <- err
	}()
	return there, done
}

// A handshake waits while another one computes, and one that is given up does not wait.
func TestHandshakesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAccepting(t)
		a.turns <- struct{}{} // somebody else's handshake computes
		dial := func(ctx context.Context) chan error {
			conn, done := a.answers(ctx)
			go func() { _, _, _ = a.peer.Dial(conn, 1) }()
			return done
		}
		ctx, giveUp := context.WithCancel(t.Context())
		waits, givenUp := dial(t.Context()), dial(ctx)
		synctest.Wait()
		if len(waits)+len(givenUp) != 0 {
			t.Fatal("a handshake was over while another one had its turn")
		}
		giveUp()
		if err := <-givenUp; !errors.Is(err, context.Canceled) {
			t.Errorf("a handshake that was given up ended with %v", err)
		}
		<-a.turns
		if err := <-waits; err != nil {
			t.Errorf("a handshake that waited ended with %v", err)
		}
	})
}

// Whoever leaves a handshake unfinished, has to be asked again, or fails, keeps nobody waiting.
func TestTurnsEnd(t *testing.T) {
	for name, asks := range map[string]struct {
		protocol string
		change   func(hello []byte) []byte
	}{
		"it says nothing more": {linkProtocol, bytes.Clone},
		"it brings no key of a group that it knows": {linkProtocol, func(hello []byte) []byte {
			return bytes.Replace(hello, []byte{0, byte(tls.CurveP256), 0, 65, 4}, []byte{0x6a, 0x6a, 0, 65, 4}, 1)
		}},
		"it speaks another protocol": {"x", bytes.Clone},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAccepting(t)
				conn, _ := a.answers(t.Context())
				hello, client := net.Pipe()
				go func() {
					_ = tls.Client(client, &tls.Config{
						InsecureSkipVerify: true, NextProtos: []string{asks.protocol},
						CurvePreferences: []tls.CurveID{tls.CurveP256},
					}).Handshake()
				}()
				first := make([]byte, 1<<14)
				n, err := hello.Read(first)
				if err == nil {
					_, err = conn.Write(asks.change(first[:n]))
				}
				if err != nil {
					t.Fatal(err)
				}
				go func() { _, _ = io.Copy(io.Discard, conn) }() // and nobody answers
				synctest.Wait()
				if len(a.turns) != 0 {
					t.Error("its turn has not ended")
				}
				if err := errors.Join(hello.Close(), conn.Close()); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
