package tcp

import (
	"errors"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/proto"
)

// "A port in use": the address, what happened, what to do.
func TestAPortInUse(t *testing.T) {
	a := start(t, 1)
	cfg := a.cfg
	cfg.Bind = a.Addr().String()
	_, err := Listen(cfg)
	if !errors.Is(err, ErrAddrInUse) {
		t.Fatalf("%v, want %v", err, ErrAddrInUse)
	}
	for _, part := range []string{cfg.Bind, "another process", "choose another"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

func TestListenRefuses(t *testing.T) {
	good := start(t, 1).cfg
	good.Bind = "127.0.0.1:0"
	for want, change := range map[string]func(*Config){
		"node id 0":           func(c *Config) { c.ID = 0 },
		"no incarnation":      func(c *Config) { c.Incarnation = proto.Incarnation{} },
		"cluster label":       func(c *Config) { c.Cluster = strings.Repeat("x", 256) },
		"Receive":             func(c *Config) { c.Receive = nil },
		"want host:port":      func(c *Config) { c.Bind = "7000" },
		`"127.0.0.1:0:0"`:     func(c *Config) { c.Bind = "127.0.0.1:0:0" },
		`on "192.0.2.1:7000"`: func(c *Config) { c.Bind = "192.0.2.1:7000" },
	} {
		cfg := good
		change(&cfg)
		tr, err := Listen(cfg)
		if err == nil {
			_ = tr.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
