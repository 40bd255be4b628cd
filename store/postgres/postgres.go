// Package postgres holds elections in PostgreSQL: one row for each, and the clock of the server.
//
// A row is
//
//	name     the election
//	holder   the text of the candidate whose lease it is, '' for nobody
//	token    raised whenever the holder becomes another
//	expires  when the lease ends, by the clock of the server
//
// A candidate of another program takes part by the statements of [Stand] and [Renew].
//
// The promise is that of a lease on one primary, as long as its clock is not set forward: a step ends leases
// sooner than their holders believe. A replica that is promoted must have every commit of the primary:
// replicate synchronously, or wait out the longest TTL before a promotion.
package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/storeurl"
	"github.com/ringleader-dev/ringleader/store"
)

// Config says where an election is.
type Config struct {
	// Servers are the addresses, HOST:PORT, of one primary and, if there are more, of its replicas, of which
	// one may be the primary next.
	Servers  []string
	Database string
	// Table has a row for each election. It is made if it is not there. Default: ringleader_leases. It may be
	// SCHEMA.TABLE.
	Table string
	// Election is the name of the row. Default: leader.
	Election string
	// User is empty for the name of the user of this process. PasswordFile is empty if the server asks for no
	// password. The file is read for each connection.
	User, PasswordFile string
	TLS                *tls.Config // nil without TLS
}

// Parse reads postgres://SERVER/DATABASE?table=TABLE&election=NAME.
func Parse(u *url.URL) (store.Store, error) {
	if u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, fmt.Errorf("%s: write postgres://SERVER/DATABASE", u.Scheme)
	}
	p, err := storeurl.Read(u, "5432", false, "table", "election")
	if err != nil {
		return nil, err
	}
	return New(Config{
		Servers: p.Servers, Database: p.Path, Table: p.Option("table"), Election: p.Option("election"),
		User: p.User, PasswordFile: p.PasswordFile, TLS: p.TLS,
	})
}

// isTable reports whether the text is TABLE or SCHEMA.TABLE. A regular expression would cost each node 110 KiB of
// memory.
func isTable(text string) bool {
	parts := strings.Split(text, ".")
	for _, part := range parts {
		odd := func(r rune) bool {
			return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
		}
		if part == "" || len(part) > 63 || part[0] <= '9' || strings.ContainsFunc(part, odd) {
			return false
		}
	}
	return len(parts) <= 2
}

// New returns the election.
func New(c Config) (store.Store, error) {
	if c.Table == "" {
		c.Table = "ringleader_leases"
	}
	if c.Election == "" {
		c.Election = "leader"
	}
	switch {
	case len(c.Servers) == 0:
		return nil, errors.New("no server is named")
	case c.Database == "":
		return nil, fmt.Errorf("the database %q: write postgres://SERVER/DATABASE", c.Database)
	case strings.Contains(c.Database, "/"):
		return nil, fmt.Errorf(
			"the database %q: write postgres://SERVER/DATABASE, and ?election=NAME for the election",
			c.Database,
		)
	case !isTable(c.Table):
		return nil, fmt.Errorf("the table %q: want a name of letters, digits and _, or SCHEMA.NAME", c.Table)
	}
	return &place{c}, nil
}

// place is a Store.
type place struct{ Config }

// Secret implements store.Secretive.
func (p *place) Secret() string { return p.PasswordFile }

func (p *place) Name() string {
	return fmt.Sprintf("postgres %s, table %s, election %s", p.Database, p.Table, p.Election)
}

func (p *place) String() string {
	u := url.URL{Scheme: "postgres", Host: strings.Join(p.Servers, ","), Path: "/" + p.Database}
	u.RawQuery = url.Values{"table": {p.Table}, "election": {p.Election}}.Encode()
	return u.String()
}

func (p *place) MinTTL() time.Duration { return 100 * time.Millisecond }

func (p *place) Guarantee() algorithms.Guarantee { return algorithms.Lease }

func (p *place) Open(c store.Candidate) (store.Election, error) {
	if c.TTL < p.MinTTL() {
		return nil, fmt.Errorf("the TTL %v is below %v", c.TTL, p.MinTTL())
	}
	table := pgx.Identifier(strings.Split(p.Table, ".")).Sanitize()
	e := &election{place: p, Candidate: c, hint: store.NewHint(), sql: statementsFor(table), channel: p.channel()}
	e.life, e.end = context.WithCancel(context.Background())
	return e, nil
}

// channel is the name of the notification of this table's changes.
func (p *place) channel() string {
	name := "ringleader:" + p.Table
	return name[:min(len(name), 63)]
}

