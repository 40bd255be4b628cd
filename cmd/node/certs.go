package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/proto"
)

const (
	certLife  = 365 * 24 * time.Hour
	leastLife = time.Second
	mostNodes = 1000 // that one command makes credentials for
)

func certsCommand() *cli.Command {
	where := &cli.StringFlag{Name: "dir", Value: "credentials", Usage: "`DIR` of the authority and of what it makes"}
	cluster := &cli.StringFlag{
		Name: "cluster", DefaultText: "that of the authority, or ringleader", Usage: "the cluster's `LABEL`",
	}
	nodes := &cli.StringSliceFlag{Name: "nodes", Usage: "the `IDS` of nodes, as 1,2,3 or 1-5"}
	hosts := &cli.StringSliceFlag{
		Name: "host", Usage: "`ID=HOST` that browsers and curl may use for the node, a name or an IP; repeatable",
	}
	key := &cli.StringFlag{
		Name:  "gossip-key",
		Usage: "`FILE`, gossip.key of a node that runs: what these nodes get, where keys were rotated",
	}
	valid := &cli.DurationFlag{Name: "valid", Value: certLife, Usage: "`TIME` for which certificates are valid"}
	return &cli.Command{
		Name:  "certs",
		Usage: "make, renew and revoke the credentials of nodes",
		Description: "An authority of the cluster vouches for its nodes. Its key lies in\n" +
			"DIR/authority: keep that on no machine that runs a node. Each node gets\n" +
			"DIR/node-ID, and whoever asks nodes DIR/operator. Nodes take new files\n" +
			"without a restart.",
		Subcommands: []*cli.Command{
			{
				Name:   "make",
				Usage:  "make the credentials that nodes lack",
				Flags:  []cli.Flag{nodes, where, cluster, hosts, key, valid},
				Action: said(makeCerts),
			},
			{
				Name:   "renew",
				Usage:  "make new certificates for nodes, for another year",
				Flags:  []cli.Flag{nodes, where, cluster, hosts, valid},
				Action: said(renewCerts),
			},
			{
				Name:   "revoke",
				Usage:  "take certificates of nodes back",
				Flags:  []cli.Flag{nodes, where},
				Action: said(revokeCerts),
			},
			{
				Name: "show", Usage: "print whose certificates those are, and their state",
				Description: "Ends with 4 for a certificate that is revoked by the list beside it, has\n" +
					"expired or is not yet valid, and for files that a node refuses.",
				ArgsUsage: "DIR...", Action: showCerts,
			},
		},
	}
}

// certNodes returns the ids of --nodes.
func certNodes(ctx *cli.Context) ([]proto.NodeID, error) {
	ids, err := proto.ParseIDRanges(ctx.StringSlice("nodes"))
	switch {
	case err != nil:
		return nil, usagef("--nodes: %w", err)
	case len(ids) == 0:
		return nil, usagef("--nodes: name the nodes, as --nodes 1-5")
	case len(ids) > mostNodes:
		return nil, usagef("--nodes: %d nodes: at most %d", len(ids), mostNodes)
	}
	return ids, nil
}

// certHost matches a name for a certificate, which may be of all hosts of a domain. No name ends in a number.
var certHost = regexp.MustCompile(`^(\*\.)?([A-Za-z0-9_-]+\.)*[A-Za-z0-9_-]*[A-Za-z_-][A-Za-z0-9_-]*$`)

// certHosts returns the hosts of each node.
func certHosts(ctx *cli.Context) (map[proto.NodeID][]string, error) {
	hosts := map[proto.NodeID][]string{}
	for _, text := range ctx.StringSlice("host") {
		number, host, ok := strings.Cut(text, "=")
		id, err := proto.ParseNodeID(number)
		if !ok || err != nil || net.ParseIP(host) == nil && !certHost.MatchString(host) {
			return nil, usagef("--host %s: want ID=HOST, as 3=node3.example.com, a name or an IP without a port", text)
		}
		hosts[id] = append(hosts[id], host)
	}
	return hosts, nil
}

// said returns the action that prints what do has to say once do has ended. A process may be ended by its first word,
// if nobody reads it, and half of a cluster's files are worse than none.
func said(do func(ctx *cli.Context, w io.Writer) error) cli.ActionFunc {
	return func(ctx *cli.Context) error {
		var text bytes.Buffer
		err := do(ctx, &text)
		_, unread := text.WriteTo(ctx.App.Writer)
		return errors.Join(err, unread)
	}
}

