package membership

import "slices"

// maxEvidence is how many pieces of evidence an unread view keeps: the newest ones.
const maxEvidence = 64

// outbox holds the one view that waits to be read. It belongs to one goroutine.
//
//  1. A newer view replaces an unread one, and the evidence of both is kept.
//  2. A view that lists the same as the one read last is not offered: when
//     things went back to what they were, there is nothing to tell.
type outbox struct {
	read    []Member
	waiting View
	full    bool
}

// put offers v to the reader.
func (o *outbox) put(v View) {
	if slices.Equal(v.Alive, o.read) {
		*o = outbox{read: o.read}
		return
	}
	evidence := append(o.waiting.Evidence, v.Evidence...)
	if extra := len(evidence) - maxEvidence; extra > 0 {
		evidence = slices.Clone(evidence[extra:])
	}
	o.waiting, o.full = View{Alive: v.Alive, Evidence: evidence}, true
}

// taken notes that the waiting view was read.
func (o *outbox) taken() { *o = outbox{read: slices.Clone(o.waiting.Alive)} }
