// Package supervise runs a command so that nothing of it outlives whoever
// started it, nor a deadline.
//
// A Supervisor starts a keeper: a process of its own, from the same executable,
// that runs the command and is the subreaper of all that comes of it. A process
// that forks, leaves its session and closes its descriptors is a child of the
// keeper in the end. The tree is gone when the keeper has no child left, and not
// before.
//
// # What it promises
//
//   - Run returns when the whole tree is gone.
//   - When the supervising process ends, however it ends, the keeper reads the
//     end of its socket, kills the tree, and ends after it.
//   - The deadline is kept by the keeper, on a clock that goes on in suspend:
//     SIGTERM a grace before it, SIGKILL a little before it, also while the
//     supervising process is stopped.
//   - When the keeper ends, the kernel kills the command, and the supervising
//     process, to which the rest of the tree falls, kills that.
//   - Nothing of the tree becomes another user's, whose processes the keeper could not
//     kill: without CAP_KILL setuid bits and file capabilities are ignored
//     (PR_SET_NO_NEW_PRIVS). sudo, for one, then says so, and ends.
//   - The files in Config.Hold are open in the keeper and in the command. So the
//     last of them is closed only after the last of the tree.
//
// A Job is less: a hook or a check, of which the process itself ends with the one that
// runs it, and its process group when it takes too long. If that one is killed, what the
// command had started in its turn lives on, unless it ends by itself.
//
// # What it does not promise
//
// That a process ends which the kernel cannot end, as one that waits for a dead disk:
// Run waits for it. That work which another process does for the command ends, as a
// container that it had a daemon start. That the deadline is kept while the supervising
// process and the keeper are both stopped, and the command is not. And if the two are
// killed in the same instant, a descendant of the command lives on; it holds the files,
// unless it closed what it did not open. Not so where the supervising process is the first
// of a PID namespace, as in a container: then the kernel ends all with it.
//
// # Platforms
//
// Subreapers are a thing of Linux. Elsewhere Start returns ErrUnsupported;
// Output works on every Unix.
package supervise
