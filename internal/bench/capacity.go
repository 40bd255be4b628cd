package bench

import (
	"errors"
	"fmt"
	"syscall"
)

// ErrCapacity says that the machine has too little memory, or too few file descriptors, for the nodes.
var ErrCapacity = errors.New("more nodes than this machine can hold")

// What a node needs at most. Every node keeps a connection to and from each other node, and needs
// memory for each.
const (
	nodeMiB         = 24
	mibPerLinkPair  = 0.1
	filesPerNode    = 24
	filesPerPeer    = 2
	pipesPerProcess = 4 // pipes that the benchmark opens for each node that it starts
)

// CheckCapacity returns an error if this many nodes need more memory or file descriptors than there
// are. The error wraps ErrCapacity and shows the figures.
func CheckCapacity(nodes int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("ask for the limit of open files: %w", err)
	}
	return fits(nodes, MemoryMiB(), limit.Max)
}

// fits compares what nodes need with the memory that is available, in MiB (0: unknown), and with
// the number of files that one process may open.
func fits(nodes, availableMiB int, maxFiles uint64) error {
	each := nodeMiB + mibPerLinkPair*float64(nodes-1)
	if need := int(float64(nodes) * each); availableMiB > 0 && need > availableMiB {
		return fmt.Errorf("%w: %d nodes × %.1f MiB = %d MiB, but %d MiB are available",
			ErrCapacity, nodes, each, need, availableMiB)
	}
	if need := uint64(filesPerNode + filesPerPeer*(nodes-1)); need > maxFiles {
		return fmt.Errorf("%w: each of %d nodes opens %d + %d × %d = %d files, but the limit "+
			"is %d (ulimit -Hn)",
			ErrCapacity, nodes, filesPerNode, filesPerPeer, nodes-1, need, maxFiles)
	}
	if need := uint64(pipesPerProcess * nodes); need > maxFiles {
		return fmt.Errorf("%w: the benchmark itself opens %d × %d = %d files, but the limit "+
			"is %d (ulimit -Hn)", ErrCapacity, pipesPerProcess, nodes, need, maxFiles)
	}
	return nil
}
