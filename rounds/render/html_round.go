package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// roundData is the data of a round for the replay.
type roundData struct {
	ID       string        `json:"id"`
	Term     string        `json:"term"`
	X        []float64     `json:"x"`      // of the lanes in the drawing
	Bottom   float64       `json:"bottom"` // of the drawing
	Width    float64       `json:"width"`
	Before   []laneData    `json:"before"` // the beliefs before the first step
	Steps    []stepData    `json:"steps"`
	Kinds    []kindData    `json:"kinds"`
	Messages []messageData `json:"messages"`
}

// kindData is a kind of messages.
type kindData struct {
	Name   string `json:"name"`
	Letter string `json:"letter"`
	Colour int    `json:"h"`
}

// laneData is the belief of one node from some moment on.
type laneData struct {
	Lane   int    `json:"n"`
	Stand  string `json:"s"`
	Leader string `json:"l,omitempty"`
	Hue    int    `json:"h"` // the colour of that leader
	Term   string `json:"t,omitempty"`
}

type stepData struct {
	Node    int         `json:"n"` // its lane
	At      float64     `json:"t"` // ms
	Y       float64     `json:"y"` // in the drawing
	Ref     string      `json:"ref"`
	Wall    string      `json:"wall"`
	Changes []laneData  `json:"c"`
	Text    [][2]string `json:"text"` // the notes: the topic, and the words
}

type messageData struct {
	Kind     int    `json:"k"` // its index in Kinds
	From     int    `json:"f"`
	To       int    `json:"t"`
	Delivery string `json:"delivery"`
	Sent     int    `json:"s"` // the step that sends it; -1 for none
	Got      int    `json:"r"`
}

func newRoundData(id string, d *drawing) *roundData {
	r := d.round
	data := &roundData{
		ID: id, Term: strconv.FormatUint(r.Term, 10), X: d.x, Bottom: d.bottom, Width: d.width,
		Before: []laneData{}, Steps: []stepData{}, Kinds: []kindData{}, Messages: []messageData{},
	}
	for _, k := range d.kinds() {
		data.Kinds = append(data.Kinds, kindData{clean(k), d.letter[k], d.kind[k]})
	}
	now := slices.Clone(d.before)
	for lane := range now {
		data.Before = append(data.Before, d.laneData(lane, now[lane]))
	}
	for i := range r.Steps {
		was := slices.Clone(now)
		d.apply(i, now)
		data.Steps = append(data.Steps, d.stepData(i, was, now))
	}
	for _, m := range r.Messages {
		data.Messages = append(data.Messages, messageData{
			Kind: d.index[m.Kind], From: d.lane(m.From), To: d.lane(m.To),
			Delivery: clean(string(m.Delivery)), Sent: m.SendStep, Got: m.ReceiveStep,
		})
	}
	return data
}

func (d *drawing) stepData(i int, was, now []belief) stepData {
	st := &d.round.Steps[i]
	data := stepData{
		Node: d.lane(st.Ref.Node), At: float64(d.since(i)) / float64(time.Millisecond), Y: d.y[i],
		Ref: d.refs.Of(st.Ref), Wall: st.Wall.UTC().Format("2006-01-02 15:04:05.000000"),
		Changes: []laneData{}, Text: [][2]string{},
	}
	for lane := range now {
		if was[lane] != now[lane] {
			data.Changes = append(data.Changes, d.laneData(lane, now[lane]))
		}
	}
	for _, n := range d.notes(band{i, i + 1}) {
		data.Text = append(data.Text, [2]string{aboutNames[n.about], n.text})
	}
	return data
}

func (d *drawing) laneData(lane int, b belief) laneData {
	data := laneData{Lane: lane, Stand: b.stand.String()}
	if b.leader != 0 {
		data.Leader, data.Hue = strconv.FormatUint(b.leader, 10), d.hueOf(b.leader)
	}
	if b.term != 0 {
		data.Term = strconv.FormatUint(b.term, 10)
	}
	return data
}

