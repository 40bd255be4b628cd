package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// keyCluster is the HTTP APIs of nodes that have keys of gossip, and nothing else.
type keyCluster struct {
	t       *testing.T
	nodes   []*keyNode
	dropped uint64 // by each node, sealed with a key that it has not
}

// keyNode is one of them.
type keyNode struct {
	id   proto.NodeID
	addr string
	all  *keyCluster

	mu    sync.Mutex
	keys  []string
	fails map[httpapi.KeyVerb]error
}

func newKeyCluster(t *testing.T, keys ...string) *keyCluster {
	c := &keyCluster{t: t}
	for id := range proto.NodeID(3) {
		n := &keyNode{id: id + 1, all: c, keys: slices.Clone(keys), fails: map[httpapi.KeyVerb]error{}}
		api := httpapi.Config{Source: n, Keys: n}
		if len(keys) == 0 {
			api.Keys = nil
		}
		server := httptest.NewServer(httpapi.Handler(api))
		t.Cleanup(server.Close)
		n.addr = strings.TrimPrefix(server.URL, "http://")
		c.nodes = append(c.nodes, n)
	}
	return c
}

// Snapshot implements httpapi.Source. Node 4 is a voter that is down, and node 7 is not back.
func (n *keyNode) Snapshot() httpapi.Snapshot {
	s := httpapi.Snapshot{
		Self: n.id, Voters: []proto.NodeID{1, 2, 3, 4}, Gone: []httpapi.Gone{{ID: 3}, {ID: 4}, {ID: 7}},
		Counters: map[string]uint64{"gossip_dropped_unknown_key": n.all.dropped},
	}
	for _, m := range n.all.nodes {
		s.Members = append(s.Members, httpapi.Member{ID: m.id, HTTPAddr: m.addr})
	}
	return s
}

// ChangeKeys implements httpapi.Keys.
func (n *keyNode) ChangeKeys(_ context.Context, o httpapi.KeyOrder) ([]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.fails[o.Do]; err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(slices.Clone(n.keys), func(k string) bool { return k == o.Fingerprint })
	switch o.Do {
	case httpapi.AddKey:
		if print := credentials.Fingerprint(o.Key); !slices.Contains(n.keys, print) {
			n.keys = append(n.keys, print)
		}
	case httpapi.UseKey:
		if len(others) == len(n.keys) {
			return nil, fmt.Errorf("%w: this node has no key %s", httpapi.ErrConflict, o.Fingerprint)
		}
		n.keys = append([]string{o.Fingerprint}, others...)
	case httpapi.RemoveKey:
		if n.keys[0] == o.Fingerprint {
			return nil, fmt.Errorf("%w: this node seals with the key %s", httpapi.ErrConflict, o.Fingerprint)
		}
		n.keys = others
	}
	return slices.Clone(n.keys), nil
}

// run runs ringleader keys, at node 1.
func (c *keyCluster) run(words ...string) (stdout string, err error) {
	c.t.Helper()
	var out, stderr bytes.Buffer
	line := append([]string{"ringleader", "keys", words[0], "--addr", c.nodes[0].addr}, words[1:]...)
	err = newApp(&out, &stderr).RunContext(c.t.Context(), line)
	return out.String(), err
}

// refused runs ringleader keys, which must end with an error that says all the words.
func (c *keyCluster) refused(says []string, words ...string) string {
	c.t.Helper()
	out, err := c.run(words...)
	for _, text := range says {
		if err == nil || !strings.Contains(err.Error(), text) {
			c.t.Errorf("%q: %v, want %q", words, err, text)
		}
	}
	return out
}

func (c *keyCluster) want(what string, keys ...[]string) {
	c.t.Helper()
	for i, n := range c.nodes {
		n.mu.Lock()
		if want := keys[min(i, len(keys)-1)]; !slices.Equal(n.keys, want) {
			c.t.Errorf("%s: node %v has %v, want %v", what, n.id, n.keys, want)
		}
		n.mu.Unlock()
	}
}

const oldKey = "0123456789ab"

