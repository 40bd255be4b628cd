// Package bench measures real clusters: how long a failover takes, what one hop costs, and how both
// grow with the number of nodes. Beside each figure it measures the floor: the least that the
// machine itself allows in the same minute.
//
// The observer stands outside the nodes: it starts processes, sends signals and reads the records
// that they write. All of them share one machine and so one clock.
//
// What it does not measure: networks with latency, other machines' disks, and anything on a machine
// that has other work to do at the same time. The load at the start is part of every report.
package bench
