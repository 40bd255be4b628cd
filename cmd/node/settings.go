package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/internal/execution"
	"github.com/ringleader-dev/ringleader/internal/pacing"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
	"github.com/ringleader-dev/ringleader/store/all"
)

// settings is the values of all settings of `run` and `exec`.
type settings struct {
	ringleader.Config
	tokenFile string // the file that Config.APIToken is read from
	logFormat string
	exec      execution.Config
	pacing    pacing.Pacing // follows from the failover budget
}

// setting is one row of the table: everything about one setting. It says how to read a value;
// ringleader.Config checks whether the value is right.
type setting struct {
	name     string // of the flag and of the key in a file
	usage    string
	fallback string              // the default, as a user writes it, if ringleader.Config has no such setting
	derived  string              // a text that describes a default which follows from something else
	only     string              // the one command that has the flag; "" for all
	words    func() []string     // the allowed values; nil if any value is allowed
	field    func(*settings) any // a pointer to where the value is kept
	show     func(*settings) any // the value to be shown; nil for the field
}

// retired lists the settings that were removed. Whoever still gives one gets an error with its
// usage: what to do instead.
var retired = []setting{
	{
		name:  "rejoin-voter",
		usage: "it is no longer needed: a voter of which nothing is saved asks the others by itself; leave it out",
		field: func(*settings) any { return new(bool) },
	},
	renamed("promise", "lease"), renamed("keep-promises", "await-leases"),
	followsFromBudget("heartbeat"), followsFromBudget("heartbeat-misses"), followsFromBudget("latency"),
}

func followsFromBudget(name string) setting {
	return setting{
		name: name, field: func(*settings) any { return new(string) },
		usage: "it is no setting any more, and follows from failover-budget: leave it out, " +
			"or give a larger or smaller budget; ringleader config show prints what follows",
	}
}

func renamed(name, now string) setting {
	return setting{
		name: name, usage: "it is called " + now + " now: leave it out, and give that",
		field: func(*settings) any { return new(string) },
	}
}

// percent points to a percentage. A user writes 0 for never; ringleader.Config has -1 for that.
type percent struct{ n *int }

// unset shows the types of the settings' fields. Nobody changes it.
var unset settings

// isList reports whether the setting has several values, separated by commas in one text.
func (s setting) isList() bool {
	switch s.field(&unset).(type) {
	case *[]string, *[]proto.NodeID:
		return true
	}
	return false
}

// isBool reports whether the bare flag means true.
func (s setting) isBool() bool {
	switch s.field(&unset).(type) {
	case *bool, **bool:
		return true
	}
	return false
}

// noVoters is the value of the setting voters that means: no node votes.
const noVoters = "none"

// parse reads the values that a user wrote into the setting's field. It refuses 0 for a number or a
// time: ringleader.Config would take it for the default.
func (s setting) parse(to *settings, values []string) (err error) {
	switch at := s.field(to).(type) {
	case *[]string:
		*at = values
		return nil
	case *[]proto.NodeID:
		if !slices.Equal(values, []string{noVoters}) {
			*at, err = proto.ParseIDRanges(values)
		}
		return err
	}
	if len(values) != 1 || values[0] == "" {
		return errors.New("want one value")
	}
	text := values[0]
	switch at := s.field(to).(type) {
	case *string:
		*at = text
	case *store.Store:
		*at, err = all.Parse(text)
	case *proto.NodeID:
		*at, err = proto.ParseNodeID(text)
	case *proto.Term:
		var n uint64
		n, err = strconv.ParseUint(text, 10, 64)
		*at = proto.Term(n)
		err = instead(err, "want a whole number from 0 to %d", proto.MaxTerm)
	case *bool:
		*at, err = strconv.ParseBool(text)
		err = instead(err, "want true or false")
	case **bool:
		var yes bool
		yes, err = strconv.ParseBool(text)
		*at, err = &yes, instead(err, "want true or false")
	case *int:
		if *at, err = strconv.Atoi(text); err != nil || *at <= 0 {
			err = errors.New("want a number from 1")
		}
	case percent:
		if *at.n, err = strconv.Atoi(text); err != nil || *at.n < 0 {
			err = errors.New("want a number from 0 to 100")
		}
		if *at.n == 0 {
			*at.n = -1
		}
	case *time.Duration:
		if *at, err = time.ParseDuration(text); err != nil {
			err = errors.New("want " + wantedTime(text, "500ms"))
		} else if *at <= 0 {
			err = errors.New("want a time with its unit, like 500ms")
		}
	}
	if err == nil && s.words != nil && s.fallback != "" { // else the Config looks at it
		err = oneOf(text, s.words())
	}
	return err
}

// instead returns nil if err is nil, otherwise an error with another text.
func instead(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// value returns the value in effect: a string, a number, true or false, or a list.
func (s setting) value(of *settings) any {
	if s.show != nil {
		return s.show(of)
	}
	switch at := s.field(of).(type) {
	case *[]string:
		return append([]string{}, *at...)
	case *[]proto.NodeID:
		return proto.IDRanges(*at)
	case *string:
		return *at
	case *store.Store:
		if *at == nil {
			return ""
		}
		return (*at).String()
	case *proto.NodeID:
		return uint64(*at)
	case *proto.Term:
		return uint64(*at)
	case *bool:
		return *at
	case **bool:
		return **at
	case *int:
		return *at
	case percent:
		return max(0, *at.n)
	case *time.Duration:
		return at.String()
	}
	return nil
}

// plain returns a setting's value as a user would write it; "-" for an empty one.
func plain(value any) string {
	text := fmt.Sprint(value)
	if values, ok := value.([]string); ok {
		text = strings.Join(values, ",")
	}
	if text == "" {
		return "-"
	}
	return text
}

// defaults returns the settings of a node whose user gave only an id.
var defaults = sync.OnceValue(func() *settings {
	c, _ := ringleader.Config{ID: 1, GossipAdvertise: "127.0.0.1", ElectionAdvertise: "127.0.0.1"}.WithDefaults()
	c.HTTPBind = defaultHTTP
	return &settings{Config: c}
})

// defaultText returns the default as the help prints it; "" if there is none.
func (s setting) defaultText() string {
	switch {
	case s.derived != "" || s.fallback != "":
		return s.fallback + s.derived
	case plain(s.value(defaults())) == "-":
		return ""
	}
	return plain(s.value(defaults()))
}

// env returns the name of the setting's environment variable.
func (s setting) env() string { return envName(s.name) }

// origin is the place that a value comes from.
type origin struct {
	Source string // flag, environment, file, default
	Where  string // which flag, variable, line, or what the default was derived from
}

func (o origin) String() string {
	if o.Where == "" {
		return o.Source
	}
	return o.Source + " (" + o.Where + ")"
}

// given is a value as somebody wrote it.
type given struct {
	values []string
	origin origin
}

// named returns the setting of that name.
func named(name string) (setting, bool) {
	for _, s := range slices.Concat(table, retired) {
		if s.name == name {
			return s, true
		}
	}
	return setting{}, false
}

// names returns the names of all settings.
func names() []string {
	all := make([]string, 0, len(table))
	for _, s := range table {
		all = append(all, s.name)
	}
	return all
}
