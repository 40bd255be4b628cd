package tcp

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

var (
	s1, s2 = proto.Session{1}, proto.Session{2}
	homeA  = netip.MustParseAddrPort("10.0.0.1:7000")
	homeB  = netip.MustParseAddrPort("10.0.0.2:7000")
	dawn   = time.Unix(1_795_186_664, 0)
)

// court is a witness under test: theirs counts the links a process dialled.
type court struct {
	*witness
	theirs map[proto.Session]int
	heard  []string
	proven bool
}

func newCourt() *court {
	c := &court{theirs: map[proto.Session]int{}}
	c.witness = &witness{
		id: 5, patience: 3 * time.Second,
		emit: func(e Evidence) {
			c.heard = append(c.heard, said(e.Event, e.Session, e.Links))
			c.proven = c.proven || e.Proven
		},
		linksToMe: func(s proto.Session) int { return c.theirs[s] },
	}
	return c
}

// leaves is the end of a link that process s had dialled.
func (c *court) leaves(s proto.Session) func() bool {
	return func() bool {
		delete(c.theirs, s)
		return true
	}
}

func (c *court) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(c.heard, want) {
		t.Errorf("evidence:\n got %q\nwant %q", c.heard, want)
	}
}

// "When a voter reads a clean end of stream on the session's connection and
// then, by a dial begun after it, finds the holder's address refusing, the
// process is gone."
func TestRefusedAfterTheLinkWasLost(t *testing.T) {
	c := newCourt()
	c.up(c.begin(dawn), s1, homeA)
	c.ended(proto.LinkClosed)
	c.refused(c.begin(dawn), homeA, dawn)
	c.refused(c.begin(dawn), homeA, dawn) // and again: no news
	c.expect(t, said(proto.LinkUp, s1, 1), said(proto.LinkClosed, s1, 0), said(proto.DialRefused, s1, 0))
}

// "A voter reads a clean end of stream": of one link of the process. The kernel resets
// the other where the dead process left bytes unread.
func TestOneCleanEndProves(t *testing.T) {
	mine := func(how proto.LinkEvent) func(*court) { return func(c *court) { c.ended(how) } }
	theirs := func(how proto.LinkEvent) func(*court) {
		return func(c *court) { c.endedByPeer(s1, how, c.leaves(s1)) }
	}
	back := func(c *court) { c.theirs[s1] = 1 }
	for _, tc := range []struct {
		name   string
		ends   []func(*court)
		proven bool
	}{
		{"both closed", []func(*court){mine(proto.LinkClosed), theirs(proto.LinkClosed)}, true},
		{"closed, then reset", []func(*court){mine(proto.LinkClosed), theirs(proto.LinkReset)}, true},
		{"reset, then closed", []func(*court){theirs(proto.LinkReset), mine(proto.LinkClosed)}, true},
		{"both reset", []func(*court){mine(proto.LinkReset), theirs(proto.LinkReset)}, false},
		{"closed, dialled again, and both reset", []func(*court){
			theirs(proto.LinkClosed), back, mine(proto.LinkReset), theirs(proto.LinkReset),
		}, false},
	} {
		c := newCourt()
		c.theirs[s1] = 1
		c.up(c.begin(dawn), s1, homeA)
		for _, end := range tc.ends {
			end(c)
		}
		c.refused(c.begin(dawn), homeA, dawn)
		if c.proven != tc.proven {
			t.Errorf("%s: proven %v: %q", tc.name, c.proven, c.heard)
		}
	}
}

