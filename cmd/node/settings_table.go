package main

import (
	"strings"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/execution"
	"github.com/ringleader-dev/ringleader/internal/health"
	"github.com/ringleader-dev/ringleader/internal/pacing"
)

const (
	asReached  = "the bound address, or the kernel's choice towards the first IP to join"
	fromBudget = "from --failover-budget"
)

// table lists every setting of `run` and `exec`, in the order in which help, config show and
// docs/SETTINGS.md print them.
var table = []setting{
	{
		name: "id", derived: "the digits that the hostname ends in, or the number of a replica",
		usage: "this node's `ID`, 1 to 2^53, unique in the cluster and the same after a restart",
		field: func(s *settings) any { return &s.ID },
	},
	{
		name:  "cluster",
		usage: "the cluster's `LABEL`; nodes of another label are refused",
		field: func(s *settings) any { return &s.Cluster },
	},
	{
		name: "algorithm", words: catalog.Names,
		usage: "the election algorithm's `NAME`, the same on every node: " + strings.Join(catalog.Names(), ", "),
		field: func(s *settings) any { return &s.Algorithm },
	},
	{
		name: "preempt", derived: "as the algorithm does by itself",
		usage: "a node that ranks above the leader takes over",
		field: func(s *settings) any { return &s.Preempt },
	},
	{
		name: "voters",
		usage: "the `IDS` that vote, as 1,2,3 or 1-5, the same on every node: a leader then needs " +
			"a majority of them; none, or without: leadership is best-effort",
		field: func(s *settings) any { return &s.Voters },
	},
	{
		name: "store",
		usage: "`URL` of the store on which leadership stands, in place of --voters, the same on every node: " +
			"etcd://HOSTS/PREFIX, zookeeper://HOSTS/PATH, redis://HOSTS/KEY, postgres://HOST/DATABASE?table=NAME " +
			"or kubernetes://NAMESPACE/NAME; see docs/STORES.md",
		field: func(s *settings) any { return &s.Store },
	},
	{
		name: "lease", derived: "twice the failover budget, as of a usual round; 10s on a store",
		usage: "`TIME` for which a voter that elected a leader elects no other, or for which a store keeps a " +
			"leader that does not renew, the same on every node; the leader counts on a little less",
		field: func(s *settings) any { return &s.Lease },
	},
	{
		name: "await-leases",
		usage: "wait a lease out even when the leader's process is seen to have died: for " +
			"networks where something between the nodes ends connections on a living " +
			"process's behalf",
		field: func(s *settings) any { return &s.AwaitLeases },
	},
	{
		name: "first-term",
		usage: "vouch that nobody of this cluster ever voted in term `N` or above, that no lease runs, " +
			"and that --voters are its last: a voter of which nothing is saved then need not be told by others what " +
			"it voted; 0 vouches for nothing; take it away again once somebody leads",
		field: func(s *settings) any { return &s.FirstTerm },
	},
	{
		name: "fence-agent",
		usage: "`COMMAND` that stops the process of a former leader that was not seen to stop, run " +
			"before this node leads; needs --voters, the same on every node; " +
			"see ringleader fence-agent --help",
		field: func(s *settings) any { return &s.FenceAgent },
	},
	{
		name:  "fence-timeout",
		usage: "`TIME` that one run of the fence agent may take",
		field: func(s *settings) any { return &s.FenceTimeout },
	},
	{
		name: "pid-file",
		usage: "`FILE` to write that names this process, {id} in it standing for its id, for the " +
			"fence agent pidfile; it stays when the process ends",
		field: func(s *settings) any { return &s.PIDFile },
	},
	{
		name: "reconcile-cmd",
		usage: "shell `COMMAND` that reconciles what two leaders did at once, run when both have " +
			"stopped and before one is elected; at least once a split",
		field: func(s *settings) any { return &s.ReconcileCmd },
	},
	{
		name:  "reconcile-timeout",
		usage: "`TIME` after which a run of the reconcile command is killed",
		field: func(s *settings) any { return &s.ReconcileTimeout },
	},
	{
		name: "rank-by",
		usage: "the `ATTRIBUTE` that elections compare: id, ip, cpu, memory, disk[:DIR], " +
			"files:DIR or number:N; the highest wins, then the highest id",
		field: func(s *settings) any { return &s.RankBy },
	},
	{
		name: "join",
		usage: "gossip address of another node, as `HOST[:PORT]`; repeatable, tried for ever; " +
			"a name means all its addresses, and no port the one of --gossip-bind",
		field: func(s *settings) any { return &s.Join },
	},
	{
		name:  "gossip-bind",
		usage: "`IP:PORT` to listen on for gossip (UDP and TCP); port 0: the kernel chooses",
		field: func(s *settings) any { return &s.GossipBind },
	},
	{
		name: "gossip-advertise", derived: asReached,
		usage: "`IP[:PORT]` at which the others reach this node for gossip",
		field: func(s *settings) any { return &s.GossipAdvertise },
	},
	{
		name:  "election-bind",
		usage: "`IP:PORT` to listen on for election messages (TCP); port 0: the kernel chooses",
		field: func(s *settings) any { return &s.ElectionBind },
	},
	{
		name: "election-advertise", derived: asReached,
		usage: "`IP[:PORT]` at which the others reach this node for election messages",
		field: func(s *settings) any { return &s.ElectionAdvertise },
	},
	{
		name:  "http-bind",
		usage: "`IP:PORT` to listen on for the HTTP API; port 0: the kernel chooses",
		field: func(s *settings) any { return &s.HTTPBind },
	},
	{
		name: "api-token-file",
		usage: "`FILE` with the token that lets its bearer change this node over HTTP from " +
			"elsewhere than its own machine, or with lines operate TOKEN and read TOKEN, the latter for who may " +
			"only read; the same on every node; mode 0600",
		field: func(s *settings) any { return &s.tokenFile },
	},
	{
		name: "credentials",
		usage: "`DIR` with this node's certificate and keys, as ringleader certs makes it, {id} in it standing for " +
			"the id: links, gossip and HTTP are then encrypted, and only who proves itself takes part",
		field: func(s *settings) any { return &s.Credentials },
	},
	{
		name: "insecure",
		usage: "run without credentials although other machines reach this node, which then believes whoever can " +
			"send packets to it",
		field: func(s *settings) any { return &s.Insecure },
	},
	{
		name: "data-dir", derived: "ringleader-data/ID",
		usage: "`DIR` for the term and the vote, of this node alone; {id} in it stands for the id",
		field: func(s *settings) any { return &s.DataDir },
	},
	{
		name: "profile", words: pacing.ProfileNames,
		usage: "how fast failures are noticed, as `NAME`: lan, local or fast",
		field: func(s *settings) any { return &s.Profile },
	},
	{
		name: "failover-budget", derived: "of the profile: 1s, 500ms or 250ms; 1.75 times that with hs",
		usage: "`TIME` in which a leader that hangs is to be replaced; heartbeats and all that elections wait " +
			"follow from it",
		field: func(s *settings) any { return &s.FailoverBudget },
	},
	{
		name: "log-level", words: func() []string { return []string{"debug", "info", "warn", "error"} },
		usage: "the lowest `LEVEL` to log: debug, info, warn or error",
		field: func(s *settings) any { return &s.LogLevel },
	},
	{
		name: "log-format", fallback: "auto", words: func() []string { return []string{"auto", "json", "console"} },
		usage: "`FORMAT` of the log: json, console, or auto: console on a terminal",
		field: func(s *settings) any { return &s.logFormat },
	},
	{
		name: "health-cmd",
		usage: "`COMMAND` for /bin/sh that ends with 0 while this node is fit to lead: an " +
			"unhealthy leader resigns, an unhealthy node does not stand",
		field: func(s *settings) any { return &s.Health.Command },
	},
	{
		name: "health-http",
		usage: "the same by HTTP: a GET of `URL` is answered with a status from 200 to 399 " +
			"while this node is fit to lead",
		field: func(s *settings) any { return &s.Health.URL },
		show: func(s *settings) any {
			u, err := health.ParseURL(s.Health.URL)
			if err != nil {
				return ""
			}
			return u.Redacted()
		},
	},
	{
		name:  "health-interval",
		usage: "`TIME` from one asking of a check to the next",
		field: func(s *settings) any { return &s.Health.Interval },
	},
	{
		name:  "health-timeout",
		usage: "`TIME` that a check may take, then it is ended and has failed",
		field: func(s *settings) any { return &s.Health.Timeout },
	},
	{
		name:  "health-rise",
		usage: "`NUMBER` of passes in a row that make a failed check well",
		field: func(s *settings) any { return &s.Health.Rise },
	},
	{
		name:  "health-fall",
		usage: "`NUMBER` of failures in a row that make a check fail",
		field: func(s *settings) any { return &s.Health.Fall },
	},
	{
		name: "health-hold-down",
		usage: "`TIME` for which all checks of a node that was unhealthy are well before it stands " +
			"again, unless nobody else could lead; it doubles each time",
		field: func(s *settings) any { return &s.Health.HoldDown },
	},
	{
		name:  "health-memory",
		usage: "`PERCENT` of the memory in use from which on this node is unhealthy; 0: never",
		field: func(s *settings) any { return percent{&s.Health.Memory} },
	},
	{
		name: "health-disk",
		usage: "`PERCENT` of the disk of --data-dir in use from which on this node is unhealthy; " +
			"below 1 MiB free it always is; 0: never",
		field: func(s *settings) any { return percent{&s.Health.Disk} },
	},
	{
		name: "grace", only: "exec", derived: "what the lease allows; 5s without one",
		usage: "`TIME` that the command has from SIGTERM to SIGKILL when leadership ends; it is " +
			"dead before the lease is",
		field: func(s *settings) any { return &s.exec.Grace },
	},
	{
		name: "stop-grace", only: "exec", fallback: "8s",
		usage: "`TIME` that the command has when this process is told to stop: the node goes on leading meanwhile",
		field: func(s *settings) any { return &s.exec.StopGrace },
	},
	{
		name: "restart", only: "exec", fallback: execution.Elected,
		words: func() []string { return execution.Restarts },
		usage: "`WHEN` to start the command again: elected: when this node leads again; " +
			"always: when it ended by itself, too; never: this node ends with 75 when it leads no more",
		field: func(s *settings) any { return &s.exec.Restart },
	},
}
