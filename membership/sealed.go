package membership

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/memberlist"
)

// Keyring has the keys with which gossip is encrypted: AES in Galois/Counter Mode, as memberlist does it. The first
// key seals what this node sends; every key opens what arrives. Any goroutine may call its methods.
//
//	Invariants
//	1. There is at least one key, and none twice.
//	2. memberlist opens all that the guard opens.
//	3. Nobody writes to a slice that memberlist's keyring has given out.
type Keyring struct {
	mu   sync.Mutex // held while the keys change
	ring *memberlist.Keyring
	now  atomic.Pointer[[]gossipKey] // what the guard opens with; never changes in place
}

// gossipKey is a key, ready for use.
type gossipKey struct {
	key  []byte
	aead cipher.AEAD
}

// What is wrong with a change of keys.
var (
	ErrNoKey     = errors.New("there is no such key")
	ErrSealsNow  = errors.New("the key seals what this node sends")
	errNoKeys    = errors.New("no keys of gossip")
	errKeyLength = errors.New("a key of gossip has 16, 24 or 32 bytes")
)

// NewKeyring returns a Keyring with these keys, the one to seal with first. A key has 16, 24 or 32 bytes.
func NewKeyring(keys [][]byte) (*Keyring, error) {
	ring, err := memberlist.NewKeyring(nil, nil)
	if err != nil {
		return nil, err
	}
	k := &Keyring{ring: ring}
	k.now.Store(&[]gossipKey{})
	return k, k.Set(keys)
}

// List returns the keys, the one that seals first.
func (k *Keyring) List() [][]byte {
	var keys [][]byte
	for _, g := range *k.now.Load() {
		keys = append(keys, slices.Clone(g.key))
	}
	return keys
}

// Add adds a key that opens. A key that is there already stays where it is.
func (k *Keyring) Add(key []byte) error {
	return k.change(func(keys [][]byte) ([][]byte, error) {
		if keyAt(keys, key) < 0 {
			keys = append(keys, key)
		}
		return keys, nil
	})
}

// Use makes a key that is there the one that seals. Without it, the error wraps ErrNoKey.
func (k *Keyring) Use(key []byte) error {
	return k.change(func(keys [][]byte) ([][]byte, error) {
		i := keyAt(keys, key)
		if i < 0 {
			return nil, ErrNoKey
		}
		return slices.Insert(slices.Delete(keys, i, i+1), 0, key), nil
	})
}

// Remove removes a key. For the key that seals, the error wraps ErrSealsNow. A key that is not there is no error.
func (k *Keyring) Remove(key []byte) error {
	return k.change(func(keys [][]byte) ([][]byte, error) {
		switch i := keyAt(keys, key); i {
		case -1:
			return keys, nil
		case 0:
			return nil, ErrSealsNow
		default:
			return slices.Delete(keys, i, i+1), nil
		}
	})
}

// Set replaces all keys. The first one seals.
func (k *Keyring) Set(keys [][]byte) error {
	return k.change(func([][]byte) ([][]byte, error) { return keys, nil })
}

// keyAt returns where keys have a key; -1 if nowhere.
func keyAt(keys [][]byte, key []byte) int {
	return slices.IndexFunc(keys, func(other []byte) bool { return bytes.Equal(key, other) })
}

// change replaces the keys by what f makes of them.
func (k *Keyring) change(f func([][]byte) ([][]byte, error)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	keys, err := f(k.List())
	if err != nil {
		return err
	}
	var next []gossipKey
	for i, key := range keys {
		if keyAt(keys, key) < i {
			continue
		}
		g, err := newGossipKey(slices.Clone(key))
		if err != nil {
			return err
		}
		next = append(next, g)
	}
	if len(next) == 0 {
		return errNoKeys
	}
	return k.install(next)
}