// certOrder says which certificates to make.
type certOrder struct {
	dir     string
	ids     []proto.NodeID
	hosts   map[proto.NodeID][]string
	cluster string // "" for that of the authority
	life    time.Duration
}

func readCertOrder(ctx *cli.Context) (o certOrder, err error) {
	if o.ids, err = certNodes(ctx); err != nil {
		return o, err
	}
	if o.hosts, err = certHosts(ctx); err != nil {
		return o, err
	}
	if o.dir, o.life = ctx.String("dir"), ctx.Duration("valid"); o.life < leastLife {
		return o, usagef("--valid %v: want a time from %v on", o.life, leastLife)
	}
	for id := range o.hosts {
		if !slices.Contains(o.ids, id) {
			return o, usagef("--host: node %v is none of --nodes", id)
		}
	}
	if o.cluster = ctx.String("cluster"); ctx.IsSet("cluster") {
		if err := credentials.CheckCluster(o.cluster); err != nil {
			return o, usagef("--cluster %s: %w", o.cluster, err)
		}
	}
	return o, nil
}

// fits returns an error unless an authority is of the cluster for which certificates are to be made.
func (o certOrder) fits(a *credentials.Authority) error {
	if of := a.Cluster(); o.cluster != "" && of != o.cluster {
		return fmt.Errorf("--cluster %s: the authority in %s is of cluster %s: give each cluster its own directory",
			o.cluster, o.dir, of)
	}
	return nil
}

// node returns the directory of a node's credentials.
func (o certOrder) node(id proto.NodeID) string { return filepath.Join(o.dir, "node-"+id.String()) }

// tellLife says that certificates which were made are valid for a shorter time than they were to be.
func (o certOrder) tellLife(w io.Writer, a *credentials.Authority) {
	if until := a.Expires(); time.Now().Add(o.life).After(until) {
		_, _ = fmt.Fprintf(w, "certificates are valid until %s, as long as their authority: --valid %v is longer\n",
			until.UTC().Format(time.RFC3339), o.life)
	}
}

// renewCerts makes new certificates for nodes that have some.
func renewCerts(ctx *cli.Context, w io.Writer) error {
	o, err := readCertOrder(ctx)
	if err != nil {
		return err
	}
	defer lockCerts(o.dir)()
	a, err := credentials.OpenAuthority(o.dir)
	if err == nil {
		err = o.fits(a)
	}
	if err != nil {
		return mark(errConfig, err)
	}
	for _, id := range o.ids {
		err := a.Made(id)
		if errors.Is(err, credentials.ErrNotMade) {
			err = fmt.Errorf("%w: nothing is renewed; make one with ringleader certs make", err)
		}
		if err != nil {
			return mark(errConfig, err)
		}
	}
	for _, id := range o.ids {
		if _, err := a.Issue(credentials.Identity{Cluster: a.Cluster(), ID: id}, o.hosts[id], o.life); err != nil {
			return mark(errConfig, err)
		}
		_, _ = fmt.Fprintf(w, "node %v: copy tls.crt, tls.key and ca.crt of %s to its machine: gossip.key and "+
			"api.token stay as they are there\n", id, o.node(id))
	}
	o.tellLife(w, a)
	_, err = a.Operator()
	return mark(errConfig, err)
}

// makeCerts makes the credentials that nodes lack.
func makeCerts(ctx *cli.Context, w io.Writer) error {
	o, err := readCertOrder(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return mark(errConfig, err)
	}
	defer lockCerts(o.dir)()
	a, older, err := authorityIn(w, o)
	if err != nil {
		return mark(errConfig, err)
	}
	if file := ctx.String("gossip-key"); file != "" {
		if err := a.TakeGossipKeys(file, o.ids); err != nil {
			return mark(errConfig, fmt.Errorf("--gossip-key: %w", err))
		}
		older = false
	}
	if restored, err := a.Restore(); err != nil {
		return mark(errConfig, err)
	} else if len(restored) > 0 {
		_, _ = fmt.Fprintf(w, "wrote %s in %s\n", words.And(restored...), filepath.Join(o.dir, "authority"))
	}
	keyed, err := completeCerts(w, a, o)
	if err != nil {
		return mark(errConfig, err)
	}
	operator, err := a.Operator()
	if err != nil {
		return mark(errConfig, err)
	}
	if !older {
		keyed = nil
	}
	return tellUse(w, a, o.dir, operator, keyed)
}

