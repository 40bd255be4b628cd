package algorithms

import "github.com/ringleader-dev/ringleader/proto"

// Outbox is the memory for the messages of a Step. A Machine uses the same memory in every Step, so
// that a Step with many messages allocates nothing.
type Outbox struct{ room []proto.Message }

// Empty returns the memory for the messages of a new Step. The messages of the Step before are
// overwritten.
func (o *Outbox) Empty() []proto.Message { return o.room[:0] }

// Lend stores the memory of send, which may have grown, and returns send for the Output of the
// Step.
func (o *Outbox) Lend(send []proto.Message) []proto.Message {
	o.room = send
	if len(send) == 0 {
		return nil
	}
	return send
}

// After makes the Outbox use the rest of another Machine's memory, behind the messages sends that are
// already there: see Config.Outbox.
func (o *Outbox) After(sends []proto.Message) { o.room = sends[len(sends):] }

// Join appends the messages more to send. It copies nothing if more is right behind send in memory, as
// it is after a call of After.
func Join(send, more []proto.Message) []proto.Message {
	all := len(send) + len(more)
	if len(more) > 0 && all <= cap(send) && &send[:all][len(send)] == &more[0] {
		return send[:all]
	}
	return append(send, more...)
}

// AppendTo appends a copy of m to send, addressed to the node to. It writes the receiver into the copy
// and not into m: a processor that has just written to m would have to wait before it could copy m.
func AppendTo(send []proto.Message, m *proto.Message, to proto.NodeID) []proto.Message {
	send = append(send, *m)
	send[len(send)-1].To = to
	return send
}
