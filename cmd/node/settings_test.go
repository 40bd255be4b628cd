package main

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/address"
)

// machine is surroundings on which every default can be derived.
func machine() surroundings {
	return surroundings{hostname: named3, Host: address.Host{Source: noRoute, Addrs: addresses(
		"127.0.0.1/8", "8.8.8.8/24", "10.1.2.3/24", "192.168.0.9/24",
	)}}
}

func noRoute(netip.Addr) (netip.Addr, error) { return netip.Addr{}, errors.New("no route") }

func named3() (string, error) { return "node-3", nil }

// addresses are a machine's, as the system lists them.
func addresses(cidrs ...string) func() ([]net.Addr, error) {
	return func() ([]net.Addr, error) {
		var addrs []net.Addr
		for _, cidr := range cidrs {
			ip, subnet, err := net.ParseCIDR(cidr)
			if err != nil {
				return nil, err
			}
			addrs = append(addrs, &net.IPNet{IP: ip, Mask: subnet.Mask})
		}
		return addrs, nil
	}
}

// with sets settings on the command line, given as "name=value".
func (s surroundings) with(flags ...string) surroundings {
	s.flags = make(map[string][]string)
	for _, f := range flags {
		name, value, _ := strings.Cut(f, "=")
		s.flags[name] = append(s.flags[name], value)
	}
	return s
}

