package main

import (
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/rounds/report"
)

// pageful is how many rounds are listed unless the user wants more: as many as a person reads.
const pageful = 40

// selection reads the flags that say which rounds are listed.
func selection(ctx *cli.Context, format string) (s report.Selection, err error) {
	now := time.Now()
	if s.Since, err = timeOf("since", ctx.String("since"), now); err != nil {
		return s, err
	}
	if s.Until, err = timeOf("until", ctx.String("until"), now); err != nil {
		return s, err
	}
	if !s.Until.IsZero() && s.Until.Before(s.Since) && s.Until.Year() > 0 {
		return s, usagef("--until %s is before --since %s", ctx.String("until"), ctx.String("since"))
	}
	s.Last, s.Findings = ctx.Int("last"), ctx.Bool("findings")
	if s.Last < 0 {
		return s, usagef("--last %d: want a number from 0 on", s.Last)
	}
	if !ctx.IsSet("last") && (format != "text" || s.Findings || !s.Since.IsZero() || !s.Until.IsZero()) {
		s.Last = 0
	}
	return s, nil
}

// timeLayouts are the forms of a point in time, in UTC unless it names a zone.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05", time.DateTime, "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly,
	time.TimeOnly, "15:04", // in the year 0: of the day of the last record
}

// timeOf reads a point in time: a date and time, a time of day, or how long ago. An empty word is the zero time.
func timeOf(flag, word string, now time.Time) (time.Time, error) {
	if word == "" {
		return time.Time{}, nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, word); err == nil {
			return t, nil
		}
	}
	if ago, err := time.ParseDuration(word); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	return time.Time{}, usagef("--%s %q: want a time of the last day like 15:04:05, a date and time like "+
		"2006-01-02T15:04:05Z, or how long ago, like 10m; all in UTC", flag, word)
}
