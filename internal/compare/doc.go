// Package compare puts every algorithm through the same faults and sets the figures
// side by side: real processes under one seeded script of faults, with and without
// voters and on stores, and elections without failures in the simulator, as the cluster grows.
//
// Each fault meets a cluster of its own, made in the same way and at rest. Nodes wait
// longer between the elections that they call in a series; on one cluster the last
// fault of a script would measure the ones before it.
//
// The nodes' own records say who led when. A process leads from its record that it leads
// until its record that it leads no more, its death, or the end of its lease. A process
// that hangs and has no lease leads all the while: it would act when it wakes.
//
// It measures no distribution. A step is one sample, and other work on the machine
// affects it. For more samples, name a step several times, or use
// `ringleader bench failover`.
package compare
