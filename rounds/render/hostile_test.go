package render_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/render"
)

// What logs may hold. Each stands wherever a log's text can be.
var hostile = []string{
	"</script><script>alert(1)</script>",
	`<img src=x onerror=alert(1)>`,
	`"><svg onload=alert(1)>`,
	"javascript:alert(1)",
	"]]></style></svg><!-- -->",
	"{{.}} ${alert(1)} `x` &lt;b&gt; &#60;",
	"line\nbreak\r\nand \u2028 and \u2029 and \x00",
	"\x1b[2J\x1b]0;title\a",
	"\u202egnp.exe\u2066 \u200b\ufeff",
	"\xff\xfe broken \xc3(",
	"end; end #35; %%{init: {'theme':'x'}}%% style a:b#c; classDef A",
	"participant x as y; Note over n1: z<br/>",
	"wrap: nowrap: a->>b: c",
	strings.Repeat("W", 10_000),
}

func TestHostileText(t *testing.T) {
	for i, text := range hostile {
		t.Run(fmt.Sprint(i), func(t *testing.T) { harmless(t, hostileHistory(text, 3)) })
	}
}

// Each run draws one of the pictures, of short texts: long ones are for the test
// above, and cost the fuzzer its speed.
func FuzzHostileText(f *testing.F) {
	for _, text := range append(hostile, "") {
		for which := range pictures {
			f.Add(text, uint64(3), uint8(which))
		}
	}
	f.Add("4294967296", uint64(1<<64-1), uint8(0))
	f.Fuzz(func(t *testing.T, text string, node uint64, which uint8) {
		const enough = 200
		h := hostileHistory(text[:min(len(text), enough)], max(node, 1))
		pictures[int(which)%len(pictures)](t, h)
	})
}

// Real rounds are harmless, too, whatever their size.
func TestRealRoundsAreWellFormed(t *testing.T) {
	everyRound(t, func(t *testing.T, r *rounds.Round) {
		g := &rounds.Group{Algorithm: r.Algorithm, Rounds: []*rounds.Round{r}}
		harmless(t, &rounds.History{Groups: []*rounds.Group{g}})
	})
}

// hostileHistory is a round in which every text is the given one, on every path
// that a picture may take: a message that is lost, one whose send is unknown, a
// step without a lane of its own.
func hostileHistory(text string, node uint64) *rounds.History {
	at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	ref := func(n, seq uint64) rounds.Ref { return rounds.Ref{Node: n, Incarnation: text, Seq: seq} }
	why := []string{text + " -> " + text, text}
	r := &rounds.Round{
		Cluster: text, Algorithm: text, Guarantee: text, Term: 2, State: rounds.Decided,
		Cause: rounds.Cause{
			Kind: rounds.CauseKind(text), Text: text, Lost: 9, Node: 1, Evidence: text, Ref: ref(1, 1), At: at,
		},
		Participants: []rounds.Participant{{Node: 1}, {Node: node, Part: rounds.PartWinner}},
		Steps: []rounds.Step{
			{
				Ref: ref(1, 1), At: at, Event: "peers", Evidence: text, Why: why, Received: -1, Sent: []int{0, 1, 2},
				Role: text, Change: text, Prev: 9,
			},
			{
				Ref: ref(node, 1), At: at.Add(time.Millisecond), Event: "receive", Detail: text, Why: why,
				Received: 0, Role: text, Leader: node, Change: text,
			},
			{Ref: ref(2, 1), At: at.Add(time.Hour), Event: text, Detail: text, Received: 3, Leader: node, Warn: true},
		},
		Aftermath: 2,
		Messages: []rounds.Message{
			{ID: text, Kind: text, Detail: text, From: 1, To: node, Delivery: rounds.Arrived, ReceiveStep: 1},
			{ID: text, Kind: text, From: 1, To: 9, Delivery: rounds.Lost, ReceiveStep: -1},
			{ID: text, Kind: text + "2", From: 1, To: 1<<64 - 1, Delivery: rounds.Unseen, ReceiveStep: -1},
			{ID: text, Kind: text, From: 7, To: 2, Delivery: rounds.Delivery(text), SendStep: -1, ReceiveStep: 2},
		},
		Winner:     &rounds.Winner{Node: node, Why: text, Rule: text, Ref: ref(node, 1), At: at},
		Rivals:     []rounds.Winner{{Node: 2, Why: text}},
		Counts:     []rounds.KindCount{{Kind: text, Sent: 3}},
		LeftBehind: []rounds.Straggler{{Node: 4, Reason: text}},
		Findings: []rounds.Finding{
			{Name: rounds.FindingName(text), Term: 2, Text: text, Records: []rounds.Ref{ref(1, 1)}},
		},
		Unknown: []string{text},
		Split:   rounds.Split{Began: at, ElectKnown: true, AnnounceKnown: true, Elect: time.Millisecond},
	}
	return &rounds.History{
		Notes: []string{text},
		Groups: []*rounds.Group{{
			Cluster: text, Algorithm: text, Guarantee: text, Rounds: []*rounds.Round{r}, Unknown: []string{text},
			Nodes: []rounds.Node{{ID: 1}, {ID: node, Leader: node, Term: 2}},
			Leaderships: []rounds.Leadership{{
				Leader: node, Incarnation: text, Term: 2, First: ref(node, 1), From: at, Until: at.Add(time.Second),
				Followers: []rounds.Follower{{Node: 1, From: at, Until: at.Add(time.Minute)}},
			}},
			Findings: r.Findings,
		}},
	}
}

