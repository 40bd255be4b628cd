package history

import (
	"maps"

	"github.com/anishathalye/porcupine"

	"github.com/ringleader-dev/ringleader/fence"
)

// storage is a model of the storage that calls change one after the other.
type storage struct {
	highest fence.Token
	values  map[string]string // a write replaces the map, and never changes it
}

func (s storage) equal(other storage) bool {
	return s.highest == other.highest && maps.Equal(s.values, other.values)
}

// admits reports whether the rule for tokens allows t: the term of t is higher than that of the
// highest token seen, or t is that token, with the same holder.
func (s storage) admits(t fence.Token) bool { return t.Term > s.highest.Term || t == s.highest }

// with returns the storage as it is after the write c.
func (s storage) with(c Call) storage {
	s.highest = c.Token
	if c.Kind == Put {
		values := maps.Clone(s.values)
		values[c.Key] = c.Value
		s.values = values
	}
	return s
}

// after returns the states in which the call may leave the storage; none if the storage could not
// have given this answer.
func (s storage) after(c Call) []any {
	asAnybody := c.Token == fence.Token{}
	switch {
	case c.Outcome == Unknown && c.writes() && s.admits(c.Token):
		return []any{s, s.with(c)}
	case c.Outcome == Unknown:
		return []any{s}
	case c.Outcome == Stale && c.Current == s.highest && !s.admits(c.Token):
		return []any{s}
	case c.Outcome == Stale:
		return nil
	case c.writes() && s.admits(c.Token):
		return []any{s.with(c)}
	case c.Kind == Get && s.values[c.Key] == c.Value && (asAnybody || c.Token == s.highest):
		return []any{s}
	}
	return nil
}

// model is the same model in the form that porcupine takes.
var model = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{storage{values: map[string]string{}}} },
	Step: func(s, call, _ any) []any {
		return s.(storage).after(call.(Call)) //nolint:forcetypeassert // what Init and Check put in
	},
	Equal: func(a, b any) bool {
		return a.(storage).equal(b.(storage)) //nolint:forcetypeassert // as above
	},
}).ToModel()
