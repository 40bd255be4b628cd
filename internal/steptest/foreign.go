package steptest

import "github.com/ringleader-dev/ringleader/proto"

// Foreign is a message that belongs to no algorithm.
type Foreign struct{}

var kindForeign = proto.NewKind[Foreign](255, "FOREIGN", "nothing that you understand", proto.Nominates)

func (Foreign) Kind() proto.Kind { return kindForeign }
func (b Foreign) String() string { return proto.Describe(b) }
func (Foreign) Validate() error  { return nil }
