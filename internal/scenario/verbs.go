package scenario

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/proto"
)

// sort is what a word or the value of an option is.
type sort func(text string, c cast) error

// verb is a command: the sorts of its words, in order, and of its options.
type verb struct {
	words   []param
	flags   []string // words that may be added in any order
	options map[string]sort
	needs   []string // options that must be there
	says    string
}

type param struct {
	name string
	sort sort
}

var (
	nodeParam = param{"N", node}
	peerParam = param{"M", node}
	spanParam = param{"D", span}
	kindParam = param{"KIND", kind}
	linkParam = param{"N>M", links}
)

var between = map[string]sort{"from": node, "to": node}

var verbs = map[string]verb{
	"new": {
		flags: []string{"cold", "fails", "twice"},
		options: map[string]sort{
			"algorithm": algorithm, "nodes": number, "ring": ring, "attrs": numbers, "delta": latency, "preempt": truth,
			"detector": one("perfect", "none"), "sight": one("crashes", "paths", "links"),
			"voters": nil, "lease": span, "keep": truth, "fence": truth, "recovers": span, "clocks": spans,
			"term": number,
		},
		needs: []string{"algorithm"},
		says: "a cluster of nodes=N, or of ring=3,32:7,5: ids in their order on the ring, with attributes; all have " +
			"agreed, unless it is cold. detector=none: it tells nobody anything, see notice. voters=1,2,3: with a " +
			"lease, of lease=D. clocks=0s,5s: how far the nodes' clocks are off. recovers=D: recovers from split " +
			"brains, with a hook that takes so long, or fails. term=99: terms up to this one are over. twice: every " +
			"message arrives twice",
	},
	"campaign": {words: []param{nodeParam}, says: "an operator calls an election at N"},
	"resign": {
		words:   []param{nodeParam},
		options: map[string]sort{"to": node},
		says:    "an operator makes N step down",
	},
	"leave": {
		words: []param{nodeParam}, options: map[string]sort{"to": node},
		says: "the same, as a host does it: N asks first who could lead",
	},
	"transfer": {
		words: []param{nodeParam}, options: map[string]sort{"to": id}, says: "an operator asks N for another leader",
	},
	"bar": {
		words: []param{nodeParam}, options: map[string]sort{"keep": truth},
		says: "N is not eligible; keep=true: it leads on if it leads",
	},
	"unbar": {words: []param{nodeParam}, says: "N is eligible again"},
	"crash": {
		words: []param{nodeParam}, options: map[string]sort{"on": kind, "after": count},
		says: "N crashes: now, or once it has sent a KIND; after=K: only the first K effects of that step happen",
	},
	"start": {words: []param{nodeParam}, says: "a node that is down comes back"},
	"wipe":  {words: []param{nodeParam}, says: "N crashes and loses its disk"},
	"pause": {
		words:   []param{nodeParam},
		options: map[string]sort{"for": span},
		needs:   []string{"for"},
		says:    "N's process is stopped for a while",
	},
	"suspect":   {words: []param{nodeParam, peerParam}, says: "N's detector takes M for dead"},
	"miss":      {words: []param{nodeParam, peerParam}, says: "N's detector notices nothing more about M"},
	"trust":     {words: []param{nodeParam, peerParam}, says: "N's detector is right about M again"},
	"notice":    {words: []param{nodeParam, peerParam}, says: "N's detector looks at M now"},
	"partition": {words: []param{{"1,2|3", groups}}, says: "cuts groups off from each other"},
	"cut":       {words: []param{linkParam}, says: "cuts one direction, or both: N-M"},
	"mend":      {words: []param{{"WHAT", nil}}, says: "ends the cut or partition of that name"},
	"heal":      {says: "ends all cuts"},
	"lose":      {words: []param{kindParam}, options: between, says: "the next such message is lost"},
	"hold": {
		words: []param{kindParam}, options: map[string]sort{"from": node, "to": node, "for": span},
		needs: []string{"for"},
		says:  "the next such message comes so much later",
	},
	"again": {
		words: []param{kindParam}, options: between, needs: []string{"from", "to"},
		says: "the last such message arrives once more",
	},
	"write": {
		words: []param{nodeParam},
		says: "N, if it leads, writes to a store that checks fencing tokens, with its term as the token; a paused " +
			"node does so when it wakes, before it looks at its lease",
	},
	"attr": {words: []param{nodeParam, {"V", number}}, says: "N's attribute becomes V"},
	"run":  {words: []param{spanParam}, says: "for so long"},
	"at":   {words: []param{{"T", span}}, says: "until this time, since all had agreed first"},
	"until": {
		words: []param{kindParam}, options: between,
		says: "until such a message is sent; it may be what the commands before led to at once",
	},
	"agree": {says: "until all agree and no message is under way; then sums up"},
	"expect": {
		options: map[string]sort{
			"leader": orNobody, "term": number, "total": number, "times": number, "agreed": truth, "finding": nil,
			"bit": number, "leads": orNone,
		},
		says: "what must have come of it, in agree's words: the leader, or nobody; messages of a kind by its name, " +
			"as ELECTION=11; total; times: message transmission times; bit: the last one of the leader's id; leads: " +
			"the nodes that believe that they lead",
	},
}

