package ringleader

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	storemachine "github.com/ringleader-dev/ringleader/algorithms/store"
	"github.com/ringleader-dev/ringleader/internal/address"
	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/internal/daemon"
	"github.com/ringleader-dev/ringleader/internal/fenceagent"
	"github.com/ringleader-dev/ringleader/internal/health"
	"github.com/ringleader-dev/ringleader/internal/pacing"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/node/rank"
	"github.com/ringleader-dev/ringleader/proto"
)

// FieldError says which field of a Config is wrong, and which values are right. errors.Is with ErrConfig
// is true for it, unless the field may be right but the operating system refuses it now, as it refuses
// a port that is in use.
type FieldError struct {
	Field string // as in Config: "Voters", "Health.URL"
	Err   error
	// Relation says that the field is right by itself, but does not fit another field.
	Relation bool
	refused  bool // by the operating system
}

func (e FieldError) Error() string        { return e.Field + ": " + e.Err.Error() }
func (e FieldError) Unwrap() error        { return e.Err }
func (e FieldError) Is(target error) bool { return target == ErrConfig && !e.refused }

// WithDefaults returns c with every default filled in, as Start uses it. The error joins one
// FieldError for each wrong field. Where an advertised address is missing, WithDefaults asks this
// machine for its addresses.
func (c Config) WithDefaults() (Config, error) {
	r := read(c)
	return r.c, errors.Join(r.errs...)
}

// Warnings returns warnings about settings that are right but unwise. Start logs the warnings.
func (c Config) Warnings() []string { return read(c).warnings }

// Security returns "unauthenticated" if other machines reach the node of c, and it believes whoever can send packets to
// it; "" if not. Each line that Start logs has it as the field "security".
func (c Config) Security() string { return read(c).s.Security() }

// reading is a Config while it is read.
type reading struct {
	c        Config          // with its defaults
	s        daemon.Settings // the settings that c describes
	exposed  error           // why Start refuses c although each field is right; nil if it does not
	relating bool            // whether the checks of relations between fields have begun
	errs     []error         // each a FieldError
	warnings []string
}

// read fills in the defaults of c and checks it. It checks relations between fields only when each
// field is right by itself.
func read(c Config) *reading {
	r := &reading{c: c}
	r.fallbacks()
	r.identity()
	r.network()
	r.times()
	r.commands()
	r.health()
	if len(r.errs) > 0 {
		return r
	}
	r.relating = true
	r.pace()
	r.lease()
	r.store()
	r.fence()
	if c.Health.Command != "" && c.Health.URL != "" {
		r.wrong("Health.URL", fmt.Errorf("a command (%s) is given too: give one of the two", c.Health.Command))
	}
	r.s.Algorithm = r.s.Algorithm.WithRecovery()
	if r.c.ReconcileCmd != "" && !r.s.Algorithm.Recovers {
		r.warn("the reconcile command will not run: with voters there are never two leaders")
	}
	r.advertise("GossipAdvertise", &r.c.GossipAdvertise, &r.s.Gossip)
	r.advertise("ElectionAdvertise", &r.c.ElectionAdvertise, &r.s.Election)
	r.security()
	return r
}

func (r *reading) wrong(field string, err error) {
	if err != nil {
		r.errs = append(r.errs, FieldError{Field: field, Err: err, Relation: r.relating})
	}
}

func (r *reading) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// security reads what authenticates this node. Start refuses a node that other machines reach and that nothing
// authenticates, unless somebody wants it so.
func (r *reading) security() {
	c, s := &r.c, &r.s
	s.CredentialsDir, s.Insecure, s.Unpinned = credentials.Dir(c.Credentials, c.ID), c.Insecure, c.Insecure
	if c.Credentials != "" {
		if c.Insecure {
			r.wrong("Insecure", errors.New("credentials are given, too: leave one of the two out"))
		}
		return
	}
	var open []string
	for _, a := range []netip.AddrPort{s.Gossip.Bind, s.Election.Bind, s.HTTPBind} {
		if a.IsValid() && !a.Addr().IsLoopback() {
			open = append(open, a.String())
		}
	}
	switch {
	case len(open) == 0:
		s.Insecure = false // only this machine can be meant
	case !c.Insecure:
		r.exposed = fmt.Errorf("other machines reach %s, and without credentials this node believes "+
			"whoever sends packets there: make some with ringleader certs make and give the directory, or listen on "+
			"127.0.0.1 alone, or allow it by insecure", strings.Join(open, " and "))
	default:
		r.warn("unauthenticated: whoever can send packets to %s is believed; give all nodes credentials",
			strings.Join(open, " and "))
	}
}

