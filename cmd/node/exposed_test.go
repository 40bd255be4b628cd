package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/node/httpapi"
)

// refusing is a node that carries out nothing.
type refusing struct{ *secure }

func (refusing) Do(context.Context, httpapi.Verb, httpapi.Order) (httpapi.Done, error) {
	return httpapi.Done{}, fmt.Errorf("%w: not now", httpapi.ErrConflict)
}

func (refusing) Lend(context.Context) (httpapi.Lease, error) {
	return httpapi.Lease{}, fmt.Errorf("%w: node 2 leads", httpapi.ErrNotLeader)
}

func (refusing) Return(uint64) bool { return false }

// "Each of its answers … says 'unauthenticated'": those to all commands, and refusals, once each.
func TestExposedNodesAreNamed(t *testing.T) {
	t.Parallel()
	s := &secure{T: t}
	serve := func(cfg httpapi.Config) string {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		s.check(err)
		cfg.Source, cfg.Security = s, "unauthenticated"
		if s.addr == "" {
			s.addr = ln.Addr().String()
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- httpapi.Serve(ctx, ln, cfg) }()
		t.Cleanup(func() { cancel(); s.check(<-done) })
		return ln.Addr().String()
	}
	serve(httpapi.Config{Control: s, Lender: s})
	refuses := serve(httpapi.Config{Control: refusing{s}, Lender: refusing{s}})
	for _, c := range []struct {
		addr, command string
		code          int
	}{
		{s.addr, "status", 0},
		{s.addr, "status -o json", 0},
		{s.addr, "leader", 0},
		{s.addr, "health", 0},
		{s.addr, "transfer", 0},
		{s.addr, "elect", 0},
		{s.addr, "why-not 1", 0},
		{s.addr, "lease -o json", 0},
		{s.addr, "lease --return 7", 0},
		{refuses, "transfer", 1},
		{refuses, "pause", 1},
		{refuses, "elect", 1},
		{refuses, "lease", exitNotLeader},
		{refuses, "lease --return 7", 1},
		{refuses, "keys list", 1},
	} {
		words := strings.Fields(c.command)
		code, out := s.run(nil, append(words, "--addr", c.addr)...)
		if said := strings.Count(out, "unauthenticated: the node at "+c.addr); code != c.code || said != 1 {
			t.Errorf("%s: exit %d, want %d; said %d times:\n%s", c.command, code, c.code, said, out)
		}
		if strings.Contains(c.command, "json") && !strings.Contains(out, `"security":"unauthenticated"`) {
			t.Errorf("%s: %s", c.command, out)
		}
	}
}
