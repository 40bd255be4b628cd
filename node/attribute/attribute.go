// Package attribute measures what a node is ranked by. An election compares
// (attribute, id), so equal attributes leave the decision to the ids.
//
// A Source only measures. That the attribute stays frozen for a term is the
// business of the algorithms.
package attribute

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// ErrSpec says that a text names no attribute.
var ErrSpec = errors.New("there are id, ip, cpu, memory, disk, disk:DIR, files:DIR and number:N")

// Source is where a node's attribute comes from. Its methods may be called
// from any goroutine.
type Source interface {
	// Measure is the attribute now. It may ask the operating system.
	Measure(Context) (int64, error)
	// String is the specification that Parse read.
	String() string
	// Live reports whether the attribute may change while the node runs, so
	// that it is worth measuring again.
	Live() bool
}

// Context is what a Source cannot find out by itself.
type Context struct {
	AdvertiseIP netip.Addr // where the other nodes reach this one
	DataDir     string     // an existing directory, or "" for none
}

// Parse reads a specification:
//
//	id          nothing but the id counts: the attribute is 0 everywhere
//	ip          the advertised address as a number
//	cpu         how many processors this process may use
//	memory      the machine's memory, in bytes
//	disk        the free space, in bytes, where the data directory is
//	disk:DIR    the free space, in bytes, where DIR is
//	files:DIR   how many regular files DIR holds, those below it not counted
//	number:N    N, any 64-bit integer
//
// Errors wrap ErrSpec.
func Parse(spec string) (Source, error) {
	kind, arg, hasArg := strings.Cut(spec, ":")
	switch {
	case kind == "files" && arg != "":
		return filesIn{arg}, nil
	case kind == "disk" && (arg != "" || !hasArg):
		return freeDisk{arg}, nil
	case kind == "number":
		n, err := strconv.ParseInt(arg, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("rank attribute %q: %q is not a 64-bit integer: %w",
				spec, arg, ErrSpec)
		}
		return number(n), nil
	}
	if source, ok := plain[spec]; ok {
		return source, nil
	}
	return nil, fmt.Errorf("rank attribute %q: %w", spec, ErrSpec)
}

// plain are the sources that take no argument.
var plain = map[string]Source{
	"id":     idOnly{},
	"ip":     ipAddress{},
	"cpu":    processors{},
	"memory": physicalMemory{},
}
