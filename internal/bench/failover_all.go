package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/figures"
)

// FailoverTable is one FailoverReport for each algorithm, measured in turn.
type FailoverTable struct {
	Machine Machine          `json:"machine"`
	Rows    []FailoverReport `json:"algorithms"`
}

// FailoverAll measures what the options say of each entry, a few samples of one after a
// few of another, so that whatever else the machine does strikes all alike. An algorithm
// with a quorum of its own has the votes of all, whatever the options say. Against another
// executable, a few of that one follow a few of this. When it ends early it returns what it
// has with the error.
func FailoverAll(ctx context.Context, o FailoverOptions, entries []catalog.Entry) (FailoverTable, error) {
	table := FailoverTable{Machine: ThisMachine()}
	var each []FailoverOptions
	for _, e := range entries {
		one := o
		one.Entry, one.Progress = e, nil
		one.Office = o.Office || e.Guarantee != algorithms.BestEffort
		if err := one.validate(); err != nil {
			return table, fmt.Errorf("%s: %w", e.Name, err)
		}
		each = append(each, one)
		table.Rows = append(table.Rows, one.empty())
		if o.Against == "" {
			continue
		}
		row := one.empty()
		one.Binary, row.Binary = o.Against, o.Against
		each, table.Rows = append(each, one), append(table.Rows, row)
	}
	var err error
	if o.Signal == Docker {
		engine, failed := newEngine(o.Binary)
		if err = failed; err != nil {
			return table, err
		}
		defer func() { err = errors.Join(err, engine.close()) }()
		for i := range each {
			each[i].engine = engine
		}
	}
	for err == nil && !table.complete() {
		for i := range each {
			row := &table.Rows[i]
			if len(row.Samples) == o.Kills {
				continue
			}
			if failed := each[i].oneCluster(ctx, row); failed != nil {
				err = fmt.Errorf("%s: %w", row.Algorithm, failed)
				break
			}
			o.progress(table.Count())
		}
	}
	for i := range table.Rows {
		table.Rows[i].summarize()
	}
	return table, err
}

func (t FailoverTable) complete() bool {
	done, of := t.Count()
	return done == of
}

// Count is how many samples there are, of all algorithms, and how many were asked for.
func (t FailoverTable) Count() (done, of int) {
	for _, r := range t.Rows {
		done, of = done+len(r.Samples), of+r.Kills
	}
	return done, of
}

// Text writes a line for each algorithm.
func (t FailoverTable) Text(w io.Writer) error {
	p := printer{figures.To(w)}
	r := t.Rows[0]
	p.Line("failover: %d nodes, profile %s, %s, %d times each", r.Nodes, r.Profile, r.Signal.inWords(), r.Kills)
	p.Line("%s", t.Machine)
	p.partial(t.Count())
	p.Line("")
	const row = "  %-12s %-5s %8s %8s %8s %8s %8s %8s %8s %8s %6s"
	p.Line(row, "ms, p50", "votes", "detect", "elect", "announce", "total", "p95", "max", "floor", "x floor", "msgs")
	for _, r := range t.Rows {
		if len(r.Samples) == 0 {
			p.Line("  %-12s not measured", r.Algorithm)
			continue
		}
		floor, ratio := "-", "-"
		if r.Ratio != nil {
			floor, ratio = figures.Number(r.FloorAll.P50), figures.Number(r.Ratio.P50)
		}
		votes := "none"
		if r.Office {
			votes = "all"
		}
		name := r.Algorithm
		if r.Binary != "" {
			name = "  against"
		}
		p.Line(row, name, votes,
			figures.Number(r.Detect.P50), figures.Number(r.Elect.P50), figures.Number(r.Announce.P50),
			figures.Number(r.Total.P50), figures.Number(r.Total.P95), figures.Number(r.Total.Max),
			floor, ratio, figures.Number(r.Messages.P50))
	}
	t.ratios(p)
	if t.Rows[0].Ratio != nil {
		p.Line("")
		p.Line("floor: bare processes without safety, killed in the same minute; x floor: total, pair by pair")
	}
	return p.Err()
}

// ratios writes how this executable compares with another.
func (t FailoverTable) ratios(p printer) {
	for i, old := range t.Rows {
		if old.Binary == "" || len(old.Samples) == 0 || len(t.Rows[i-1].Samples) == 0 {
			continue
		}
		name, now := old.Algorithm, t.Rows[i-1]
		p.Line("")
		p.Line("%s against %s, medians: detect %s, elect %s, total %s times as long", name, old.Binary,
			times(now.Detect, old.Detect), times(now.Elect, old.Elect), times(now.Total, old.Total))
	}
}

// times is how many times the other's median one is.
func times(one, other Summary) string {
	if other.P50 == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", one.P50/other.P50)
}

// Plot draws the total of every sample, a row for each algorithm, and the floor of all.
func (t FailoverTable) Plot(w io.Writer, file string) error {
	if err := CheckPlot(file); err != nil {
		return err
	}
	r := t.Rows[0]
	c := chart{
		title: fmt.Sprintf("failover: %d nodes, profile %s, %s", r.Nodes, r.Profile, r.Signal.inWords()),
		note:  t.Machine.String(),
	}
	if done, of := t.Count(); done < of {
		c.note = fmt.Sprintf("PARTIAL, %d of %d times; %s", done, of, t.Machine)
	}
	var floors []float64
	for _, r := range t.Rows {
		name := r.Algorithm
		if r.Binary != "" {
			name += " against"
		}
		c.rows = append(c.rows, chartRow{
			name, "total", column(r.Samples, func(s failoverSample) float64 { return s.Total }),
		})
		for _, s := range r.Samples {
			if s.Floor != nil {
				floors = append(floors, s.Floor.All)
			}
		}
	}
	if len(floors) > 0 {
		c.rows = append(c.rows, chartRow{"floor", "floor", floors})
	}
	return c.write(w, filepath.Ext(file) == ".html")
}