// pictures draw a history in every way there is, and check that text from logs
// stayed text.
var pictures = []func(t *testing.T, h *rounds.History){
	ofEach(func(t *testing.T, r *rounds.Round) {
		fits(t, drawing(t, func(w io.Writer) error { return render.Text(w, r, 80) }), 80)
	}),
	ofEach(func(t *testing.T, r *rounds.Round) {
		isMermaid(t, drawing(t, func(w io.Writer) error { return render.Mermaid(w, r) }))
	}),
	ofEach(func(t *testing.T, r *rounds.Round) {
		isSVG(t, drawing(t, func(w io.Writer) error { return render.SVG(w, r) }))
	}),
	func(t *testing.T, h *rounds.History) {
		isPage(t, drawing(t, func(w io.Writer) error { return render.HTML(w, h) }))
	},
}

func ofEach(check func(*testing.T, *rounds.Round)) func(*testing.T, *rounds.History) {
	return func(t *testing.T, h *rounds.History) {
		t.Helper()
		for _, g := range h.Groups {
			for _, r := range g.Rounds {
				check(t, r)
			}
		}
	}
}

func harmless(t *testing.T, h *rounds.History) {
	t.Helper()
	for _, check := range pictures {
		check(t, h)
	}
}

// drawing is what draw writes, without what every page has in it: that is ours, and
// looked at once.
func drawing(t *testing.T, draw func(w io.Writer) error) string {
	t.Helper()
	var out bytes.Buffer
	if err := draw(&out); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(out.String(), ours().css, "", 1)
	text = strings.Replace(text, ours().js, "", 1)
	printable(t, text)
	return text
}

// parts are the style and the scripts of every page.
type parts struct{ css, js string }

var ours = sync.OnceValue(func() (p parts) {
	var out bytes.Buffer
	if render.HTML(&out, &rounds.History{}) != nil {
		return p
	}
	_, rest, _ := strings.Cut(out.String(), "<style>")
	p.css, rest, _ = strings.Cut(rest, "</style>")
	_, p.js, _ = strings.Cut(rest[strings.LastIndex(rest, "<script>"):], "<script>")
	p.js, _, _ = strings.Cut(p.js, "</script>")
	return p
})

// What every page has in it is printable too, and loads nothing.
func TestPartsOfEveryPage(t *testing.T) {
	if ours().css == "" || ours().js == "" {
		t.Fatal("no style, or no script")
	}
	printable(t, ours().css)
	printable(t, ours().js)
	if strings.Contains(ours().css, "url(") || strings.Contains(ours().css, "@import") {
		t.Fatal("the style loads something")
	}
}

// "never write HTML or terminal escapes from log content unescaped"
func printable(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Error("not UTF-8")
	}
	for _, c := range s {
		if c != '\n' && !unicode.IsPrint(c) && c != '\u00a0' {
			t.Fatalf("%U reached the picture", c)
		}
	}
}

