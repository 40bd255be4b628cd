package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/storeprobe"
	"github.com/ringleader-dev/ringleader/internal/storeurl"
	"github.com/ringleader-dev/ringleader/store"
)

// Config says where an election is.
type Config struct {
	// Servers are the addresses, HOST:PORT, of one primary, or of 3, 5, … servers that do not know each other.
	Servers []string
	Key     string
	DB      int // of each server
	// User and PasswordFile are empty if the servers ask for none. The file is read for each connection.
	User, PasswordFile string
	TLS                *tls.Config // nil without TLS
}

// Parse reads redis://SERVER/KEY or redis://SERVER,SERVER,SERVER/KEY, or the same with rediss for TLS.
func Parse(u *url.URL) (store.Store, error) {
	if u.Scheme != "redis" && u.Scheme != "rediss" {
		return nil, fmt.Errorf("%s: write redis://SERVER/KEY or rediss://SERVER/KEY", u.Scheme)
	}
	p, err := storeurl.Read(u, "6379", u.Scheme == "rediss", "db")
	if err != nil {
		return nil, err
	}
	db := 0
	if text := p.Option("db"); text != "" {
		if db, err = strconv.Atoi(text); err != nil {
			return nil, fmt.Errorf("db=%s is not the number of a database", text)
		}
	}
	return New(Config{
		Servers: p.Servers, Key: p.Path, DB: db, User: p.User, PasswordFile: p.PasswordFile, TLS: p.TLS,
	})
}

// What is kept next to the key of an election.
const tokenOf, askOf = ":token", ":ask"

// New returns the election. It silences what the client library logs in this process: what it says, an
// error says too.
func New(c Config) (store.Store, error) {
	for _, own := range []string{tokenOf, askOf} {
		if of, is := strings.CutSuffix(c.Key, own); is {
			return nil, fmt.Errorf(
				"the key %q is where the election %q keeps what belongs to it: name another",
				c.Key,
				of,
			)
		}
	}
	switch {
	case c.Key == "":
		return nil, errors.New("the key of the election is missing: write redis://SERVER/KEY")
	case c.DB < 0:
		return nil, fmt.Errorf("db=%d is not the number of a database", c.DB)
	case len(c.Servers) == 0:
		return nil, errors.New("no server is named")
	case c.User != "" && c.PasswordFile == "":
		return nil, errors.New("a user needs a password: give password-file=FILE")
	case len(c.Servers)%2 == 0:
		return nil, fmt.Errorf("%d servers: name one primary, or an odd number of servers, 3 or more, that do "+
			"not know each other; a majority of %d survives no more failures than one of %d",
			len(c.Servers), len(c.Servers), len(c.Servers)-1)
	}
	logging.Disable()
	return &place{c}, nil
}

// place is a Store.
type place struct{ Config }

// Secret implements store.Secretive.
func (p *place) Secret() string { return p.PasswordFile }

func (p *place) Name() string {
	name := "redis " + p.Key
	if p.DB != 0 {
		name += " of database " + strconv.Itoa(p.DB)
	}
	return name
}

func (p *place) String() string {
	u := url.URL{Scheme: "redis", Host: strings.Join(p.Servers, ","), Path: "/" + p.Key}
	if p.TLS != nil {
		u.Scheme = "rediss"
	}
	if p.DB != 0 {
		u.RawQuery = "db=" + strconv.Itoa(p.DB)
	}
	return u.String()
}

func (p *place) MinTTL() time.Duration { return 100 * time.Millisecond }

func (p *place) Guarantee() algorithms.Guarantee {
	if len(p.Servers) > 1 {
		return algorithms.LeaseByClocks
	}
	return algorithms.LeaseUntilFailover
}

func (p *place) Open(c store.Candidate) (store.Election, error) {
	if c.TTL < p.MinTTL() {
		return nil, fmt.Errorf("the TTL %v is below %v", c.TTL, p.MinTTL())
	}
	e := &election{place: p, Candidate: c, hint: store.NewHint()}
	e.life, e.end = context.WithCancel(context.Background())
	for _, address := range p.Servers {
		e.servers = append(e.servers, redis.NewClient(e.options(address)))
		e.turns = append(e.turns, make(chan struct{}, 1))
	}
	return e, nil
}

// options are those of one server. The client repeats no request: the host does that.
func (e *election) options(address string) *redis.Options {
	patience := e.patience()
	return &redis.Options{
		Addr: address, DB: e.DB, Protocol: 2, MaxRetries: -1, DialerRetries: 1, PoolSize: 4,
		DialTimeout: patience, ReadTimeout: patience, WriteTimeout: patience, ContextTimeoutEnabled: true,
		Dialer: e.dial, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		CredentialsProviderContext: func(context.Context) (string, string, error) {
			password, err := storeurl.Password(e.PasswordFile)
			if err != nil {
				return "", "", fmt.Errorf("%w: %w", store.ErrWrong, err)
			}
			return e.User, password, nil
		},
	}
}

// dial makes a connection that ends with the election, whoever waits for it.
func (e *election) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var conn net.Conn
	var err error
	if e.TLS != nil {
		conn, err = (&tls.Dialer{Config: e.TLS}).DialContext(ctx, network, address)
	} else {
		conn, err = new(net.Dialer).DialContext(ctx, network, address)
	}
	if err != nil {
		return nil, err
	}
	return &mortal{conn, context.AfterFunc(e.life, func() { _ = conn.Close() })}, nil
}

type mortal struct {
	net.Conn
	forget func() bool
}