// "On a busy machine the clean end of its silent connection may be read later than all
// else": a dial that is begun after it, and refused or answered by another process, still
// proves.
func TestProvenLate(t *testing.T) {
	quiet := func(c *court) { c.unwatched(true) }
	for name, tc := range map[string]struct {
		after  func(*court)
		proven bool
	}{
		"the end is read, and it refuses": {func(c *court) {
			quiet(c)
			c.refused(c.begin(dawn), homeA, dawn)
		}, true},
		"the end is read, and another answers": {func(c *court) {
			quiet(c)
			c.up(c.begin(dawn), s2, homeA)
		}, true},
		"the dial began before the end was read": {func(c *court) {
			a := c.begin(dawn)
			quiet(c)
			c.refused(a, homeA, dawn)
		}, false},
		"the silent connection was reset": {func(c *court) {
			c.unwatched(false)
			c.refused(c.begin(dawn), homeA, dawn)
		}, false},
		"it refuses at another address": {func(c *court) {
			quiet(c)
			c.refused(c.begin(dawn), homeB, dawn)
		}, false},
		"the process has a link again": {func(c *court) {
			quiet(c)
			c.theirs[s1] = 1
			c.refused(c.begin(dawn), homeA, dawn)
		}, false},
		"another answered at its address, and then the process": {func(c *court) {
			c.up(c.begin(dawn), s2, homeA)
			quiet(c)
			c.up(c.begin(dawn), s1, homeA)
		}, false},
		"the process answered": {func(c *court) {
			quiet(c)
			a := c.begin(dawn)
			c.up(c.begin(dawn), s1, homeA)
			c.dropped()
			c.refused(a, homeA, dawn)
		}, false},
	} {
		c := newCourt()
		c.up(c.begin(dawn), s1, homeA)
		c.watched(s1)
		c.ended(proto.LinkReset)
		c.refused(c.begin(dawn), homeA, time.Now().Add(quietPatience))
		if c.proven || !slices.Contains(c.heard, said(proto.DialRefused, s1, 0)) {
			t.Fatalf("only resets were seen: proven %v, %q", c.proven, c.heard)
		}
		if tc.after(c); c.proven != tc.proven {
			t.Errorf("%s: proven %v: %q", name, c.proven, c.heard)
		}
	}
}

func TestARefusalProvesNothing(t *testing.T) {
	for name, run := range map[string]func(*court){
		"of a dial begun before the link was lost": func(c *court) {
			c.theirs[s1] = 1
			c.tell(s1, homeA)
			a := c.begin(dawn)
			c.endedByPeer(s1, proto.LinkClosed, c.leaves(s1))
			c.refused(a, homeA, dawn)
		},
		"at another address than the process had": func(c *court) {
			c.up(c.begin(dawn), s1, homeA)
			c.ended(proto.LinkClosed)
			c.refused(c.begin(dawn), homeB, dawn)
		},
		"about a process that has a link still": func(c *court) {
			c.theirs[s1] = 1
			c.up(c.begin(dawn), s1, homeA)
			c.ended(proto.LinkReset)
			c.refused(c.begin(dawn), homeA, dawn)
		},
		"of a dial begun between two losses": func(c *court) {
			c.up(c.begin(dawn), s1, homeA)
			c.theirs[s1] = 1
			c.ended(proto.LinkClosed)
			a := c.begin(dawn)
			c.endedByPeer(s1, proto.LinkClosed, c.leaves(s1))
			c.refused(a, homeA, dawn)
		},
		"about a process that came back meanwhile": func(c *court) {
			c.up(c.begin(dawn), s1, homeA)
			c.ended(proto.LinkClosed)
			a := c.begin(dawn)
			c.theirs[s1] = 1
			c.refused(a, homeA, dawn)
		},
		"about a process never met": func(c *court) {
			c.tell(s1, homeA)
			c.refused(c.begin(dawn), homeA, dawn)
		},
		"when this node ended the link": func(c *court) {
			c.up(c.begin(dawn), s1, homeA)
			c.dropped()
			c.refused(c.begin(dawn), homeA, dawn)
		},
	} {
		c := newCourt()
		run(c)
		if slices.Contains(c.heard, said(proto.DialRefused, s1, 0)) ||
			slices.Contains(c.heard, said(proto.DialRefused, s1, 1)) {
			t.Errorf("%s: it proved: %q", name, c.heard)
		}
	}
}

// A process that only ever dialled this node listens where SetPeers says.
func TestRefusedWhereThePeerWasSaidToBe(t *testing.T) {
	c := newCourt()
	c.tell(s1, homeA)
	c.endedByPeer(s1, proto.LinkClosed, c.leaves(s1))
	c.refused(c.begin(dawn), homeA, dawn)
	c.expect(t, said(proto.LinkClosed, s1, 0), said(proto.DialRefused, s1, 0))
}

// The two links of a process end one after the other: until the last is
// ended, nothing is proven.
func TestBothLinksMustEnd(t *testing.T) {
	c := newCourt()
	c.theirs[s1] = 1
	c.up(c.begin(dawn), s1, homeA)
	c.ended(proto.LinkClosed)
	c.refused(c.begin(dawn), homeA, dawn)
	c.endedByPeer(s1, proto.LinkClosed, c.leaves(s1))
	c.refused(c.begin(dawn), homeA, dawn)
	c.expect(t, said(proto.LinkUp, s1, 2), said(proto.LinkClosed, s1, 1),
		said(proto.LinkClosed, s1, 0), said(proto.DialRefused, s1, 0))
}

