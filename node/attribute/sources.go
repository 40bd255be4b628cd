package attribute

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
)

// idOnly leaves the rank to the id, which is its second part.
type idOnly struct{}

func (idOnly) Measure(Context) (int64, error) { return 0, nil }
func (idOnly) String() string                 { return "id" }
func (idOnly) Live() bool                     { return false }

// ipAddress ranks by the advertised address: an IPv4 address by its 32 bits, an
// IPv6 address, which always ranks higher, by its upper 63. IPv6 neighbours
// within one /63 are equal and the id decides.
type ipAddress struct{}

func (ipAddress) Measure(c Context) (int64, error) {
	ip := c.AdvertiseIP.Unmap()
	switch {
	case !ip.IsValid() || ip.IsUnspecified():
		return 0, errors.New("rank attribute ip: this node has no address of its own to be " +
			"ranked by: set the address it advertises")
	case ip.Is4():
		b := ip.As4()
		return int64(binary.BigEndian.Uint32(b[:])), nil
	}
	b := ip.As16()
	return int64(binary.BigEndian.Uint64(b[:8]) >> 1), nil
}

func (ipAddress) String() string { return "ip" }
func (ipAddress) Live() bool     { return false }

type processors struct{}

func (processors) Measure(Context) (int64, error) { return int64(runtime.NumCPU()), nil }
func (processors) String() string                 { return "cpu" }
func (processors) Live() bool                     { return false }

// physicalMemory is the total, not what happens to be free: it stays the same
// while the machine runs.
type physicalMemory struct{}

func (physicalMemory) Measure(Context) (int64, error) {
	n, err := totalMemory()
	if err != nil {
		return 0, fmt.Errorf("rank attribute memory: %w", err)
	}
	return clamp(n), nil
}

func (physicalMemory) String() string { return "memory" }
func (physicalMemory) Live() bool     { return false }

// freeDisk is the space that an ordinary user may still fill.
type freeDisk struct {
	dir string // "" for the data directory
}

func (d freeDisk) Measure(c Context) (int64, error) {
	dir := d.dir
	if dir == "" {
		dir = c.DataDir
	}
	if dir == "" {
		return 0, errors.New("rank attribute disk: this node has no data directory: " +
			"name one, as in disk:/var/lib")
	}
	n, err := freeBytes(dir)
	if err != nil {
		return 0, fmt.Errorf("rank attribute %s: %w", d, &os.PathError{
			Op: "free space of", Path: dir, Err: err,
		})
	}
	return clamp(n), nil
}

func (d freeDisk) String() string {
	if d.dir == "" {
		return "disk"
	}
	return "disk:" + d.dir
}

func (freeDisk) Live() bool { return true }

type filesIn struct{ dir string }

func (f filesIn) Measure(Context) (int64, error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return 0, fmt.Errorf("rank attribute %s: %w", f, err)
	}
	var n int64
	for _, e := range entries {
		if e.Type().IsRegular() {
			n++
		}
	}
	return n, nil
}

func (f filesIn) String() string { return "files:" + f.dir }
func (filesIn) Live() bool       { return true }

// number is the operator's own.
type number int64

func (n number) Measure(Context) (int64, error) { return int64(n), nil }
func (n number) String() string                 { return fmt.Sprintf("number:%d", int64(n)) }
func (number) Live() bool                       { return false }

// clamp keeps the absurd sizes that some network file systems report from
// turning negative.
func clamp(n uint64) int64 { return int64(min(n, math.MaxInt64)) }
