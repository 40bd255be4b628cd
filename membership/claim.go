package membership

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// ErrIDTaken says that another living process has this node's id. The node must end.
var ErrIDTaken = errors.New("node id is taken")

// Prober asks who answers at an election address. It returns the id and incarnation of the process, or an
// error when nobody answers before ctx ends, a second later. The group calls it from separate goroutines.
type Prober func(ctx context.Context, electionAddr string) (proto.NodeID, proto.Incarnation, error)

// isNewcomer reports whether the process mine is the newcomer of the two, and so must give way. Of two
// processes with one id, the newcomer is the one that no peer has listed yet, or else the one that started
// later. Exactly one of the two is the newcomer.
func isNewcomer(mine, rival meta) bool {
	if mine.listed != rival.listed {
		return rival.listed
	}
	return cmp.Or(
		cmp.Compare(mine.started, rival.started),
		mine.Incarnation.Compare(rival.Incarnation),
	) > 0
}

// claims settles who may use this node's id. It belongs to the group's
// goroutine.
type claims struct {
	asking  bool
	askNext time.Time // not before this time
	said    logLimiter
}

// onConflict handles the news that gossip knows two processes with one id at different addresses. The
// parameter existing is the process that this node has listed so far. It is this node itself if the id is
// this node's own.
func (g *Group) onConflict(existing, rival node) {
	now := time.Now()
	g.rejoin.rival(rival.gossip, now)
	if rival.ID != g.self.ID {
		if g.claims.said.first(existing.String(), rival.String(), now) {
			g.log.Warn().Uint64("id", uint64(rival.ID)).Msgf(
				"id %d is claimed from two addresses: %v, and %v; "+
					"keeping the first until it is gone", rival.ID, existing, rival)
		}
		g.merge.gossipRival(rival.member())
		return
	}
	switch {
	case rival.electionAddr == g.self.electionAddr:
		// This node has bound that address, so the process that had it is gone.
		g.sayFormerLife(rival, "this node has its election address")
	case !isNewcomer(g.self.meta, rival.meta):
		if g.claims.said.first("rival", rival.String(), now) {
			g.log.Error().Uint64("id", uint64(rival.ID)).Msgf(
				"another process claims this node's id %d: %v; this node was first and "+
					"goes on, the other has to end: give it another id", rival.ID, rival)
		}
	case !g.claims.asking && now.After(g.claims.askNext):
		g.claims.asking = true
		go g.ask(rival)
	}
}

// askAgain is the time between the two questions to a rival. A single answer may be the last one of a process that
// is ending.
const askAgain = time.Second

// ask finds out whether rival lives: it asks twice. It runs on a goroutine of its own.
func (g *Group) ask(rival node) {
	answer, err := g.askOnce(rival)
	if err == nil && answer == rival.identity() {
		select {
		case <-g.ctx.Done():
			return
		case <-time.After(askAgain):
		}
		answer, err = g.askOnce(rival)
	}
	g.queue.post(func() { g.onAnswer(rival, answer, err) })
}

func (g *Group) askOnce(rival node) (identity, error) {
	ctx, cancel := context.WithTimeout(g.ctx, streamTimeout)
	defer cancel()
	id, incarnation, err := g.cfg.Probe(ctx, rival.electionAddr)
	return identity{id, incarnation}, err
}

// onAnswer handles the last answer of the process at the rival's election address; err is set if no process
// answered. Gossip can be forged, so only the rival's own word ends this process.
func (g *Group) onAnswer(rival node, answer identity, err error) {
	g.claims.asking = false
	g.claims.askNext = time.Now().Add(g.settings.rejoin)
	switch {
	case err != nil:
		g.sayFormerLife(rival, fmt.Sprintf("nobody answers there: %v", err))
	case answer.id != g.self.ID:
		g.sayFormerLife(rival, fmt.Sprintf("node %d answers there now", answer.id))
	case answer.incarnation == g.self.Incarnation:
		g.sayFormerLife(rival, "this node answers there itself")
	case answer != rival.identity():
		g.sayFormerLife(rival, fmt.Sprintf("another process of this id answers there, of incarnation %s",
			answer.incarnation.Short()))
	case !isNewcomer(g.self.meta, rival.meta):
		// A peer has listed this process meanwhile, and none has listed the rival.
	default:
		g.fail(fmt.Errorf("%w: id %d belongs to %v, which is alive; "+
			"give this node another id, or stop that one first", ErrIDTaken, g.self.ID, rival))
	}
}

func (g *Group) sayFormerLife(rival node, why string) {
	if g.claims.said.first("former life", rival.String(), time.Now()) {
		g.log.Info().Msgf("peers still list a former life of this node, %v (%s); "+
			"joining until they have given it up", rival, why)
	}
}

// fail marks the group as failed, so that it joins no more, and tells the reader of Failed why.
func (g *Group) fail(err error) {
	if g.failed {
		return
	}
	g.failed = true
	g.log.Error().Err(err).Msg("leaving the cluster")
	g.failure <- err
}
