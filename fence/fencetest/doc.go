// Package fencetest tests a fenced storage: rule by rule, and with many leaders
// at once, whose history it checks for a write that should have been refused.
package fencetest
