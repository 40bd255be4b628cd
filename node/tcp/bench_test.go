package tcp

import (
	"testing"

	"github.com/ringleader-dev/ringleader/proto"
)

// BenchmarkRoundTrip is one message there and one back over loopback, each
// with its acknowledgement.
func BenchmarkRoundTrip(b *testing.B) {
	home := make(chan struct{}, 1)
	var echo *node
	caller := start(b, 1, func(c *Config) {
		c.Receive = func(proto.Message) { home <- struct{}{} }
	})
	echo = start(b, 2, func(c *Config) {
		c.Receive = func(m proto.Message) { echo.Send(message(2, 1, m.Seq)) }
	})
	connect(b, caller, echo)
	b.ReportAllocs()
	seq := uint64(0)
	for b.Loop() {
		seq++
		caller.Send(message(1, 2, seq))
		<-home
	}
}

// BenchmarkSend is what one message costs the node's own goroutine.
func BenchmarkSend(b *testing.B) {
	sink, caller := start(b, 2, func(c *Config) { c.Receive = func(proto.Message) {} }), start(b, 1)
	connect(b, caller, sink)
	b.ReportAllocs()
	m := message(1, 2, 1)
	for b.Loop() {
		caller.Send(m)
	}
}
