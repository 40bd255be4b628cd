// Package compare puts every algorithm through the same faults and sets the figures
// side by side: real processes under one seeded script of faults, with and without
// an office, and elections without failures in the simulator, as the cluster grows.
//
// Each fault meets a cluster of its own, made in the same way and at rest. Nodes wait
// longer between the elections that they call in a series; on one cluster the last
// fault of a script would measure the ones before it.
//
// Who led when is read from the nodes' own records: a process leads from its record
// that it does to its record that it does not, its death, or the end of its lease. A
// process that hangs, without a lease, leads all the while: it would act on waking.
//
// What it does not tell: a distribution. A step is one sample, and on a machine that
// has other work to do it measures that too. Whoever wants more names a step several
// times, or asks `ringleader bench failover`.
package compare
