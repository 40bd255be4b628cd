package algorithms

import "github.com/ringleader-dev/ringleader/proto"

// Outbox is a Machine's room for the messages of a Step. It is the same in every Step,
// so that one that tells all the others allocates nothing for them.
type Outbox struct{ room []proto.Message }

// Empty is the room for the messages of a Step that begins: those of the Step before
// are gone.
func (o *Outbox) Empty() []proto.Message { return o.room[:0] }

// Lend keeps the room, perhaps larger by now, and returns the Send of the Step's
// Output.
func (o *Outbox) Lend(send []proto.Message) []proto.Message {
	o.room = send
	if len(send) == 0 {
		return nil
	}
	return send
}

// AppendTo appends a copy of m to send, for one more receiver. It writes to the copy: a
// processor that has just written to m would have to wait before it can copy it, for
// longer than all the rest takes.
func AppendTo(send []proto.Message, m *proto.Message, to proto.NodeID) []proto.Message {
	send = append(send, *m)
	send[len(send)-1].To = to
	return send
}
