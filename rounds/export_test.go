package rounds

import "time"

// For tests: a sentence of the former release as it is told now, and the ranks in its words
// for a message.
var (
	Formerly    = formerly
	FormerRanks = formerRanks
)

// FormerCodes are those that sentences of the former release are told with.
func FormerCodes() (codes []string) {
	for _, f := range formerTable() {
		codes = append(codes, f.code)
	}
	for _, told := range formerFixed {
		codes = append(codes, told.Code)
	}
	return codes
}

// Lack returns the longest time in which the same ones of the voters that Why names were missing. It is zero if Why
// names none.
func (in *Incident) Lack() (from, until time.Time) { return in.lack.from, in.lack.until }

// Apart returns when no voter saw a majority of them, if Why says so.
func (in *Incident) Apart() (from, until time.Time) { return in.apart.from, in.apart.until }

// MissingFor returns the time of which Missing returns the middle.
func (in *Incident) MissingFor(id uint64, how string) (from, until time.Time) {
	s := in.missing(id, how)
	return s.from, s.until
}
