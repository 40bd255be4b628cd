package httpapi

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"

	"github.com/ringleader-dev/ringleader/proto"
)

// KeyVerb is what a request does with the keys of gossip.
type KeyVerb string

// The verbs.
const (
	ListKeys  KeyVerb = "list"
	AddKey    KeyVerb = "add"    // the node opens what is sealed with the key
	UseKey    KeyVerb = "use"    // the node seals with the key, which it has
	RemoveKey KeyVerb = "remove" // the node forgets the key, with which it does not seal
)

// KeyOrder is the body of a request about the keys of gossip.
type KeyOrder struct {
	Do KeyVerb `json:"do"`
	// Key is the key to add.
	Key []byte `json:"key,omitempty"`
	// Fingerprint names the key to use or to remove.
	Fingerprint string `json:"fingerprint,omitempty"`
	// By says who asks, for the log: the address from which the request came.
	By string `json:"-"`
}

// fingerprintLen is how many bytes of a hash name a key.
const fingerprintLen = 6

// ValidateFingerprint returns an error unless the text has the form of a key's fingerprint.
func ValidateFingerprint(text string) error {
	if b, err := hex.DecodeString(text); err != nil || len(b) != fingerprintLen || text != hex.EncodeToString(b) {
		return fmt.Errorf("%.40q is no fingerprint of a key: want %d digits of 0-9 and a-f", text, 2*fingerprintLen)
	}
	return nil
}

// validate returns an error unless the order has what its verb needs, and no more.
func (o KeyOrder) validate() error {
	switch o.Do {
	case ListKeys:
		if o.Key == nil && o.Fingerprint == "" {
			return nil
		}
		return errors.New("list takes neither a key nor a fingerprint")
	case AddKey:
		if o.Key != nil && o.Fingerprint == "" {
			return nil
		}
		return errors.New(`add wants a "key", as base64, and no fingerprint`)
	case UseKey, RemoveKey:
		if o.Key != nil {
			return fmt.Errorf(`%s wants the "fingerprint" of a key, not the key`, o.Do)
		}
		return ValidateFingerprint(o.Fingerprint)
	}
	return fmt.Errorf(`"do" is %.20q: want list, add, use or remove`, o.Do)
}

// GossipKeys are the keys that a node has, by their fingerprints.
type GossipKeys struct {
	Self proto.NodeID `json:"self"`
	// Keys are the fingerprints. The node seals with the first one.
	Keys []string `json:"keys"`
}

func (k GossipKeys) from() proto.NodeID { return k.Self }

// Keys has the keys with which the node encrypts its gossip.
type Keys interface {
	// ChangeKeys carries out an order, and returns the fingerprints of the keys that the node has then. What it
	// changes is on the disk before it takes effect. An order that is carried out already is no error. Errors wrap
	// ErrConflict if the node refuses. Any goroutine may call it.
	ChangeKeys(ctx context.Context, o KeyOrder) (fingerprints []string, err error)
}

const keysPath = "/v1/keys"

// changeKeys answers POST /v1/keys. An answer never has a key.
func changeKeys(self func() proto.NodeID, k Keys) http.HandlerFunc {
	return only(http.MethodPost, "only POST", func(w http.ResponseWriter, r *http.Request) {
		if k == nil {
			write(w, http.StatusConflict, refusal{"this node's gossip is not encrypted: it has no keys"})
			return
		}
		allowWaiting(w)
		var o KeyOrder
		body, err := readBody(r)
		if err == nil {
			err = parseObject(body, &o, `{"do": "list"}`)
		}
		if err == nil {
			err = o.validate()
		}
		if err != nil {
			write(w, http.StatusBadRequest, refusal{err.Error()})
			return
		}
		o.By = requester(r, "")
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), DoPatience)
		defer cancel()
		fingerprints, err := k.ChangeKeys(ctx, o)
		if err != nil {
			write(w, statusOf(err), refusal{err.Error()})
			return
		}
		write(w, http.StatusOK, GossipKeys{self(), fingerprints})
	})
}

// ChangeKeys makes the node carry out an order about its keys of gossip. Errors are as with Do.
func (c Client) ChangeKeys(ctx context.Context, o KeyOrder) (GossipKeys, error) {
	k, err := change[GossipKeys](ctx, c, keysPath, o)
	if err == nil && len(k.Keys) == 0 {
		err = notANode(errors.New("a node without a key"))
	}
	if err != nil {
		return GossipKeys{}, fmt.Errorf("keys %s: ask %s: %w", o.Do, c.Addr, err)
	}
	return k, nil
}
