package main

import (
	"slices"

	"github.com/ringleader-dev/ringleader"
)

// settings is everything that `run` and `exec` can be told.
type settings struct {
	ringleader.Config
	tokenFile string // that Config.APIToken is read from
	logFormat string
	exec      execSettings
}

// setting is one row of the table: all there is to know about one setting.
type setting struct {
	name     string // of the flag and of the YAML key
	usage    string
	fallback string // the default as one would write it; "" when derived
	derived  string // a derived default in words
	whence   string // what the derived default is derived from, as config show says it
	only     string // the one command that has the flag; "" for all
	form     form
	parse    func(s *settings, values []string) error
	show     func(s *settings) any // the effective value: a string, number, bool or list
}

// retired are settings that are for nothing any more, with what to do instead: whoever
// still gives one is told.
var retired = []setting{{
	name: "rejoin-voter", form: yesNo,
	usage: "it is no longer needed: a voter of which nothing is saved asks the others by itself; " +
		"leave it out",
}}

// form is how a setting is written.
type form int

const (
	word  form = iota
	list       // repeatable; with commas in one string
	yesNo      // the bare flag means true
)

// env is the setting's environment variable.
func (s setting) env() string { return envName(s.name) }

// origin is where a value comes from.
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

// named returns the setting of that name from the table.
func named(name string) (setting, bool) {
	for _, s := range slices.Concat(table, retired) {
		if s.name == name {
			return s, true
		}
	}
	return setting{}, false
}

// names are the settings' names.
func names() []string {
	all := make([]string, 0, len(table))
	for _, s := range table {
		all = append(all, s.name)
	}
	return all
}
