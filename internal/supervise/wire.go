package supervise

import "time"

// The Supervisor and the subreaper send each other the messages below over a socket, as msgpack,
// one after the other. Unlike JSON, msgpack leaves the bytes of arguments as they are.

// request is a message from the Supervisor to the subreaper. Exactly one field is set.
type request struct {
	Start    *start
	Signal   int   // send this to the command's process group
	Stop     bool  // send TERM, and after the grace KILL
	Kill     bool  // send KILL
	Deadline bound // replaces the deadline of start
}

// start is a Spec, with the parts of the Config that concern its run.
type start struct {
	Path            string
	Args, Env       []string
	Deadline        bound
	Grace, KillTime time.Duration
	Foreground      bool // the command's process group becomes the terminal's foreground group
}

// bound is an instant, as the time since the machine booted, including the time suspended; zero for
// never. It means the same in every process.
type bound time.Duration

// answer is a message from the subreaper to the Supervisor. Exactly one field is set.
type answer struct {
	Errno int   // the command could not be started, for this reason
	Ended *Exit // how the command ended; all of its tree is gone
}
