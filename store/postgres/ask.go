package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/storeprobe"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
)

// The statements. %[1]s is the table. @value is the text of the own entry as it is to be, and @own and @lent are
// this text not lent and lent; @ttl is in microseconds; @dead and @token are the text and the token of the entry
// that is removed.
const (
	// Schema makes the table.
	Schema = `CREATE TABLE IF NOT EXISTS %[1]s (
	name text PRIMARY KEY, holder text NOT NULL, token bigint NOT NULL, expires timestamptz NOT NULL)`

	// Stand takes the lease if nobody has it, or keeps it. A lease that is taken has another token.
	Stand = `WITH taken AS (
	INSERT INTO %[1]s AS lease (name, holder, token, expires)
	VALUES (@election, @value, 1, clock_timestamp() + @ttl::bigint * interval '1 microsecond')
	ON CONFLICT (name) DO UPDATE SET expires = excluded.expires,
		holder = CASE WHEN lease.holder = @lent AND lease.expires > clock_timestamp() THEN @lent ELSE @value END,
		token = lease.token +
			CASE WHEN lease.holder IN (@own, @lent) AND lease.expires > clock_timestamp() THEN 0 ELSE 1 END
	WHERE lease.holder = '' OR lease.expires <= clock_timestamp() OR lease.holder IN (@own, @lent)
		OR lease.holder = @dead AND lease.token = @token
	RETURNING 1)
SELECT pg_notify(@channel, @election) FROM taken`

	// Renew keeps the lease for another TTL. An entry that was lent stays marked.
	Renew = `UPDATE %[1]s SET holder = CASE holder WHEN @lent THEN @lent ELSE @value END,
	expires = clock_timestamp() + @ttl::bigint * interval '1 microsecond'
WHERE name = @election AND holder IN (@own, @lent) AND expires > clock_timestamp()`

	// leave gives the lease back, and remove takes it from the process that is proven dead.
	leave = `WITH left_by AS (
	UPDATE %[1]s SET holder = '', expires = clock_timestamp()
	WHERE name = @election AND holder IN (@own, @lent) AND token = @token
	RETURNING 1)
SELECT pg_notify(@channel, @election) FROM left_by`
	remove = `WITH removed AS (
	UPDATE %[1]s SET holder = '', expires = clock_timestamp()
	WHERE name = @election AND holder = @dead AND token = @token
	RETURNING 1)
SELECT pg_notify(@channel, @election) FROM removed`

	// look reads whose lease it is, and for how many microseconds more.
	look = `SELECT holder, token, (extract(epoch FROM expires - clock_timestamp()) * 1000000)::bigint
FROM %[1]s WHERE name = @election AND holder <> '' AND expires > clock_timestamp()`
)

// statements are the statements for one table.
type statements struct {
	schema, look string
	verbs        map[algorithms.AskVerb]string
}

func statementsFor(table string) statements {
	of := func(text string) string { return fmt.Sprintf(text, table) }
	return statements{schema: of(Schema), look: of(look), verbs: map[algorithms.AskVerb]string{
		algorithms.AskStand: of(Stand), algorithms.AskRenew: of(Renew),
		algorithms.AskLeave: of(leave), algorithms.AskRemove: of(remove),
	}}
}

// election is an Election.
type election struct {
	*place
	store.Candidate
	sql     statements
	channel string
	hint    store.Hint
	life    context.Context
	end     context.CancelFunc
	done    sync.WaitGroup

	conn    *pgx.Conn    // nil, or closed, if there is none
	first   atomic.Int64 // counts up to the server that is tried first: the one before it may hang
	ready   bool         // the table is there
	tried   bool         // it is one of elections
	listens bool
	expiry  *time.Timer // of the lease
}

func (e *election) Changed() <-chan struct{} { return e.hint }

func (e *election) Close() error {
	e.end()
	if e.expiry != nil {
		e.expiry.Stop()
	}
	if e.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closePatience)
		defer cancel()
		_ = e.conn.Close(ctx) // the server notices by itself
	}
	e.done.Wait()
	return nil
}

// closePatience is how long the end of a connection may take.
const closePatience = 100 * time.Millisecond

// Check asks the server what it is, and makes the table if it is not there.
func (e *election) Check(ctx context.Context) error {
	return storeprobe.Target{
		Product: storeprobe.PostgreSQL, Servers: e.Servers, TLS: e.TLS, WantsTLS: "name the port of PostgreSQL",
	}.Check(ctx, e.check)
}

