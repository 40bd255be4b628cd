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

// Missing returns a time at which Why says that the node was missing so, zero if it says none.
func (in *Incident) Missing(id uint64, how string) (at time.Time) {
	longest := time.Duration(-1)
	for _, s := range in.lacks {
		for _, a := range s.missing {
			if a.id == id && a.how == how && s.length() > longest {
				at, longest = s.from.Add(s.length()/2), s.length()
			}
		}
	}
	return at
}
