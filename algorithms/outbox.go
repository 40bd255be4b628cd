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

// After makes the room what is left of that of another Machine, behind what that sends
// already: see Config.Outbox.
func (o *Outbox) After(sends []proto.Message) { o.room = sends[len(sends):] }

// Join appends more to send. What stands right behind it, as After has it, is not
// copied.
func Join(send, more []proto.Message) []proto.Message {
	all := len(send) + len(more)
	if len(more) > 0 && all <= cap(send) && &send[:all][len(send)] == &more[0] {
		return send[:all]
	}
	return append(send, more...)
}

// AppendTo appends a copy of m to send, for one more receiver. It writes to the copy: a
// processor that has just written to m would have to wait before it can copy it, for
// longer than all the rest takes.
func AppendTo(send []proto.Message, m *proto.Message, to proto.NodeID) []proto.Message {
	send = append(send, *m)
	send[len(send)-1].To = to
	return send
}
