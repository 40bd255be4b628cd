package tcp

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// howEnded reads to the end of the connection, and says how it came.
func (r *raw) howEnded() error {
	_, err := io.Copy(io.Discard, r.r.src)
	if err == nil {
		return io.EOF
	}
	return err
}

// impatient is hurried, and waits for little else.
func impatient(c *Config) {
	hurried(c)
	c.timing.drain = 50 * time.Millisecond
}

// "Whatever a living process ends, it ends so that it proves nothing": each way in which
// it ends a connection that another process dialled.
func TestWhatWasDialledIsReset(t *testing.T) {
	linked := func(t *testing.T, n *node) *raw { return joinRaw(t, n, 2) }
	greeted := func(change func(*proto.Hello)) func(*testing.T, *node) *raw {
		return func(t *testing.T, n *node) *raw {
			r := dialRaw(t, n)
			h := n.helloFrom(2)
			change(&h)
			r.say(h)
			return r
		}
	}
	for name, c := range map[string]struct {
		begin func(*testing.T, *node) *raw
		end   func(*testing.T, *node, *raw)
	}{
		"no HELLO comes": {begin: func(t *testing.T, n *node) *raw { return dialRaw(t, n) }},
		"the caller is of another cluster": {
			begin: greeted(func(h *proto.Hello) { h.Cluster = "other" }),
		},
		"the caller runs another algorithm": {
			begin: greeted(func(h *proto.Hello) { h.Agreement++ }),
		},
		"the caller wants another node": {begin: greeted(func(h *proto.Hello) { h.To = 9 })},
		"the caller has this node's id": {begin: greeted(func(h *proto.Hello) { h.ID = 1 })},
		"the caller only asks":          {begin: greeted(func(h *proto.Hello) { h.To = 0 })},
		"the caller speaks another version": {begin: func(t *testing.T, n *node) *raw {
			r := dialRaw(t, n)
			r.send([]byte{0, 0, 0, 0, version + 1, 1})
			return r
		}},
		"the elections stand still": {begin: func(t *testing.T, n *node) *raw {
			n.frozen.Store(true)
			return greeted(func(*proto.Hello) {})(t, n)
		}},
		"others take its place": {
			begin: func(t *testing.T, n *node) *raw { return joinRaw(t, n, 1000) },
			end: func(t *testing.T, n *node, _ *raw) {
				for id := range maxUnknown {
					joinRaw(t, n, proto.NodeID(2000+id))
				}
			},
		},
		"too many handshakes": {
			begin: func(t *testing.T, n *node) *raw {
				r := dialRaw(t, n)
				eventually(t, "it waits", func() bool { return n.waiting() == 1 })
				return r
			},
			end: func(t *testing.T, n *node, _ *raw) { n.admitWaiting(1); dialRaw(t, n) },
		},
		"a newer link takes its place": {
			begin: linked,
			end:   func(t *testing.T, n *node, _ *raw) { joinRaw(t, n, 2) },
		},
		"a frame is too long": {
			begin: linked,
			end:   func(_ *testing.T, _ *node, r *raw) { r.send([]byte{255, 255, 255, 255, version, 1}) },
		},
		"a message is another's": {
			begin: linked,
			end:   func(t *testing.T, _ *node, r *raw) { r.send(frameOf(t, message(3, 1, 1))) },
		},
		"a message comes on a silent connection": {
			begin: func(t *testing.T, n *node) *raw {
				r := greeted(func(h *proto.Hello) { h.Silent = true })(t, n)
				r.hear()
				return r
			},
			end: func(t *testing.T, _ *node, r *raw) { r.send(frameOf(t, message(2, 1, 1))) },
		},
		"the node ends its links": {
			begin: linked,
			end:   func(_ *testing.T, n *node, _ *raw) { _ = n.Close() },
		},
		"the node ends its links, and the caller has not said who it is": {
			begin: func(t *testing.T, n *node) *raw {
				r := dialRaw(t, n)
				eventually(t, "it waits", func() bool { return n.waiting() == 1 })
				return r
			},
			end: func(_ *testing.T, n *node, _ *raw) { _ = n.Close() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := start(t, 1, impatient)
			r := c.begin(t, n)
			if c.end != nil {
				c.end(t, n, r)
			}
			if err := r.howEnded(); !errors.Is(err, syscall.ECONNRESET) {
				t.Fatalf("the connection ended with %v, want %v", err, syscall.ECONNRESET)
			}
		})
	}
}

// waiting counts the handshakes under way.
func (n *node) waiting() int {
	n.handshakes.mu.Lock()
	defer n.handshakes.mu.Unlock()
	return len(n.handshakes.waiting)
}

// admitWaiting lets so many handshakes be under way.
func (n *node) admitWaiting(limit int) {
	n.handshakes.mu.Lock()
	defer n.handshakes.mu.Unlock()
	n.handshakes.limit = limit
}

