// Package history judges what clients saw of a storage that checks fencing
// tokens: whether all their calls fit one order in which each took effect at one
// instant between its call and its return (linearizability), and whether a write
// was accepted after a higher token had been seen.
//
// The judge shares no code with the storage: the rule for tokens is written down
// here once more. What it does not judge: calls that no client wrote down.
//
// Source: Herlihy and Wing, "Linearizability: a correctness condition for
// concurrent objects" (1990); the search is porcupine's.
package history