// fallbacks fills in the defaults that are constant or depend only on the id.
func (r *reading) fallbacks() {
	c := &r.c
	for field, fallback := range map[*string]string{
		&c.DataDir: filepath.Join("ringleader-data", c.ID.String()),
		&c.Cluster: "ringleader", &c.Algorithm: "bully", &c.RankBy: "id", &c.Profile: "lan", &c.LogLevel: "info",
		&c.GossipBind: "0.0.0.0:7946", &c.ElectionBind: "0.0.0.0:7947",
	} {
		*field = cmp.Or(*field, fallback)
	}
	for field, fallback := range map[*time.Duration]time.Duration{
		&c.FenceTimeout: fenceagent.DefaultTimeout, &c.ReconcileTimeout: 30 * time.Second,
		&c.Health.Interval: 5 * time.Second, &c.Health.Timeout: 2 * time.Second, &c.Health.HoldDown: 10 * time.Second,
	} {
		*field = cmp.Or(*field, fallback)
	}
	for field, fallback := range map[*int]int{
		&c.Health.Rise: 2, &c.Health.Fall: 3, &c.Health.Memory: 99, &c.Health.Disk: 100,
	} {
		*field = cmp.Or(*field, fallback)
	}
}

// identity reads the fields that say who this node is, who votes, and how nodes are ranked.
func (r *reading) identity() {
	c, s := &r.c, &r.s
	var err error
	s.ID, s.Cluster, s.DataDir = c.ID, c.Cluster, c.DataDir
	r.wrong("ID", c.ID.Validate())
	r.text("DataDir", c.DataDir, "the path of a directory")
	r.text("Credentials", c.Credentials, "the path of a directory")
	r.wrong("Cluster", credentials.CheckCluster(c.Cluster))
	voters := make([]string, len(c.Voters))
	for i, id := range c.Voters {
		voters[i] = id.String()
	}
	s.Voters, err = proto.ParseIDRanges(voters)
	r.wrong("Voters", err)
	s.Algorithm, err = catalog.Lookup(c.Algorithm)
	r.wrong("Algorithm", err)
	if c.Preempt == nil {
		c.Preempt = new(s.Algorithm.Preempt)
	}
	s.Preempt = *c.Preempt
	s.RankBy, err = rank.Parse(c.RankBy)
	if r.wrong("RankBy", err); err == nil {
		c.RankBy = s.RankBy.String()
	}
	s.Profile, err = pacing.ProfileNamed(c.Profile)
	r.wrong("Profile", err)
	levels := []string{"debug", "info", "warn", "error"}
	if s.LogLevel, err = zerolog.ParseLevel(c.LogLevel); err != nil || !slices.Contains(levels, c.LogLevel) {
		r.wrong("LogLevel", fmt.Errorf("want one of %s, not %q", strings.Join(levels, ", "), c.LogLevel))
	}
}

// network reads the addresses of this node and of other nodes.
func (r *reading) network() {
	c, s := &r.c, &r.s
	bind := func(field string, text *string) netip.AddrPort {
		addr, err := address.ParseBind(*text)
		r.wrong(field, err)
		*text = addr.String()
		return addr
	}
	s.Gossip.Bind = bind("GossipBind", &c.GossipBind)
	s.Election.Bind = bind("ElectionBind", &c.ElectionBind)
	r.apart("ElectionBind", s.Election.Bind, "gossip", s.Gossip.Bind)
	if c.HTTPBind != "" {
		s.HTTPBind = bind("HTTPBind", &c.HTTPBind)
		r.apart("HTTPBind", s.HTTPBind, "gossip", s.Gossip.Bind)
		r.apart("HTTPBind", s.HTTPBind, "elections", s.Election.Bind)
	}
	for field, text := range map[string]string{
		"GossipAdvertise": c.GossipAdvertise, "ElectionAdvertise": c.ElectionAdvertise,
	} {
		if text != "" {
			_, err := address.ParseAdvertise(text)
			r.wrong(field, err)
		}
	}
	for _, target := range c.Join {
		r.wrong("Join", membership.CheckJoin(target))
	}
	s.Join = c.Join
	if c.APIToken != "" {
		s.APIToken = c.APIToken
		_, err := httpapi.ParseTokens(c.APIToken)
		r.wrong("APIToken", err)
	}
}

