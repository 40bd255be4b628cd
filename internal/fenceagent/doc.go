// Package fenceagent runs the operator's fence agent: a command that makes sure
// that a process of another node has stopped ("shoot the other node in the
// head"), and says so by its exit code.
//
// # What it does not promise
//
// The node believes an agent that says that a process has stopped. If the agent lies, two
// processes work at once only if the first still works after the end of its lease:
// the majority's promises and the lease hold whatever the agent says.
//
// # The agreement with an agent
//
// The node starts the agent without a shell and without standard input, in a process
// group of its own. The request is in the agent's environment variables:
//
//	RINGLEADER_FENCE_ACTION    off: stop the process, and confirm that it has
//	                           stopped; status: say whether that would work now
//	RINGLEADER_FENCE_ID        the node whose process is meant
//	RINGLEADER_FENCE_INCARNATION   the process: 32 hexadecimal digits, drawn at its start
//	RINGLEADER_FENCE_ADDR      the node's last known election address, if any
//	RINGLEADER_FENCE_TERM      the term that the process may still lead
//	RINGLEADER_FENCE_NEW_TERM  the term in which the next leader leads once it has stopped
//	RINGLEADER_FENCE_BY        the node that asks
//	RINGLEADER_FENCE_CLUSTER   the cluster's label
//	RINGLEADER_FENCE_ATTEMPT   from 1
//	RINGLEADER_FENCE_REASON    in words
//
// Exit code 0 for off means: the process has stopped, now or before, and does
// nothing any more. Any other code, or a run that exceeds the time limit, means
// that nothing is known. "off" must do no harm when it is run twice. The record
// keeps what the agent prints, up to a few hundred bytes.
//
// There are two built-in agents: PIDFile for processes of one machine, Docker for
// containers.
package fenceagent