// A rotation, with what is printed at each step.
func TestKeysCommand(t *testing.T) {
	c := newKeyCluster(t, oldKey)
	out, err := c.run("add")
	found := regexp.MustCompile(`key ([0-9a-f]{12}) was added; next: ringleader keys use`).FindStringSubmatch(out)
	if err != nil || found == nil {
		t.Fatalf("%s, %v", out, err)
	}
	fresh := found[1]
	c.want("add", []string{oldKey, fresh})
	const absent = "nodes 4 7 are not there: each keeps its keys, and is let in if the others open what it seals; " +
		"else copy another's gossip.key to it"
	for _, step := range []struct {
		words []string
		want  string
	}{
		{
			[]string{"list"}, `key           nodes that have it  that seal with it
0123456789ab  1 2 3               1 2 3
FRESH  1 2 3               none
ABSENT
`,
		},
		{
			[]string{"use", fresh}, `key           nodes that have it  that seal with it
FRESH  1 2 3               1 2 3
0123456789ab  1 2 3               none
ABSENT
nodes 1 2 3 seal with key FRESH now; next, once all that stay are there: ringleader keys remove 0123456789ab
`,
		},
		{
			[]string{"remove", oldKey}, `key           nodes that have it  that seal with it
FRESH  1 2 3               1 2 3
ABSENT
nodes 1 2 3 have not key 0123456789ab any more
`,
		},
	} {
		out, err := c.run(step.words...)
		if want := strings.NewReplacer("FRESH", fresh, "ABSENT", absent).Replace(step.want); err != nil || out != want {
			t.Errorf("%q: %v\n%s\nwant\n%s", step.words, err, out, want)
		}
	}
	var table keyTable
	out, err = c.run("list", "-o", "json")
	if err != nil || json.Unmarshal([]byte(out), &table) != nil || len(table.Keys) != 1 || len(table.Absent) != 2 {
		t.Errorf("%s, %v", out, err)
	}
}

// What would cut nodes off, or is done at some only, is refused or named.
func TestKeysCommandRefuses(t *testing.T) {
	c := newKeyCluster(t, oldKey)
	other := "ba9876543210"
	for _, do := range []string{"use", "remove"} {
		nobody := []string{"no node that answers has key " + other + ": nothing was changed; there are " + oldKey}
		if out := c.refused(nobody, do, other); !strings.Contains(out, oldKey) {
			t.Errorf("%s does not list the keys that there are: %s", do, out)
		}
	}
	c.nodes[0].keys, c.nodes[1].keys = []string{oldKey, other}, []string{other, oldKey}
	c.refused([]string{
		"node 3 has not key " + other, "nothing was changed", "give it the gossip.key of node 1",
		"if it is no node of this cluster, leave it out: --only 1,2",
	}, "use", other)
	c.refused([]string{"node 2 seals with key " + other, "nothing was changed"}, "remove", other)
	mends := "this mends it: ringleader keys use " + oldKey
	c.refused([]string{mends}, "use", other)
	c.refused([]string{mends}, "remove", other)
	c.nodes[2].fails[httpapi.ListKeys] = fmt.Errorf("%w: it is leaving", httpapi.ErrConflict)
	before := []string{
		"node 3: ", "it is leaving", "nothing was changed",
		"if it is no node of this cluster, leave it out: --only 1,2",
	}
	c.refused(before, "add")
	c.refused(before, "use", oldKey)
	c.refused(before, "remove", other)
	if out := c.refused([]string{"it is leaving"}, "list"); !strings.Contains(out, oldKey) {
		t.Errorf("the others are not listed: %s", out)
	}
	c.want("refused", []string{oldKey, other}, []string{other, oldKey}, []string{oldKey})
}

