package rounds

import (
	"cmp"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// sentMessage has the parts of "KIND>to#id".
type sentMessage struct {
	kind, id string
	n        uint64 // the number in id
	to       uint64
	place    int // in the pairing's places

	// Of the messages whose ids several processes used: a receipt is certainly of it, or may be of it.
	received, unsure bool
}

func parseSent(s string) (sentMessage, bool) {
	kind, to, id, err := trace.SentID(s)
	return sentMessage{kind: kind, id: id, n: numberOf(id), to: uint64(to)}, err == nil
}

// parseAll returns the messages that a record sent. What no node writes is left out.
func (g *group) parseAll(sent []string) []sentMessage {
	if len(sent) == 0 {
		return nil
	}
	if cap(g.room)-len(g.room) < len(sent) {
		g.room = make([]sentMessage, 0, max(messagesAtOnce, len(sent)))
	}
	from := len(g.room)
	for _, s := range sent {
		if m, ok := parseSent(s); ok {
			g.room = append(g.room, m)
		}
	}
	return g.room[from:len(g.room):len(g.room)]
}

// messagesAtOnce is for how many messages memory is allocated at a time.
const messagesAtOnce = 256

// messages pairs the sends and receipts of the entries, which are in causal order, into r.Messages.
// It also sets the indexes of messages in the Steps; these indexes lie in the scratch memory in.
func messages(r *Round, entries []*entry, in *scratch) {
	n := 0
	for _, e := range entries {
		n += len(e.sent)
	}
	r.Messages, in.sent = slices.Grow(r.Messages, n), slices.Grow(in.sent, n)
	for i, e := range entries {
		from := len(in.sent)
		e.messages = len(r.Messages)
		for _, m := range e.sent {
			in.sent = append(in.sent, len(r.Messages))
			r.Messages = append(r.Messages, Message{
				ID: m.id, Kind: m.kind, From: e.Ref.Node, To: m.to, SendStep: i, ReceiveStep: -1,
				unsure: m.unsure,
			})
		}
		r.Steps[i].Sent = in.sent[from:len(in.sent):len(in.sent)]
	}
	type name struct {
		id string
		to uint64
	}
	var unsent map[name]int
	for i, e := range entries {
		if e.msgID == "" {
			continue
		}
		at := r.messageOf(e)
		if at < 0 {
			key, known := name{e.msgID, e.Ref.Node}, false
			if at, known = unsent[key]; !known {
				if unsent == nil {
					unsent = map[name]int{}
				}
				at = len(r.Messages)
				unsent[key] = at
				m := Message{
					ID: e.msgID, Kind: e.msg, From: e.from, To: e.Ref.Node,
					Delivery: Unsent, SendStep: -1, ReceiveStep: -1, sender: e.sender,
				}
				if e.cause != nil || e.unsure { // its send is of another term, or one of several
					m.Delivery, m.elsewhere = Arrived, e.cause != nil
				}
				r.Messages = append(r.Messages, m)
			}
		}
		receive(r, at, i, e)
	}
	inSendOrder(r, in)
}

// messageOf returns the index of the message that e received, or -1 if no entry sent the message.
func (r *Round) messageOf(e *entry) int {
	if e.cause == nil || e.cause.log != e.log {
		return -1
	}
	for i := e.cause.messages; i < len(r.Messages) && r.Messages[i].SendStep == e.cause.place; i++ {
		if r.Messages[i].To == e.Ref.Node && r.Messages[i].ID == e.msgID {
			return i
		}
	}
	return -1
}

// receipt says when a message was received. Each process of the sender numbers its messages anew.
type receipt struct {
	id, kind string // kind is empty if it is not known
	sender   string // the incarnation of the sender, empty if it is not known, as in records until 2026-11
	n        uint64 // the number in id
	from, to uint64
	clock    proto.HLC
	wall     time.Time // by the receiver's clock
}

// way returns the sender and the receiver.
func (got *receipt) way() [2]uint64 { return [2]uint64{got.from, got.to} }

// receive notes that e, the entry with the index i, received the message with the index at.
func receive(r *Round, at, i int, e *entry) {
	m := &r.Messages[at]
	r.Steps[i].Received = at
	if m.ReceiveStep >= 0 {
		m.Repeats++
		return
	}
	m.ReceiveStep, m.Detail = i, e.Detail
	if m.Delivery == "" {
		m.Delivery = Arrived
	}
}

// inSendOrder sorts messages by their sends, with the scratch memory in. A message whose send is missing is sorted by
// its receipt.
func inSendOrder(r *Round, in *scratch) {
	place := func(m *Message) int {
		if m.SendStep >= 0 {
			return m.SendStep
		}
		return m.ReceiveStep
	}
	n := 1 // so many are in order
	for n < len(r.Messages) && place(&r.Messages[n-1]) <= place(&r.Messages[n]) {
		n++
	}
	if n >= len(r.Messages) {
		return
	}
	order := make([]int, len(r.Messages))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(place(&r.Messages[a]), place(&r.Messages[b]))
	})
	now := make([]int, len(order))
	sorted := slices.Grow(in.unsorted[:0], len(order))[:len(order)]
	for i, was := range order {
		now[was], sorted[i] = i, r.Messages[was]
	}
	r.Messages, in.unsorted = sorted, r.Messages
	for i := range r.Steps {
		if was := r.Steps[i].Received; was >= 0 {
			r.Steps[i].Received = now[was]
		}
		for j, was := range r.Steps[i].Sent {
			r.Steps[i].Sent[j] = now[was]
		}
	}
}
