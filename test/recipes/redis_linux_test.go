package recipes_test

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/fencetest"
	"github.com/ringleader-dev/ringleader/internal/needs"
)

// redisServer is a Redis server that syncs each write, and a client.
type redisServer struct {
	*server
	client *redis.Client
	script *redis.Script
}

func startRedis(t *testing.T) *redisServer {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	needs.Here(t, "the recipe for Redis", err)
	r := &redisServer{server: newServer(t, nil), script: redis.NewScript(recipe(t, "fence.lua"))}
	socket := filepath.Join(r.dir, "redis.sock")
	r.args = []string{
		program, "--port", "0", "--unixsocket", socket, "--dir", r.dir, "--save", "",
		"--appendonly", "yes", "--appendfsync", "always",
	}
	r.client = redis.NewClient(&redis.Options{Network: "unix", Addr: socket, MaxRetries: -1})
	r.answers = func(ctx context.Context) error { return r.client.Ping(ctx).Err() }
	t.Cleanup(func() { _ = r.client.Close() })
	r.start(t)
	return r
}

// run runs fence.lua, without a value as the seal.
func (r *redisServer) run(ctx context.Context, t fence.Token, keys []string, value ...any) error {
	err := r.script.Run(ctx, r.client, keys, append([]any{t.String()}, value...)...).Err()
	if refused, ok := errors.AsType[redis.Error](err); ok {
		if highest, ok := strings.CutPrefix(refused.Error(), "STALETOKEN "); ok {
			parsed, err := fence.Parse(highest)
			return errors.Join(err, &fence.StaleError{Token: t, Highest: parsed})
		}
	}
	return err
}

// redisKey is one key and the fence before it. The braces put both on the same
// node of a cluster.
type redisKey struct {
	*redisServer
	key string
}

func (k redisKey) fence() string { return "{" + k.key + "}:fence" }
func (k redisKey) data() string  { return "{" + k.key + "}:data" }

func (k redisKey) Seal(ctx context.Context, t fence.Token) error {
	return k.run(ctx, t, []string{k.fence()})
}

func (k redisKey) Write(ctx context.Context, t fence.Token, value string) error {
	return k.run(ctx, t, []string{k.fence(), k.data()}, value)
}

func (k redisKey) Read(ctx context.Context) (string, error) {
	value, err := k.client.Get(ctx, k.data()).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return value, err
}

// Promise: the script is "check, set, write atomically".
func TestLongRedis(t *testing.T) {
	r := startRedis(t)
	t.Run("rules", func(t *testing.T) { fencetest.Rules(t, redisKey{r, "rules"}) })
	t.Run("race", func(t *testing.T) { fencetest.Race(t, redisKey{r, "race"}) })
	t.Run("malformed", func(t *testing.T) {
		for _, token := range []string{"", "7", "x;node=3;incarnation=00", "7;node=3;incarnation="} {
			err := r.script.Run(t.Context(), r.client, []string{"malformed"}, token).Err()
			if err == nil || !strings.HasPrefix(err.Error(), "MALFORMEDTOKEN ") {
				t.Errorf("%q: %v", token, err)
			}
		}
		// A fence that something else wrote to lets nobody in.
		if err := r.client.Set(t.Context(), "spoilt", "7", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if err := r.run(t.Context(), fencetest.Token(8, 1), []string{"spoilt"}); err == nil {
			t.Error("a spoilt fence let a token in")
		}
	})
	t.Run("crash", func(t *testing.T) { redisCrash(t, r) })
}

// What was accepted survives a crash of the server.
func redisCrash(t *testing.T, r *redisServer) {
	k := redisKey{r, "crash"}
	if err := k.Write(t.Context(), fencetest.Token(5, 1), "1"); err != nil {
		t.Fatal(err)
	}
	r.kill()
	r.start(t)
	err := k.Write(t.Context(), fencetest.Token(4, 1), "2")
	if !errors.Is(err, fence.ErrStaleToken) {
		t.Errorf("a stale write after the crash: %v", err)
	}
	if got, err := k.Read(t.Context()); got != "1" {
		t.Errorf("%q is read after the crash, %v", got, err)
	}
}
