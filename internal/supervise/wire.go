package supervise

import "time"

// What goes over the socket between the Supervisor and the keeper, one gob after
// the other: unlike JSON it leaves the bytes of arguments as they are.

// request is what the Supervisor wants. Exactly one field is set.
type request struct {
	Start    *start
	Signal   int   // to the command's process group
	Stop     bool  // TERM, and after the grace KILL
	Kill     bool  // KILL
	Deadline bound // replaces that of start
}

// start is a Spec, and what of the Config it goes by.
type start struct {
	Path            string
	Args, Env       []string
	Deadline        bound
	Grace, KillTime time.Duration
	Foreground      bool // the command's process group gets the terminal
}

// bound is when something ends, in time since the machine booted, its suspends
// included; zero for never. It means the same in every process.
type bound time.Duration

// answer is what the keeper tells. Exactly one field is set.
type answer struct {
	Errno int   // the command could not be started
	Ended *Exit // all of its tree is gone
}
