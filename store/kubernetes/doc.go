// Package kubernetes holds elections in Kubernetes: one Lease object for each, of coordination.k8s.io/v1. It
// follows the recipe of package leaderelection of client-go, so that controllers made with that and nodes of
// Ringleader exclude each other.
//
// # The recipe
//
// A Lease says who holds it:
//
//	holderIdentity        the text of the candidate, "" for nobody
//	leaseDurationSeconds  for how long, from when the others see that the object has changed
//	acquireTime           when the holder took it, by the holder's clock
//	renewTime             when the holder last renewed it, by the holder's clock
//	leaseTransitions      how often the holder has changed
//
// The object's resource version goes into each update, and the API server refuses the update if the object has
// changed since. So of two that update at once, one succeeds, and the other reads again.
//
//	look    read the object
//	stand   if nobody holds it, or the holder has not renewed it in time, or is proven dead: update it
//	renew   update it, from what was last seen
//	leave   update it: holderIdentity "", for a second
//	remove  the same, if the holder is that very entry, and it is not lent
//
// The times in the object are for people: nobody's clock is compared with another's. A lease is over when the
// object has not changed for leaseDurationSeconds, by the monotonic clock of whoever watches it.
//
// client-go reads the times in whole seconds: of two renewals in one second it does not notice the later one, and may
// take the lease up to a second before the holder believes that it ends. Its own holders stop sooner, by
// RenewDeadline. Here a renewal in the same second promises no more than the one before. A node renews three times a
// TTL, so that costs nothing from a TTL of 3 seconds on. Durations are in whole seconds; a TTL is rounded down.
//
// # The token
//
// It is the resource version that the update by which the holder took the lease replaced, and stands in the same
// update as the annotation ringleader.dev/token. Of two updates that take the lease, the later one replaces what
// the earlier one made, or something later, so its token is above. The version of the update itself would do,
// too, but is known only afterwards. It could be written by a second update before the leadership begins,
// which costs each failover a write; or with the first renewal, and until then others would guess. The first
// update of a lease would have nothing to replace: a Lease that is not there is created without a holder.
//
// leaseTransitions is no token: it starts again when somebody deletes the object. A resource version is a
// revision of all of etcd, which goes back only when a backup is restored. A stranger writes no token. Its token
// is one below the version at which this process first saw it hold the lease: above all before, and below
// what the next one replaces.
//
// # Why not by client-go
//
// All that is needed is one kind of object, three requests and a watch. A program that does nothing but this
// is of 6.7 MB, and one with client-go's leaderelection of 36.4 MB. Its LeaderElector has no token, does not remove
// the entry of a process that is proven dead, and repeats requests by itself. Requests go over HTTP/1.1, since
// one that hangs then takes only its own connection with it.
//
// # What it does not promise
//
// A lease is one by clocks that run at about the same rate. Who restores a backup of etcd sets tokens back.
//
// # Sources
//
// k8s.io/client-go/tools/leaderelection; "Leases", "Kubernetes API Concepts" on resource versions and watches,
// kubernetes.io.
package kubernetes