// A step that was done at some nodes only says which lack what, and is run again.
func TestKeysCommandRunsAgain(t *testing.T) {
	c := newKeyCluster(t, oldKey)
	key := credentials.NewGossipKey()
	fresh := credentials.Fingerprint(key)
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(base64.StdEncoding.EncodeToString(key)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := fmt.Errorf("no space is left")
	c.nodes[1].fails[httpapi.AddKey] = full
	out := c.refused([]string{"node 2: ", "no space", "not all nodes have key " + fresh, "run this again"},
		"add", "--key-file", file)
	if strings.Contains(out, "was added") {
		t.Errorf("it says %s", out)
	}
	c.want("half added", []string{oldKey, fresh}, []string{oldKey}, []string{oldKey, fresh})
	c.refused([]string{"take it back with ringleader keys remove"}, "add")
	for _, n := range c.nodes {
		n.keys = n.keys[:min(len(n.keys), 2)] // without the second
	}
	delete(c.nodes[1].fails, httpapi.AddKey)
	if _, err := c.run("add", "--key-file", file); err != nil {
		t.Error(err)
	}
	c.nodes[0].fails[httpapi.AddKey] = full
	c.refused([]string{"node 1: ", "no space", ": nothing was changed"}, "add")
	delete(c.nodes[0].fails, httpapi.AddKey)
	c.want("added", []string{oldKey, fresh})
	c.nodes[2].fails[httpapi.UseKey] = full
	c.refused([]string{"node 3: ", "not all nodes seal with key " + fresh, "run this again"}, "use", fresh)
	c.want("half used", []string{fresh, oldKey}, []string{fresh, oldKey}, []string{oldKey, fresh})
	c.refused([]string{"node 3 seals with key " + oldKey}, "remove", oldKey)
	delete(c.nodes[2].fails, httpapi.UseKey)
	if _, err := c.run("use", fresh); err != nil {
		t.Error(err)
	}
	for i, half := range [][][]string{
		{{fresh, oldKey}, {fresh, oldKey}, {fresh, oldKey}}, // the first node decides
		{{fresh}, {fresh, oldKey}, {fresh}},
	} {
		c.nodes[i].fails[httpapi.RemoveKey] = full
		c.refused([]string{
			fmt.Sprintf("node %d: ", i+1), "still open what is sealed with key " + oldKey, "run this again",
		}, "remove", oldKey)
		c.want("half removed", half...)
		delete(c.nodes[i].fails, httpapi.RemoveKey)
	}
	if _, err := c.run("remove", oldKey); err != nil {
		t.Error(err)
	}
	c.want("removed", []string{fresh})
}

// docs/EXIT-CODES.md: "`keys list` ends with 1 when the nodes disagree". It says which node lacks or uses what, and the
// command that mends it: that is run here, and then no node is cut off, and what is left can be removed.
func TestKeysListMends(t *testing.T) {
	const a, b = "aaaaaaaaaaaa", "bbbbbbbbbbbb"
	for name, test := range map[string]struct {
		keys  [3][]string
		says  []string
		mends string
	}{
		"cut off": {
			[3][]string{{a, oldKey}, {oldKey}, {oldKey}},
			[]string{
				"nodes 2 3 have not key " + a + ", and drop what is sealed with it",
				"not all nodes seal with the same key: node 1 seals with " + a + ", nodes 2 3 seal with " + oldKey,
			},
			"use " + oldKey,
		},
		"two keys": {
			[3][]string{{a, oldKey}, {oldKey, a}, {a, oldKey}},
			[]string{"nodes 1 3 seal with " + a + ", node 2 seals with " + oldKey},
			"use " + a,
		},
		"left over": {
			[3][]string{{oldKey}, {oldKey, b}, {oldKey}},
			[]string{"nodes 1 3 have not key " + b + ": add it again from its file, or "},
			"remove " + b,
		},
		"nothing in common": {
			[3][]string{{a}, {oldKey}, {oldKey}},
			[]string{
				"nodes 2 3 have not key " + a, "node 1 has not key " + oldKey,
				"no key is on all nodes: this mends it: ringleader keys add, and then use, as that says",
			},
			"add",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newKeyCluster(t, oldKey)
			for i, n := range c.nodes {
				n.keys = test.keys[i]
			}
			out := c.refused(append(test.says, "ringleader keys "+test.mends), "list")
			if !strings.Contains(out, oldKey) {
				t.Errorf("listed %s", out)
			}
			out, err := c.run(strings.Fields(test.mends)...)
			if test.mends == "add" {
				_, use, _ := strings.Cut(out, "next: ringleader keys ")
				_, err = c.run(strings.Fields(use)...)
			}
			seal := c.nodes[0].keys[0]
			for _, n := range c.nodes {
				if err != nil || n.keys[0] != seal {
					t.Errorf("node %v has %v, %v", n.id, n.keys, err)
				}
			}
		})
	}
}

// A node that seals with a key that the others have not, and whose links are down, is listed nowhere. It is named among
// those that are not there, and the node that drops what it sends says so.
func TestKeysListNamesWhomNobodyOpens(t *testing.T) {
	c := newKeyCluster(t, oldKey)
	c.dropped = 41
	out, err := c.run("list")
	if err != nil || !strings.Contains(out, "nodes 4 7 are not there") || !strings.HasSuffix(out, "node 1 dropped "+
		"41 messages sealed with a key that it has not, since it started: its log says from where\n") {
		t.Errorf("%s, %v", out, err)
	}
}