func (s surroundings) file(t *testing.T, text string) surroundings {
	t.Helper()
	s.config = filepath.Join(t.TempDir(), "node.yaml")
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// Promise: "flag > environment > file > default", for every setting.
func TestPrecedence(t *testing.T) {
	examples := map[string][4]string{ // by flag, environment, file, default
		"id":        {"11", "12", "13", "3"},
		"cluster":   {"a", "b", "c", "ringleader"},
		"algorithm": {"ring", "bully", "ring", "bully"},
		"preempt":   {"false", "true", "false", "true"},
		"voters":    {"1-3", "2-4", "3-5,9", "-"},
		"store": {
			"redis://a:1/b", "etcd://a:1/b", "postgres://h:1/d?election=leader&table=t", "-",
		},
		"lease":              {"3s", "4s", "5s", "2s"},
		"await-leases":       {"true", "false", "true", "false"},
		"reconcile-cmd":      {"a b", "b", "c", "-"},
		"reconcile-timeout":  {"1s", "2m0s", "3s", "30s"},
		"first-term":         {"7", "8", "9", "0"},
		"fence-agent":        {"/bin/sh -c 1", "/bin/ls", "/bin/cat -n", "-"},
		"fence-timeout":      {"3s", "4s", "5s", "10s"},
		"pid-file":           {"a", "b", "c", "-"},
		"health-cmd":         {"a", "b", "c -d", "-"},
		"health-http":        {"http://a", "http://b:1/c", "https://d", "-"},
		"health-interval":    {"1s", "2s", "3s", "5s"},
		"health-timeout":     {"1s", "3s", "4s", "2s"},
		"health-rise":        {"1", "3", "4", "2"},
		"health-fall":        {"1", "2", "4", "3"},
		"health-hold-down":   {"1s", "2s", "3s", "10s"},
		"health-memory":      {"90", "0", "80", "99"},
		"health-disk":        {"90", "0", "80", "100"},
		"grace":              {"1s", "2s", "3s", "5s"},
		"stop-grace":         {"1s", "2s", "3s", "8s"},
		"restart":            {"never", "always", "never", "elected"},
		"rank-by":            {"cpu", "number:2", "ip", "id"},
		"join":               {"a:1", "b:2,c", "d", "-"},
		"gossip-bind":        {"1.1.1.1:1", "1.1.1.1:2", "1.1.1.1:3", "0.0.0.0:7946"},
		"gossip-advertise":   {"1.1.1.1:1", "1.1.1.1:2", "1.1.1.1:3", "10.1.2.3:7946"},
		"election-bind":      {"1.1.1.1:1", "1.1.1.1:2", "1.1.1.1:3", "0.0.0.0:7947"},
		"election-advertise": {"1.1.1.1:1", "1.1.1.1:2", "1.1.1.1:3", "10.1.2.3:7947"},
		"http-bind":          {"1.1.1.1:1", "1.1.1.1:2", "1.1.1.1:3", "127.0.0.1:7948"},
		"api-token-file":     {"a", "b", "c", "-"},
		"credentials":        {"a", "b", "c", "-"},
		"insecure":           {"true", "false", "true", "false"},
		"data-dir":           {"a", "b", "c", "ringleader-data/3"},
		"profile":            {"fast", "local", "fast", "lan"},
		"failover-budget":    {"2s", "3s", "1.5s", "1s"},
		"log-level":          {"debug", "warn", "error", "info"},
		"log-format":         {"json", "console", "json", "auto"},
	}
	needs := map[string][]string{"fence-agent": {"RINGLEADER_VOTERS=1-3"}}
	for _, s := range table {
		want, ok := examples[s.name]
		if !ok {
			t.Errorf("no example of setting %s", s.name)
			continue
		}
		flag := s.name + "=" + want[0]
		env := append([]string{s.env() + "=" + want[1]}, needs[s.name]...)
		in := machine()
		in.environ = needs[s.name]
		written := in.file(t, s.name+": "+want[2])
		both := written
		both.environ = env
		set := in
		set.environ = env
		for _, c := range []struct {
			in            surroundings
			value, source string
		}{
			{both.with(flag), want[0], "flag"},
			{both, want[1], "environment"},
			{set, want[1], "environment"},
			{written, want[2], "file"},
			{in, want[3], "default"},
		} {
			r, err := resolve(c.in)
			if err != nil {
				t.Errorf("%s from %s: %v", s.name, c.source, err)
				continue
			}
			if got := plain(s.value(&r.settings)); got != c.value {
				t.Errorf("%s from %s: %s, want %s", s.name, c.source, got, c.value)
			}
			if got := r.origins[s.name].Source; got != c.source {
				t.Errorf("%s = %s comes from %s, want %s", s.name, c.value, got, c.source)
			}
		}
	}
}

func TestOrigins(t *testing.T) {
	in := machine().file(t, "# ours\nid: 4\njoin: [a, 'b:1']\n").with("algorithm=ring")
	in.environ = []string{"RINGLEADER_CLUSTER=blue", "PATH=/bin", "RINGLEADER_LOG_LEVEL="}
	r, err := resolve(in)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"id":               "file (" + in.config + ":2)",
		"join":             "file (" + in.config + ":3)",
		"algorithm":        "flag (--algorithm)",
		"cluster":          "environment (RINGLEADER_CLUSTER)",
		"log-level":        "default", // a variable that is empty counts as absent
		"preempt":          "default (of ring)",
		"gossip-advertise": "default (this machine's first private address)",
	} {
		if got := r.origins[name].String(); got != want {
			t.Errorf("%s comes from %q, want %q", name, got, want)
		}
	}
	if want := []string{"a", "b:1"}; !slices.Equal(r.Join, want) {
		t.Errorf("join %q, want %q", r.Join, want)
	}
}

// Promise: the advertised address is "the bind address if specific, else the
// first private" one; its port the bound one.
func TestAdvertise(t *testing.T) {
	for _, c := range []struct{ flags, want string }{
		{"gossip-bind=192.168.7.7:99", "192.168.7.7:99"},
		{"gossip-bind=:99", "10.1.2.3:99"},
		{"gossip-bind=[::]:99", "10.1.2.3:99"},
		{"gossip-advertise=1.2.3.4", "1.2.3.4:7946"},
		{"gossip-advertise=1.2.3.4:5", "1.2.3.4:5"},
		{"gossip-advertise=fe80::1", "[fe80::1]:7946"},
	} {
		r, err := resolve(machine().with(c.flags))
		if err != nil {
			t.Errorf("%s: %v", c.flags, err)
		} else if got := r.GossipAdvertise; got != c.want {
			t.Errorf("%s advertises %s, want %s", c.flags, got, c.want)
		}
	}
	routed := machine()
	routed.Source = func(netip.Addr) (netip.Addr, error) { return netip.ParseAddr("192.168.0.9") }
	r, err := resolve(routed.with("join=n1", "join=192.168.0.7:7946"))
	if err != nil || r.GossipAdvertise != "192.168.0.9:7946" ||
		r.origins["gossip-advertise"].Where != "this machine's address towards 192.168.0.7" {
		t.Errorf("towards 192.168.0.7: %v %v, %v", r.GossipAdvertise,
			r.origins["gossip-advertise"], err)
	}
	alone := machine()
	alone.Addrs = addresses("127.0.0.1/8", "8.8.8.8/24", "fd00::1/8")
	if _, err := resolve(alone); !errors.Is(err, address.ErrNonePrivate) || !errors.Is(err, errConfig) {
		t.Errorf("without a private address: %v", err)
	}
}