// Verbs returns the names of all commands, in order.
func Verbs() []string { return slices.Sorted(maps.Keys(verbs)) }

// helpWidth is the number of columns that Help fits in, and helpIndent how far what a command does is to the right.
const (
	helpWidth  = 72
	helpIndent = "      "
)

// Help returns the commands and what they do, as text.
func Help() string {
	var b strings.Builder
	for _, name := range Verbs() {
		b.WriteString(fill("  ", helpIndent, verbs[name].form(name)))
		b.WriteString(fill(helpIndent, helpIndent, verbs[name].says))
	}
	return b.String()
}

// fill breaks a text into lines that fit. The first begins with first, the others with next.
func fill(first, next, text string) string {
	var b strings.Builder
	line := first
	for i, word := range strings.Fields(text) {
		if i > 0 && len([]rune(line))+1+len([]rune(word)) > helpWidth {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = next
		}
		if strings.TrimSpace(line) != "" {
			line += " "
		}
		line += word
	}
	return b.String() + line + "\n"
}

// form returns the form of a command, such as "pause N for=D".
func (v verb) form(name string) string {
	parts := []string{name}
	for _, p := range v.words {
		parts = append(parts, p.name)
	}
	for _, flag := range v.flags {
		parts = append(parts, "["+flag+"]")
	}
	for _, key := range slices.Sorted(maps.Keys(v.options)) {
		if slices.Contains(v.needs, key) {
			parts = append(parts, key+"=V")
		} else {
			parts = append(parts, "["+key+"=V]")
		}
	}
	return strings.Join(parts, " ")
}

func (v verb) usage(name string) string { return "it is written: " + v.form(name) }

// check checks the words and options of a command.
func (v verb) check(cmd Command, c cast) error {
	if len(cmd.words) < len(v.words) {
		return fmt.Errorf("%s is missing; %s", v.words[len(cmd.words)].name, v.usage(cmd.Verb))
	}
	for i, word := range cmd.words {
		switch {
		case i < len(v.words):
			if err := v.words[i].sort.check(word, c); err != nil {
				return err
			}
		case !slices.Contains(v.flags, word):
			return fmt.Errorf("%q is too much; %s", word, v.usage(cmd.Verb))
		}
	}
	if cmd.Verb == "expect" && len(cmd.options) == 0 {
		return fmt.Errorf("nothing is expected; %s", v.usage(cmd.Verb))
	}
	for _, key := range v.needs {
		if cmd.options[key] == "" {
			return fmt.Errorf("%s= is missing; %s", key, v.usage(cmd.Verb))
		}
	}
	for key, value := range cmd.options {
		if err := v.options[key].check(value, c); err != nil { // a kind in expect has no sort: it was checked
			return fmt.Errorf("%s=%s: %w", key, value, err)
		}
	}
	return nil
}

func (s sort) check(text string, c cast) error {
	if s == nil {
		return nil
	}
	return s(text, c)
}

// begin checks a command new, and takes over who is in its cluster.
func (p *parser) begin(cmd Command) error {
	p.cast = cast{algorithm: cmd.options["algorithm"]}
	count, hasCount := cmd.options["nodes"]
	order, hasRing := cmd.options["ring"]
	if err := verbs["new"].check(cmd, p.cast); err != nil {
		return err
	}
	switch {
	case hasCount == hasRing:
		return errors.New("give nodes=N, for the ids 1 to N, or ring=3,32,5: ids in their order on the ring")
	case hasRing:
		p.cast.members, _ = ParseMembers(order) // it was checked
	default:
		n, _ := strconv.Atoi(count)
		if n < 1 || n > mostNodes {
			return fmt.Errorf("nodes=%s: give 1 to %d", count, mostNodes)
		}
		p.cast.members = Numbered(n)
	}
	if attrs := cmd.options["attrs"]; attrs != "" && strings.Count(attrs, ",") >= len(p.cast.members) {
		return fmt.Errorf("attrs=%s: more attributes than nodes", attrs)
	}
	if clocks := cmd.options["clocks"]; clocks != "" && strings.Count(clocks, ",") >= len(p.cast.members) {
		return fmt.Errorf("clocks=%s: more clocks than nodes", clocks)
	}
	if _, leased := cmd.options["voters"]; !leased && cmd.options["lease"] != "" {
		return errors.New("lease=D needs voters=V: who promises it?")
	}
	if voters := cmd.options["voters"]; voters != "" {
		return nodes(voters, p.cast)
	}
	return nil
}

// mostNodes is the greatest number of nodes of a scenario.
const mostNodes = 100

func algorithm(text string, _ cast) error {
	_, err := catalog.Lookup(text)
	return err
}

func ring(text string, _ cast) error {
	_, err := ParseMembers(text)
	return err
}

