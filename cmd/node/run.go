package main

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/algorithms"
)

func runCommand() *cli.Command {
	return &cli.Command{
		Name:  "run",
		Usage: "run one node until it is told to stop",
		Description: "Every flag is also a variable of the environment, RINGLEADER_ and its name in\n" +
			"capitals (RINGLEADER_GOSSIP_BIND), and a key of the file that --config names.\n" +
			"A flag wins over the environment, the environment over the file.\n\n" +
			"SIGTERM or SIGINT: resign, leave, end with 0. A second one: end at once, with\n" +
			"128 + its number. Records and log lines go to standard error.",
		Flags:  settingFlags("run"),
		Action: runNode,
	}
}

// runNode runs a node from its start to its end.
func runNode(ctx *cli.Context) error {
	// From here on a signal waits in the channel until the node can obey it.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)

	r, err := resolveFrom(ctx)
	if err != nil {
		return err
	}
	records := newLogger(os.Stderr, r.logLevel, r.logFormat)
	log := nodeLog(records, r)
	oneProcessor()
	smallHeap()
	err = operate(r, records, log, signals)
	if err != nil {
		log.Error().Err(err).Int("exit_code", exitCode(err)).Msg("the node ended")
		return mark(err, errTold)
	}
	log.Info().Msg("the node resigned and left")
	return nil
}

// nodeLog is the log of a node for what is no record. What its settings make one
// wary of stands there first.
func nodeLog(records zerolog.Logger, r resolved) zerolog.Logger {
	log := records.With().Timestamp().
		Str("cluster", r.cluster).Uint64("node", uint64(r.id)).Logger()
	for _, warning := range r.warnings {
		log.Warn().Msg(warning)
	}
	if len(r.voters) == 0 {
		log.Warn().Msg("no voters are configured: leadership is best-effort, and in a partition " +
			"each side has a leader; name the voters with --voters")
	}
	return log
}

// operate starts a node and runs it until a signal or a failure ends it.
func operate(r resolved, records, log zerolog.Logger, signals <-chan os.Signal) error {
	d, err := launch(r, records, log)
	if err != nil {
		return err
	}
	select {
	case err := <-d.failed:
		return errors.Join(err, d.die())
	case s := <-signals:
		log.Info().Stringer("signal", s).Msg("told to stop: resigning")
		go obeyAtOnce(signals)
		return d.leave()
	}
}

// launch starts a node and says what it is.
func launch(r resolved, records, log zerolog.Logger) (*daemon, error) {
	d, err := start(r.settings, records, log)
	if err != nil {
		return nil, err
	}
	log.Info().
		Str("id_from", r.origins["id"].String()).
		Str("session", d.session.Short()).
		Str("algorithm", r.algorithm.Name).Bool("preempt", r.preempt).
		Str("rank_by", r.rankBy.String()).Str("profile", r.profile.name).
		Str("gossip", d.group.GossipAddr()).
		Str("election", d.electionAddr.String()).
		Str("http", d.web.Addr().String()).
		Str("data_dir", r.dataDir).
		Str("guarantee", string(r.algorithm.Guarantee)).
		Msgf("node %v is up; guarantee %s", r.id, inWords(r.algorithm.Guarantee))
	return d, nil
}

// obeyAtOnce ends the process on the next signal.
func obeyAtOnce(signals <-chan os.Signal) {
	if s, ok := (<-signals).(syscall.Signal); ok {
		os.Exit(128 + int(s))
	}
}

// inWords says what a guarantee is worth, and first what it is not.
func inWords(g algorithms.Guarantee) string {
	switch g {
	case algorithms.BestEffort:
		return "best-effort: in a partition each side has a leader of its own"
	case algorithms.Quorum:
		return "quorum: a term has one leader, but an old leader may not know that it was replaced"
	case algorithms.Lease:
		return "lease: at most one leader at a time, while clocks drift less than planned"
	}
	return string(g)
}

// smallHeap has garbage collected when the heap has grown by half, unless the user
// chose already. A node allocates little while it waits, so this is seldom; and the
// smaller a process, the sooner the kernel has taken it apart, and tells its peers.
func smallHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}

// oneProcessor keeps Go's scheduler to one thread at a time, unless the user
// chose already. What a node does about a death is a chain of small steps in
// several goroutines: on one processor each hands over to the next at once, on
// two it wakes another thread for it, which costs more than the step.
func oneProcessor() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}