// Promise: an id is "required unless the hostname ends in digits".
func TestIDFromHostname(t *testing.T) {
	for host, want := range map[string]string{
		"n1": "1", "web-007": "7", "42": "42",
		"": "no id", "n": "no id", "n1.example": "no id",
		"n0": "a node id is", "n9007199254740993": "a node id is",
	} {
		in := machine()
		in.hostname = func() (string, error) { return host, nil }
		r, err := resolve(in)
		got := r.ID.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || err != nil && !errors.Is(err, errConfig) {
			t.Errorf("hostname %q: %s, want %s", host, got, want)
		}
	}
}

// "Ids are never guessed from a container's id": one that no name goes with is an error. A
// replica has the number of its container.
func TestIDOfReplica(t *testing.T) {
	for name, want := range map[string]string{
		"ringleader_node_3.ringleader_cluster": "3",
		"ringleader-node-12.ringleader_cut":    "12",
		"my_app_node_50":                       "50",
		"":                                     "no id",
		"ringleader":                           "no id",
		"ringleader_node_run_384756120093.x":   "no id",
		"ringleader_node_run_3.x":              "no id",
		"384756120093.x":                       "no id",
		"n_9007199254740993.x":                 "no id",
	} {
		in := machine()
		in.hostname = func() (string, error) { return "384756120012", nil }
		in.Names = func(ip netip.Addr) []string {
			if ip.String() == "10.1.2.3" && name != "" {
				return []string{name}
			}
			return nil
		}
		in.environ = append(in.environ, "RINGLEADER_DATA_DIR=/data/n{id}")
		r, err := resolve(in)
		switch {
		case err != nil && !errors.Is(err, errNoID), err != nil && want != "no id", err == nil && r.ID.String() != want:
			t.Errorf("container %q: %v, %v, want %s", name, r.ID, err, want)
		case err == nil && r.DataDir != "/data/n"+want:
			t.Errorf("container %q: data in %s", name, r.DataDir)
		}
	}
}

// A wrong value on the command line is a usage error, anywhere else one of the
// configuration; each says where it stands.
func TestBadValues(t *testing.T) {
	for _, bad := range []string{
		"id=0", "id=-1", "id=x", "id=9007199254740993", "id=", "cluster=a b", "cluster=",
		"cluster=" + strings.Repeat("x", 65), "algorithm=bulli", "preempt=maybe", "rank-by=size",
		"rank-by=number:x", "rank-by=files", "join=:7946", "join=a:0", "join=a:b:c", "join=a:99999",
		"join=a/b", "gossip-bind=nowhere", "gossip-bind=1.2.3.4", "gossip-bind=1.2.3.4:99999",
		"gossip-advertise=0.0.0.0", "gossip-advertise=here:1", "http-bind=7948", "profile=slow",
		"log-level=loud", "log-format=xml", "data-dir=",
		"health-cmd=", "health-http=localhost:80", "health-http=ftp://a", "health-rise=0",
		"health-fall=-1", "health-rise=many", "health-interval=0s", "health-timeout=2",
		"health-hold-down=-1s", "health-memory=101", "health-disk=-1",
		"grace=-1s", "grace=0", "stop-grace=soon", "restart=often",
	} {
		name, value, _ := strings.Cut(bad, "=")
		if _, err := resolve(machine().with(bad)); !errors.Is(err, errUsage) ||
			!strings.Contains(err.Error(), "--"+name+" "+cmp.Or(value, "''")) {
			t.Errorf("--%s: %v", bad, err)
		}
		in := machine().file(t, name+": '"+value+"'")
		if _, err := resolve(in); errors.Is(err, errUsage) || !errors.Is(err, errConfig) ||
			!strings.Contains(err.Error(), in.config+":1: "+name+": ") {
			t.Errorf("%s in a file: %v", bad, err)
		}
	}
}

