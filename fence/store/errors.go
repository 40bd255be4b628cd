package store

import (
	"errors"
	"fmt"
	"syscall"
)

// The errors of the store, besides those about tokens.
var (
	// ErrLocked: another process uses the directory.
	ErrLocked = errors.New("in use by another process")
	// ErrCorrupt: the file exists but is damaged.
	ErrCorrupt = errors.New("damaged")
	// ErrNotFound: the store has no value for the key.
	ErrNotFound = errors.New("no such key")
	// ErrKey: the text cannot be a key.
	ErrKey = errors.New("a key is 1 to 512 bytes of UTF-8 without control characters")
	// ErrTooLarge: the value has more than MaxValue bytes.
	ErrTooLarge = errors.New("a value has at most 1048576 bytes")
	// ErrNoSpace: the disk is full. Nothing was changed.
	ErrNoSpace = errors.New("no space left for the store")
	// ErrBroken: a write failed, and it is unknown whether its data is on the disk.
	ErrBroken = errors.New("the disk failed in the middle of a write: start the process again")
)

// spaceless lists the errors with which the operating system says that there is no space.
var spaceless = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// asNoSpace returns err. If err wraps one of the errors in spaceless, the result wraps ErrNoSpace, too.
func asNoSpace(err error) error {
	for _, target := range spaceless {
		if errors.Is(err, target) {
			return fmt.Errorf("%w: %w", ErrNoSpace, err)
		}
	}
	return err
}
