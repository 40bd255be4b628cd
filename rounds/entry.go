package rounds

import (
	"strconv"
	"strings"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// entry is a record that is kept until its round is built.
type entry struct {
	Step // times are by the node's own clock; without Received, Sent and LeaderTerm

	life  *life
	clock proto.HLC // zero if the record has none

	msg, msgID string
	from       uint64
	sender     string // the incarnation of the process of from, empty if it is not known
	number     uint64 // in msgID
	ranks      []string
	sent       []sentMessage

	cause  *entry // the entry of any term that sent what was received; nil for none
	unsure bool   // which one of several entries sent it is not known
	// elsewhere are receipts of messages that it sent, in records of other terms or in records that changed nothing.
	elsewhere []receipt
	log       *log   // the term that it is of
	round     uint64 // the term that the record is about, which is no lower than that of an ELECTION that it sent
	place     int    // in the order of the term
	messages  int    // index in the Round's Messages of the first message that was sent
}

// fill copies what rec says into e, which is empty, with the reasons of rec and their sentences.
func (e *entry) fill(rec *trace.Record, l *life, reasons []reason, why []string) {
	e.life = l
	// One by one: a whole Step is long, and would be copied.
	e.Ref, e.At, e.Wall = l.ref(rec.Seq), rec.Time, rec.Time
	e.Event, e.Detail, e.Alive, e.Evidence = rec.Event, rec.Detail, rec.Alive, rec.Evidence
	e.Why, e.Warn, e.reasons, e.Received = why, rec.Level == "warn", reasons, -1
	e.Role, e.Leader, e.Token, e.Change = string(rec.Role), rec.Leader, rec.Token, string(rec.LeaderChange)
	e.Lease = rec.ValidUntil
	if rec.PrevLeader != nil {
		e.Prev = *rec.PrevLeader
	}
	e.msg, e.msgID, e.from, e.sender = rec.Msg, rec.MsgID, rec.From, rec.Sender
	e.number, e.ranks, e.round = numberOf(rec.MsgID), rec.Ranks, rec.RoundTerm()
	e.clock, _ = proto.ParseHLC(rec.HLC) // the zero reading for none
}

// receipt returns what the entry tells of the message that it received.
func (e *entry) receipt() receipt {
	return receipt{e.msgID, e.msg, e.sender, e.number, e.from, e.Ref.Node, e.clock, e.Wall}
}

// named yields the nodes that the message names, with their attributes.
func (e *entry) named(yield func(id uint64, attr int64) bool) {
	if e.ranks == nil && e.Event == "receive" { // an operator's words may look like anything
		formerRanks(e.Detail)(yield)
	}
	for _, named := range e.ranks {
		idText, attrText, _ := strings.Cut(named, ":")
		id, errID := strconv.ParseUint(idText, 10, 64)
		attr, errAttr := strconv.ParseInt(attrText, 10, 64)
		if errID == nil && errAttr == nil && !yield(id, attr) {
			return
		}
	}
}

// about returns the term of the message that the process received, if it entered that by it, or dropped the message
// since it is over; 0 if no reason names it.
func (e *entry) about() uint64 {
	if e.msgID == "" {
		return 0
	}
	for i := range e.reasons {
		if enters, ok := decided[algorithms.Enters](&e.reasons[i]); ok {
			return e.reasons[i].term(enters.Term)
		}
		if drops, ok := decided[algorithms.Drops](&e.reasons[i]); ok {
			return e.reasons[i].term(drops.Term)
		}
	}
	return 0
}

// micros returns the reading of the hybrid clock in µs, or of the wall clock if the record has no
// hybrid clock.
func (e *entry) micros() int64 {
	if e.clock.IsZero() {
		return e.Wall.UnixMicro()
	}
	return e.clock.Micros
}

// isChatter reports whether rec changed and decided nothing.
func isChatter(rec *trace.Record) bool {
	return rec.Level == "debug" && len(rec.Why) == 0 && rec.LeaderChange == "" &&
		(rec.Event == "timeout" || rec.Event == "receive")
}
