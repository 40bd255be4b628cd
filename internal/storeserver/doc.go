// Package storeserver starts the server of a store on this machine's loopback, for the demo, the benchmarks and
// the tests: Redis, PostgreSQL, etcd or ZooKeeper, as far as their programs are installed. It ends what it
// started, and nothing else: the data is in a temporary directory, and on Linux the server dies with this process.
package storeserver