// "… or answering as a new session": the old process is gone, and that is said
// before anything of the new one.
func TestAnotherSessionAnswers(t *testing.T) {
	c := newCourt()
	c.up(c.begin(dawn), s1, homeA)
	c.ended(proto.LinkReset)
	c.up(c.begin(dawn), s2, homeA)
	c.endedByPeer(s1, proto.LinkReset, c.leaves(s1)) // its other end is read late
	c.expect(t, said(proto.LinkUp, s1, 1), said(proto.LinkReset, s1, 0),
		said(proto.OtherSession, s1, 0), said(proto.LinkUp, s2, 1))
}

func TestAnotherSessionThanSetPeersSaid(t *testing.T) {
	c := newCourt()
	c.tell(s1, homeA)
	c.up(c.begin(dawn), s2, homeA)
	c.expect(t, said(proto.OtherSession, s1, 0), said(proto.LinkUp, s2, 1))
}

func TestAnotherSessionProvesNothing(t *testing.T) {
	c := newCourt() // at another address
	c.tell(s1, homeA)
	c.up(c.begin(dawn), s2, homeB)
	c.expect(t, said(proto.LinkUp, s2, 1))

	c = newCourt() // to a dial begun before s1 was known to be there
	a := c.begin(dawn)
	c.tell(s1, homeA)
	c.up(a, s2, homeA)
	c.expect(t, said(proto.LinkUp, s2, 1))

	c = newCourt() // when the process is known to be gone
	c.up(c.begin(dawn), s1, homeA)
	c.ended(proto.LinkClosed)
	c.refused(c.begin(dawn), homeA, dawn)
	c.up(c.begin(dawn), s2, homeA)
	c.expect(t, said(proto.LinkUp, s1, 1), said(proto.LinkClosed, s1, 0),
		said(proto.DialRefused, s1, 0), said(proto.LinkUp, s2, 1))
}

// "A reset, a timeout, an unreachable host prove nothing": they are told, once,
// and only after a while.
func TestUnreachable(t *testing.T) {
	c := newCourt()
	c.tell(s1, homeA)
	for _, seconds := range []time.Duration{0, 1, 2, 3, 4, 5} {
		begun := dawn.Add(seconds * time.Second)
		c.unanswered(c.begin(begun), begun.Add(time.Second))
	}
	c.expect(t, said(proto.Unreachable, s1, 0))

	c.up(c.begin(dawn), s1, homeA) // an answer ends it, and it may come again
	c.ended(proto.LinkReset)
	c.unanswered(c.begin(dawn), dawn.Add(2*time.Second))
	c.unanswered(c.begin(dawn), dawn.Add(3*time.Second))
	c.expect(t, said(proto.Unreachable, s1, 0), said(proto.LinkUp, s1, 1),
		said(proto.LinkReset, s1, 0), said(proto.Unreachable, s1, 0))
}

// A refusal that proves no death tells of an address that is wrong, or shut to
// this node: elections need their own reachability, so that counts as no
// answer, and is complained of.
func TestRefusedForLong(t *testing.T) {
	c := newCourt()
	c.tell(s1, homeA)
	for _, seconds := range []time.Duration{0, 1, 2, 3, 4, 5} {
		at := dawn.Add(seconds * time.Second)
		if said := c.refused(c.begin(at), homeA, at); said != (seconds >= 3) {
			t.Errorf("after %d s it says %v", seconds, said)
		}
	}
	c.expect(t, said(proto.Unreachable, s1, 0))
}

// Somebody who answers, another node or an angry one, ends the wait; and that a
// gone process is unreachable is no news.
func TestUnreachableIsNotSaid(t *testing.T) {
	c := newCourt()
	c.unanswered(c.begin(dawn.Add(2*time.Second)), dawn.Add(4*time.Second))
	c.answered()
	c.unanswered(c.begin(dawn.Add(4*time.Second)), dawn.Add(6*time.Second))
	c.expect(t)

	c.up(c.begin(dawn), s1, homeA)
	c.ended(proto.LinkClosed)
	c.refused(c.begin(dawn), homeA, dawn)
	c.unanswered(c.begin(dawn), dawn.Add(time.Hour))
	c.expect(t, said(proto.LinkUp, s1, 1), said(proto.LinkClosed, s1, 0), said(proto.DialRefused, s1, 0))
}

