package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/rounds"
)

// maxArrowRows bounds the rows of arrows that one note may take.
const maxArrowRows = 4

// lines maps the stand of a node to the sign with which its lane is drawn.
var lines = map[stand]rune{unknown: '┊', looking: '┊', follower: '│', leader: '┃', gone: ' '}

const textLegend = "● takes a step, ┃ leads, │ follows, ┊ knows no leader, † is gone, " +
	"✗ never arrived, ? no receipt in the records"

// diagram prints the round as a diagram with lanes.
func (t *text) diagram() {
	rows, legend := t.names()
	for i, row := range rows {
		unit := ""
		if i == len(rows)-1 {
			unit = "ms"
		}
		t.line("%*s  %s", t.time, unit, row)
	}
	for _, b := range t.bands {
		for _, p := range t.phaseAt(b.first) {
			t.phase(p)
		}
		t.band(b)
	}
	t.line("")
	for _, l := range wrap(strings.Join(append(legend, textLegend), ", "), t.columns) {
		t.line("%s", l)
	}
}

// band prints the rows of a band. Each note takes one row or more. The first row marks who took steps.
func (t *text) band(b band) {
	was := slices.Clone(t.now)
	for i := b.first; i < b.last; i++ {
		t.apply(i, t.now)
	}
	stamp := t.stamp(b.first)
	for i, row := range t.rows(b) {
		cells := t.cells()
		if i == 0 {
			t.mark(cells, b, was)
		}
		for _, m := range row.arrows {
			t.arrow(cells, m)
		}
		t.line("%*s  %s%s", t.time, stamp, string(cells), row.text)
		stamp = ""
	}
}

// textRow is a row of the diagram: the text beside the lanes, and the messages whose arrows it has.
type textRow struct {
	text   string
	arrows []int
}

func (t *text) rows(b band) []textRow {
	var rows []textRow
	room := t.columns - t.time - 2 - t.lane*len(t.lanes)
	for _, n := range t.notes(b) {
		arrows := t.pack(n.messages)
		for _, l := range hang(n.text, room, "  ") {
			row := textRow{text: l}
			if len(arrows) > 0 {
				row.arrows, arrows = arrows[0], arrows[1:]
			}
			rows = append(rows, row)
		}
		for _, a := range arrows {
			rows = append(rows, textRow{arrows: a})
		}
	}
	return rows
}

// pack puts messages into as few rows of arrows as possible. The messages of one sender share a
// row. Those of several senders share a row if their arrows do not overlap. pack returns no rows if
// there would be more than maxArrowRows: then the diagram only has the text of the note.
func (t *text) pack(messages []int) (rows [][]int) {
	type arrows struct {
		low, high int
		of        []int
	}
	var bySender []*arrows
	at := map[uint64]*arrows{}
	for _, i := range messages {
		m := t.round.Messages[i]
		a := at[m.From]
		if a == nil {
			a = &arrows{low: t.layout.lane(m.From), high: t.layout.lane(m.From)}
			at[m.From] = a
			bySender = append(bySender, a)
		}
		a.low, a.high = min(a.low, t.layout.lane(m.To)), max(a.high, t.layout.lane(m.To))
		a.of = append(a.of, i)
	}
	slices.SortStableFunc(bySender, func(a, b *arrows) int { return cmp.Compare(a.low, b.low) })
	var ends []int
	for _, a := range bySender {
		row := slices.IndexFunc(ends, func(end int) bool { return end <= a.low })
		if row < 0 {
			row = len(rows)
			rows, ends = append(rows, nil), append(ends, 0)
		}
		rows[row], ends[row] = append(rows[row], a.of...), a.high
	}
	if len(rows) > maxArrowRows {
		return nil
	}
	return rows
}

// cells returns a row with only the signs of the lanes.
func (t *text) cells() []rune {
	cells := slices.Repeat([]rune{' '}, t.lane*len(t.lanes))
	for i, b := range t.now {
		cells[i*t.lane] = lines[b.stand]
	}
	return cells
}

// mark draws signs on the lanes: for the nodes that took the steps of band b, for the winner, and
// for the nodes that are gone from here on. was has the beliefs before the band.
func (t *text) mark(cells []rune, b band, was []belief) {
	for i, now := range t.now {
		begins := b.first == 0 && now.stand == gone
		if begins || now.stand == gone && was[i].stand != gone {
			cells[i*t.lane] = '†'
		}
	}
	for i := b.first; i < b.last; i++ {
		cells[t.layout.lane(t.round.Steps[i].Ref.Node)*t.lane] = '●'
	}
	if b.first == winning(t.round) {
		cells[t.layout.lane(t.round.Winner.Node)*t.lane] = '★'
	}
}

// heads maps the delivery of a message that has no receipt to the sign at the end of its arrow.
var heads = map[rounds.Delivery]rune{rounds.Lost: '✗', rounds.ToGone: '✗', rounds.Unseen: '?'}

// arrow draws a message's arrow into a row. The arrow's head stands beside the receiver's lane, so
// that the lane's own sign stays.
func (t *text) arrow(cells []rune, message int) {
	m := t.round.Messages[message]
	from, to := t.layout.lane(m.From)*t.lane, t.layout.lane(m.To)*t.lane
	if from == to {
		return
	}
	step, head := 1, '►'
	if to < from {
		step, head = -1, '◄'
	}
	if h, ok := heads[m.Delivery]; ok {
		head = h
	}
	for c := from + step; c != to; c += step {
		cells[c] = crossing(cells[c], c%t.lane == 0)
	}
	cells[to-step] = head
	if cells[from] != '★' {
		cells[from] = '●'
	}
}

// crossing returns the sign for a cell that an arrow passes. lane says that the cell is on a lane. The
// head of another arrow stays.
func crossing(cell rune, lane bool) rune {
	switch {
	case strings.ContainsRune("►◄✗?", cell):
		return cell
	case !lane:
		return '─'
	case cell == ' ' || cell == '─':
		return '─'
	case cell == '┃':
		return '╂'
	}
	return '┼'
}