func (e *election) check(ctx context.Context) error {
	conn, err := e.connect(ctx)
	if err != nil {
		return err
	}
	var version int
	var replica, reads bool
	err = conn.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, pg_is_in_recovery(),
		current_setting('default_transaction_read_only')::bool`).Scan(&version, &replica, &reads)
	switch {
	case err != nil:
		return e.explain(err)
	case version < 100_000:
		return fmt.Errorf("%w: PostgreSQL %d is too old: 10 or later is needed", store.ErrWrong, version/10_000)
	case replica:
		return fmt.Errorf("%w: this server is a replica: name the primary", store.ErrWrong)
	case reads:
		return fmt.Errorf("%w: this server only reads (default_transaction_read_only)", store.ErrWrong)
	}
	if err := e.prepare(ctx, conn); err != nil {
		return err
	}
	if !e.tried { // once: how long a check takes is taken for the way to the server
		if err := e.try(ctx, conn); err != nil {
			return err
		}
		e.tried = true
	}
	_, err = e.Ask(ctx, algorithms.Ask{Verb: algorithms.AskLook})
	return err
}

// connect returns the connection to the server. It makes one if there is none.
func (e *election) connect(ctx context.Context) (*pgx.Conn, error) {
	if e.conn != nil && !e.conn.IsClosed() {
		return e.conn, nil
	}
	conn, err := e.dial(ctx)
	if err != nil {
		e.first.Add(1)
		return nil, err
	}
	e.conn = conn
	if !e.listens {
		e.listens = true
		e.done.Go(e.listen)
	}
	return conn, nil
}

func (e *election) dial(ctx context.Context) (*pgx.Conn, error) {
	c, err := e.config()
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return nil, e.explain(err)
	}
	return conn, nil
}

// prepare makes the table if it is not there. Several may make it at once, and one succeeds.
func (e *election) prepare(ctx context.Context, conn *pgx.Conn) (err error) {
	if e.ready {
		return nil
	}
	for range 3 {
		var is *string
		if err = conn.QueryRow(ctx, "SELECT to_regclass($1)::text", e.Table).Scan(&is); err != nil {
			return e.explain(err)
		}
		if is != nil {
			e.ready = true
			return nil
		}
		_, err = conn.Exec(ctx, e.sql.schema)
	}
	return e.explain(err)
}

// Ask implements store.Election. Each ask is one round trip.
func (e *election) Ask(ctx context.Context, ask algorithms.Ask) (a algorithms.Answered, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(e.life, stop)()
	conn, err := e.connect(ctx)
	if err != nil {
		return a, err
	}
	if err := e.prepare(ctx, conn); err != nil {
		return a, err
	}
	args := e.args(ask)
	batch := &pgx.Batch{}
	if sql := e.sql.verbs[ask.Verb]; sql != "" {
		batch.Queue(sql, args)
	}
	batch.Queue(e.sql.look, args)
	results := conn.SendBatch(ctx, batch)
	defer results.Close()
	if batch.Len() > 1 {
		if _, err := results.Exec(); err != nil {
			return a, e.explain(err)
		}
	}
	return e.read(results, ask.Verb)
}

// args are the parameters of the statements.
func (e *election) args(ask algorithms.Ask) pgx.NamedArgs {
	of := e.Candidate
	of.ID, of.Incarnation = ask.Remove.ID, ask.Remove.Incarnation
	return pgx.NamedArgs{
		"election": e.Election, "value": e.Value(ask.Lent), "own": e.Value(false), "lent": e.Value(true),
		"ttl": e.TTL.Microseconds(), "channel": e.channel, "dead": of.Value(false), "token": tokenOf(ask.Remove.Key),
	}
}

// try stands in an election that nobody else has, and takes it back: the table may be another's.
func (e *election) try(ctx context.Context, conn *pgx.Conn) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return e.explain(err)
	}
	args := e.args(algorithms.Ask{})
	args["election"] = e.Value(false)
	_, err = tx.Exec(ctx, e.sql.verbs[algorithms.AskStand], args)
	back := tx.Rollback(ctx)
	if err != nil {
		return e.explain(err)
	}
	return back
}

// read reads whose lease it is.
func (e *election) read(results pgx.BatchResults, verb algorithms.AskVerb) (a algorithms.Answered, err error) {
	var holder string
	var token, left int64
	err = results.QueryRow().Scan(&holder, &token, &left)
	if errors.Is(err, pgx.ErrNoRows) {
		return a, nil
	}
	if err != nil {
		return a, e.explain(err)
	}
	a.Holder = e.Read(keyOf(token), holder, proto.Term(token))
	e.tellAfter(time.Duration(left) * time.Microsecond)
	if a.Holder.Of(e.Peer) {
		a.Own = a.Holder
		if verb == algorithms.AskStand || verb == algorithms.AskRenew {
			a.Keeps = e.TTL
		}
	}
	return a, nil
}

// tellAfter gives the hint when the lease should have ended.
func (e *election) tellAfter(left time.Duration) {
	if e.expiry != nil {
		e.expiry.Stop()
	}
	e.expiry = time.AfterFunc(left+time.Millisecond, e.hint.Give)
}

// reconnectAfter is the pause before the next attempt to hear notifications.
const reconnectAfter = time.Second

// listen gives a hint whenever the server says that there was a change, or is connected to anew.
func (e *election) listen() {
	for e.life.Err() == nil {
		e.hear()
		select {
		case <-e.life.Done():
		case <-time.After(reconnectAfter):
		}
	}
}

func (e *election) hear() {
	conn, err := e.dial(e.life)
	if err != nil {
		return
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), closePatience)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.Exec(e.life, "LISTEN "+pgx.Identifier{e.channel}.Sanitize()); err != nil {
		return
	}
	e.hint.Give()
	for {
		n, err := conn.WaitForNotification(e.life)
		if err != nil {
			return
		}
		if strings.EqualFold(n.Payload, e.Election) {
			e.hint.Give()
		}
	}
}
