package algorithms

import (
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// A store is a service outside the cluster, such as etcd or a database, on which leadership may stand
// instead of on voters. Each candidate has at most one entry there, and the first entry leads. The
// Machine asks by Output.Ask, and the host answers by the event Answered.

// AskVerb says what a Machine asks of the store.
type AskVerb string

// The verbs. Asking twice for the same does no harm: a store that has done it already only answers.
const (
	// AskLook reads who has the first entry. It changes nothing.
	AskLook AskVerb = "look"
	// AskStand makes an entry of this node if it has none. A store in which candidates queue puts it
	// last; any other store makes it only if there is no entry.
	AskStand AskVerb = "stand"
	// AskRenew keeps this node's entry for another TTL. It never makes one.
	AskRenew AskVerb = "renew"
	// AskLeave removes the entry Ask.Remove, which is this node's, lent or not, and no later one: a request
	// that was given up may be carried out when the node leads again.
	AskLeave AskVerb = "leave"
	// AskRemove removes only Ask.Remove.
	AskRemove AskVerb = "remove"
)

// Ask is one request to the store.
type Ask struct {
	// Number counts the asks of this process, from 1.
	Number uint64
	Verb   AskVerb
	// Remove is an entry that the store removes: this very entry, and no other. With the verb AskLeave it is
	// this node's own. With the verbs AskStand and AskRemove it is the entry of a process that is proven
	// dead, and the store removes it first, unless it is lent by now. The zero Entry removes nothing.
	Remove Entry
	// Lent says, with the verb AskRenew, that the entry is marked as lent. The mark stays as long as the
	// entry: no request takes it away, so none that comes late does.
	Lent bool
}

// Entry is the entry of one candidate in the store.
type Entry struct {
	// Key names this entry and no other that was or will be in the store. Only the host reads it. It is
	// empty if there is no entry.
	Key string
	// Token is larger than the token of each entry that was first before this one.
	Token proto.Term
	// ID and Incarnation name the process that made the entry; zero if it is no node of this cluster.
	ID          proto.NodeID
	Incarnation proto.Incarnation
	// Foreign says in its own words who made the entry, if that is no node of this cluster.
	Foreign string
	// Lent says that the lease behind the entry may be lent to another process, which acts as the leader
	// whatever happens to the one that made the entry.
	Lent bool
}

// IsZero reports whether there is no entry.
func (e Entry) IsZero() bool { return e.Key == "" }

// Of reports whether the process made the entry.
func (e Entry) Of(p proto.Peer) bool {
	return e.ID != 0 && e.ID == p.ID && e.Incarnation == p.Incarnation
}

// Leadership returns the leadership that the entry stands for while it is the first.
func (e Entry) Leadership() proto.Leadership {
	return proto.Leadership{Term: e.Token, Leader: e.ID, Incarnation: e.Incarnation}
}

// Answered is the event that the store answered an Ask, or failed to.
type Answered struct {
	Number uint64
	// Holder is the first entry, and Own the entry of this process. Both are as they were when the store
	// carried out the ask.
	Holder, Own Entry
	// Keeps is how long the store keeps the own entry at least, counted from before the ask left this
	// process, by the clock of the store.
	Keeps time.Duration
	// Failed says why there is no answer; it is empty if there is one. The store may have carried out the ask
	// all the same.
	Failed string
}

// Held reports whether this process has the first entry.
func (a Answered) Held() bool { return !a.Own.IsZero() && a.Own.Key == a.Holder.Key }

// StoreChanged is the event that the entries in the store may have changed. It is a hint: it may be
// missing, late or wrong.
type StoreChanged struct{}

func (Answered) event()     {}
func (StoreChanged) event() {}

// StoreState is what a Machine knows of its store. It is for people.
type StoreState struct {
	// Holder is the first entry by the last answer, which came at At; At is zero before that.
	Holder Entry
	At     time.Time
	// Failed says why the last ask failed, and Since when the first in a row did. Failed is empty if the store
	// answered.
	Failed string
	Since  time.Time
}
