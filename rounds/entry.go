package rounds

import (
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// entry is a record as it is kept until its round is told.
type entry struct {
	life  *life
	seq   uint64
	clock proto.HLC // zero when the record has none
	wall  time.Time
	term  uint64

	event, msg, msgID, detail, evidence string
	from                                uint64
	alive                               []uint64
	why, sent                           []string
	reasons                             []reason

	role, change string
	leader, prev uint64
	token        uint64
	lease        time.Time // until when the belief counts, by the node's clock; zero for no end
	warn         bool

	cause    *entry // that sent what was received; nil for none
	place    int    // in the order of the term
	messages int    // where what it sent begins in the Round's Messages
}

// fill keeps what rec says.
func (e *entry) fill(rec *trace.Record, l *life) {
	*e = entry{
		life: l, seq: rec.Seq, wall: rec.Time, term: rec.Term,
		event: rec.Event, msg: rec.Msg, msgID: rec.MsgID, detail: rec.Detail, evidence: rec.Evidence,
		from: rec.From, alive: rec.Alive, sent: rec.Sent,
		role: string(rec.Role), change: string(rec.LeaderChange), leader: rec.Leader, token: rec.Token,
		lease: rec.ValidUntil, warn: rec.Level == "warn",
	}
	e.clock, _ = proto.ParseHLC(rec.HLC) // the zero reading for none
	if rec.PrevLeader != nil {
		e.prev = *rec.PrevLeader
	}
}

// micros is the reading of the hybrid clock, or of the wall clock where there
// is none.
func (e *entry) micros() int64 {
	if e.clock.IsZero() {
		return e.wall.UnixMicro()
	}
	return e.clock.Micros
}

func (e *entry) node() uint64 { return e.life.node }
func (e *entry) ref() Ref     { return Ref{Node: e.life.node, Session: e.life.session, Seq: e.seq} }

// isChatter reports whether rec changed and decided nothing.
func isChatter(rec *trace.Record) bool {
	return rec.Level == "debug" && len(rec.Why) == 0 && rec.LeaderChange == "" &&
		(rec.Event == "timeout" || rec.Event == "receive")
}
