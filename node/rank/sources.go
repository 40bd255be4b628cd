package rank

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
)

// constant returns a source of one number that never changes: the operator's number, or 0 if only the id
// counts.
func constant(n int64) func(Context) (int64, error) {
	return func(Context) (int64, error) { return n, nil }
}

// advertisedIP ranks by the advertised address: an IPv4 address by its 32 bits, an
// IPv6 address, which always ranks higher, by its upper 63. Two IPv6 addresses of
// one /63 are equal, and the id decides.
func advertisedIP(c Context) (int64, error) {
	ip := c.AdvertiseIP.Unmap()
	switch {
	case !ip.IsValid() || ip.IsUnspecified():
		return 0, errors.New("this node has no address of its own to be ranked by: set the address it advertises")
	case ip.Is4():
		b := ip.As4()
		return int64(binary.BigEndian.Uint32(b[:])), nil
	}
	b := ip.As16()
	return int64(binary.BigEndian.Uint64(b[:8]) >> 1), nil
}

func processors(Context) (int64, error) { return int64(runtime.NumCPU()), nil }

// physicalMemory ranks by the total memory and not by the free memory: the total
// stays the same while the machine runs.
func physicalMemory(Context) (int64, error) {
	n, err := totalMemory()
	return clamp(n), err
}

// freeDisk ranks by the space that an ordinary user may still fill where dir is;
// "" is the data directory.
func freeDisk(dir string) func(Context) (int64, error) {
	return func(c Context) (int64, error) {
		at := dir
		if at == "" {
			at = c.DataDir
		}
		if at == "" {
			return 0, errors.New("this node has no data directory: name one, as in disk:/var/lib")
		}
		n, err := freeBytes(at)
		if err != nil {
			err = &os.PathError{Op: "free space of", Path: at, Err: err}
			return 0, fmt.Errorf("%w: name a directory that is there", err)
		}
		return clamp(n), nil
	}
}

func filesIn(dir string) func(Context) (int64, error) {
	return func(Context) (int64, error) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return 0, fmt.Errorf("%w: name a directory that this process may read", err)
		}
		var n int64
		for _, e := range entries {
			if e.Type().IsRegular() {
				n++
			}
		}
		return n, nil
	}
}

// clamp returns n, or the largest int64 if n is larger: some network file systems report absurd sizes, which
// would otherwise become negative.
func clamp(n uint64) int64 { return int64(min(n, math.MaxInt64)) }