// id is any node's: operators err.
func id(text string, _ cast) error {
	_, err := proto.ParseNodeID(text)
	return err
}

func node(text string, c cast) error {
	id, err := proto.ParseNodeID(text)
	if err != nil {
		return err
	}
	if !c.has(id) {
		ids := make([]string, len(c.members))
		for i, m := range c.members {
			ids[i] = m.ID.String()
		}
		return fmt.Errorf("there is no node %d; the nodes are %s", id, strings.Join(ids, ", "))
	}
	return nil
}

func nodes(text string, c cast) error {
	for id := range strings.SplitSeq(text, ",") {
		if err := node(id, c); err != nil {
			return err
		}
	}
	return nil
}

func orNobody(text string, c cast) error {
	if text == "nobody" {
		return nil
	}
	return node(text, c)
}

func orNone(text string, c cast) error {
	if text == "nobody" {
		return nil
	}
	return nodes(text, c)
}

func groups(text string, c cast) error {
	if !strings.Contains(text, "|") {
		return fmt.Errorf("%q: give groups, as 1,2|3", text)
	}
	seen := map[string]bool{}
	for group := range strings.SplitSeq(text, "|") {
		if err := nodes(group, c); err != nil {
			return err
		}
		for id := range strings.SplitSeq(group, ",") {
			if seen[id] {
				return fmt.Errorf("%q: node %s is in two groups", text, id)
			}
			seen[id] = true
		}
	}
	return nil
}

func links(text string, c cast) error {
	from, to, ok := strings.Cut(text, ">")
	if !ok {
		from, to, ok = strings.Cut(text, "-")
	}
	if !ok {
		return fmt.Errorf("%q: give a direction N>M, or both N-M", text)
	}
	if from == to {
		return fmt.Errorf("%q: a node has no link to itself", text)
	}
	return errors.Join(node(from, c), node(to, c))
}

func kind(text string, c cast) error {
	own := slices.Contains(kindsOf(c.algorithm), text) || slices.ContainsFunc(proto.LeaseKinds(), named(text))
	// A shared kind that is another algorithm's is not this one's.
	others := slices.ContainsFunc(
		catalog.Names(), func(name string) bool { return slices.Contains(kindsOf(name), text) },
	)
	if _, known := catalog.KindOf(c.algorithm, text); known && (own || !others) {
		return nil
	}
	return fmt.Errorf(
		"%s sends no message %s; it sends %s", c.algorithm, text, strings.Join(kindsOf(c.algorithm), ", "),
	)
}

func named(text string) func(proto.Kind) bool {
	return func(k proto.Kind) bool { return k.String() == text }
}

// kindsOf returns the names of an algorithm's messages.
func kindsOf(algorithm string) (names []string) {
	e, err := catalog.Lookup(algorithm)
	if err != nil {
		return nil
	}
	for _, k := range slices.Concat(e.Kinds, e.Theory.Kinds) {
		if !slices.Contains(names, k.String()) {
			names = append(names, k.String())
		}
	}
	return names
}

func span(text string, _ cast) error {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil || d < 0:
		return fmt.Errorf("%q is no span of time, such as 150ms or 2s", text)
	case d > mostTime:
		return fmt.Errorf("%q is too long: give at most %v", text, mostTime)
	}
	return nil
}

// mostTime is the longest span of time in a scenario.
const mostTime = time.Hour

// latency is what messages and detectors may take: it is not so short that nothing happens in order.
func latency(text string, c cast) error {
	if err := span(text, c); err != nil {
		return err
	}
	if d, _ := time.ParseDuration(text); d < time.Millisecond {
		return fmt.Errorf("%q is too short: give at least 1ms", text)
	}
	return nil
}

// count is a number of things.
func count(text string, _ cast) error {
	if n, err := strconv.Atoi(text); err != nil || n < 0 {
		return fmt.Errorf("%q is no number from 0 on", text)
	}
	return nil
}

func spans(text string, c cast) error {
	for one := range strings.SplitSeq(text, ",") {
		if d, err := time.ParseDuration(one); err != nil {
			return fmt.Errorf("%q is no span of time, such as 150ms or -2s", one)
		} else if d < -time.Hour || d > time.Hour {
			return fmt.Errorf("%q: give at most an hour", one)
		}
	}
	return nil
}

func number(text string, _ cast) error {
	if _, err := strconv.ParseInt(text, 10, 64); err != nil {
		return fmt.Errorf("%q is no whole number", text)
	}
	return nil
}

func numbers(text string, c cast) error {
	for one := range strings.SplitSeq(text, ",") {
		if one == "" {
			continue // that node has none
		}
		if err := number(one, c); err != nil {
			return err
		}
	}
	return nil
}

func truth(text string, c cast) error { return one("true", "false")(text, c) }

func one(of ...string) sort {
	return func(text string, _ cast) error {
		if !slices.Contains(of, text) {
			return fmt.Errorf("want one of %s", strings.Join(of, ", "))
		}
		return nil
	}
}