// completeCerts makes what each node lacks, and says what. It returns the nodes that got the authority's key of gossip.
func completeCerts(w io.Writer, a *credentials.Authority, o certOrder) (keyed []proto.NodeID, err error) {
	certified := false
	for _, id := range o.ids {
		node := o.node(id)
		_, there := os.Stat(node)
		wrote, err := a.Complete(credentials.Identity{Cluster: a.Cluster(), ID: id}, o.hosts[id], o.life)
		switch {
		case err != nil:
			return nil, err
		case len(wrote) == 0:
			_, _ = fmt.Fprintf(w, "node %v has credentials in %s\n", id, node)
		case there != nil:
			_, _ = fmt.Fprintf(w, "node %v: copy %s to its machine, owner and mode as they are\n", id, node)
		default:
			_, _ = fmt.Fprintf(w, "node %v: wrote %s in %s: copy what is new to its machine, owner and mode as they "+
				"are\n", id, words.And(wrote...), node)
		}
		if slices.Contains(wrote, "gossip.key") {
			keyed = append(keyed, id)
		}
		certified = certified || slices.Contains(wrote, "tls.crt")
	}
	if certified {
		o.tellLife(w, a)
	}
	return keyed, nil
}

// tellUse says what to do with credentials that were made. The nodes named have a gossip key that may be older than
// that of the others.
func tellUse(w io.Writer, a *credentials.Authority, dir, operator string, older []proto.NodeID) error {
	if len(older) > 0 {
		key, err := a.GossipKey()
		if err != nil {
			return mark(errConfig, err)
		}
		_, _ = fmt.Fprintf(w, "%s the gossip key that the authority has, %s: if ringleader keys list shows another, "+
			"run this again with --gossip-key and the gossip.key of a node that runs\n", nodesHave(older), key)
	}
	_, err := fmt.Fprintf(w, "start each with --credentials %s, the copy's path\n"+
		"ask them with --credentials %s\n"+
		"keep %s apart: who has it can be any node\n",
		filepath.Join(dir, "node-{id}"), operator, filepath.Join(dir, "authority"))
	return err
}

// lockCerts waits until no other command changes the credentials in dir, and keeps others waiting until the result is
// called. Where that cannot be done, what follows says what is wrong with dir.
func lockCerts(dir string) (done func()) {
	lock, err := credentials.Lock(dir)
	if err != nil {
		return func() {}
	}
	return func() { _ = lock.Close() }
}

// authorityIn opens the authority that is to make certificates, or makes one where there is none. It reports whether
// the authority is older than this command.
func authorityIn(w io.Writer, o certOrder) (a *credentials.Authority, older bool, err error) {
	a, err = credentials.OpenAuthority(o.dir)
	if err == nil {
		return a, true, o.fits(a)
	}
	if !errors.Is(err, credentials.ErrAuthority) {
		return nil, false, err
	}
	cluster := cmp.Or(o.cluster, "ringleader")
	if a, err = credentials.NewAuthority(o.dir, cluster); err == nil {
		_, err = fmt.Fprintf(w, "made an authority for cluster %s\n", cluster)
	}
	return a, false, err
}

func revokeCerts(ctx *cli.Context, w io.Writer) error {
	ids, err := certNodes(ctx)
	if err != nil {
		return err
	}
	defer lockCerts(ctx.String("dir"))()
	a, err := credentials.OpenAuthority(ctx.String("dir"))
	if err != nil {
		return mark(errConfig, err)
	}
	unshared := a.Revoke(ids...)
	if _, done := errors.AsType[credentials.UnsharedError](unshared); unshared != nil && !done {
		if errors.Is(unshared, credentials.ErrNotMade) {
			unshared = fmt.Errorf("%w: nothing is revoked", unshared)
		}
		return mark(errConfig, unshared)
	}
	for _, id := range ids {
		_, _ = fmt.Fprintf(w, "revoked all certificates of node %v\n", id)
	}
	switch forgot, err := a.Forgot(); {
	case err != nil:
		return mark(errConfig, err)
	case forgot:
		_, _ = fmt.Fprintln(w, "all that are known: authority/issued was lost once, and what was renewed before is "+
			"not in it; if somebody may have such a certificate, replace the authority")
	}
	_, err = fmt.Fprintln(w,
		"copy revoked.crl of each directory to its machine: nodes take it within seconds")
	return errors.Join(mark(errConfig, unshared), err)
}
