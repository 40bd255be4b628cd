package postgres

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/needs"
	"github.com/ringleader-dev/ringleader/internal/storeurl"
	"github.com/ringleader-dev/ringleader/store"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

const ttl = 2 * time.Second

// patience bounds what the tests wait for, on a machine that does much else at the same time.
const patience = time.Minute

// server is a PostgreSQL server of one test.
type server struct {
	dir, port string
	who       *syscall.Credential
	cmd       *exec.Cmd
	log       bytes.Buffer
}

// tool returns a program of PostgreSQL: Debian keeps them out of the PATH.
func tool(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("there is no %s", name)
	}
	if err != nil {
		return "", err
	}
	return found[len(found)-1], nil
}

// unprivileged returns the user postgres if this process is root, since the server refuses root.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

func start(t *testing.T) *server {
	t.Helper()
	initdb, initErr := tool("initdb")
	_, err := tool("postgres")
	who, whoErr := unprivileged()
	needs.Here(t, "an election in PostgreSQL", errors.Join(initErr, err, whoErr))
	dir, err := os.MkdirTemp("", "ringleader-postgres-") // the server's user must reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if who != nil {
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	s := &server{dir: dir, port: storetest.FreePort(t), who: who}
	init := s.command(initdb, "-D", dir+"/data", "-U", "postgres", "-A", "trust", "--no-sync")
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("%s", &s.log)
		}
	})
	s.start(t)
	return s
}

func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.who, Pdeathsig: syscall.SIGINT, Setpgid: true}
	return cmd
}

func (s *server) start(t *testing.T) {
	t.Helper()
	program, _ := tool("postgres")
	s.cmd = s.command(program, "-D", s.dir+"/data", "-p", s.port, "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=")
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		conn, err := pgx.Connect(t.Context(), s.dsn())
		if err == nil {
			_ = conn.Close(t.Context())
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the server does not start: %v\n%s", err, &s.log)
		}
	}
}

// kill ends the server and all its processes at once.
func (s *server) kill() {
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	_ = s.cmd.Wait()
}

// signal signals the server and each of its processes: they have process groups of their own.
func (s *server) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	pid := s.cmd.Process.Pid
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(strings.Fields(string(children)), strconv.Itoa(pid)) {
		child, _ := strconv.Atoi(text)
		_ = syscall.Kill(child, signal) // it may have ended by now
		if signal == syscall.SIGSTOP {
			storetest.Stopped(t, child)
		}
	}
}

func (s *server) dsn() string {
	return fmt.Sprintf("host=127.0.0.1 port=%s user=postgres dbname=postgres", s.port)
}

// do runs a statement as another program would.
func (s *server) do(t *testing.T, sql string, args ...any) int64 {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.dsn())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	tag, err := conn.Exec(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return tag.RowsAffected()
}