// A setting may have a password in its URL: an error shows none of it, whether the URL can be read or not.
func TestBadURLsShowNoPassword(t *testing.T) {
	for _, bad := range []string{
		"health-http=http://me:s3cret%zz@h/", "health-http=http://me:s3cret/x@h/", "health-http=http://s3cret:a b@h/",
		"health-http=ftp://me:s3cret@h/", "health-http=http://me:s3cret@h:99999/", "store=redis://me:s3cret/x@h/k",
	} {
		name, value, _ := strings.Cut(bad, "=")
		_, err1 := resolve(machine().with(bad))
		_, err2 := resolve(machine().file(t, name+": '"+value+"'"))
		for _, err := range []error{err1, err2} {
			if err == nil || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s: %v", bad, err)
			}
		}
	}
}

// Promise: "unknown keys refused", each with its line and the nearest known
// one; all problems are told at once.
func TestBadFiles(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"id: 1\nalgoritm: ring\nshoe: 4\n", []string{
			`:2: algoritm: unknown key; did you mean "algorithm"?`, ":3: shoe: unknown key",
		}},
		{"id: 1\nid: 2\n", []string{":2: id: the key stands there twice"}},
		{"id:\n", []string{":1: id: want one value"}},
		{"id: [1]\n", []string{":1: id: want one value"}},
		{"join: {a: b}\n", []string{":1: join: want a word or a list"}},
		{"join: [[a]]\n", []string{":1: join: want a list of words"}},
		{"- id\n", []string{`:1: want lines like "id: 3"`}},
		{"id: 1\n---\nid: 2\n", []string{"one YAML document expected"}},
		{"id: 'x\n", []string{"yaml:"}},
		{"config: other.yaml\n", []string{"config: unknown key"}},
	} {
		_, err := resolve(machine().file(t, c.text))
		if !errors.Is(err, errConfig) {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: error %q does not say %q", c.text, err, want)
			}
		}
	}
	missing := machine()
	missing.config = filepath.Join(t.TempDir(), "none")
	if _, err := resolve(missing); !errors.Is(err, os.ErrNotExist) || !errors.Is(err, errConfig) {
		t.Errorf("a missing file: %v", err)
	}
	for _, empty := range []string{"", "# nothing\n", "---\n"} {
		if _, err := resolve(machine().file(t, empty)); err != nil {
			t.Errorf("empty file %q: %v", empty, err)
		}
	}
}

// Promise: unknown RINGLEADER_* variables are warned of.
func TestUnknownVariables(t *testing.T) {
	in := machine()
	in.environ = []string{
		"RINGLEADER_ALGORITM=ring", "RINGLEADER_CONFIG=", "RINGLEADER_ADDR=x", "OTHER=1",
	}
	r, err := resolve(in)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`the environment variable RINGLEADER_ALGORITM is no setting; ` +
		`did you mean "RINGLEADER_ALGORITHM"?`}
	if !reflect.DeepEqual(r.remarks, want) {
		t.Errorf("warnings %q, want %q", r.remarks, want)
	}
}

// Who still gives a setting that is gone is told so, and what to do, wherever it stands.
func TestRetiredSettings(t *testing.T) {
	for _, s := range retired {
		in := machine()
		env := in
		env.environ = []string{s.env() + "=true"}
		for source, c := range map[string]struct {
			in   surroundings
			want error
		}{
			"flag": {in.with(s.name + "=true"), errUsage}, "environment": {env, errConfig},
			"file": {in.file(t, s.name+": true"), errConfig},
		} {
			_, err := resolve(c.in)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), "leave it out") {
				t.Errorf("%s from %s: %v, want %v", s.name, source, err, c.want)
			}
		}
	}
}
