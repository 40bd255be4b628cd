package store

import (
	"bytes"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
)

// check reads the whole file and returns an error if it finds damage.
func check(tx *bbolt.Tx) error {
	info, err := os.Stat(tx.DB().Path())
	if err != nil {
		return err
	}
	if info.Size() < tx.Size() {
		return fmt.Errorf("%w: it has %d bytes of %d", ErrCorrupt, info.Size(), tx.Size())
	}
	for _, name := range [][]byte{tokens, values} {
		b := tx.Bucket(name)
		if b == nil || int64(b.RootPage())*int64(tx.DB().Info().PageSize) >= tx.Size() {
			return fmt.Errorf("%w: the %s are not there", ErrCorrupt, name)
		}
	}
	if _, err := highestIn(tx); err != nil {
		return err
	}
	if err := checkValues(tx.Bucket(values)); err != nil {
		return err
	}
	if err := checkPages(tx); err != nil {
		return err
	}
	// This compares what the pages say of each other, and does it from a
	// goroutine in which a fault would end the process: what is checked above
	// is where one could come from. It may find a thousand million errors, so
	// one has to do, and the goroutine waits for ever to tell the next.
	for err := range tx.Check() {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}

// checkPages checks that each page ends within the file.
func checkPages(tx *bbolt.Tx) error {
	for id := 0; ; {
		page, err := tx.Page(id)
		if err != nil || page == nil { // the end
			return err
		}
		next := id + 1
		if page.Type != "free" {
			next += page.OverflowCount
		}
		if int64(next)*int64(tx.DB().Info().PageSize) > tx.Size() {
			return fmt.Errorf("%w: page %d is not in order", ErrCorrupt, id)
		}
		id = next
	}
}

// checkValues checks that a search for each key finds the key's record, and that the record is intact.
func checkValues(b *bbolt.Bucket) error {
	return b.ForEach(func(key, record []byte) error {
		if _, _, err := decode(key, record); err != nil || !bytes.Equal(b.Get(key), record) {
			return fmt.Errorf("the value of key %q: %w", key, ErrCorrupt)
		}
		return nil
	})
}
