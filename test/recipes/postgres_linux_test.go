// Package recipes_test runs the recipes of docs/FENCING.md against the real
// servers.
package recipes_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/fencetest"
	"github.com/ringleader-dev/ringleader/internal/needs"
)

// connections is how many callers use a PostgreSQL at once.
const connections = 8

// postgres is a PostgreSQL server with the recipe's tables.
type postgres struct {
	*server
	pool         chan *pgx.Conn
	admit, write string
}

func startPostgres(t *testing.T) *postgres {
	t.Helper()
	initdb, initErr := postgresTool("initdb")
	program, err := postgresTool("postgres")
	who, whoErr := unprivileged()
	needs.Here(t, "the recipe for PostgreSQL", errors.Join(initErr, err, whoErr))
	p := &postgres{
		server: newServer(t, who), pool: make(chan *pgx.Conn, connections),
		admit: recipe(t, "admit.sql"), write: recipe(t, "write.sql"),
	}
	data := filepath.Join(p.dir, "data")
	init := p.command([]string{initdb, "-D", data, "-U", "postgres", "-A", "trust", "--no-sync"})
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	p.args = []string{
		program, "-D", data, "-c", "listen_addresses=", "-c", "unix_socket_directories=" + p.dir,
	}
	p.answers = func(ctx context.Context) error {
		conn, err := p.connect(ctx)
		if err == nil {
			err = conn.Close(ctx)
		}
		return err
	}
	p.start(t)
	p.fill(t)
	conn := <-p.pool
	for _, sql := range []string{
		recipe(t, "schema.sql"), "CREATE TABLE state (key text PRIMARY KEY, value text NOT NULL)",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	p.pool <- conn
	return p
}

func (p *postgres) connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, "user=postgres dbname=postgres host="+p.dir)
}

// fill opens the connections.
func (p *postgres) fill(t *testing.T) {
	t.Helper()
	for range connections {
		conn, err := p.connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p.pool <- conn
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
	}
}

// with calls do with a connection that nobody else uses meanwhile.
func (p *postgres) with(do func(*pgx.Conn) error) error {
	conn := <-p.pool
	defer func() { p.pool <- conn }()
	return do(conn)
}

// querier is a connection or a transaction on it.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// sealIn runs admit.sql.
func (p *postgres) sealIn(ctx context.Context, q querier, resource string, t fence.Token) error {
	var kept string
	err := q.QueryRow(ctx, p.admit, resource, t.String()).Scan(&kept)
	if errors.Is(err, pgx.ErrNoRows) {
		return p.stale(ctx, q, resource, t)
	}
	return err
}

// stale is the refusal of t, with the token that it is refused for.
func (p *postgres) stale(ctx context.Context, q querier, resource string, t fence.Token) error {
	var highest string
	err := q.QueryRow(ctx, "SELECT token FROM fence WHERE resource = $1", resource).Scan(&highest)
	if err != nil {
		return err
	}
	parsed, err := fence.Parse(highest)
	return errors.Join(err, &fence.StaleError{Token: t, Highest: parsed})
}

// statement writes with write.sql: one statement.
type statement struct {
	*postgres
	key string // of the resource and of its data
}

func (s statement) Seal(ctx context.Context, t fence.Token) error {
	return s.with(func(c *pgx.Conn) error { return s.sealIn(ctx, c, s.key, t) })
}

func (s statement) Write(ctx context.Context, t fence.Token, value string) error {
	return s.with(func(c *pgx.Conn) error {
		done, err := c.Exec(ctx, s.write, s.key, t.String(), s.key, value)
		if err == nil && done.RowsAffected() == 0 {
			err = s.stale(ctx, c, s.key, t)
		}
		return err
	})
}

func (s statement) Read(ctx context.Context) (value string, err error) {
	err = s.with(func(c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT value FROM state WHERE key = $1", s.key).Scan(&value)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return value, err
}

// transaction writes in a transaction that begins with admit.sql.
type transaction struct{ statement }

func (s transaction) Write(ctx context.Context, t fence.Token, value string) error {
	return s.with(func(c *pgx.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			if err := s.sealIn(ctx, tx, s.key, t); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "INSERT INTO state (key, value) VALUES ($1, $2) "+
				"ON CONFLICT (key) DO UPDATE SET value = excluded.value", s.key, value)
			return err
		})
	})
}

