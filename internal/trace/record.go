// Package trace makes, writes and reads the record of one Step: what happened to a
// node, why it decided what it did, what it sent, and what it believes since.
//
// A node writes each record as one JSON line; the simulator and the tools print a
// record as text. Later versions may add fields. They rename a field only if Parse
// still reads the former name: see Renamed.
package trace

import (
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Role is the role of a node after a Step.
type Role string

// The roles. A node that knows of no leader is looking for one.
const (
	Leading   Role = "leader"
	Following Role = "follower"
	Looking   Role = "looking"
)

// Change names how a belief about the leader changed.
type Change string

// The changes. Elected: another leader than before. ReElected: the same leader
// for a new term. Lost: nobody leads any more. Resigned: this node stepped
// down on request. Transferred: leadership was handed over to this node.
// Deposed: this node led and no longer does.
const (
	Elected     Change = "elected"
	ReElected   Change = "re-elected"
	Lost        Change = "lost"
	Resigned    Change = "resigned"
	Transferred Change = "transferred"
	Deposed     Change = "deposed"
)

// ClusterPaused begins the reason for which no node is eligible: somebody paused the cluster.
const ClusterPaused = "the cluster is paused"

// Unauthenticated is Record.Security of a node without credentials that other machines reach.
const Unauthenticated = "unauthenticated"

// ClockSetField is the name of Record.ClockSet, which other lines of a node have, too.
const ClockSetField = "clock_set_ns"

// Record is one Step of one node.
type Record struct {
	Level string    `json:"level"`
	Time  time.Time `json:"time"`
	// ClockSet is by how much somebody set the wall clock since the process began, forward if it is above zero. Time
	// and ValidUntil are by the clock as it is now. A new value is in the first Step after the clock was set.
	ClockSet    time.Duration `json:"clock_set_ns,omitempty"`
	Cluster     string        `json:"cluster,omitempty"`
	Node        uint64        `json:"node"`
	Incarnation string        `json:"incarnation,omitempty"` // the first digits; tells the processes of a node apart
	Algo        string        `json:"algo"`
	// Seq numbers the records that this process wrote, from 1. A gap means that a record is
	// missing.
	Seq uint64 `json:"seq"`
	HLC string `json:"hlc"`
	// Term is the node's own term: the highest in which it voted, led, or followed a leader. Round is the term
	// that the Step is about, if that is another one: a node asks, and is asked, for a term before it is in it.
	// RoundTerm returns either. Until 2026-11 Term was what RoundTerm returns.
	Term  uint64 `json:"term"`
	Round uint64 `json:"round,omitempty"`

	// Store names the kind of store on which leadership stands; it is empty if leadership stands on none.
	Store string `json:"store,omitempty"`

	// Security is Unauthenticated if whoever can send packets to the node is believed; else it is empty.
	Security string `json:"security,omitempty"`

	Event string `json:"event"`
	From  uint64 `json:"from,omitempty"`   // the sender (event receive)
	Msg   string `json:"msg,omitempty"`    // the kind of the message (event receive)
	MsgID string `json:"msg_id,omitempty"` // "sender:seq" (event receive)
	// Sender is the process that sent the message: the first digits of its incarnation, since each process numbers its
	// messages anew. Records until 2026-11 do not have it.
	Sender   string   `json:"from_incarnation,omitempty"`
	Detail   string   `json:"detail,omitempty"` // the message for people (event receive)
	Alive    []uint64 `json:"alive,omitempty"`  // who is believed alive (event peers)
	Evidence string   `json:"evidence,omitempty"`
	// Ranks are the peers that the message names, each "id:attribute".
	Ranks []string `json:"ranks,omitempty"`
	About uint64   `json:"about,omitempty"` // the node that the event is about (gone, heard, fenced)
	Unfit string   `json:"unfit,omitempty"` // why the node is not eligible; absent if it is (event eligible)

	// Why lists the reasons as sentences, for people; Reasons lists the same reasons for
	// programs. Records of older versions have sentences only.
	Why     []string `json:"why,omitempty"`
	Reasons []Reason `json:"reasons,omitempty"`
	Sent    []string `json:"sent,omitempty"` // "KIND>to#msg_id"
	// Asked is what the node asks of the store on which leadership stands.
	Asked string `json:"asked,omitempty"`
	// SentBytes is the size of these messages on the wire, in bytes; absent if it was not measured.
	SentBytes int `json:"sent_bytes,omitempty"`

	// Ineligible says why the node is not eligible; absent if it is.
	Ineligible string `json:"ineligible,omitempty"`

	Role   Role   `json:"role"`
	Leader uint64 `json:"leader"` // 0 is nobody
	// Led is the term that Leader leads, if it is not Term. LeaderTerm returns it in any case.
	Led        uint64    `json:"leader_term,omitempty"`
	Guarantee  string    `json:"guarantee"`
	Token      uint64    `json:"token,omitempty"`
	ValidUntil time.Time `json:"valid_until,omitzero"`

	PrevLeader   *uint64 `json:"prev_leader,omitempty"` // only if the leader changed; 0 was nobody
	LeaderChange Change  `json:"leader_change,omitempty"`

	Splits []Split `json:"splits,omitempty"` // news of split brains

	// FromText says that the record was read from text for people. Its numbers are made up.
	FromText bool `json:"-"`
}

// Note is a line between the records of a simulated run, about its cluster.
type Note struct {
	Time    time.Time `json:"time"`
	Message string    `json:"message"`
	Dead    uint64    `json:"dead,omitempty"` // the node that died then, which no record tells
}

// LeaderTerm returns the term that the leader leads, zero if nobody leads. It is below Term during an
// election of a higher term in which the leader still has its lease.
func (r *Record) LeaderTerm() uint64 {
	switch {
	case r.Leader == 0:
		return 0
	case r.Led != 0:
		return r.Led
	case r.Token != 0:
		return r.Token
	}
	return r.Term
}

// NextTerm returns the highest term that a Step of a node on a store is about; 0 if leadership stands on no
// store. The store numbers leaderships, and the nominating algorithm numbers its elections. An election is about
// the next leadership, and counts as of the term after the last one, however many there were.
func (r *Record) NextTerm() uint64 {
	if r.Store == "" {
		return 0
	}
	return r.Term + 1
}

// RoundTerm returns the term that the Step is about.
func (r *Record) RoundTerm() uint64 {
	if next := r.NextTerm(); next != 0 && r.Round > next {
		return next
	}
	if r.Round != 0 {
		return r.Round
	}
	return r.Term
}

// IsRecord reports whether r was read from a record, and not from another JSON line of a log.
func (r *Record) IsRecord() bool { return r.Node != 0 && r.Event != "" && r.Seq != 0 }

// MarshalZerologObject writes every field except the level, which the logger writes.
func (r Record) MarshalZerologObject(e *zerolog.Event) {
	e.Str("time", r.Time.Format(time.RFC3339Nano)) // whatever format the program chose for its own
	if r.ClockSet != 0 {
		e.Int64(ClockSetField, int64(r.ClockSet))
	}
	if r.Cluster != "" {
		e.Str("cluster", r.Cluster)
	}
	e.Uint64("node", r.Node)
	if r.Incarnation != "" {
		e.Str("incarnation", r.Incarnation)
	}
	e.Str("algo", r.Algo).Uint64("seq", r.Seq).Str("hlc", r.HLC).
		Uint64("term", r.Term)
	if r.Round != 0 {
		e.Uint64("round", r.Round)
	}
	if r.Store != "" {
		e.Str("store", r.Store)
	}
	if r.Security != "" {
		e.Str("security", r.Security)
	}
	e.Str("event", r.Event)
	r.marshalCause(e)
	if len(r.Why) > 0 {
		e.Strs("why", r.Why)
	}
	if len(r.Reasons) > 0 {
		if reasons, err := plainJSON(r.Reasons); err == nil {
			e.RawJSON("reasons", reasons)
		}
	}
	if len(r.Sent) > 0 {
		e.Strs("sent", r.Sent)
	}
	if r.SentBytes != 0 {
		e.Int("sent_bytes", r.SentBytes)
	}
	if r.Asked != "" {
		e.Str("asked", r.Asked)
	}
	r.marshalBelief(e)
}

func (r Record) marshalCause(e *zerolog.Event) {
	if r.Msg != "" {
		e.Uint64("from", r.From).Str("msg", r.Msg).Str("msg_id", r.MsgID)
	}
	if r.Sender != "" {
		e.Str("from_incarnation", r.Sender)
	}
	if r.Detail != "" {
		e.Str("detail", r.Detail)
	}
	if r.Alive != nil {
		e.Uints64("alive", r.Alive)
	}
	if r.Evidence != "" {
		e.Str("evidence", r.Evidence)
	}
	if len(r.Ranks) > 0 {
		e.Strs("ranks", r.Ranks)
	}
	if r.About != 0 {
		e.Uint64("about", r.About)
	}
	if r.Unfit != "" {
		e.Str("unfit", r.Unfit)
	}
}

func (r Record) marshalBelief(e *zerolog.Event) {
	if r.Ineligible != "" {
		e.Str("ineligible", r.Ineligible)
	}
	e.Str("role", string(r.Role)).Uint64("leader", r.Leader)
	if r.Led != 0 {
		e.Uint64("leader_term", r.Led)
	}
	e.Str("guarantee", r.Guarantee)
	if r.Token != 0 {
		e.Uint64("token", r.Token)
	}
	if !r.ValidUntil.IsZero() {
		e.Str("valid_until", r.ValidUntil.Format(time.RFC3339Nano))
	}
	if r.PrevLeader != nil {
		e.Uint64("prev_leader", *r.PrevLeader)
	}
	if r.LeaderChange != "" {
		e.Str("leader_change", string(r.LeaderChange))
	}
	if len(r.Splits) > 0 {
		e.Interface("splits", r.Splits)
	}
}

// Write logs r through l at r's own level, as one line.
func Write(l zerolog.Logger, r Record) {
	level, err := zerolog.ParseLevel(r.Level)
	if err != nil {
		level = zerolog.InfoLevel
	}
	l.WithLevel(level).EmbedObject(r).Send()
}

// SentID splits "KIND>to#msg_id" into its parts.
func SentID(s string) (kind string, to proto.NodeID, msgID string, err error) {
	kind, rest, ok1 := strings.Cut(s, ">")
	toText, msgID, ok2 := strings.Cut(rest, "#")
	if !ok1 || !ok2 {
		return "", 0, "", fmt.Errorf("sent message %q: want KIND>to#id", s)
	}
	to, err = proto.ParseNodeID(toText)
	return kind, to, msgID, err
}

// eventName returns the value of the record's field event.
func eventName(ev algorithms.Event) string {
	switch ev.(type) {
	case algorithms.Start:
		return "start"
	case algorithms.Receive:
		return "receive"
	case algorithms.Timeout:
		return "timeout"
	case algorithms.PeersChanged:
		return "peers"
	case algorithms.Campaign:
		return "campaign"
	case algorithms.Resign:
		return "resign"
	case algorithms.PeerProvenDead:
		return "gone"
	case algorithms.PeerHeardAgain:
		return "heard"
	case algorithms.WorkStopped:
		return "idle"
	case algorithms.Eligible:
		return "eligible"
	case algorithms.Lend:
		return "lend"
	case algorithms.LeaseExpired:
		return "lapsed"
	case algorithms.Transfer:
		return "transfer"
	case algorithms.Reconciled:
		return "reconciled"
	case algorithms.Fenced:
		return "fenced"
	case algorithms.Answered:
		return "store"
	case algorithms.StoreChanged:
		return "store-changed"
	}
	return "unknown"
}
