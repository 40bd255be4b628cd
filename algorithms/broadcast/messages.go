package broadcast

import "github.com/ringleader-dev/ringleader/proto"

// KindIdentity is the only kind of message that this algorithm does not share with others.
var KindIdentity = proto.NewKind[Identity](22, "ID", "this is my id: send me yours", proto.Nominates)

// Identity tells everybody who the sender is, and calls the election. Self is the sender,
// with its attribute frozen for the term.
type Identity struct {
	Self proto.Peer `msgpack:"p"`
}

func (Identity) Kind() proto.Kind       { return KindIdentity }
func (b Identity) String() string       { return proto.Describe(b, "self", b.Self) }
func (b Identity) Validate() error      { return b.Self.ID.Validate() }
func (b Identity) Caller() proto.NodeID { return b.Self.ID }