// A process that was reported gone and answers was not: what is said of it
// counts again.
func TestGoneAndBack(t *testing.T) {
	c := newCourt()
	for range 2 {
		c.up(c.begin(dawn), s1, homeA)
		c.ended(proto.LinkClosed)
		c.refused(c.begin(dawn), homeA, dawn)
	}
	once := []string{said(proto.LinkUp, s1, 1), said(proto.LinkClosed, s1, 0), said(proto.DialRefused, s1, 0)}
	c.expect(t, append(once, once...)...)
}

// In doubt is a process whose last link ended, until anything is known of it.
func TestInDoubt(t *testing.T) {
	c := newCourt()
	doubt := func(want proto.Session) {
		t.Helper()
		if got := c.inDoubt(); got != want {
			t.Errorf("in doubt: %v, want %v", got, want)
		}
	}
	doubt(proto.Session{})
	c.theirs[s1] = 1
	c.up(c.begin(dawn), s1, homeA)
	c.ended(proto.LinkReset)
	doubt(proto.Session{}) // it has a link still
	c.endedByPeer(s1, proto.LinkReset, c.leaves(s1))
	doubt(s1)
	c.refused(c.begin(dawn), homeA, dawn)
	doubt(proto.Session{}) // gone
	c.up(c.begin(dawn), s2, homeA)
	c.ended(proto.LinkReset)
	doubt(s2)
	c.unanswered(c.begin(dawn), dawn.Add(time.Hour))
	doubt(proto.Session{}) // said to be unreachable
}

// Nobody hears the process: it is unreachable, unless something was heard since the
// question.
func TestUnheard(t *testing.T) {
	c := newCourt()
	c.up(c.begin(dawn), s1, homeA)
	c.unheard(s1, c.answersSoFar()) // linked
	c.ended(proto.LinkReset)
	n := c.answersSoFar()
	c.unheard(s2, n) // another
	c.answered()
	c.unheard(s1, n) // it answered meanwhile
	c.expect(t, said(proto.LinkUp, s1, 1), said(proto.LinkReset, s1, 0))
	c.unheard(s1, c.answersSoFar())
	c.unheard(s1, c.answersSoFar()) // no news
	c.unanswered(c.begin(dawn), dawn.Add(time.Hour))
	c.expect(t, said(proto.LinkUp, s1, 1), said(proto.LinkReset, s1, 0), said(proto.IndirectUnreachable, s1, 0))
	c.up(c.begin(dawn), s1, homeA)
	c.vouched(s1)
	c.ended(proto.LinkClosed)
	c.refused(c.begin(dawn), homeA, dawn)
	c.vouched(s1) // it is proven gone
	c.unheard(s1, c.answersSoFar())
	c.expect(t, said(proto.LinkUp, s1, 1), said(proto.LinkReset, s1, 0), said(proto.IndirectUnreachable, s1, 0),
		said(proto.LinkUp, s1, 1), said(proto.IndirectAlive, s1, 1),
		said(proto.LinkClosed, s1, 0), said(proto.DialRefused, s1, 0))
}

func TestEvidenceForPeople(t *testing.T) {
	for want, e := range map[string]proto.LinkEvent{
		"link-up 5": proto.LinkUp, "link-closed 5": proto.LinkClosed, "link-reset 5": proto.LinkReset,
		"dial-refused 5": proto.DialRefused, "unreachable 5": proto.Unreachable,
		"other-session 5": proto.OtherSession, "event(0) 5": 0,
		"indirect-alive 5": proto.IndirectAlive, "indirect-unreachable 5": proto.IndirectUnreachable,
	} {
		if got := (Evidence{Peer: 5, Event: e}).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// "A process that is heard again by a new link is alive": what its silent connection said
// before that proves nothing any more.
func TestWhoIsHeardAgainIsProvenAnew(t *testing.T) {
	for name, tc := range map[string]struct {
		quietAgain bool
		proven     bool
	}{
		"the links are reset": {false, false},
		"the links are reset, and its new silent connection ends": {true, true},
	} {
		c := newCourt()
		c.up(c.begin(dawn), s1, homeA)
		c.watched(s1)
		c.unwatched(true)
		c.ended(proto.LinkReset)
		c.refused(c.begin(dawn), homeA, dawn)
		if !c.proven {
			t.Fatalf("%s: not proven at first: %q", name, c.heard)
		}
		c.up(c.begin(dawn), s1, homeA)
		c.proven = false
		if tc.quietAgain {
			c.watched(s1)
			c.unwatched(true)
		}
		c.ended(proto.LinkReset)
		c.refused(c.begin(dawn), homeA, dawn)
		if c.proven != tc.proven {
			t.Errorf("%s: proven %v: %q", name, c.proven, c.heard)
		}
	}
}