// apart refuses an address of the field where this node listens for something else, at the address taken.
func (r *reading) apart(field string, addr netip.AddrPort, what string, taken netip.AddrPort) {
	all := addr.Addr().IsUnspecified() || taken.Addr().IsUnspecified()
	if addr.Port() != 0 && addr.Port() == taken.Port() && (all || addr.Addr() == taken.Addr()) {
		r.wrong(field, fmt.Errorf("this node listens for %s on %v, too: give each a port of its own", what, taken))
	}
}

// between refuses a time d that is shorter than least or longer than most.
func (r *reading) between(field string, d, least, most time.Duration) {
	if d < least || d > most {
		r.wrong(field, fmt.Errorf("want a time from %v to %v, not %v", least, most, d))
	}
}

// times checks each time by itself. It skips a budget or lease of zero, which pace fills in later.
func (r *reading) times() {
	c := &r.c
	for _, t := range []struct {
		field    string
		d, least time.Duration
	}{
		{"FailoverBudget", c.FailoverBudget, time.Millisecond},
		{"Lease", c.Lease, time.Millisecond},
	} {
		if t.d != 0 {
			r.between(t.field, t.d, t.least, pacing.MaxBudget)
		}
	}
	r.between("FenceTimeout", c.FenceTimeout, fenceagent.MinTimeout, pacing.MaxBudget)
	r.between("ReconcileTimeout", c.ReconcileTimeout, time.Millisecond, maxReconcile)
	r.s.FenceTimeout, r.s.ReconcileTimeout = c.FenceTimeout, c.ReconcileTimeout
	if c.FirstTerm > proto.MaxTerm {
		r.wrong("FirstTerm", fmt.Errorf("want a whole number from 0 to %d, not %d", proto.MaxTerm, c.FirstTerm))
	}
	r.s.AwaitLeases, r.s.FirstTerm = c.AwaitLeases, c.FirstTerm
}

// maxReconcile is the longest Config.ReconcileTimeout. While the command runs, nobody leads.
const maxReconcile = 24 * time.Hour

// text refuses a text with a zero byte, since the operating system would end the text there.
func (r *reading) text(field, text, what string) {
	if strings.ContainsRune(text, 0) {
		r.wrong(field, fmt.Errorf("%q: want %s, without a zero byte", text, what))
	}
}

// commands reads the commands and files that this node uses.
func (r *reading) commands() {
	c, s := &r.c, &r.s
	if c.FenceAgent != "" {
		var err error
		s.FenceAgent, err = fenceagent.Parse(c.FenceAgent)
		r.wrong("FenceAgent", err)
	}
	r.text("PIDFile", c.PIDFile, "the path of a file")
	r.text("ReconcileCmd", c.ReconcileCmd, "a command")
	s.PIDFile, s.ReconcileCmd = c.PIDFile, c.ReconcileCmd
}

// health reads the checks that decide whether this node is fit to lead.
func (r *reading) health() {
	c := r.c.Health
	for _, t := range []struct {
		field    string
		d, least time.Duration
	}{
		{"Health.Interval", c.Interval, 10 * time.Millisecond},
		{"Health.Timeout", c.Timeout, 10 * time.Millisecond},
		{"Health.HoldDown", c.HoldDown, time.Millisecond},
	} {
		r.between(t.field, t.d, t.least, pacing.MaxBudget)
	}
	for _, n := range []struct {
		field          string
		n, least, most int
	}{
		{"Health.Rise", c.Rise, 1, 1000},
		{"Health.Fall", c.Fall, 1, 1000},
		{"Health.Memory", max(0, c.Memory), 0, 100},
		{"Health.Disk", max(0, c.Disk), 0, 100},
	} {
		if n.n < n.least || n.n > n.most {
			r.wrong(n.field, fmt.Errorf("want a number from %d to %d, not %d", n.least, n.most, n.n))
		}
	}
	r.text("Health.Command", c.Command, "a command")
	h := daemon.Health{
		Command: c.Command, Interval: c.Interval, Timeout: c.Timeout, HoldDown: c.HoldDown,
		Rise: c.Rise, Fall: c.Fall, Memory: max(0, c.Memory), Disk: max(0, c.Disk),
	}
	if c.URL != "" {
		var err error
		h.URL, err = health.ParseURL(c.URL)
		r.wrong("Health.URL", err)
	}
	r.s.Health = h
}

