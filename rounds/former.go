package rounds

import (
	_ "embed"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// Records of the last release before reasons had codes contain only sentences, and so does text
// for people. Only this file and former.txt read sentences. Nothing new is added to them, but
// sentences of that release: a reason that has a code is not read with them.

// former is one sentence of that release, and the code that its reason has today.
type former struct{ algorithm, pattern, code string }

// formerSentences has a line for each sentence that decided something, or whose rule was quoted:
// the code, a tab and the sentence. In the sentence, # stands for a number, _ for a number that is
// no argument of the reason today, * for words, and $ for the reason that this one follows from.
// Several algorithms may have had the same sentence: the algorithm of a line is its third column,
// or else the word before the dot of its code.
//
//go:embed former.txt
var formerSentences string

// formers holds the lines of formerSentences as formerly looks them up.
type formers struct {
	whole     map[string][]former // by the sentence
	decisions map[string][]former // by the text after "$ -> "
	ends      []former            // those that begin with "$", but not with "$ -> "
	words     []former            // those with *
}

// knownFormers returns the lines. It reads them at the first sentence without a code. A node reads none.
var knownFormers = sync.OnceValue(func() *formers {
	known := &formers{whole: map[string][]former{}, decisions: map[string][]former{}}
	for _, f := range formerTable() {
		decision, follows := strings.CutPrefix(f.pattern, "$ -> ")
		switch {
		case strings.Contains(f.pattern, "*"):
			known.words = append(known.words, f)
		case follows:
			known.decisions[decision] = append(known.decisions[decision], f)
		case f.pattern[0] == '$':
			known.ends = append(known.ends, f)
		default:
			shape := shapeOfPattern(f.pattern)
			known.whole[shape] = append(known.whole[shape], f)
		}
	}
	return known
})

func formerTable() (table []former) {
	for line := range strings.Lines(formerSentences) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		f := former{code: columns[0], pattern: columns[1]}
		if f.algorithm, _, _ = strings.Cut(f.code, "."); len(columns) > 2 {
			f.algorithm = columns[2]
		}
		table = append(table, f)
	}
	return table
}

// mostFormer is how many shapes of sentences of a former release a group remembers at most.
const mostFormer = 1024

// formerShape is the reason of all sentences of one shape.
type formerShape struct {
	kind    *algorithms.ReasonKind
	args    []trace.Arg // each number is the index of one in the sentence
	numbers int         // in the sentence
	varies  bool        // an argument has words with numbers, so that each sentence is read by itself
}

// formerReason turns a sentence of a former release into a reason. If the sentence decided nothing,
// the reason has only the sentence.
func (g *group) formerReason(why string) reason {
	var room [256]byte
	var numbers [16]uint64
	shape, found, fit := split(room[:0], numbers[:0], why)
	known, ok := g.former[string(shape)]
	if !ok {
		if len(g.former) >= mostFormer {
			clear(g.former)
		}
		known = readShape(g.key.algo, string(shape))
		g.former[string(shape)] = known
	}
	if fit && len(found) == known.numbers && !known.varies {
		return reason{kind: known.kind, args: g.withNumbers(known.args, found), why: why, former: true}
	}
	told := formerly(g.key.algo, why)
	return reason{kind: kindOf(told.Code).ReasonKind, args: told.Args, why: why, former: true}
}

// readShape reads a shape as the sentence in which each number is its own index.
func readShape(algorithm, shape string) (f formerShape) {
	var b strings.Builder
	for {
		words, rest, number := strings.Cut(shape, "#")
		b.WriteString(words)
		if !number {
			break
		}
		b.WriteString(strconv.Itoa(f.numbers))
		f.numbers++
		shape = rest
	}
	told := formerly(algorithm, b.String())
	f.kind, f.args, f.varies = kindOf(told.Code).ReasonKind, told.Args, wordsVary(told.Args)
	return f
}

// wordsVary reports whether there are words with numbers among the arguments.
func wordsVary(args []trace.Arg) bool {
	return slices.ContainsFunc(args, func(a trace.Arg) bool {
		return a.Is == trace.Words && strings.ContainsAny(a.Words, "0123456789") ||
			a.Is == trace.Cause && wordsVary(a.Reason.Args)
	})
}

// withNumbers returns the arguments with the numbers in place of their indexes.
func (g *group) withNumbers(args []trace.Arg, numbers []uint64) []trace.Arg {
	if len(args) == 0 {
		return nil
	}
	if len(g.argRoom) < len(args) {
		g.argRoom = make([]trace.Arg, max(argsAtOnce, len(args)))
	}
	all := g.argRoom[:len(args):len(args)]
	g.argRoom = g.argRoom[len(args):]
	for i, arg := range args {
		switch arg.Is {
		case trace.Number:
			arg.Number = numbers[arg.Number]
		case trace.Cause:
			arg.Reason = &trace.Reason{Code: arg.Reason.Code, Args: g.withNumbers(arg.Reason.Args, numbers)}
		}
		all[i] = arg
	}
	return all
}

