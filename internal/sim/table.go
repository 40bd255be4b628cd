package sim

// table has an entry for each process, or each node, by its number. Entries begin as zero values.
// Checkers look entries up in every Step; a table needs no hash of an incarnation.
type table[T any] []T

// at returns the entry with this number. The pointer is valid until the next call of at.
func (t *table[T]) at(number int) *T {
	for len(*t) <= number {
		*t = append(*t, *new(T))
	}
	return &(*t)[number]
}