// The same, for what the process dialled itself. What was dialled is served by hand
// until its end.
func TestWhatThisNodeDialledIsReset(t *testing.T) {
	incarnation := proto.Incarnation{2}
	welcome := func(r *raw) proto.Hello {
		h := r.hear().(proto.Hello)
		r.say(proto.Welcome{ID: 2, Incarnation: incarnation})
		return h
	}
	link := func(n *node, addr string) { n.SetPeers([]Peer{{ID: 2, Incarnation: incarnation, Addr: addr}}) }
	up := func(t *testing.T, n *node) { eventually(t, "the link is up", func() bool { return n.linked() == 1 }) }
	watched := func(t *testing.T, n *node) {
		eventually(t, "the silent connection is up",
			func() bool { p := n.peer(2); return p != nil && p.silent.conn.Load() != nil })
	}
	var greeted atomic.Bool
	wanted, cancel := context.WithCancel(t.Context())
	silent := func(h proto.Hello) bool { return h.Silent }
	for name, c := range map[string]struct {
		// serve does the handshake, and reports whether this connection is the one.
		serve func(*raw) bool
		begin func(n *node, addr string)
		end   func(*testing.T, *node, string)
	}{
		"no ACK comes": {
			serve: func(r *raw) bool { welcome(r); return true },
			end:   func(t *testing.T, n *node, _ string) { up(t, n); n.Send(message(1, 2, 1)) },
		},
		"an answer makes no sense": {serve: func(r *raw) bool {
			welcome(r)
			r.say(proto.Pong{Count: 7, Micros: 1})
			return true
		}},
		"another node answers": {serve: func(r *raw) bool {
			r.hear()
			r.say(proto.Welcome{ID: 3, Incarnation: incarnation})
			return true
		}},
		"the link is refused": {serve: func(r *raw) bool {
			r.hear()
			r.say(proto.Refuse{Reason: proto.TooMany, ID: 2, Cluster: "demo", Algorithm: "bully"})
			return true
		}},
		"nobody answers HELLO": {serve: func(r *raw) bool { r.hear(); return true }},
		"the peer left the set during the handshake": {
			serve: func(r *raw) bool { r.hear(); greeted.Store(true); return true },
			end: func(t *testing.T, n *node, _ string) {
				eventually(t, "the handshake has begun", greeted.Load)
				n.SetPeers(nil)
			},
		},
		"the peer left the set": {
			serve: func(r *raw) bool { welcome(r); return true },
			end:   func(t *testing.T, n *node, _ string) { up(t, n); n.SetPeers(nil) },
		},
		"the peer moved": {
			serve: func(r *raw) bool { welcome(r); return true },
			end:   func(t *testing.T, n *node, _ string) { up(t, n); link(n, "127.0.0.1:1") },
		},
		"the peer left the set, the silent connection": {
			serve: func(r *raw) bool { return silent(welcome(r)) },
			end:   func(t *testing.T, n *node, _ string) { watched(t, n); n.SetPeers(nil) },
		},
		"another process took the peer's place, the silent connection": {
			serve: func(r *raw) bool { return silent(welcome(r)) },
			end:   func(t *testing.T, n *node, _ string) { watched(t, n); n.peer(2).openSilent(proto.Incarnation{3}) },
		},
		"the silent connection brings a message": {serve: func(r *raw) bool {
			if !silent(welcome(r)) {
				return false
			}
			r.send([]byte{0, 0, 0, 9, version, 1})
			return true
		}},
		"the answer is all that was wanted": {
			serve: func(r *raw) bool { welcome(r); return true },
			begin: func(n *node, addr string) { _, _ = n.Probe(context.Background(), addr) },
		},
		"nobody wants the answer any more": {
			serve: func(r *raw) bool { r.hear(); cancel(); return true },
			begin: func(n *node, addr string) { _, _ = n.Probe(wanted, addr) },
		},
		"the node ends its links": {
			serve: func(r *raw) bool { welcome(r); return true },
			end:   func(t *testing.T, n *node, _ string) { up(t, n); _ = n.Close() },
		},
		"the node ends its links, the silent connection": {
			serve: func(r *raw) bool { return silent(welcome(r)) },
			end:   func(t *testing.T, n *node, _ string) { watched(t, n); _ = n.Close() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 100)
			addr := fake(t, func(r *raw) {
				if c.serve(r) {
					ended <- r.howEnded()
					return
				}
				_ = r.howEnded()
			})
			n := start(t, 1, impatient, func(c *Config) { c.SilentPeers = []proto.NodeID{1, 2} })
			if c.begin == nil {
				c.begin = link
			}
			c.begin(n, addr)
			if c.end != nil {
				c.end(t, n, addr)
			}
			select {
			case err := <-ended:
				if !errors.Is(err, syscall.ECONNRESET) {
					t.Fatalf("the connection ended with %v, want %v", err, syscall.ECONNRESET)
				}
			case <-time.After(time.Minute):
				t.Fatal("the connection did not end")
			}
		})
	}
}

// "A living process never sends what proves it dead": one function ends connections, and
// nothing else shuts one down.
func TestOneFunctionEndsConnections(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil && f.Name.Name == "reset" {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				switch s.Sel.Name {
				case "Close", "CloseWrite", "CloseRead", "Shutdown", "SetLinger":
					if of := nameOf(s.X); of != "t.ln" && of != "unix" {
						t.Errorf("%v: %s.%s: use reset, it says why", set.Position(s.Pos()), of, s.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return nameOf(e.X) + "." + e.Sel.Name
	}
	return "?"
}
