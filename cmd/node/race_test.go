//go:build race

package main

// underRace says whether the race detector watches this program. It multiplies the memory of a process.
const underRace = true
