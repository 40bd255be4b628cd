package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node/httpapi"
)

// gossipKeys keeps the keys of gossip on the disk and in the keyring of the group. It changes them on the disk first:
// a node that starts again must open what the others seal.
type gossipKeys struct {
	mu   sync.Mutex // held while the keys change
	kept *credentials.Keeper
	ring *membership.Keyring
	log  zerolog.Logger
}

// openKeys returns the keyring for the group; nil if gossip is not encrypted.
func (d *Daemon) openKeys() (*membership.Keyring, error) {
	if d.Credentials == nil {
		return nil, nil
	}
	ring, err := membership.NewKeyring(d.Credentials.GossipKeys())
	if err != nil {
		return nil, FieldError{"Credentials", wrong(err)}
	}
	d.keys = &gossipKeys{kept: d.Credentials, ring: ring, log: d.log}
	return ring, nil
}

// keysPort returns the keys for the HTTP API; nil if gossip is not encrypted.
func (d *Daemon) keysPort() httpapi.Keys {
	if d.keys == nil {
		return nil
	}
	return d.keys
}

// applyReloaded makes gossip use the keys that the credentials have after a Reload.
func (g *gossipKeys) applyReloaded() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	keys := g.kept.GossipKeys()
	if slices.EqualFunc(keys, g.ring.List(), bytes.Equal) {
		return nil
	}
	if err := g.ring.Set(keys); err != nil {
		return err
	}
	g.log.Info().Strs("keys", fingerprints(keys)).Msg("the keys of gossip were read again; the first one seals")
	return nil
}

// ChangeKeys implements httpapi.Keys.
func (g *gossipKeys) ChangeKeys(_ context.Context, o httpapi.KeyOrder) ([]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	keys := g.kept.GossipKeys()
	next, err := changed(keys, o)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", httpapi.ErrConflict, err)
	}
	if slices.EqualFunc(keys, next, bytes.Equal) {
		return fingerprints(keys), nil
	}
	log := g.log.With().Str("do", string(o.Do)).Str("by", o.By).Strs("keys", fingerprints(next)).Logger()
	if err := g.kept.SaveGossipKeys(next); err != nil {
		log.Warn().Err(err).Msg("the keys of gossip stay as they were")
		if errors.Is(err, credentials.ErrNotRead) {
			err = fmt.Errorf("%w: %w: try again in a moment", httpapi.ErrConflict, err)
		}
		return nil, err
	}
	if err := g.ring.Set(next); err != nil {
		return nil, err
	}
	log.Info().Msg("an operator changed the keys of gossip; the first one seals")
	return fingerprints(next), nil
}

// changed returns the keys after an order. It leaves the slice keys as it is. Errors do not show a key.
func changed(keys [][]byte, o httpapi.KeyOrder) ([][]byte, error) {
	named := slices.Index(fingerprints(keys), o.Fingerprint)
	switch o.Do {
	case httpapi.AddKey:
		return added(keys, o.Key)
	case httpapi.UseKey:
		if named < 0 {
			return nil, fmt.Errorf("this node has no key %s: add it first, to all nodes", o.Fingerprint)
		}
		rest := slices.Delete(slices.Clone(keys), named, named+1)
		return slices.Insert(rest, 0, keys[named]), nil
	case httpapi.RemoveKey:
		switch {
		case named == 0:
			return nil, fmt.Errorf("this node seals with the key %s: use another one first, on all nodes",
				o.Fingerprint)
		case named > 0:
			return slices.Delete(slices.Clone(keys), named, named+1), nil
		}
	}
	return keys, nil
}

func added(keys [][]byte, key []byte) ([][]byte, error) {
	if slices.ContainsFunc(keys, func(other []byte) bool { return bytes.Equal(other, key) }) {
		return keys, nil
	}
	if err := credentials.ValidateGossipKey(key); err != nil {
		return nil, err
	}
	if len(keys) == credentials.MaxGossipKeys {
		return nil, fmt.Errorf("this node has %d keys, and may have no more: remove an old one first", len(keys))
	}
	return append(slices.Clone(keys), key), nil
}

// fingerprints returns the fingerprints of keys.
func fingerprints(keys [][]byte) []string {
	var all []string
	for _, k := range keys {
		all = append(all, credentials.Fingerprint(k))
	}
	return all
}