// Promise: the recipe is "correct under READ COMMITTED concurrency".
func TestLongPostgres(t *testing.T) {
	p := startPostgres(t)
	for name, make := range map[string]func(key string) fencetest.Storage{
		"statement":   func(key string) fencetest.Storage { return statement{p, key} },
		"transaction": func(key string) fencetest.Storage { return transaction{statement{p, key}} },
	} {
		t.Run(name+" rules", func(t *testing.T) { fencetest.Rules(t, make(name+" rules")) })
		t.Run(name+" race", func(t *testing.T) { fencetest.Race(t, make(name+" race")) })
	}
	t.Run("waits", func(t *testing.T) { postgresWaits(t, p) })
	t.Run("malformed", func(t *testing.T) { postgresMalformed(t, p) })
	t.Run("crash", func(t *testing.T) { postgresCrash(t, p) })
}

// Who comes while another is in the middle of its transaction waits for its
// end, and then compares with what it left: a higher token when it committed,
// the one before when it did not.
func postgresWaits(t *testing.T, p *postgres) {
	ctx := t.Context()
	s := statement{p, "waits"}
	four, five, six := fencetest.Token(4, 1), fencetest.Token(5, 2), fencetest.Token(6, 3)
	for _, c := range []struct {
		inside, comes fence.Token
		commit        bool
		want          error
	}{
		{inside: six, comes: five, commit: false, want: nil},
		{inside: six, comes: five, commit: true, want: fence.ErrStaleToken},
		{inside: six, comes: four, commit: false, want: fence.ErrStaleToken},
	} {
		conn := <-p.pool
		tx, err := conn.Begin(ctx)
		if err == nil {
			err = p.sealIn(ctx, tx, s.key, c.inside)
		}
		if err != nil {
			t.Fatal(err)
		}
		wrote := make(chan error, 1)
		go func() { wrote <- s.Write(ctx, c.comes, c.comes.String()) }()
		awaitWaiter(t, p, wrote)
		if c.commit {
			err = tx.Commit(ctx)
		} else {
			err = tx.Rollback(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		p.pool <- conn
		if err := <-wrote; !errors.Is(err, c.want) {
			t.Errorf("%v beside %v, committed %v: %v, want %v", c.comes, c.inside, c.commit, err, c.want)
		}
	}
}

// awaitWaiter returns when an incarnation waits for another's lock.
func awaitWaiter(t *testing.T, p *postgres, ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for waiting := 0; waiting == 0; {
		select {
		case err := <-ended:
			t.Fatalf("a write went past an open transaction: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
		err := p.with(func(c *pgx.Conn) error {
			return c.QueryRow(ctx,
				"SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'").Scan(&waiting)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The table itself takes nothing that is no token.
func postgresMalformed(t *testing.T, p *postgres) {
	for _, token := range []string{
		"", "7", "0;node=3;incarnation=9f86d081884c7d659a2feaa0c55ad015",
		"07;node=3;incarnation=9f86d081884c7d659a2feaa0c55ad015",
		"7;node=3;incarnation=9F86D081884C7D659A2FEAA0C55AD015",
		"7;node=3;incarnation=9f86d081884c7d659a2feaa0c55ad015\n",
	} {
		err := p.with(func(c *pgx.Conn) error {
			_, err := c.Exec(t.Context(), p.write, "malformed", token, "malformed", "value")
			return err
		})
		if err == nil {
			t.Errorf("%q was taken for a token", token)
		}
	}
}

// What was accepted survives a crash of the server.
func postgresCrash(t *testing.T, p *postgres) {
	s := statement{p, "crash"}
	five := fencetest.Token(5, 1)
	if err := s.Write(t.Context(), five, "1"); err != nil {
		t.Fatal(err)
	}
	p.kill()
	for range connections {
		_ = (<-p.pool).Close(t.Context()) // they are broken
	}
	p.start(t)
	p.fill(t)
	if err := s.Write(t.Context(), fencetest.Token(4, 1), "2"); !errors.Is(err, fence.ErrStaleToken) {
		t.Errorf("a stale write after the crash: %v", err)
	}
	if got, err := s.Read(t.Context()); got != "1" {
		t.Errorf("%q is read after the crash, %v", got, err)
	}
}
