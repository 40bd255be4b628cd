// Package rank measures the rank attribute of a node. Elections compare (attribute, id), so equal
// attributes leave the decision to the ids.
//
// This package only measures. The algorithms keep an attribute unchanged for a term.
package rank

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// ErrSpec says that a text does not specify a rank attribute.
var ErrSpec = errors.New("there are id, ip, cpu, memory, disk, disk:DIR, files:DIR and number:N")

// Source measures a node's rank attribute. Any goroutine may call its methods.
type Source struct {
	spec    string
	live    bool
	measure func(Context) (int64, error)
}

// Context gives a Source what it cannot find out by itself.
type Context struct {
	AdvertiseIP netip.Addr // where the other nodes reach this one
	DataDir     string     // an existing directory, or "" for none
}

// Measure returns the attribute as it is now. It may ask the operating system.
func (s Source) Measure(c Context) (int64, error) {
	n, err := s.measure(c)
	if err != nil {
		return 0, fmt.Errorf("rank attribute %s: %w", s.spec, err)
	}
	return n, nil
}

// String returns the specification that Parse read.
func (s Source) String() string { return s.spec }

// Live reports whether the attribute may change while the node runs. Only then is
// it worth measuring again.
func (s Source) Live() bool { return s.live }

// Parse reads a specification:
//
//	id          nothing but the id counts: the attribute is 0 everywhere
//	ip          the advertised address as a number
//	cpu         how many processors this process may use
//	memory      the machine's memory, in bytes
//	disk        the free space, in bytes, where the data directory is
//	disk:DIR    the free space, in bytes, where DIR is
//	files:DIR   how many regular files DIR holds, without those in its subdirectories
//	number:N    N, any 64-bit integer
//
// Errors wrap ErrSpec.
func Parse(spec string) (Source, error) {
	kind, arg, hasArg := strings.Cut(spec, ":")
	s := Source{spec: spec}
	switch {
	case spec == "id":
		s.measure = constant(0)
	case spec == "ip":
		s.measure = advertisedIP
	case spec == "cpu":
		s.measure = processors
	case spec == "memory":
		s.measure = physicalMemory
	case kind == "disk" && (arg != "" || !hasArg):
		s.live, s.measure = true, freeDisk(arg)
	case kind == "files" && arg != "":
		s.live, s.measure = true, filesIn(arg)
	case kind == "number":
		n, err := strconv.ParseInt(arg, 10, 64)
		if err != nil {
			return Source{}, fmt.Errorf("rank attribute %q: %q is not a 64-bit integer: %w", spec, arg, ErrSpec)
		}
		s.measure = constant(n)
	default:
		return Source{}, fmt.Errorf("rank attribute %q: %w", spec, ErrSpec)
	}
	return s, nil
}
