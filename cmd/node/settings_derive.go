package main

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// errNoID: an id is a promise about identity, so none is made up.
var errNoID = errors.New("no id: set --id, RINGLEADER_ID or the key id to a number from 1, " +
	"unique in the cluster, or let the hostname end in one, like n3")

// derive fills in the defaults that depend on other settings or on the
// machine.
func (r *resolved) derive(in surroundings) error {
	var errs []error
	if !r.has("id") {
		errs = append(errs, r.deriveID(in.hostname))
	}
	if !r.has("preempt") {
		r.preempt = r.algorithm.Preempt
		r.origins["preempt"] = origin{"default", "of " + r.algorithm.Name}
	}
	if !r.has("join") {
		r.origins["join"] = origin{Source: "default"}
	}
	if !r.has("data-dir") {
		r.dataDir = filepath.Join("ringleader-data", r.id.String())
		r.origins["data-dir"] = origin{Source: "default"}
	}
	errs = append(errs, r.derivePacing(), r.deriveOffice(), r.deriveFencing(),
		r.deriveGrace(), r.deriveHealth())
	r.deriveMending()
	errs = append(errs, r.deriveAdvertise("gossip", &r.gossip, in))
	errs = append(errs, r.deriveAdvertise("election", &r.election, in))
	return errors.Join(errs...)
}

// derivePacing fills in what follows from the failover budget.
func (r *resolved) derivePacing() (err error) {
	if !r.has("failover-budget") {
		r.pacing.budget = r.profile.budgetFor(r.algorithm)
		r.origins["failover-budget"] = origin{"default", "of profile " + r.profile.name}
	}
	r.pacing, err = pacingFor(r.pacing, r.algorithm)
	for _, name := range []string{"heartbeat", "heartbeat-misses", "latency"} {
		if !r.has(name) {
			r.origins[name] = origin{"default", fromBudget}
		}
	}
	return err
}

// patience is how long a network like this one, and a process, may take: see pacing.
func (s settings) patience() time.Duration { return s.pacing.patience(s.algorithm) }

func (r *resolved) has(name string) bool {
	_, ok := r.origins[name]
	return ok
}

// deriveID takes the digits that the hostname ends in.
func (r *resolved) deriveID(askHostname func() (string, error)) error {
	hostname, err := askHostname()
	if err != nil {
		return fmt.Errorf("ask for the hostname: %w: %w", err, errNoID)
	}
	digits := hostname[len(strings.TrimRight(hostname, "0123456789")):]
	if digits == "" {
		return fmt.Errorf("hostname %q: %w", hostname, errNoID)
	}
	id, err := proto.ParseNodeID(digits)
	if err != nil {
		return fmt.Errorf("hostname %q: %w: set --id", hostname, err)
	}
	r.id = id
	r.origins["id"] = origin{"default", "hostname " + hostname}
	return nil
}

// deriveAdvertise completes an advertised address: the bound IP if it is a
// specific one, else the one at which the others are likely to reach this
// machine; the bound port.
func (r *resolved) deriveAdvertise(what string, e *endpoint, in surroundings) error {
	name := what + "-advertise"
	ip, port := e.advertise.Addr(), e.advertise.Port()
	switch {
	case r.has(name):
	case !e.bind.Addr().IsUnspecified():
		ip = e.bind.Addr()
		r.origins[name] = origin{"default", "as bound"}
	default:
		addrs, err := in.addrs()
		if err != nil {
			return fmt.Errorf("list this machine's addresses: %w: set --%s", err, name)
		}
		var why string
		ip, why, err = reachable(e.bind.Addr(), r.join, addrs, in.source)
		if err != nil {
			return fmt.Errorf("%w: set --%s to the IP that the other nodes reach", err, name)
		}
		r.origins[name] = origin{"default", why}
	}
	if port == 0 {
		port = e.bind.Port()
	}
	e.advertise = netip.AddrPortFrom(ip, port)
	return nil
}
