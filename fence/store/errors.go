package store

import (
	"errors"
	"fmt"
	"syscall"
)

// What the store refuses, besides tokens.
var (
	// ErrLocked: another process uses the directory.
	ErrLocked = errors.New("in use by another process")
	// ErrCorrupt: the file is there but cannot be trusted.
	ErrCorrupt = errors.New("damaged")
	// ErrNotFound: nothing is kept under the key.
	ErrNotFound = errors.New("no such key")
	// ErrKey: what cannot be a key.
	ErrKey = errors.New("a key is 1 to 512 bytes of UTF-8 without control characters")
	// ErrTooLarge: more than MaxValue bytes.
	ErrTooLarge = errors.New("a value has at most 1048576 bytes")
	// ErrNoSpace: the disk is full. Nothing was changed.
	ErrNoSpace = errors.New("no space left for the store")
	// ErrBroken: a write failed so that nobody knows whether the disk holds it.
	ErrBroken = errors.New("the disk failed in the middle of a write: start the process again")
)

// spaceless are the ways in which a system says that there is no more room.
var spaceless = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}

// asNoSpace makes err ErrNoSpace too when it is about room.
func asNoSpace(err error) error {
	for _, target := range spaceless {
		if errors.Is(err, target) {
			return fmt.Errorf("%w: %w", ErrNoSpace, err)
		}
	}
	return err
}
