// Package supervise runs a command. No process of the command outlives the process that
// called Run, or a deadline.
//
// A Supervisor starts a subreaper: a process of its own, from the same executable, that runs the
// command and adopts all its descendants. Even a process that forks, leaves its session and closes
// its descriptors becomes a child of the subreaper when its own parent ends. The tree is gone when
// the subreaper has no child left, and not before.
//
// # What it promises
//
//   - Run returns when the whole tree is gone.
//   - When the supervising process ends, for whatever reason, the subreaper reads the end of its
//     socket, kills the tree, and then ends.
//   - The subreaper keeps the deadline, on a clock that goes on while the machine is suspended. It
//     sends SIGTERM a grace before the deadline, and SIGKILL a little before it, even while the
//     supervising process is stopped.
//   - When the subreaper ends, the kernel kills the command. The supervising process adopts the
//     rest of the tree and kills it.
//   - No process of the tree runs as another user whose processes the subreaper could not kill:
//     without CAP_KILL, setuid bits and file capabilities are ignored (PR_SET_NO_NEW_PRIVS). Then
//     sudo, for example, says so and ends.
//   - The files in Config.Hold are open in the subreaper and in the command. So they are closed
//     only after the last process of the tree has ended.
//
// A Job promises less. It is for a hook or a check. Its process ends when the process that runs it
// ends; its process group is killed when it takes too long. If the process that runs it is killed,
// what the command had started lives on until it ends by itself.
//
// # What it does not promise
//
//   - A process may not end although it is killed, for example while it waits for a dead disk. Run
//     waits for it.
//   - Work that another process does for the command does not end, for example a container that a
//     daemon started for it.
//   - The deadline is not kept while the supervising process and the subreaper are both stopped and
//     the command is not.
//   - If the supervising process and the subreaper are killed at the same instant, descendants of
//     the command live on. They hold the files, unless they closed all descriptors. This does not
//     happen if the supervising process is the first of a PID namespace, as in a container: then
//     the kernel ends all processes with it.
//
// # Platforms
//
// Only Linux has subreapers. On other systems Start returns ErrUnsupported; Output works on every
// Unix.
package supervise
