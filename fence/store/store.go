package store

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/ringleader-dev/ringleader/fence"
)

// Store is an open store. Its methods may be called from any goroutine; a write returns when it is
// durable. Errors wrap an error of this package or of package fence.
type Store struct {
	db *bbolt.DB
	// write runs the function in a transaction, and commits it unless the function fails.
	write func(func(*bbolt.Tx) error) error

	writing sync.Mutex    // one update at a time
	broken  chan struct{} // closed when the store is broken
}

func newStore(db *bbolt.DB) *Store {
	return &Store{db: db, write: db.Update, broken: make(chan struct{})}
}

// Value is the value of a key.
type Value struct {
	Data []byte
	By   fence.Token // the token with which the value was written
}

// Put stores data under key, as the leader that holds t.
func (s *Store) Put(t fence.Token, key string, data []byte) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if len(data) > MaxValue {
		return ErrTooLarge
	}
	return s.update(t, func(tx *bbolt.Tx) error {
		return tx.Bucket(values).Put([]byte(key), encode([]byte(key), t, data))
	})
}

// Delete removes key, as the leader that holds t. A missing key is no error.
func (s *Store) Delete(t fence.Token, key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	return s.update(t, func(tx *bbolt.Tx) error {
		return tx.Bucket(values).Delete([]byte(key))
	})
}

// Seal makes t the highest token without a write of data. A new leader calls it first: from then on
// nobody with a lower token can change the values that the leader reads.
func (s *Store) Seal(t fence.Token) error {
	return s.update(t, func(*bbolt.Tx) error { return nil })
}

// Get reads a key without a token. It returns ErrNotFound if the key is missing.
func (s *Store) Get(key string) (Value, error) {
	return s.read(key, func(*bbolt.Tx) error { return nil })
}

// GetAs reads a key as the leader that holds t. Before that, the leader must have called Seal, Put or
// Delete with t.
func (s *Store) GetAs(t fence.Token, key string) (Value, error) {
	return s.read(key, func(tx *bbolt.Tx) error {
		high, err := highestIn(tx)
		if err != nil {
			return err
		}
		return fence.AdmitRead(high, t)
	})
}

// Highest returns the highest token that the store has seen, or the zero Token if it has seen none.
func (s *Store) Highest() (t fence.Token, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		t, err = highestIn(tx)
		return err
	})
	return t, err
}

// Broken returns a channel that is closed when the store is broken. The package's description says when
// a store is broken.
func (s *Store) Broken() <-chan struct{} { return s.broken }

// Close waits for the calls under way, closes the file and unlocks the directory.
func (s *Store) Close() error { return s.db.Close() }

// update admits t, saves it and changes the data, all in one transaction.
func (s *Store) update(t fence.Token, change func(*bbolt.Tx) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.isBroken() {
		return ErrBroken
	}
	committing := 0 // the number of the transaction, once it may be committed
	err := s.write(func(tx *bbolt.Tx) error {
		high, err := highestIn(tx)
		if err != nil {
			return err
		}
		if err := fence.Admit(high, t); err != nil {
			return err
		}
		if t != high {
			err = seal(tx, t)
		}
		if err := errors.Join(err, change(tx)); err != nil {
			return err
		}
		committing = tx.ID()
		return nil
	})
	if err != nil && committing != 0 && s.shows(committing) {
		close(s.broken)
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return asNoSpace(err)
}

// shows reports whether the file shows the transaction with the number id. If the file shows it
// although the commit returned an error, the last sync failed, and the page cache shows data that may
// not be on the disk. The caller holds writing: the next transaction gets the number of a failed one.
func (s *Store) shows(id int) (shown bool) {
	err := s.db.View(func(tx *bbolt.Tx) error {
		shown = tx.ID() >= id
		return nil
	})
	return shown && err == nil
}

func (s *Store) read(key string, admit func(*bbolt.Tx) error) (v Value, err error) {
	if err := CheckKey(key); err != nil {
		return Value{}, err
	}
	err = s.view(func(tx *bbolt.Tx) error {
		if err := admit(tx); err != nil {
			return err
		}
		record := tx.Bucket(values).Get([]byte(key))
		if record == nil {
			return fmt.Errorf("key %q: %w", key, ErrNotFound)
		}
		by, data, err := decode([]byte(key), record)
		if err != nil {
			return fmt.Errorf("the value of key %q: %w", key, err)
		}
		// What bbolt returns is gone with the transaction.
		v = Value{Data: bytes.Clone(data), By: by}
		return nil
	})
	return v, err
}

func (s *Store) view(look func(*bbolt.Tx) error) error {
	if s.isBroken() {
		return ErrBroken
	}
	return s.db.View(look)
}

func (s *Store) isBroken() bool {
	select {
	case <-s.broken:
		return true
	default:
		return false
	}
}