func (m *mortal) Close() error {
	m.forget()
	return m.Conn.Close()
}

// election is an Election.
type election struct {
	*place
	store.Candidate
	servers []*redis.Client
	turns   []chan struct{} // of each server: who has put something in it does something there
	hint    store.Hint
	life    context.Context
	end     context.CancelFunc
	done    sync.WaitGroup

	listens bool
	number  uint64           // of the request
	held    algorithms.Entry // the own entry by the last answer
	expiry  *time.Timer      // of the first entry
}

func (e *election) Changed() <-chan struct{} { return e.hint }

func (e *election) Close() error {
	e.end()
	if e.expiry != nil {
		e.expiry.Stop()
	}
	for _, s := range e.servers {
		_ = s.Close() // its connections have ended with e.life, and it complains about that
	}
	e.done.Wait()
	return nil
}

// listen gives a hint whenever a server says that there was a change, or is connected to anew.
func (e *election) listen() {
	if e.listens {
		return
	}
	e.listens = true
	for _, s := range e.servers {
		e.done.Go(func() {
			sub := s.Subscribe(e.life, e.Key+":changed")
			defer sub.Close()
			said := sub.ChannelWithSubscriptions()
			for {
				select {
				case <-e.life.Done():
					return
				case _, open := <-said:
					if !open {
						return
					}
					e.hint.Give()
				}
			}
		})
	}
}

// Check asks each server what it is. A minority may be down.
func (e *election) Check(ctx context.Context) error {
	e.listen()
	return storeprobe.Target{
		Product: storeprobe.Redis, Servers: e.Servers, TLS: e.TLS,
		WantsTLS: "write rediss://", HasNone: "write redis://, without tls=true",
	}.Check(ctx, e.checkAll)
}

func (e *election) checkAll(ctx context.Context) error {
	runs, errs := each(ctx, e, e.check)
	if errors.Is(ctx.Err(), context.Canceled) {
		return errors.Join(errs...)
	}
	for i, run := range runs {
		if first := slices.Index(runs, run); run != "" && first < i {
			return fmt.Errorf("%w: %s and %s are the same server: a majority must not count it twice",
				store.ErrWrong, e.Servers[first], e.Servers[i])
		}
	}
	failed, wrong := 0, false
	for _, err := range errs {
		if err != nil {
			failed++
		}
		wrong = wrong || errors.Is(err, store.ErrWrong)
	}
	if wrong || failed > len(e.servers)/2 {
		return errors.Join(errs...)
	}
	return nil
}

// check returns the name of the server's run, if it tells.
func (e *election) check(ctx context.Context, s *redis.Client) (run string, err error) {
	if _, err := e.run(ctx, s, look, ask{}); err != nil {
		return "", err
	}
	info, err := s.Info(ctx).Result()
	if err != nil {
		if redis.HasErrorPrefix(err, "NOPERM") {
			return "", nil // the scripts run, and that is what counts
		}
		return "", explain(s, err)
	}
	about := make(map[string]string)
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		about[name] = value
	}
	major, _, _ := strings.Cut(about["redis_version"], ".")
	if n, err := strconv.Atoi(major); err == nil && n < 6 {
		return "", wrong(s, "Redis %s is too old: 6 or later is needed", about["redis_version"])
	}
	switch {
	case about["role"] == "slave":
		return "", wrong(
			s,
			"this is a replica of %s:%s: name the primary",
			about["master_host"],
			about["master_port"],
		)
	case about["cluster_enabled"] == "1":
		return "", wrong(s, "this is a node of a Redis Cluster: name a server of its own")
	}
	return about["run_id"], nil
}

func wrong(s *redis.Client, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", store.ErrWrong, s.Options().Addr, fmt.Sprintf(format, args...))
}

const spoilt = "the token of the election is no number: somebody else wrote to it"

// advice is what to do about errors that do not pass by themselves.
var advice = []struct{ text, do string }{
	{"NOAUTH", "it wants a password: give password-file=FILE"},
	{"unauthenticated", "it wants a password: give password-file=FILE"},
	{"WRONGPASS", "the user or the password is wrong"},
	{"ERR AUTH", "it has no password: leave password-file out"},
	{"NOPERM", "the user may not do this: it needs EVALSHA, EVAL, GET, SET, DEL, INCR, PTTL, PEXPIRE, PUBLISH and " +
		"SUBSCRIBE on the key, and on its names with :token, :ask and :changed"},
	{"READONLY", "this is a replica: name the primary"},
	{"WRONGTYPE", "the key holds something else: name another key, or delete it"},
	{"not an integer", spoilt},
	{"MOVED", "this is a node of a Redis Cluster: name a server of its own"},
	{"DB index is out of range", "there is no such database: give another db=NUMBER"},
	{"redis: can't parse", "this is not Redis, or it wants TLS: write rediss://"},
	{"redis: invalid", "this is not Redis, or it wants TLS: write rediss://"},
	{"unknown command", "this is not Redis, or an old one"},
	{"first record does not look like a TLS handshake", "it does not speak TLS: write redis://, without tls=true"},
	{"x509: ", "its certificate is not trusted: give the ca=FILE that signed it"},
}

// explain names the server that failed, and says what to do if the failure will not pass.
func explain(s *redis.Client, err error) error {
	for _, a := range advice {
		if strings.Contains(err.Error(), a.text) {
			return wrong(s, "%s (%v)", a.do, err)
		}
	}
	return fmt.Errorf("%s: %w", s.Options().Addr, err)
}
