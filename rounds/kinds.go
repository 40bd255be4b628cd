package rounds

import "github.com/ringleader-dev/ringleader/algorithms/catalog"

// Says is what a message of a kind says, in the words of its sender. It is empty if this
// version does not know the kind. Several algorithms use one name.
func Says(algorithm, kind string) string {
	if k, ok := catalog.KindOf(algorithm, kind); ok {
		return k.Says()
	}
	return oldWords[kind].said
}
