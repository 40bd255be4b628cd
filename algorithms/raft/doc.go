// Package raft is Raft's leader election.
package raft
