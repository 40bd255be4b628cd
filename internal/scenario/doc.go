// Package scenario is the language in which a story about a cluster is written: who crashes, who is told,
// which message is lost, and what must come of it. The simulator plays such a story in virtual time, and
// real processes play most of it on loopback.
//
// A script is a list of steps. A step is some commands, one a line, then a line "----", and then what
// playing it prints, up to an empty line. Comments begin with #; those before a step tell what it is
// about. The expected text may be missing. Package datadriven reads the same files.
//
// Help returns the commands.
package scenario
