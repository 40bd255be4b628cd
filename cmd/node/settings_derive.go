package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/internal/address"
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
		errs = append(errs, r.deriveID(in))
	}
	r.DataDir = strings.ReplaceAll(r.DataDir, "{id}", r.ID.String())
	errs = append(errs, r.checkHealth(),
		r.deriveAdvertise("gossip", r.GossipBind, &r.GossipAdvertise, in),
		r.deriveAdvertise("election", r.ElectionBind, &r.ElectionAdvertise, in))
	if err := errors.Join(errs...); err != nil {
		return err
	}
	c, err := r.Config.WithDefaults()
	if err != nil {
		return inFlags(err)
	}
	r.Config = c
	r.warnings = append(r.warnings, c.Warnings()...)
	for _, s := range table {
		if !r.has(s.name) {
			r.origins[s.name] = origin{"default", r.whence(s.name)}
		}
	}
	return r.deriveGrace()
}

// whence is what the default of a setting is derived from.
func (r *resolved) whence(name string) string {
	switch name {
	case "preempt":
		return "of " + r.Algorithm
	case "failover-budget":
		return "of profile " + r.Profile
	case "heartbeat", "heartbeat-misses", "latency", "promise":
		return fromBudget
	case "grace":
		if len(r.Voters) == 0 {
			return "there is no lease"
		}
		return "what the lease allows"
	}
	return ""
}

// inFlags is an error of package ringleader with the names of the flags in place of the fields'.
func inFlags(err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var errs []error
	for _, err := range joined.Unwrap() {
		if wrong, ok := errors.AsType[ringleader.FieldError](err); ok {
			err = fmt.Errorf("--%s: %w", flagOf(wrong.Field), wrong.Err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// wordEnd is where a word of a field's name ends, as in "HTTPBind".
var wordEnd = regexp.MustCompile(`([a-z])([A-Z])|([A-Z])([A-Z][a-z])`)

// flagOf is the flag that a field of ringleader.Config is set by.
func flagOf(field string) string {
	return strings.ToLower(strings.ReplaceAll(wordEnd.ReplaceAllString(field, "$1$3-$2$4"), ".", "-"))
}

func (r *resolved) has(name string) bool {
	_, ok := r.origins[name]
	return ok
}

// deriveID takes the digits that the hostname ends in, or the number of a replica.
func (r *resolved) deriveID(in surroundings) error {
	hostname, err := in.hostname()
	if err != nil {
		return fmt.Errorf("ask for the hostname: %w: %w", err, errNoID)
	}
	if containerID.MatchString(hostname) {
		return r.deriveReplica(hostname, in)
	}
	digits := hostname[len(strings.TrimRight(hostname, "0123456789")):]
	if digits == "" {
		return fmt.Errorf("hostname %q: %w", hostname, errNoID)
	}
	id, err := proto.ParseNodeID(digits)
	if err != nil {
		return fmt.Errorf("hostname %q: %w: set --id", hostname, err)
	}
	r.ID = id
	r.origins["id"] = origin{"default", "hostname " + hostname}
	return nil
}

// deriveAdvertise finds the address that the others are told.
func (r *resolved) deriveAdvertise(what, bind string, advertise *string, in surroundings) error {
	at, err := address.ParseBind(bind)
	if err != nil {
		return err
	}
	name := what + "-advertise"
	addr, why, err := address.Host{Addrs: in.addrs, Source: in.source}.Advertised(at, *advertise, r.Join)
	if err != nil {
		return fmt.Errorf("--%s: %w", name, err)
	}
	*advertise = addr.String()
	if !r.has(name) {
		r.origins[name] = origin{"default", why}
	}
	return nil
}
