package rounds

import "github.com/ringleader-dev/ringleader/algorithms/catalog"

// Says returns the meaning of a kind of message as a sentence that its sender could say. It returns "" if
// this version does not know the kind. It needs the algorithm, since several algorithms may give different
// kinds the same name.
func Says(algorithm, kind string) string {
	if k, ok := catalog.KindOf(algorithm, kind); ok {
		return k.Says()
	}
	return oldWords[kind].said
}
