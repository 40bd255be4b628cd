package play

import (
	"slices"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// Promise: "real processes send what virtual time sends, message by message". A process that led while it knew nobody
// yet would report that to whoever is elected later.
func TestFormerLeaders(t *testing.T) {
	record := func(node uint64, event string, role trace.Role, guarantee string) trace.Record {
		return trace.Record{Node: node, Event: event, Role: role, Guarantee: guarantee}
	}
	early := []trace.Record{
		record(1, "start", trace.Looking, "best-effort"),
		record(1, "timeout", trace.Leading, "best-effort"),
		record(1, "receive", trace.Following, "best-effort"),
		record(2, "timeout", trace.Leading, "best-effort"),
		record(3, "timeout", trace.Leading, "lease"),
	}
	again := append(slices.Clone(early), record(1, "start", trace.Looking, "best-effort"))
	for _, c := range []struct {
		name    string
		records []trace.Record
		want    []proto.NodeID
	}{
		{"led early", early, []proto.NodeID{1}},
		{"started anew", again, nil},
	} {
		if got := formerLeaders(c.records, 2); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
