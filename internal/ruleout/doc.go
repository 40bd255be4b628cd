// Package ruleout plays algorithms without single rules of the lecture notes, to show what each prevents. Package
// mutant says how. The rules of one algorithm are in its folder; those that all with voters share, and that of
// the store, are here.
package ruleout
