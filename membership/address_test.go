package membership

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

func TestParseSeed(t *testing.T) {
	for _, tt := range []struct{ text, host, addr string }{
		{"n1", "n1", ""},
		{"n1:8000", "n1", ""},
		{"n1.example.org", "n1.example.org", ""},
		{"10.0.0.1", "10.0.0.1", "10.0.0.1:7946"},
		{"10.0.0.1:8000", "10.0.0.1", "10.0.0.1:8000"},
		{"::1", "::1", "[::1]:7946"},
		{"[::1]", "::1", "[::1]:7946"},
		{"[::1]:8000", "::1", "[::1]:8000"},
		{"::ffff:10.0.0.1", "::ffff:10.0.0.1", "10.0.0.1:7946"},
	} {
		s, err := parseSeed(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		s.complete(7946)
		if s.host != tt.host || s.isName() != (tt.addr == "") {
			t.Errorf("%s: host %s", tt.text, s.host)
		}
		if tt.addr != "" && (len(s.addrs) != 1 || s.addrs[0].String() != tt.addr) {
			t.Errorf("%s: %v", tt.text, s.addrs)
		}
	}
	for _, bad := range []string{
		"", ":", ":7946", "n1:", "n1:0", "n1:x", "n1:65536", "a b", "a:b:c",
		"http://n1:80", "10.0.0.1/24", "[", "n1\n", "[::1", "[n1]", "n2,n3", "256.1.1.1", "\u00fc.de", "a\x00",
	} {
		if s, err := parseSeed(bad); err == nil {
			t.Errorf("%q is taken as %+v", bad, s)
		}
	}
}

// A failed lookup keeps the old addresses and is repeated in the next round; an
// answer is used for a while.
func TestSeedLookups(t *testing.T) {
	s, err := parseSeed("n1")
	if err != nil {
		t.Fatal(err)
	}
	s.complete(7946)
	if !s.stale(leadership) {
		t.Error("is not looked up at first")
	}
	s.found(leadership, []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil)
	if s.stale(leadership.Add(nameTTL)) || !s.stale(leadership.Add(nameTTL+1)) {
		t.Error("is not looked up again in time")
	}
	s.found(leadership.Add(time.Hour), nil, errors.New("no such host"))
	if len(s.addrs) != 1 || !s.stale(leadership.Add(time.Hour)) {
		t.Error("a failed lookup lost the address, or is not repeated")
	}
}

// "Advertise may be empty: derived from Bind; an error if it would be 0.0.0.0
// and cannot be derived."
func TestAdvertised(t *testing.T) {
	for _, tt := range []struct{ bind, advertise, want string }{
		{"10.0.0.1:7946", "", "10.0.0.1:0"}, // 0: the bound port
		{"0.0.0.0:7946", "10.0.0.5:0", "10.0.0.5:0"},
		{"0.0.0.0:7946", "10.0.0.5:99", "10.0.0.5:99"},
		{"0.0.0.0:7946", "[::ffff:10.0.0.5]:99", "10.0.0.5:99"},
		{"[::]:7946", "[fd00::2]:0", "[fd00::2]:0"},
		{"[::]:7946", "[fd00::2]:99", "[fd00::2]:99"},
		{"0.0.0.0:7946", "", ""},
		{"[::]:7946", "", ""},
		{"10.0.0.1:7946", "0.0.0.0:99", ""},
		{"", "10.0.0.1:99", ""},
	} {
		var c Config
		c.Bind, _ = netip.ParseAddrPort(tt.bind)
		c.Advertise, _ = netip.ParseAddrPort(tt.advertise)
		got, err := c.advertised()
		if tt.want == "" && err == nil || tt.want != "" && got.String() != tt.want {
			t.Errorf("bind %s, advertise %q: %v, %v", tt.bind, tt.advertise, got, err)
		}
	}
}

// Bad input is refused before a socket is opened, naming what is wrong.
func TestStartRefuses(t *testing.T) {
	long := strings.Repeat("x", 200)
	for name, tt := range map[string]struct {
		change func(*Config)
		words  string
	}{
		"id 0":               {func(c *Config) { c.Self.ID = 0 }, "node id 0"},
		"no incarnation":     {func(c *Config) { c.Self.Incarnation = proto.Incarnation{} }, "incarnation"},
		"no cluster":         {func(c *Config) { c.Cluster = "" }, "cluster label: missing"},
		"cluster too long":   {func(c *Config) { c.Cluster = long }, "cluster label"},
		"algorithm too long": {func(c *Config) { c.Algorithm = long }, "algorithm"},
		"election too long": {
			func(c *Config) { c.ElectionAddr = long + ":1" },
			"election address",
		},
		"HTTP too long":  {func(c *Config) { c.HTTPAddr = long + ":1" }, "HTTP address"},
		"election unset": {func(c *Config) { c.ElectionAddr = "" }, "election address"},
		"election for nobody": {
			func(c *Config) { c.ElectionAddr = "0.0.0.0:7001" },
			"nobody can dial",
		},
		"no bind": {func(c *Config) { c.Bind = netip.AddrPort{} }, "gossip bind address"},
		"bind to all, advertise nothing": {
			func(c *Config) { c.Bind = netip.MustParseAddrPort("0.0.0.0:0") },
			"nobody can dial",
		},
		"advertise for nobody": {
			func(c *Config) { c.Advertise = netip.MustParseAddrPort("0.0.0.0:1") },
			"gossip advertise address",
		},
		"join target": {
			func(c *Config) { c.Join = []string{"ok", "a:b:c"} },
			`join target "a:b:c"`,
		},
		"profile":  {func(c *Config) { c.Profile = "wan" }, `detector profile "wan"`},
		"budget":   {func(c *Config) { c.Budget = -1 }, "budget"},
		"no probe": {func(c *Config) { c.Probe = nil }, "Probe"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := loopbackConfig(1)
			tt.change(&cfg)
			g, err := Start(cfg)
			if err == nil {
				_ = g.Close()
				t.Fatal("started")
			}
			if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("%v", err)
			}
		})
	}
}
