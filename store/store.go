// Package store is what a node needs of a store on which leadership stands: etcd, ZooKeeper, Redis,
// PostgreSQL or Kubernetes. A package below this one is made for each, over that store's own client. A
// program that imports none of them links none.
//
// An election in a store has entries, at most one of each candidate, and the first entry leads. Each
// package follows the recipe that candidates of other programs follow in that store, so that those and
// nodes of Ringleader exclude each other.
package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// ErrWrong is the error for a store that will not work until somebody changes the configuration: it is
// another product, refuses the password, is too old, or holds something that is no election. Every
// other error may pass.
var ErrWrong = errors.New("the store cannot be used as configured")

// Store is one election in one store, as a configuration names it. Its methods may be called from any
// goroutine.
type Store interface {
	// Open returns the election for this candidate. It makes no request, so that a node starts
	// although the store does not answer.
	Open(c Candidate) (Election, error)
	// Name is the kind of the store and the place of the election in it, as in "etcd /prefix". It is the
	// same on every node, whatever addresses of the store each was given.
	Name() string
	// String is the URL of the store without secrets.
	String() string
	// MinTTL is the shortest TTL that the store can keep.
	MinTTL() time.Duration
	// Guarantee says how far a leadership on this store can be trusted.
	Guarantee() algorithms.Guarantee
}

// Secretive is a Store that proves who asks with a password.
type Secretive interface {
	// Secret is the file with the password; "" for none.
	Secret() string
}

// Election is an open election. Only one goroutine at a time may call Ask and Check.
type Election interface {
	// Check asks whether the store can be used. The error wraps ErrWrong if it cannot.
	Check(ctx context.Context) error
	// Ask carries out one ask, and returns the first entry, the candidate's own, and how long the store
	// keeps the latter. The verb AskStand renews an entry that is there already. ctx bounds the request:
	// a request that was given up may still be carried out.
	Ask(ctx context.Context, ask algorithms.Ask) (algorithms.Answered, error)
	// Changed returns a channel that receives a value when the first entry may be another: because the
	// store said so, because the connection to it is new, or because the entry should have ended by now.
	Changed() <-chan struct{}
	// Close ends the connection. It removes no entry.
	Close() error
}

// Candidate is the node that opens an election.
type Candidate struct {
	Cluster string
	proto.Peer
	TTL time.Duration // how long the store keeps an entry that is not renewed
}

// Entries are written as text, so that people who look into the store see who leads:
//
//	ringleader/LABEL/ID/INCARNATION
//	ringleader/LABEL/ID/INCARNATION/lent
const (
	ours = "ringleader"
	lent = "lent"
)

// Value returns the text of the candidate's entry.
func (c Candidate) Value(isLent bool) string {
	text := strings.Join([]string{ours, c.Cluster, c.ID.String(), c.Incarnation.String()}, "/")
	if isLent {
		text += "/" + lent
	}
	return text
}

// Read returns the entry whose text in the store is value. Whoever is no node of the candidate's cluster
// is a stranger.
func (c Candidate) Read(key, value string, token proto.Term) algorithms.Entry {
	e := algorithms.Entry{Key: key, Token: token}
	part := strings.Split(value, "/")
	if len(part) == 5 && part[4] == lent {
		part, e.Lent = part[:4], true
	}
	if len(part) != 4 || part[0] != ours {
		e.Lent, e.Foreign = false, fmt.Sprintf("the candidate %.80q of another program", value)
		return e
	}
	id, err := proto.ParseNodeID(part[2])
	incarnation, bad := proto.ParseIncarnation(part[3])
	switch {
	case err != nil || bad != nil:
		e.Lent, e.Foreign = false, fmt.Sprintf("the candidate %.80q of another program", value)
	case part[1] != c.Cluster:
		e.Lent, e.Foreign = false, fmt.Sprintf("node %v of the cluster %s", id, part[1])
	default:
		e.ID, e.Incarnation = id, incarnation
	}
	return e
}

// Hint is a channel for Election.Changed. Its methods may be called from any goroutine.
type Hint chan struct{}

// NewHint returns a Hint with room for one value.
func NewHint() Hint { return make(Hint, 1) }

// Give gives the hint, unless one waits already.
func (h Hint) Give() {
	select {
	case h <- struct{}{}:
	default:
	}
}
