package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/address"
	"github.com/ringleader-dev/ringleader/internal/execution"
	"github.com/ringleader-dev/ringleader/internal/pacing"
	"github.com/ringleader-dev/ringleader/proto"
)

// errNoID is the error of a node that has no id. The program does not make one up: the same node
// must always have the same id.
var errNoID = errors.New("no id: set --id, RINGLEADER_ID or the key id to a number from 1, " +
	"unique in the cluster, or let the hostname end in one, like n3")

// defaultHTTP is the address at which a node of this program serves HTTP by default. A node inside
// another program serves HTTP only if that program asks for it.
const defaultHTTP = "127.0.0.1:7948"

// deriveFromMachine fills in the defaults that depend on the machine. It returns, by the setting's
// name, the error of each setting that it could not derive.
func (r *resolved) deriveFromMachine(in surroundings) map[string]error {
	errs := make(map[string]error)
	if !r.has("id") {
		errs["id"] = r.deriveID(in)
	}
	r.DataDir = strings.ReplaceAll(r.DataDir, "{id}", r.ID.String())
	r.HTTPBind = cmp.Or(r.HTTPBind, defaultHTTP)
	d := defaults()
	errs["gossip-advertise"] = r.deriveAdvertise("gossip", cmp.Or(r.GossipBind, d.GossipBind), &r.GossipAdvertise, in)
	errs["election-advertise"] = r.deriveAdvertise("election", cmp.Or(r.ElectionBind, d.ElectionBind),
		&r.ElectionAdvertise, in)
	return errs
}

// finish derives the values that follow from the settings, after these were checked.
func (r *resolved) finish() error {
	r.warnings = append(r.warnings, r.Warnings()...)
	r.remarks = append(r.remarks, r.leaseless()...)
	for _, s := range table {
		if !r.has(s.name) {
			r.origins[s.name] = origin{"default", r.whence(s.name)}
		}
	}
	r.pacing, _ = pacing.For(r.FailoverBudget, r.entry()) // it is checked
	var lease time.Duration                               // without voters there is no lease
	if r.leased() {
		lease = r.Lease
	}
	var err error
	r.exec.Grace, r.exec.KillTime, err = execution.FitGrace(r.exec.Grace, lease, r.pacing.Latency)
	return err
}

// ofLease lists the settings that have a meaning only with a lease. A ringleader.Config without voters
// refuses them. But they may come from a file or a variable that serves several clusters: so this
// program leaves them out, with a warning.
var ofLease = []string{"lease", "await-leases", "first-term"}

// leased reports whether a leader has a lease.
func (r *resolved) leased() bool { return len(r.Voters) > 0 || r.Store != nil }

// leaseless returns a warning for each setting of ofLease that was given although nobody votes.
func (r *resolved) leaseless() (warnings []string) {
	for _, name := range ofLease {
		if !r.leased() && r.has(name) {
			from := r.origins[name]
			warnings = append(warnings, fmt.Sprintf("%s, from %v, has no effect without voters", name, from))
		}
	}
	return warnings
}

// whence says what the default of a setting follows from.
func (r *resolved) whence(name string) string {
	switch name {
	case "preempt":
		return "of " + r.Algorithm
	case "failover-budget":
		return "of profile " + r.Profile
	case "lease":
		if r.Store != nil {
			return "on a store"
		}
		return fromBudget
	case "grace":
		if !r.leased() {
			return "there is no lease"
		}
		return "what the lease allows"
	}
	return ""
}

func (r *resolved) has(name string) bool {
	_, ok := r.origins[name]
	return ok
}

// deriveID sets the id to the digits at the end of the hostname. In a container whose hostname is
// the container's id, it takes the number of the replica instead.
func (r *resolved) deriveID(in surroundings) error {
	hostname, err := in.hostname()
	if err != nil {
		return fmt.Errorf("ask for the hostname: %w: %w", err, errNoID)
	}
	from := "hostname " + hostname
	digits := hostname[len(strings.TrimRight(hostname, "0123456789")):]
	if address.IsContainer(hostname) {
		var name string
		if digits, name, err = in.Replica(); err != nil {
			return fmt.Errorf("hostname %q is a container's id, and %w: %w", hostname, err, errNoID)
		}
		from = "container " + name
	}
	if digits == "" {
		return fmt.Errorf("hostname %q: %w", hostname, errNoID)
	}
	id, err := proto.ParseNodeID(digits)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", from, err, errNoID)
	}
	r.ID = id
	r.origins["id"] = origin{"default", from}
	return nil
}

// deriveAdvertise finds the address that this node tells the other nodes.
func (r *resolved) deriveAdvertise(what, bind string, advertise *string, in surroundings) error {
	at, err := address.ParseBind(bind)
	if err == nil && *advertise != "" {
		_, err = address.ParseAdvertise(*advertise)
	}
	if err != nil {
		return nil // the Config says so
	}
	name := what + "-advertise"
	addr, why, err := in.Advertised(at, *advertise, r.Join)
	if err != nil {
		return fmt.Errorf("--%s: %w", name, err)
	}
	*advertise = addr.String()
	if !r.has(name) {
		r.origins[name] = origin{"default", why}
	}
	return nil
}

// choseAddress reports whether this node chose its advertised address by itself.
func (r *resolved) choseAddress() bool {
	bind, err := address.ParseBind(r.GossipBind)
	return err == nil && bind.Addr().IsUnspecified() && r.origins["gossip-advertise"].Source == "default"
}

// moved returns a channel that reports, at most once and until ctx is done, that this machine's
// address is no longer the one that this node chose. If the user gave an address, it returns nil.
func (r *resolved) moved(ctx context.Context) <-chan address.Moved {
	if !r.choseAddress() {
		return nil
	}
	told, _ := netip.ParseAddrPort(r.GossipAdvertise) // it is checked
	return r.in.Watch(ctx, told.Addr(), r.Join)
}
