package sim

// table has an entry for each process, or for each node, by its number; they begin
// as zeros. Checkers look theirs up in every Step: this takes no hash of a session.
type table[T any] []T

// at is the entry of a number. It is good until another one is asked for.
func (t *table[T]) at(number int) *T {
	for len(*t) <= number {
		*t = append(*t, *new(T))
	}
	return &(*t)[number]
}