func (s *server) at(t *testing.T, election string, change ...func(*Config)) store.Store {
	t.Helper()
	c := Config{
		Servers: []string{"127.0.0.1:" + s.port}, Database: "postgres", User: "postgres", Election: election,
	}
	for _, do := range change {
		do(&c)
	}
	is, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

func TestStorePostgres(t *testing.T) {
	s := start(t)
	var count atomic.Int64
	storetest.Run(t, storetest.Rig{TTL: ttl, New: func(t *testing.T) store.Store {
		return s.at(t, fmt.Sprintf("election-%d", count.Add(1)))
	}})
}

// "One row a lease, the server's clock": a candidate of another program, which uses the statements, excludes
// ours and is excluded, and the token grows over its leaderships too.
func TestForeignCandidate(t *testing.T) {
	s := start(t)
	one := storetest.Open(t, s.at(t, "k"), 1, ttl)
	first := one.Leads(one.Stand())
	stand := func() int64 {
		return s.do(t, fmt.Sprintf(Stand, "ringleader_leases"), pgx.NamedArgs{
			"election": "k", "value": "host-1", "own": "host-1", "lent": "", "ttl": time.Hour.Microseconds(),
			"channel": "c", "dead": "", "token": 0,
		})
	}
	if stand() != 0 {
		t.Error("another leads beside ours")
	}
	one.Leave()
	if stand() != 1 {
		t.Fatal("another cannot lead after ours")
	}
	a := one.Stand()
	if a.Held() || a.Holder.ID != 0 || a.Holder.Foreign == "" || a.Holder.Token <= first.Token {
		t.Errorf("behind a stranger: %+v", a)
	}
	s.do(t, "UPDATE ringleader_leases SET holder = '' WHERE name = 'k'")
	if next := one.Takes(); next.Token <= a.Holder.Token {
		t.Errorf("the token %d is not above the stranger's %d", next.Token, a.Holder.Token)
	}
}

// A server that is killed, and one that is stopped in the middle: an ask fails, and later ones are answered.
func TestServerAway(t *testing.T) {
	s := start(t)
	one := storetest.Open(t, s.at(t, "k"), 1, time.Minute)
	first := one.Leads(one.Stand())
	fails := func(what string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if a, err := one.Ask(ctx, algorithms.Ask{Verb: algorithms.AskRenew}); err == nil {
			t.Errorf("%s: it answers %+v", what, a)
		}
	}
	s.signal(t, syscall.SIGSTOP)
	fails("stopped")
	s.signal(t, syscall.SIGCONT)
	if again := one.Leads(one.Renew()); again != first {
		t.Errorf("it leads with %+v, and had %+v", again, first)
	}
	s.kill()
	fails("killed")
	s.start(t)
	if again := one.Leads(one.Renew()); again != first {
		t.Errorf("after a crash of the server it leads with %+v, and had %+v", again, first)
	}
}

// One of the servers takes connections and answers none, as one that is stopped or that a firewall cut off: whoever
// gave up to wait for it asks the next one.
func TestOneServerHangs(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	hangs := func(c *Config) { c.Servers = append([]string{silent.Addr().String()}, c.Servers...) }
	one := storetest.Open(t, start(t).at(t, "k", hangs), 1, ttl)
	for try := 1; ; try++ {
		ctx, cancel := context.WithTimeout(t.Context(), ttl/4) // as long as a host waits
		a, err := one.Ask(ctx, algorithms.Ask{Verb: algorithms.AskStand})
		cancel()
		if err == nil {
			one.Leads(a)
			break
		}
		if try == 2 {
			t.Fatalf("the server that hangs was asked twice: %v", err)
		}
	}
	one.Leads(one.Renew())
}

// "A server that wants a password, is read-only; a table that is not ours": each error says what to do.
func TestCheck(t *testing.T) {
	s := start(t)
	s.do(t, "CREATE TABLE other (name text PRIMARY KEY, x int)")
	s.do(t, "CREATE TABLE numbers (name text PRIMARY KEY, holder int, token bigint, expires timestamptz)")
	s.do(t, "CREATE TABLE keyless (name text, holder text, token bigint, expires timestamptz)")
	s.do(
		t,
		"CREATE TABLE more (name text PRIMARY KEY, holder text, token bigint, expires timestamptz, x int NOT NULL)",
	)
	s.do(t, "CREATE ROLE reader LOGIN")
	s.do(t, "CREATE ROLE guarded LOGIN")
	s.do(t, "COPY (VALUES ('host all guarded all scram-sha-256'), "+
		"('host all postgres,reader all trust')) TO '"+s.dir+"/data/pg_hba.conf'")
	s.do(t, "SELECT pg_reload_conf()")
	within := time.Now().Add(patience)
	for s.do(t, "SELECT 1 FROM pg_hba_file_rules WHERE user_name = '{guarded}'") == 0 && time.Now().Before(within) {
		time.Sleep(10 * time.Millisecond)
	}
	for want, change := range map[string]func(*Config){
		"the table is not one of elections":         func(c *Config) { c.Table = "other" },
		"there is no such database":                 func(c *Config) { c.Database = "none" },
		"the user may not do this":                  func(c *Config) { c.User, c.Table = "reader", "fresh" },
		"wants a password: give password-file=FILE": func(c *Config) { c.User = "guarded" },
		"give tls=true or ca=FILE":                  func(c *Config) { c.User = "stranger" },
		"there is no such schema":                   func(c *Config) { c.Table = "none.leases" },
		"the server does not speak TLS": func(c *Config) {
			c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		},
	} {
		p := storetest.Open(t, s.at(t, "k", change), 1, ttl)
		if err := p.Check(t.Context()); !errors.Is(err, store.ErrWrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	for _, table := range []string{"numbers", "keyless", "more"} {
		p := storetest.Open(t, s.at(t, "k", func(c *Config) { c.Table = table }), 1, ttl)
		if err := p.Check(t.Context()); !errors.Is(err, store.ErrWrong) ||
			!strings.Contains(err.Error(), "not one of el") {
			t.Errorf("the table %s: %v", table, err)
		}
	}
	p := storetest.Open(t, s.at(t, "k"), 1, ttl)
	if err := p.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if n := s.do(t, "SELECT FROM ringleader_leases"); n != 0 {
		t.Errorf("checking left %d rows", n)
	}
	s.kill()
	if err := p.Check(t.Context()); err == nil || errors.Is(err, store.ErrWrong) {
		t.Errorf("a server that is away: %v", err)
	}
}

// What a URL may say, and what is said of a wrong one.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://h/db": "postgres://h:5432/db?election=leader&table=ringleader_leases",
		"postgresql://h:1,g/db?table=s.t&election=x": "postgres://h:1,g:5432/db?election=x&table=s.t",
		"postgres://me@h/db":                         "", // the server may know it by its certificate
		"postgres://h/db?user=me":                    "",
		"postgres://h/db/x": `the database "db/x": write postgres://SERVER/DATABASE, and ` +
			`?election=NAME for the election`,
		"postgres://h":                `the database "": write postgres://SERVER/DATABASE`,
		"postgres://h/db?table=a%20b": `the table "a b": want a name of letters, digits and _, or SCHEMA.NAME`,
		"postgres://h/db?sslmode=disable": `there is no option "sslmode": there are ca, cert, election, key-file, ` +
			`password-file, table, tls, user`,
		"postgres://me:secret@h/db": "a password in a URL is seen by all who list processes: write it to a file, " +
			"and give password-file=FILE",
	} {
		u, err := storeurl.Split(text)
		if err != nil {
			t.Fatal(err)
		}
		got := parsed(u)
		if want == "" {
			want = "postgres://h:5432/db?election=leader&table=ringleader_leases"
		}
		if got != want {
			t.Errorf("%s gives %s, want %s", text, got, want)
		}
	}
}

func parsed(u *url.URL) string {
	s, err := Parse(u)
	if err != nil {
		return err.Error()
	}
	return s.String()
}

// "For PostgreSQL, the guarded write in the same database as one statement": it writes for the leader, and for
// nobody who led before.
func TestGuardedWrite(t *testing.T) {
	s := start(t)
	sql, err := os.ReadFile("../../docs/fencing/lease.sql")
	if err != nil {
		t.Fatal(err)
	}
	s.do(t, "CREATE TABLE state (key text PRIMARY KEY, value text NOT NULL)")
	one, two := storetest.Open(t, s.at(t, "k"), 1, ttl), storetest.Open(t, s.at(t, "k"), 2, ttl)
	first := one.Leads(one.Stand())
	write := func(e algorithms.Entry) int64 { return s.do(t, string(sql), "k", int64(e.Token), "key", "value") }
	if write(first) != 1 {
		t.Error("the leader's write was refused")
	}
	second := two.Leads(two.Do(algorithms.AskStand, algorithms.Ask{Remove: two.Look().Holder}))
	if write(first) != 0 {
		t.Error("a write of the leader before was taken")
	}
	if write(second) != 1 {
		t.Error("the next leader's write was refused")
	}
	two.Leave()
	if write(second) != 0 {
		t.Error("a write was taken although nobody leads")
	}
}
