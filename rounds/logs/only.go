package logs

import (
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// Only returns a Sink that passes to another Sink only the records and deaths of one cluster.
func Only(cluster string, to Sink) Sink { return only{cluster, to} }

type only struct {
	label string
	to    Sink
}

func (o only) Add(rec *trace.Record) {
	if rec.Cluster == o.label {
		o.to.Add(rec)
	}
}

func (o only) Left(last trace.Farewell) {
	if last.Cluster == o.label {
		o.to.Left(last)
	}
}

func (o only) Death(cluster string, node uint64, at time.Time) {
	if cluster == o.label {
		o.to.Death(cluster, node, at)
	}
}