func newGossipKey(key []byte) (gossipKey, error) {
	if memberlist.ValidateKey(key) != nil {
		return gossipKey{}, errKeyLength // without the key
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return gossipKey{}, err
	}
	aead, err := cipher.NewGCM(block)
	return gossipKey{key, aead}, err
}

// install gives the keys to memberlist and to the guard. The guard learns of a key after memberlist, and forgets it
// before.
func (k *Keyring) install(next []gossipKey) error {
	var keys [][]byte
	for _, g := range next {
		keys = append(keys, g.key)
		if err := k.ring.AddKey(g.key); err != nil {
			return err
		}
	}
	if err := k.ring.UseKey(keys[0]); err != nil {
		return err
	}
	k.now.Store(&next)
	return k.forgetOthers(keys)
}

// forgetOthers removes all but these keys from memberlist's keyring. memberlist moves the keys behind a removed one
// inside the slice that its readers hold. So only the last key is ever removed; one behind which there are wanted
// keys becomes the last as these are removed and added again. For that moment memberlist drops what they sealed.
func (k *Keyring) forgetOthers(keys [][]byte) error {
	for {
		have := k.ring.GetKeys()
		if !slices.ContainsFunc(have, func(key []byte) bool { return keyAt(keys, key) < 0 }) {
			break
		}
		if err := k.ring.RemoveKey(have[len(have)-1]); err != nil {
			return err
		}
	}
	for _, key := range keys {
		if err := k.ring.AddKey(key); err != nil {
			return err
		}
	}
	return nil
}

// How memberlist encrypts. A packet is a version, a nonce, and what GCM makes of the message. A stream is one message:
// encryptMsg, the length of the rest in four bytes, and the rest as in a packet, with these five bytes as additional
// data. Version 0 has padding, which memberlist takes off without a look at its length: whoever has a key could end
// the process. Nodes send version 1.
const (
	sealVersion  = 1
	sealNonce    = 12
	sealTag      = 16
	sealOverhead = 1 + sealNonce + sealTag
	streamHead   = 5
)

// Why the guard drops what is not sealed as it should be.
var (
	errUnsealed   = errors.New("is not encrypted, as this node's gossip is")
	errUnknownKey = errors.New("is sealed with a key that this node has not (an older key?)")
	errNoKeyring  = errors.New("is encrypted, and this node has no keys of gossip")
)

// open opens what is sealed, and appends the plain text to dst.
func (k *Keyring) open(dst, sealed, additional []byte) ([]byte, error) {
	if len(sealed) < sealOverhead || sealed[0] != sealVersion {
		return nil, errUnsealed
	}
	nonce, text := sealed[1:1+sealNonce], sealed[1+sealNonce:]
	for _, g := range *k.now.Load() {
		if plain, err := g.aead.Open(dst, nonce, text, additional); err == nil {
			return plain, nil
		}
	}
	return nil, errUnknownKey
}

// openPacket opens a packet, and returns an error unless memberlist may have it. It writes to scratch, and returns it
// for the next packet.
func (k *Keyring) openPacket(scratch, packet []byte) ([]byte, error) {
	plain, err := k.open(scratch[:0], packet, nil)
	if err != nil {
		return scratch, err
	}
	if len(plain) == 0 || !packetIsPlain(plain) {
		err = errHostile
	}
	return plain, err
}

// openStream opens all of a sealed stream, and returns an error unless memberlist may have it.
func (k *Keyring) openStream(frame []byte) error {
	plain, err := k.open(nil, frame[streamHead:], frame[:streamHead])
	if errors.Is(err, errUnsealed) {
		return fmt.Errorf("%w: a sealed stream of version %d", errHostile, frame[streamHead])
	}
	if err != nil {
		return err
	}
	if err = checkHead(bytes.NewReader(plain)); err == nil || errors.Is(err, errHostile) {
		return err
	}
	// memberlist looks at the first byte of a message without asking whether there is one.
	return fmt.Errorf("%w: a sealed stream whose head is cut short", errHostile)
}