func fits(t *testing.T, text string, columns int) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns {
			t.Fatalf("%d columns: %s", n, line)
		}
	}
}

// A line of a sequenceDiagram, with nothing in its text that Mermaid reads.
var mermaidLine = regexp.MustCompile(`^(sequenceDiagram` +
	`|  accTitle: T+|  participant n\d+ as node \d+` +
	`|  Note over n\d+(,n\d+)?: T+(<br/>T+)*` +
	`|  n\d+(->>|-->>|-x)n\d+: T+)$`)

// mermaidText is what may stand in a text; T stands for it in mermaidLine.
var (
	mermaidText    = regexp.MustCompile(`#\d+;|[\pL\pN .,:()…★×→-]`)
	mermaidKeyword = regexp.MustCompile(`(?i)\bend\b|style|classdef|wrap:`)
)

func isMermaid(t *testing.T, text string) {
	t.Helper()
	if len(text) > 50_000 {
		t.Errorf("%d bytes: Mermaid takes 50,000 characters", len(text))
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		shape := line
		if head, words, ok := strings.Cut(line, ": "); ok {
			if mermaidKeyword.MatchString(words) {
				t.Fatalf("a keyword in the text: %s", line)
			}
			parts := strings.Split(words, "<br/>")
			for i := range parts {
				parts[i] = mermaidText.ReplaceAllString(parts[i], "T")
			}
			shape = head + ": " + strings.Join(parts, "<br/>")
		}
		if !mermaidLine.MatchString(shape) {
			t.Fatalf("not a line of Mermaid: %s", line)
		}
	}
}

// isSVG: "standalone … no scripts, no external fonts, with title/desc".
func isSVG(t *testing.T, text string) {
	t.Helper()
	allowed := "svg title desc style rect circle path text"
	seen := map[string]bool{}
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		seen[e.Name.Local] = true
		if !strings.Contains(" "+allowed+" ", " "+e.Name.Local+" ") {
			t.Fatalf("an element <%s>", e.Name.Local)
		}
		for _, a := range e.Attr {
			if acting.MatchString(" " + a.Name.Local + "=") {
				t.Fatalf("an attribute %s", a.Name.Local)
			}
		}
	}
	if !seen["title"] || !seen["desc"] {
		t.Error("no title or description")
	}
}

var (
	tag     = regexp.MustCompile(`<(/?)([a-zA-Z][a-zA-Z0-9]*)([^>]*)>`)
	opening = regexp.MustCompile(`<[a-zA-Z/!?]`)
	acting  = regexp.MustCompile(`(?i)[\s"'/](on[a-z]+|href|src|action|style|srcdoc|xlink:href)\s*=`)
)

const pageTags = " html head meta title style body header h1 h2 h3 span p noscript section small div label " +
	"input i nav ol li button b br main template dl dt dd q ul svg path output desc rect circle text footer kbd script "

// isPage checks that the only scripts are our two, that there is no element and
// no attribute but ours, and that nothing can load or act.
func isPage(t *testing.T, page string) {
	t.Helper()
	head, script, ok := strings.Cut(page, "<script type=\"application/json\" id=\"data\">")
	data, script, ok2 := strings.Cut(script, "</script>")
	script = strings.TrimSpace(script)
	if !ok || !ok2 || strings.ContainsAny(data, "<>&\u2028\u2029") {
		t.Fatal("the data is not where it belongs, or not escaped")
	}
	if strings.Count(script, "<script>") != 1 || strings.Count(script, "</script>") != 1 {
		t.Fatal("not one script")
	}
	_, body, _ := strings.Cut(head, "</style>")
	if len(opening.FindAllString(body, -1)) != len(tag.FindAllString(body, -1)) {
		t.Fatal("a tag without an end")
	}
	for _, m := range tag.FindAllStringSubmatch(body, -1) {
		if !strings.Contains(pageTags, " "+m[2]+" ") || m[2] == "script" || acting.MatchString(m[3]) {
			t.Fatalf("a tag %s", m[0])
		}
	}
	if !strings.Contains(head, "default-src &#39;none&#39;; style-src &#39;sha256-") {
		t.Fatal("no policy")
	}
}
