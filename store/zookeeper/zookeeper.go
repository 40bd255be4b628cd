package zookeeper

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/storeprobe"
	"github.com/ringleader-dev/ringleader/internal/storeurl"
	"github.com/ringleader-dev/ringleader/store"
)

// Recipe says how candidates are named, and so which other programs see them.
type Recipe string

// The recipes.
const (
	Kazoo Recipe = "kazoo" // kazoo's Lock and Election
	Latch Recipe = "latch" // Curator's LeaderLatch
	Lock  Recipe = "lock"  // Curator's InterProcessMutex and LeaderSelector
)

// infix is what stands in the name of a candidate before its number.
var infix = map[Recipe]string{Kazoo: "__lock__", Latch: "latch-", Lock: "lock-"}

// Config says where an election is.
type Config struct {
	Servers []string // HOST:PORT of servers of one ensemble
	Path    string   // the znode below which candidates stand, as in "/leader"; it is made if it is not there
	Recipe  Recipe   // Kazoo if empty
	// Tick is the tickTime of the servers; 0 means their default of 2 seconds.
	Tick time.Duration
	// User and PasswordFile are empty if the servers ask for none. What such a candidate makes, all may
	// read, and only it may change.
	User, PasswordFile string
	TLS                *tls.Config // nil without TLS
}

// Parse reads zookeeper://SERVER,SERVER/PATH.
func Parse(u *url.URL) (store.Store, error) {
	if u.Scheme != "zookeeper" {
		return nil, fmt.Errorf("%s: write zookeeper://SERVER,SERVER/PATH", u.Scheme)
	}
	p, err := storeurl.Read(u, "2181", false, "recipe", "tick")
	if err != nil {
		return nil, err
	}
	c := Config{
		Servers: p.Servers, Path: "/" + p.Path, Recipe: Recipe(p.Option("recipe")),
		User: p.User, PasswordFile: p.PasswordFile, TLS: p.TLS,
	}
	if text := p.Option("tick"); text != "" {
		if c.Tick, err = time.ParseDuration(text); err != nil || c.Tick <= 0 {
			return nil, fmt.Errorf("tick=%s is no duration: write the tickTime of the servers, like tick=2s", text)
		}
	}
	return New(c)
}

// New returns the election.
func New(c Config) (store.Store, error) {
	if c.Recipe == "" {
		c.Recipe = Kazoo
	}
	if c.Tick == 0 {
		c.Tick = 2 * time.Second
	}
	odd := func(part string) bool { return part == "" || part == "." || part == ".." }
	for part := range strings.SplitSeq(c.Path, "/") {
		if _, _, is := contender(part); is {
			return nil, fmt.Errorf(
				"in the path %s, %q is the name of a candidate of an election: name another",
				c.Path,
				part,
			)
		}
	}
	switch {
	case c.Path == "/zookeeper" || strings.HasPrefix(c.Path, "/zookeeper/"):
		return nil, fmt.Errorf("the path %s: /zookeeper is ZooKeeper's own, name another", c.Path)
	case len(c.Servers) == 0:
		return nil, errors.New("no server is named")
	case c.Path == "" || c.Path == "/":
		return nil, errors.New("the path of the election is missing: write zookeeper://SERVER/PATH")
	case c.Path[0] != '/' || slices.ContainsFunc(strings.Split(c.Path[1:], "/"), odd):
		return nil, fmt.Errorf("%q is not a path: it begins with /, does not end with it, and no part of it is "+
			"empty or dots", c.Path)
	case infix[c.Recipe] == "":
		return nil, fmt.Errorf("there is no recipe %q: there are kazoo, latch, lock", c.Recipe)
	case c.Tick < 0:
		return nil, fmt.Errorf("the tick %v is no time", c.Tick)
	case c.PasswordFile != "" && c.User == "":
		return nil, errors.New("a password needs a user: give user=NAME")
	case c.PasswordFile == "" && c.User != "":
		return nil, errors.New("a user needs a password: give password-file=FILE")
	}
	return &place{c}, nil
}

// place is a Store.
type place struct{ Config }

// Secret implements store.Secretive.
func (p *place) Secret() string { return p.PasswordFile }

func (p *place) Name() string { return "zookeeper " + p.Path }

func (p *place) String() string {
	u := url.URL{Scheme: "zookeeper", Host: strings.Join(p.Servers, ","), Path: p.Path}
	var options []string
	if p.Recipe != Kazoo {
		options = append(options, "recipe="+string(p.Recipe))
	}
	if p.Tick != 2*time.Second {
		options = append(options, "tick="+p.Tick.String())
	}
	if p.TLS != nil {
		options = append(options, "tls=true")
	}
	u.RawQuery = strings.Join(options, "&")
	return u.String()
}

// MinTTL is the shortest session that servers grant, unless told otherwise.
func (p *place) MinTTL() time.Duration { return 2 * p.Tick }

func (p *place) Guarantee() algorithms.Guarantee { return algorithms.Lease }

func (p *place) Open(c store.Candidate) (store.Election, error) {
	if c.TTL < p.MinTTL() {
		return nil, fmt.Errorf("the TTL %v is below %v, two ticks of the servers", c.TTL, p.MinTTL())
	}
	prefix, err := prefix(p.Recipe)
	if err != nil {
		return nil, err
	}
	return &election{place: p, Candidate: c, hint: store.NewHint(), prefix: prefix, sure: true}, nil
}

// acl is what others may do with a znode of ours.
func (p *place) acl() []zk.ACL {
	if p.User == "" {
		return zk.WorldACL(zk.PermAll)
	}
	return append(zk.AuthACL(zk.PermAll), zk.WorldACL(zk.PermRead)...)
}

func (e *election) Changed() <-chan struct{} { return e.hint }

// Check reads the election.
func (e *election) Check(ctx context.Context) error {
	e.begin()
	defer e.finish()
	return storeprobe.Target{
		Product: storeprobe.ZooKeeper, Servers: e.Servers, TLS: e.TLS,
		WantsTLS: "give tls=true or ca=FILE", HasNone: "leave out tls, ca and cert",
	}.Check(ctx, e.check)
}

func (e *election) check(ctx context.Context) error {
	if err := e.makePath(ctx); err != nil {
		return err
	}
	names, err := e.list(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if r, _, _ := contender(name); r != e.Recipe {
			return fmt.Errorf("%w: the candidate %s does not see ours: it follows another recipe; give recipe=%s",
				store.ErrWrong, name, r)
		}
	}
	return nil
}

// makePath makes the path of the election where it is missing.
func (e *election) makePath(ctx context.Context) error {
	for i := range len(e.Path) + 1 {
		if i == 0 || i < len(e.Path) && e.Path[i] != '/' {
			continue
		}
		err := e.do(ctx, func(c *zk.Conn) error {
			if there, _, err := c.Exists(e.Path[:i]); there || err != nil {
				return err
			}
			_, err := c.Create(e.Path[:i], nil, 0, e.acl())
			return err
		})
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	return nil
}
