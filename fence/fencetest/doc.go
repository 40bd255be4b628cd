// Package fencetest tests a fenced storage. It tests rule by rule, and it lets many
// leaders write at once and checks their history for a write that should have been refused.
package fencetest