// argsAtOnce is for how many arguments memory is allocated at a time.
const argsAtOnce = 64

// formerCauseWords returns the part of a sentence that names the cause.
func formerCauseWords(why string) string {
	cause, _, _ := strings.Cut(why, arrow)
	return cause
}

// formerFields returns the fields about and unfit of a record. If it has none, they are in its words.
func formerFields(rec *trace.Record) (about uint64, unfit string) {
	about, unfit = rec.About, rec.Unfit
	switch {
	case rec.Event == "gone" && about == 0:
		about, _, _ = leadingNumber(rec.Detail)
	case rec.Event == "eligible" && unfit == "":
		if why, no := strings.CutPrefix(rec.Detail, "no, "); no {
			unfit = why
		}
	}
	return about, unfit
}

// formerRanks returns each id and attribute that the words of a message contain as "id:attr".
func formerRanks(detail string) iter.Seq2[uint64, int64] {
	return func(yield func(uint64, int64) bool) {
		for i := 1; i < len(detail)-1; i++ {
			if detail[i] != ':' {
				continue
			}
			id, okID := numberBefore(detail, i)
			attr, okAttr := numberAfter(detail, i)
			if okID && okAttr && !yield(id, attr) {
				return
			}
		}
	}
}

func numberBefore(s string, end int) (uint64, bool) {
	begin := end
	for begin > 0 && s[begin-1] >= '0' && s[begin-1] <= '9' {
		begin--
	}
	if begin == end { // nearly always
		return 0, false
	}
	n, err := strconv.ParseUint(s[begin:end], 10, 64)
	return n, err == nil
}

func numberAfter(s string, colon int) (int64, bool) {
	end := colon + 1
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || end == colon+1 && s[end] == '-') {
		end++
	}
	n, err := strconv.ParseInt(s[colon+1:end], 10, 64)
	return n, err == nil
}

func formerly(algorithm, why string) trace.Reason {
	known := knownFormers()
	var room [256]byte
	shape := shapeOf(room[:0], why)
	if f, ok := pick(known.whole[string(shape)], algorithm); ok {
		return trace.Reason{Code: f.code, Args: f.tells(numbersIn(nil, why))}
	}
	if told, ok := formerFixed[why]; ok {
		return told
	}
	cause, decision, follows := strings.Cut(why, arrow)
	if follows {
		if f, ok := pick(known.decisions[string(shapeOf(room[:0], decision))], algorithm); ok {
			args := []trace.Arg{formerCause(algorithm, cause)}
			return trace.Reason{Code: f.code, Args: numbersIn(args, decision)}
		}
	}
	for _, f := range known.words {
		if args, ok := fill(f.pattern, why); ok {
			return trace.Reason{Code: f.code, Args: args}
		}
	}
	for _, f := range known.ends {
		if begin, end, ok := cutShape(why, f.pattern[1:]); ok {
			args := []trace.Arg{formerCause(algorithm, begin)}
			return trace.Reason{Code: f.code, Args: numbersIn(args, end)}
		}
	}
	if follows {
		return formerly(algorithm, cause)
	}
	return trace.Reason{}
}

// cutShape splits why in two, so that the second part has the shape. ok is false if no part does.
func cutShape(why, shape string) (begin, end string, ok bool) {
	head, _, _ := strings.Cut(shape, "#")
	for from := 0; ; {
		at := strings.Index(why[from:], head)
		if at < 0 {
			return "", "", false
		}
		at += from
		if string(shapeOf(nil, why[at:])) == shape {
			return why[:at], why[at:], true
		}
		from = at + 1
	}
}

// formerCause returns the reason whose sentence is cause, or the words of cause if no code is known.
func formerCause(algorithm, cause string) trace.Arg {
	if told := formerly(algorithm, cause); told.Code != "" {
		return trace.Arg{Is: trace.Cause, Reason: &told}
	}
	return trace.Arg{Is: trace.Words, Words: cause}
}

// pick returns the element of equal that belongs to the algorithm. If there is none, it returns the first
// element. ok is false if equal is empty.
func pick(equal []former, algorithm string) (f former, ok bool) {
	for _, f := range equal {
		if f.algorithm == algorithm {
			return f, true
		}
	}
	if len(equal) == 0 {
		return f, false
	}
	return equal[0], true
}

// shapeOf appends s to b, with # in place of each number, and ## in place of each #: that is no number.
func shapeOf(b []byte, s string) []byte {
	var numbers [16]uint64
	shape, _, _ := split(b, numbers[:0], s)
	return shape
}