// fact is one line about a round.
type fact struct {
	Name, Text string
	Theory     string // what the sources say of it
}

func facts(r *rounds.Round) []fact {
	var list []fact
	if in := r.Incident; in != nil && in.Why != "" {
		list = append(list, fact{Name: "Because", Text: sentence(in.Why)})
	}
	if c := cause(r); c != "" {
		list = append(list, fact{Name: "Cause", Text: c})
	}
	if w := r.Winner; w != nil {
		text := fmt.Sprintf("node %d", w.Node)
		if w.Why != "" {
			text += ": " + clean(w.Why)
		}
		list = append(list, fact{Name: "Winner", Text: text, Theory: clean(w.Rule)})
	}
	if r.Ballot != nil {
		list = append(list, fact{Name: "Voters", Text: ballot(r.Ballot)})
	}
	for _, v := range r.Rivals {
		list = append(list, fact{Name: "Rival", Text: fmt.Sprintf("node %d: %s", v.Node, clean(v.Why))})
	}
	if text := split(r.Split); text != "" {
		list = append(list, fact{Name: "Time", Text: text})
	}
	if len(r.Counts) > 0 {
		list = append(list, fact{Name: "Messages", Text: counts(r), Theory: theory(r)})
	}
	for _, b := range r.LeftBehind {
		list = append(list, fact{Name: "Left behind", Text: fmt.Sprintf("node %d: %s", b.Node, clean(b.Reason))})
	}
	return list
}

func split(p rounds.Split) string {
	text := ""
	for _, part := range []struct {
		name  string
		took  time.Duration
		known bool
	}{
		{"detect", p.Detect, p.DetectKnown},
		{"elect", p.Elect, p.ElectKnown},
		{"announce", p.Announce, p.AnnounceKnown},
	} {
		if !part.known {
			continue
		}
		if text != "" {
			text += " + "
		}
		text += part.name + " " + span(part.took)
	}
	switch {
	case !p.Estimated || text == "":
	case p.Error == 0:
		text += "; clocks differ, estimated, and no messages tell how far off"
	default:
		text += fmt.Sprintf("; clocks differ, estimated within %s", span(p.Error))
	}
	return text
}

func counts(r *rounds.Round) string {
	text := ""
	for i, c := range r.Counts {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d %s", c.Sent, clean(c.Kind))
	}
	return text
}

// theory says how many messages a round takes by the sources.
func theory(r *rounds.Round) string {
	var parts []string
	if t := r.Theory; t != nil {
		parts = append(parts, fmt.Sprintf("%d at best and %d at worst, with %d alive", t.Best, t.Worst, t.Live))
	}
	if r.Ballot != nil && r.Ballot.Theory != nil {
		parts = append(parts, fmt.Sprintf("the votes take %d to %d", r.Ballot.Theory.Best, r.Ballot.Theory.Worst))
	}
	return strings.Join(parts, "; ")
}

// ballot says how the voters answered.
func ballot(b *rounds.Ballot) string {
	var counted, late []uint64
	var no []string
	would := 0
	for _, v := range b.Voices {
		if v.Yes || v.Granted {
			would++
		}
		switch {
		case v.Counted:
			counted = append(counted, v.Voter)
		case v.Granted:
			late = append(late, v.Voter)
		}
		if v.No != "" {
			no = append(no, fmt.Sprintf("%d %s", v.Voter, clean(v.No)))
		}
	}
	text := fmt.Sprintf("%d of %d, %d needed", len(counted), len(b.Voters), b.Majority())
	if len(counted) == 0 { // nobody won: this is how many would have it
		text = fmt.Sprintf("%d of %d %s, %d needed", would, len(b.Voters), b.Verb(), b.Majority())
	}
	for _, part := range []struct{ name, who string }{
		{"granted", ranges(counted)},
		{"granted when it had won", ranges(late)},
		{"no at first", strings.Join(no, ", ")},
		{"no answer", ranges(b.Missing())},
	} {
		if part.who != "" {
			text += fmt.Sprintf("; %s: %s", part.name, part.who)
		}
	}
	return text
}