// config returns how to connect. It takes nothing from the environment of this process but the user's name.
func (e *election) config() (*pgx.ConnConfig, error) {
	password, err := storeurl.Password(e.PasswordFile)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrWrong, err)
	}
	var hosts, ports []string
	first := int(e.first.Load())
	for i := range e.Servers {
		host, port, _ := net.SplitHostPort(e.Servers[(first+i)%len(e.Servers)]) // it is checked
		hosts, ports = append(hosts, host), append(ports, port)
	}
	words := []string{
		"host=" + quote(strings.Join(hosts, ",")), "port=" + strings.Join(ports, ","),
		"dbname=" + quote(e.Database), "application_name=ringleader", "passfile=/dev/null", "sslmode=disable",
	}
	if len(e.Servers) > 1 {
		words = append(words, "target_session_attrs=read-write")
	}
	if e.User != "" {
		words = append(words, "user="+quote(e.User))
	}
	c, err := pgx.ParseConfig(strings.Join(words, " "))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrWrong, err)
	}
	c.Password, c.ConnectTimeout = password, min(e.TTL, 5*time.Second)
	if e.TLS != nil {
		c.TLSConfig = e.TLS.Clone()
		c.TLSConfig.ServerName = hosts[0]
		for i, f := range c.Fallbacks {
			f.TLSConfig = e.TLS.Clone()
			f.TLSConfig.ServerName = hosts[min(i+1, len(hosts)-1)]
		}
	}
	c.AfterConnect = durable
	return c, nil
}

// durable has each commit of a connection on the disk before it is answered: a lease, or a token, that a crash
// of the server takes back would be given twice.
func durable(ctx context.Context, c *pgconn.PgConn) error {
	return c.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false)
		WHERE current_setting('synchronous_commit') = 'off'`).Close()
}

// quote writes a value into a list of keywords and values.
func quote(value string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
}

// advice is what to do about errors that do not pass by themselves, by the codes of PostgreSQL.
var advice = map[string]string{
	"28000": "the server does not let this user in: give user=NAME and password-file=FILE",
	"28P01": "the password is wrong: see password-file",
	"3D000": "there is no such database: create it, or name another",
	"3F000": "there is no such schema: create it, or name another table",
	"42501": "the user may not do this: grant SELECT, INSERT and UPDATE on the table, and CREATE on its schema if " +
		"it is not there yet",
	"22P02": "the table is not one of elections: name another",
	"23502": "the table is not one of elections: name another",
	"42703": "the table is not one of elections: name another",
	"42804": "the table is not one of elections: name another",
	"42P10": "the table is not one of elections: name another",
	"42809": "the table is not one of elections: name another",
	"25006": "this server only reads: name the primary",
}

// explain says what to do if the failure will not pass.
func (e *election) explain(err error) error {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok:
	case failed.Code == "28P01" && e.PasswordFile == "":
		return fmt.Errorf(
			"%w: the server wants a password: give password-file=FILE (%s)",
			store.ErrWrong,
			failed.Message,
		)
	case failed.Code == "28000" && e.TLS == nil && strings.HasSuffix(failed.Message, "no encryption"):
		return fmt.Errorf("%w: the server does not let this user in without TLS: give tls=true or ca=FILE (%s)",
			store.ErrWrong, failed.Message)
	case advice[failed.Code] != "":
		return fmt.Errorf("%w: %s (%s)", store.ErrWrong, advice[failed.Code], failed.Message)
	}
	for _, wrong := range []struct{ text, do string }{
		{"server refused TLS", "the server does not speak TLS: leave tls out"},
		{"x509: ", "its certificate is not trusted: give the ca=FILE that signed it"},
		{"unknown authentication message", "the server wants a way to authenticate that is not known"},
		{"unexpected message", "this is not PostgreSQL"},
		{"unknown message type", "this is not PostgreSQL"},
		{"invalid body length", "this is not PostgreSQL"},
		{"first record does not look like a TLS handshake", "this is not PostgreSQL"},
		{"invalid length of startup packet", "this is not PostgreSQL"},
	} {
		if strings.Contains(err.Error(), wrong.text) {
			return fmt.Errorf("%w: %s (%w)", store.ErrWrong, wrong.do, err)
		}
	}
	return err
}

// keyOf is the key of the entry with this token, and tokenOf the reverse; -1 if there is no such entry.
func keyOf(token int64) string { return strconv.FormatInt(token, 10) }

func tokenOf(key string) int64 {
	token, err := strconv.ParseInt(key, 10, 64)
	if err != nil {
		return -1
	}
	return token
}
