package scenario

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Member is a node of a cluster.
type Member struct {
	ID   proto.NodeID
	Attr int64
}

// String returns "80", or "80:7" with an attribute.
func (m Member) String() string {
	if m.Attr == 0 {
		return m.ID.String()
	}
	return fmt.Sprintf("%d:%d", m.ID, m.Attr)
}

// Numbered returns the members 1 … n.
func Numbered(n int) []Member {
	all := make([]Member, n)
	for i := range all {
		all[i].ID = proto.NodeID(i + 1)
	}
	return all
}

// ParseMembers reads a list such as "3,32:7,5": ids in their order on the ring, some with an attribute.
func ParseMembers(text string) ([]Member, error) {
	var all []Member
	seen := map[proto.NodeID]bool{}
	for one := range strings.SplitSeq(text, ",") {
		name, attr, ranked := strings.Cut(strings.TrimSpace(one), ":")
		id, err := proto.ParseNodeID(name)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		if seen[id] {
			return nil, fmt.Errorf("%q: node %d is there twice: give each node an id of its own", text, id)
		}
		seen[id] = true
		m := Member{ID: id}
		if ranked {
			if m.Attr, err = strconv.ParseInt(attr, 10, 64); err != nil {
				return nil, fmt.Errorf("%q: the attribute %q of node %d is no whole number", text, attr, id)
			}
		}
		all = append(all, m)
	}
	if len(all) > mostNodes {
		return nil, fmt.Errorf("%d nodes: give at most %d", len(all), mostNodes)
	}
	return all, nil
}

// Crash is the crash of a node during an election: when it has sent a message of the kind On, or else after
// the time At.
type Crash struct {
	ID proto.NodeID
	On string
	At time.Duration
}

// String returns "80@ELECTED" or "80@150ms".
func (c Crash) String() string {
	when := c.On
	if when == "" {
		when = c.At.String()
	}
	return fmt.Sprintf("%d@%s", c.ID, when)
}

// ParseCrash reads "80@ELECTED" or "80@150ms". The algorithm must have such a message.
func ParseCrash(text, algorithm string) (Crash, error) {
	name, when, ok := strings.Cut(text, "@")
	if !ok {
		return Crash{}, errors.New("give a node and when it crashes: 80@ELECTED, once it has sent that, or 80@150ms")
	}
	id, err := proto.ParseNodeID(name)
	if err != nil {
		return Crash{}, err
	}
	if d, err := time.ParseDuration(when); err == nil {
		if d < 0 {
			return Crash{}, fmt.Errorf("%s is before the election", when)
		}
		return Crash{ID: id, At: d}, nil
	}
	if err := kind(when, cast{algorithm: algorithm}); err != nil {
		return Crash{}, fmt.Errorf("%q is no time such as 150ms, and %w", when, err)
	}
	return Crash{ID: id, On: when}, nil
}

// The methods below return the arguments of a command. They are valid: Parse has checked them.

// Node returns the node that the i-th word names.
func (c Command) Node(i int) proto.NodeID { return mustID(c.words[i]) }

// Word returns the i-th word.
func (c Command) Word(i int) string { return c.words[i] }

// Words returns all words.
func (c Command) Words() []string { return c.words }

// Span returns the time that the i-th word is.
func (c Command) Span(i int) time.Duration {
	d, _ := time.ParseDuration(c.words[i])
	return d
}

// Number returns the number that the i-th word is.
func (c Command) Number(i int) int64 {
	n, _ := strconv.ParseInt(c.words[i], 10, 64)
	return n
}

// Has reports whether the flag is there.
func (c Command) Has(flag string) bool {
	for _, w := range c.words {
		if w == flag {
			return true
		}
	}
	return false
}

// Option returns the value of an option; given is false if it is not there.
func (c Command) Option(key string) (value string, given bool) {
	value, given = c.options[key]
	return value, given
}

// Is reports whether an option is true.
func (c Command) Is(key string) bool { return c.options[key] == "true" }

// NodeOption returns the node that an option names; zero if it is not there.
func (c Command) NodeOption(key string) proto.NodeID {
	if c.options[key] == "" {
		return 0
	}
	return mustID(c.options[key])
}

// SpanOption returns the time that an option is; zero if it is not there.
func (c Command) SpanOption(key string) time.Duration {
	d, _ := time.ParseDuration(c.options[key])
	return d
}

// NumberOption returns the number that an option is.
func (c Command) NumberOption(key string) int64 {
	n, _ := strconv.ParseInt(c.options[key], 10, 64)
	return n
}

// Options returns all options.
func (c Command) Options() map[string]string { return c.options }

// Members returns the nodes of a command new, in their order on the ring, with their attributes.
func (c Command) Members() []Member {
	all, err := ParseMembers(c.options["ring"])
	if err != nil {
		n, _ := strconv.Atoi(c.options["nodes"])
		all = Numbered(n)
	}
	for i, text := range strings.Split(c.options["attrs"], ",") {
		if text != "" {
			all[i].Attr, _ = strconv.ParseInt(text, 10, 64)
		}
	}
	return all
}

// Spans returns the times in an option.
func (c Command) Spans(key string) (all []time.Duration) {
	for text := range strings.SplitSeq(c.options[key], ",") {
		if d, err := time.ParseDuration(text); err == nil {
			all = append(all, d)
		}
	}
	return all
}

// Nodes returns the nodes that the list in an option names.
func (c Command) Nodes(key string) (ids []proto.NodeID) {
	for text := range strings.SplitSeq(c.options[key], ",") {
		if text != "" {
			ids = append(ids, mustID(text))
		}
	}
	return ids
}

// Groups returns the group of each node of a command partition.
func (c Command) Groups() map[proto.NodeID]int {
	group := map[proto.NodeID]int{}
	for i, ids := range strings.Split(c.words[0], "|") {
		for text := range strings.SplitSeq(ids, ",") {
			group[mustID(text)] = i
		}
	}
	return group
}

// Link returns the two ends of a command cut, and whether it is both ways.
func (c Command) Link() (from, to proto.NodeID, both bool) {
	a, b, one := strings.Cut(c.words[0], ">")
	if !one {
		a, b, _ = strings.Cut(c.words[0], "-")
	}
	return mustID(a), mustID(b), !one
}

func mustID(text string) proto.NodeID {
	id, err := proto.ParseNodeID(text)
	if err != nil {
		panic(fmt.Sprintf("scenario: %q was not checked: %v", text, err))
	}
	return id
}