// pace fills in the failover budget, and the times that follow from it.
func (r *reading) pace() {
	c, s := &r.c, &r.s
	c.FailoverBudget = cmp.Or(c.FailoverBudget, s.Profile.BudgetFor(s.Algorithm))
	var err error
	s.Pacing, err = pacing.For(c.FailoverBudget, s.Algorithm)
	r.wrong("FailoverBudget", err)
	usual := 2 * s.Patience()
	if c.Store != nil {
		usual = defaultTTL
	}
	c.Lease = cmp.Or(c.Lease, usual)
	s.Promise = c.Lease
	if len(s.Voters) > 0 || s.Algorithm.NeedsVoters() || c.Store != nil {
		return
	}
	for field, given := range map[string]bool{
		"Lease": c.Lease != usual, "AwaitLeases": c.AwaitLeases, "FirstTerm": c.FirstTerm != 0,
	} {
		if given {
			r.wrong(field, errors.New("has no effect without voters: name the voters, or leave it out"))
		}
	}
}

// lease combines the algorithm with the lease if there are voters.
func (r *reading) lease() {
	s := &r.s
	n := len(s.Voters)
	if n == 0 {
		if s.Algorithm.NeedsVoters() && r.c.Store == nil {
			r.wrong("Voters", fmt.Errorf("with %s a majority of voters decides: "+
				"name all that vote", s.Algorithm.Name))
		}
		return
	}
	s.Algorithm = s.Algorithm.WithLease()
	if least := lease.MinPromise(s.Pacing.Latency); s.Promise < least {
		r.wrong("Lease", fmt.Errorf("lease ≥ 20 × latency + 20ms: %v < 20 × %v + 20ms = %v: "+
			"raise the lease or lower the failover budget, which the latency is a part of",
			s.Promise, s.Pacing.Latency, least))
	}
	if n%2 == 0 {
		r.warn("%d voters bear the loss of %d, as %d would: an even number buys nothing",
			n, n-s.Voters.Majority(), n-1)
	}
	if !s.Voters.Has(s.ID) {
		r.warn("node %v is none of the voters %s: it follows and never leads", s.ID, proto.IDRanges(s.Voters))
	}
}

// defaultTTL is the default of Config.Lease with a Store.
const defaultTTL = 10 * time.Second

// store combines the algorithm with the store, if leadership stands on one.
func (r *reading) store() {
	c, s := &r.c, &r.s
	if c.Store == nil {
		return
	}
	switch {
	case len(s.Voters) > 0:
		r.wrong("Store", fmt.Errorf("%s and voters are given: give one of the two, since either makes leaders",
			c.Store))
	case s.Algorithm.Guarantee != algorithms.BestEffort:
		r.wrong("Store", fmt.Errorf("%s decides by itself who leads: take an algorithm that nominates, as bully, "+
			"or leave the store out", s.Algorithm.Name))
	case c.FirstTerm != 0:
		r.wrong("FirstTerm", errors.New("has no effect on a store: leave it out"))
	}
	if least := max(c.Store.MinTTL(), storemachine.MinTTL(s.Pacing.Latency)); c.Lease < least {
		r.wrong("Lease", fmt.Errorf("%s keeps a lease for at least %v, not %v: raise it", c.Store, least, c.Lease))
	}
	s.Store = c.Store
	s.Algorithm = s.Algorithm.WithStore(c.Store.Guarantee())
}

// fence refuses a fence agent without voters, or with an algorithm that does not use it.
func (r *reading) fence() {
	s := &r.s
	switch {
	case len(s.FenceAgent) == 0:
	case len(s.Voters) == 0:
		r.wrong("FenceAgent", errors.New("a fence agent needs voters: without a majority each side of a "+
			"partition would shoot the other: name the voters"))
	case !s.Algorithm.Fences:
		r.wrong("FenceAgent", fmt.Errorf("%s does not wait for one before it leads: leave it "+
			"out, or take an algorithm that nominates, as bully", s.Algorithm.Name))
	case len(s.Voters) <= 2:
		r.warn("%d voters and a fence agent: no majority survives the loss of one, so nobody is ever shot",
			len(s.Voters))
	}
}

// advertise fills in the address at which the other nodes reach this node.
func (r *reading) advertise(field string, text *string, e *daemon.Endpoint) {
	addr, _, err := address.Machine.Advertised(e.Bind, *text, r.c.Join)
	r.wrong(field, err)
	e.Advertise, *text = addr, addr.String()
}