// A node that is none keeps nobody from a rotation, once it is left out.
func TestKeysCommandOnly(t *testing.T) {
	c := newKeyCluster(t, oldKey)
	c.nodes[2].addr = "127.0.0.1:1" // where nobody listens
	c.refused([]string{"node 3: ", "nothing was changed"}, "add")
	if out, err := c.run("add", "--only", "1-2"); err != nil || !strings.Contains(out, "none\n") {
		t.Errorf("%s, %v", out, err)
	}
	if len(c.nodes[0].keys) != 2 || len(c.nodes[1].keys) != 2 || len(c.nodes[2].keys) != 1 {
		t.Errorf("keys %v, %v, %v", c.nodes[0].keys, c.nodes[1].keys, c.nodes[2].keys)
	}
	c.refused([]string{"--only names node 7, which node 1 does not believe alive"}, "list", "--only", "1,7")
	c.refused([]string{"--only"}, "list", "--only", "x")
}

// docs/OPERATING.md: "A node that does not answer in time is named, and the command ends with 6". The node that was
// asked for the others answers; it must not be blamed.
func TestKeysCommandOfASilentNode(t *testing.T) {
	for _, verb := range []httpapi.KeyVerb{httpapi.ListKeys, httpapi.UseKey} {
		c := newKeyCluster(t, oldKey, "ba9876543210")
		c.nodes[1].fails[verb] = fmt.Errorf("it waits for its disk: %w", context.DeadlineExceeded)
		out, err := c.run("use", "ba9876543210")
		if err == nil || exitCode(err) != exitNoLeader || !strings.HasPrefix(err.Error(), "node 2: ") ||
			strings.Contains(err.Error(), c.nodes[0].addr) || !strings.Contains(out, "1 3") {
			t.Errorf("%s: %s, %v", verb, out, err)
		}
		later := "node 2 may still do it: ringleader keys list shows what it has then"
		if verb == httpapi.UseKey && (err == nil || !strings.Contains(err.Error(), later)) {
			t.Errorf("%v, want %q", err, later)
		}
	}
}

// Nodes without keys say so, and nobody sends them one.
func TestKeysCommandUnencrypted(t *testing.T) {
	c := newKeyCluster(t)
	says := []string{"this node's gossip is not encrypted: it has no keys"}
	c.refused(says, "list")
	c.refused(append(says, "nothing was changed"), "add")
}

// "If nodes are listed that are none, so that not all answer: `--only 1-3` names those to ask." A node that hangs is
// one: it is waited for or ended, and nobody is advised to step over it.
func TestKeysBesideANodeThatHangs(t *testing.T) {
	const fresh = "aaaaaaaaaaaa"
	over, end := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer end()
	hangs := holderAt(httpapi.Client{Addr: "127.0.0.1:7948"}, 3)
	_, err := hangs.order(over, httpapi.KeyOrder{Do: httpapi.ListKeys})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	hangs.order = func(context.Context, httpapi.KeyOrder) (httpapi.GossipKeys, error) {
		return httpapi.GossipKeys{}, err
	}
	well := keyHolder{1, func(context.Context, httpapi.KeyOrder) (httpapi.GossipKeys, error) {
		return httpapi.GossipKeys{Self: 1, Keys: []string{oldKey, fresh}}, nil
	}}
	for _, c := range []struct {
		voters        []proto.NodeID
		says, notSays string
	}{
		{[]proto.NodeID{1, 3}, "and run this again", "--only"},
		{nil, "; if it is no node of this cluster, leave it out: --only 1", "done at all nodes; "},
	} {
		n := &keyNodes{nodes: []keyHolder{well, hangs}, voters: c.voters}
		_, err := n.use(t.Context(), fresh)
		if exitCode(err) != exitNoLeader {
			t.Errorf("it ends with %d", exitCode(err))
		}
		for _, text := range []string{
			"node 3 does not answer at 127.0.0.1:7948 within 25 s: it hangs, is paused, or is cut off from here",
			"nothing was changed", "wait until it answers, or end it", c.says,
		} {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("it says\n%v\nwant %q", err, text)
			}
		}
		for _, text := range []string{"context deadline", "is the node running", c.notSays} {
			if strings.Contains(err.Error(), text) {
				t.Errorf("it says\n%v\nwith %q", err, text)
			}
		}
	}
}
