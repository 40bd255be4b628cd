package bench

import (
	"fmt"

	"github.com/ringleader-dev/ringleader/internal/chart"
)

// StoreReport is the result of StoreFailover.
type StoreReport struct {
	Machine   Machine `json:"machine"`
	Store     string  `json:"store"` // the kind of a server of ours, else the URL without secrets
	Algorithm string  `json:"algorithm"`
	Nodes     int     `json:"nodes"`
	Profile   string  `json:"profile"`
	Lease     string  `json:"lease"`
	Rival     string  `json:"rival"` // the recipe of the store's own client

	// How many kills were asked for; there may be fewer samples.
	Kills      int `json:"kills"`
	RivalKills int `json:"rival_kills"`

	// Next and RivalNext are the time from the kill until the next leader believes that it leads.
	Next      Range `json:"next_ms"`
	RivalNext Range `json:"rival_next_ms"`

	Samples      []failoverSample `json:"samples"`
	RivalSamples []float64        `json:"rival_samples_ms"`
}

// Range is the least, the middle and the greatest of some samples.
type Range struct {
	Min float64 `json:"min"`
	P50 float64 `json:"p50"`
	Max float64 `json:"max"`
}

func rangeOf(samples []float64) Range {
	return Range{Min: quantile(samples, 0), P50: quantile(samples, 0.5), Max: quantile(samples, 1)}
}

// Count returns how many samples there are, and how many were asked for.
func (r StoreReport) Count() (done, of int) {
	return len(r.Samples) + len(r.RivalSamples), r.Kills + r.RivalKills
}

// gaps are how long nobody led after each kill.
func (r StoreReport) gaps() []float64 {
	return column(r.Samples, func(s failoverSample) float64 { return s.Gap })
}

func (r *StoreReport) summarize() {
	r.Next, r.RivalNext = rangeOf(r.gaps()), rangeOf(r.RivalSamples)
}

// Report shows both in one table, and draws every sample.
func (r StoreReport) Report() chart.Report {
	const ours = "a node: the death is proven"
	t := chart.Table{Columns: append(
		[]chart.Column{{Name: "ms from the kill to the next leader", Width: -54}},
		chart.Columns(10, "min", "p50", "max", "kills")...,
	)}
	dotted := chart.Dots{Title: "Each sample", Unit: "milliseconds", Least: leastMillis}
	add := func(name string, series int, s Range, samples []float64) {
		if len(samples) == 0 {
			return
		}
		t.Rows = append(t.Rows, chart.Cells(name, chart.Number(s.Min), chart.Number(s.P50), chart.Number(s.Max),
			fmt.Sprint(len(samples))))
		dotted.Rows = append(dotted.Rows, dots(name, series, samples))
	}
	add(ours, totalSeries, r.Next, r.gaps())
	add(r.Rival, floorSeries, r.RivalNext, r.RivalSamples)
	done, of := r.Count()
	return chart.Report{
		Title: fmt.Sprintf("failover on a store: %s, %s, %d nodes, profile %s, lease %s, SIGKILL to the leader",
			r.Store, r.Algorithm, r.Nodes, r.Profile, r.Lease),
		Lines: []string{r.Machine.String()}, Partial: chart.Partial(done, of, ""),
		Charts: []chart.Chart{dotted}, Tables: []chart.Table{t},
	}
}