// split appends the shape of s, and its numbers. fit is false if one of these is too long to be any.
func split(b []byte, all []uint64, s string) (shape []byte, numbers []uint64, fit bool) {
	fit = true
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c-'0' <= 9 {
			n, digits := uint64(0), i
			for ; i < len(s) && s[i]-'0' <= 9; i++ {
				n = n*10 + uint64(s[i]-'0')
			}
			fit = fit && i-digits <= 20
			b, all = append(b, '#'), append(all, n)
			i--
			continue
		}
		if b = append(b, c); c == '#' {
			b = append(b, c)
		}
	}
	return b, all, fit
}

// shapeOfPattern replaces each _ by #, since _ stands for a number, too.
func shapeOfPattern(pattern string) string { return strings.ReplaceAll(pattern, "_", "#") }

// tells returns the numbers of an old sentence that are arguments of the reason now.
func (f former) tells(numbers []trace.Arg) (args []trace.Arg) {
	if !strings.Contains(f.pattern, "_") { // nearly always
		return numbers
	}
	for _, place := range f.pattern {
		switch place {
		case '#':
			args, numbers = append(args, numbers[0]), numbers[1:]
		case '_':
			numbers = numbers[1:]
		}
	}
	return args
}

func fixed(code string, words ...string) trace.Reason {
	told := trace.Reason{Code: code}
	for _, w := range words {
		told.Args = append(told.Args, trace.Arg{Is: trace.Words, Words: w})
	}
	return told
}

// numbersIn returns the arguments before, and those that are numbers in s.
func numbersIn(before []trace.Arg, s string) []trace.Arg {
	var room [8]trace.Arg
	args := append(room[:0], before...)
	for s != "" {
		if s[0] < '0' || s[0] > '9' { // nearly always
			s = s[1:]
			continue
		}
		n, rest, _ := leadingNumber(s)
		args, s = append(args, trace.Arg{Number: n}), rest
	}
	return append([]trace.Arg(nil), args...)
}

// leadingNumber cuts the decimal digits off the front of s.
func leadingNumber(s string) (n uint64, rest string, ok bool) {
	i := 0
	for i < len(s) && i < 20 && s[i] >= '0' && s[i] <= '9' {
		n = n*10 + uint64(s[i]-'0')
		i++
	}
	return n, s[i:], i > 0
}

// fill returns what the sentence why has in the places of the pattern: a number for #, words for *.
// Words end at the last occurrence of the text that follows them in the pattern.
func fill(pattern, why string) (args []trace.Arg, ok bool) {
	for pattern != "" {
		at := strings.IndexAny(pattern, "#*")
		if at < 0 {
			return args, why == pattern
		}
		rest, fits := strings.CutPrefix(why, pattern[:at])
		if !fits {
			return nil, false
		}
		if pattern[at] == '*' {
			end := strings.LastIndex(rest, pattern[at+1:])
			if strings.Contains(pattern[at+1:], "*") {
				end = strings.LastIndex(rest, strings.TrimSuffix(pattern[at+1:], "*"))
			}
			if end < 0 {
				return nil, false
			}
			args = append(args, trace.Arg{Is: trace.Words, Words: rest[:end]})
			why, pattern = rest[end:], pattern[at+1:]
			if pattern == "" {
				return args, why == ""
			}
			continue
		}
		n, rest, isNumber := leadingNumber(rest)
		if !isNumber {
			return nil, false
		}
		args, why, pattern = append(args, trace.Arg{Number: n}), rest, pattern[at+1:]
	}
	return args, why == ""
}

// formerFixed has the reasons of old sentences in which some words are arguments now.
var formerFixed = map[string]trace.Reason{
	"a split is mended":                      fixed("nomination.asked-by-recovery", "a split is mended"),
	"no COORDINATOR came in two trips round": fixed("topology.late", "COORDINATOR", "two trips round"),
	"no ELECTED came in two trips round":     fixed("topology.late", "ELECTED", "two trips round"),
	"no ELECTED came in a round's time":      fixed("topology.late", "ELECTED", "a round's time"),
}

// oldWords maps the name that version 0.1 gave to a message of the lease protocol to the kind that
// this version gives to it, and to the sentence that says what the message means.
var oldWords = map[string]struct {
	kind proto.Kind
	said string
}{
	"ASK":           {proto.KindPreVote, "would you grant me the term?"},
	"ANSWER":        {proto.KindPreVoteReply, "yes, or what binds me"},
	"CLAIM":         {proto.KindRequestVote, "grant me the term"},
	"GRANT":         {proto.KindVote, "granted: nobody else gets my vote while my promise runs"},
	"DENY":          {proto.KindVote, "not granted: something binds me"},
	"HEARTBEAT_ACK": {proto.KindHeartbeatReply, "I follow, and promise again"},
	"RENEW":         {proto.KindHeartbeat, "I lead: promise again"},
	"LEASE":         {proto.KindHeartbeat, "I lead, so long"},
	"REPLY":         {proto.KindReply, "yes, or why not"},
	"RETURN":        {proto.KindRecover, "I lost what I voted: what do you know?"},
	"STANDING":      {proto.KindVoterState, "this is the last vote that I know of"},
}
