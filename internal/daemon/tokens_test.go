package daemon

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// credentialsOf returns the keepers of nodes of a new cluster.
func credentialsOf(t *testing.T, ids ...proto.NodeID) (keepers []*credentials.Keeper) {
	t.Helper()
	a, err := credentials.NewAuthority(t.TempDir(), "blue")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		self := credentials.Identity{Cluster: "blue", ID: id}
		dir, err := a.Issue(self, nil, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		k, err := credentials.Open(dir, self)
		if err != nil {
			t.Fatal(err)
		}
		keepers = append(keepers, k)
	}
	return keepers
}

// Tokens that are replaced are taken without a restart; a file that is being written, or is open to all, is not.
func TestTokensAreReadAgain(t *testing.T) {
	keeper := credentialsOf(t, 1)[0]
	const first, second = "0123456789abcdef-first", "0123456789abcdef-second"
	write := func(text string, mode os.FileMode) {
		err := errors.Join(os.WriteFile(keeper.Token(), []byte(text), mode), os.Chmod(keeper.Token(), mode))
		if err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var logged strings.Builder
		if err := os.Remove(keeper.Token()); err != nil {
			t.Fatal(err)
		}
		all, err := openTokens(Settings{Credentials: keeper}, zerolog.New(&logged))
		if err != nil || all.get().Best() != "" || !strings.Contains(logged.String(), "there are no tokens") {
			t.Fatalf("without the file: %v, %s", err, logged.String())
		}
		for _, step := range []struct {
			text string
			mode os.FileMode
			want string
		}{
			{"operate " + first + "\n", 0o600, first},
			{"operate", 0o600, first},
			{"", 0o600, first},
			{"operate " + second + "\n", 0o640, first},
			{"operate " + second[:20], 0o600, first}, // half a token is none
			{second + "\n", 0o600, first},            // nor is one that lost its role
			{"read " + second + "\n", 0o600, second},
		} {
			write(step.text, step.mode)
			time.Sleep(tokensEvery)
			for range 3 {
				if got := all.get().Best(); got != step.want {
					t.Errorf("after %.8q, mode %o: %q", step.text, step.mode, got)
				}
			}
		}
		if said := logged.String(); strings.Contains(said, first) || strings.Contains(said, second) ||
			!strings.Contains(said, "chmod 600") || strings.Count(said, "the tokens stay as they were") != 5 {
			t.Errorf("logged %s", said)
		}
		if err := os.Remove(keeper.Token()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(tokensEvery)
		if all.get().Best() != second {
			t.Error("a file that is gone takes the tokens back")
		}
	})
	write("operate "+first+"\n", 0o644)
	if _, err := openTokens(Settings{Credentials: keeper}, zerolog.Nop()); !errors.Is(err, ErrConfig) {
		t.Errorf("a node starts with tokens that all may read: %v", err)
	}
	err := errors.Join(os.Remove(keeper.Token()), os.Symlink("nowhere", keeper.Token()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openTokens(Settings{Credentials: keeper}, zerolog.Nop()); !errors.Is(err, ErrConfig) {
		t.Errorf("a node starts with a link to tokens that are not there: %v", err)
	}
	fixed, err := openTokens(Settings{Credentials: keeper, APIToken: second}, zerolog.Nop())
	if err != nil || fixed.get().Operate() != second {
		t.Errorf("a token of the settings does not go before: %v", err)
	}
}

// led is a leader that takes one order.
type led struct{ asked chan httpapi.Order }

func (l led) Snapshot() httpapi.Snapshot {
	return httpapi.Snapshot{Self: 2, Running: true, LastTick: time.Now()}
}

func (l led) Do(_ context.Context, _ httpapi.Verb, o httpapi.Order) (httpapi.Done, error) {
	l.asked <- o
	return httpapi.Done{Self: 2, Done: "done", Leader: 1, Term: 7}, nil
}

// A transfer is passed on to the leader over HTTPS, with the token that operates; to no other cluster's node.
func TestTransferIsPassedOnOverHTTPS(t *testing.T) {
	keepers, strangers := credentialsOf(t, 1, 2), credentialsOf(t, 2)
	serve := func(k *credentials.Keeper) (string, led) {
		all, err := openTokens(Settings{Credentials: k}, zerolog.Nop())
		if err != nil {
			t.Fatal(err)
		}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		leader := led{make(chan httpapi.Order, 1)}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		cfg := httpapi.Config{Source: leader, Control: leader, TLS: k.Web, Tokens: all.get}
		go func() { done <- httpapi.Serve(ctx, ln, cfg) }()
		t.Cleanup(func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
		return ln.Addr().String(), leader
	}
	one := &Daemon{Settings: Settings{ID: 1, Credentials: keepers[0]}, log: zerolog.Nop()}
	var err error
	if one.tokens, err = openTokens(one.Settings, one.log); err != nil {
		t.Fatal(err)
	}
	ask := func(addr string) (httpapi.Done, error) {
		one.view.Store(&membership.View{Alive: []membership.Member{{Peer: proto.Peer{ID: 2}, HTTPAddr: addr}}})
		return one.askLeader(t.Context(), 2, httpapi.Order{To: 1, By: "10.0.0.9"})
	}
	addr, leader := serve(keepers[1])
	if done, err := ask(addr); err != nil || done.Leader != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	if o := <-leader.asked; !strings.Contains(o.By, "10.0.0.9 through node 1 (") {
		t.Errorf("asked by %q", o.By)
	}
	addr, leader = serve(strangers[0])
	if _, err := ask(addr); !errors.Is(err, httpapi.ErrUntrusted) || len(leader.asked) > 0 {
		t.Errorf("of another authority's node: %v", err)
	}
}
