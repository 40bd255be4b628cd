// Package topology is the ring that messages go round: "N processes are organized
// in a logical ring. i-th process pi has a communication channel to
// p(i+1) mod N." (lecture notes) It is what the algorithms on a ring share:
// who the neighbours are, what is sent again when one of them dies, and how an
// announcement goes round and comes home.
//
// # What it does not promise
//
// Each node forms the ring from its own view. Nodes that disagree about who is
// alive form different rings. A message goes to one neighbour only: if that way
// is cut and the detector does not say so, it ends there.
package topology
