package rounds

import "github.com/ringleader-dev/ringleader/algorithms/catalog"

// Says is what a message of that kind says, in the words of the one who sends
// it; "" of a kind that this version does not know. Several algorithms share
// names.
func Says(algorithm, kind string) string {
	k, ok := catalog.KindOf(algorithm, kind)
	if !ok {
		return ""
	}
	return k.Says()
}
