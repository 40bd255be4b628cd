package tcp

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

var (
	s1, s2 = proto.Incarnation{1}, proto.Incarnation{2}
	homeA  = netip.MustParseAddrPort("10.0.0.1:7000")
	homeB  = netip.MustParseAddrPort("10.0.0.2:7000")
	dawn   = time.Unix(1_795_186_664, 0)
)

// detectorTest is a failureDetector under test: theirs counts the links a process dialled.
type detectorTest struct {
	*failureDetector
	theirs map[proto.Incarnation]int
	heard  []string
	proven bool
}

func newDetectorTest() *detectorTest {
	d := &detectorTest{theirs: map[proto.Incarnation]int{}}
	d.failureDetector = &failureDetector{
		id: 5, patience: 3 * time.Second,
		emit: func(e Evidence) {
			d.heard = append(d.heard, said(e.Event, e.Incarnation, e.Links))
			d.proven = d.proven || e.Proven
		},
		linksToMe: func(s proto.Incarnation) int { return d.theirs[s] },
	}
	return d
}

// leaves is the end of a link that process s had dialled.
func (d *detectorTest) leaves(s proto.Incarnation) func() bool {
	return func() bool {
		delete(d.theirs, s)
		return true
	}
}

func (d *detectorTest) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(d.heard, want) {
		t.Errorf("evidence:\n got %q\nwant %q", d.heard, want)
	}
}

// "When a voter reads a clean end of stream on the incarnation's connection and
// then, by a dial begun after it, finds the holder's address refusing, the
// process is gone."
func TestRefusedAfterTheLinkWasLost(t *testing.T) {
	d := newDetectorTest()
	d.up(d.begin(dawn), s1, homeA)
	d.ended(proto.LinkClosed)
	d.refused(d.begin(dawn), homeA, dawn)
	d.refused(d.begin(dawn), homeA, dawn) // and again: no news
	d.expect(t, said(proto.LinkUp, s1, 1), said(proto.LinkClosed, s1, 0), said(proto.DialRefused, s1, 0))
}

// "A voter reads a clean end of stream": of one link of the process. The kernel resets
// the other where the dead process left bytes unread.
func TestOneCleanEndProves(t *testing.T) {
	mine := func(how proto.LinkEvent) func(*detectorTest) { return func(d *detectorTest) { d.ended(how) } }
	theirs := func(how proto.LinkEvent) func(*detectorTest) {
		return func(d *detectorTest) { d.endedByPeer(s1, how, d.leaves(s1)) }
	}
	back := func(d *detectorTest) { d.theirs[s1] = 1 }
	for _, tc := range []struct {
		name   string
		ends   []func(*detectorTest)
		proven bool
	}{
		{"both closed", []func(*detectorTest){mine(proto.LinkClosed), theirs(proto.LinkClosed)}, true},
		{"closed, then reset", []func(*detectorTest){mine(proto.LinkClosed), theirs(proto.LinkReset)}, true},
		{"reset, then closed", []func(*detectorTest){theirs(proto.LinkReset), mine(proto.LinkClosed)}, true},
		{"both reset", []func(*detectorTest){mine(proto.LinkReset), theirs(proto.LinkReset)}, false},
		{"closed, dialled again, and both reset", []func(*detectorTest){
			theirs(proto.LinkClosed), back, mine(proto.LinkReset), theirs(proto.LinkReset),
		}, false},
	} {
		d := newDetectorTest()
		d.theirs[s1] = 1
		d.up(d.begin(dawn), s1, homeA)
		for _, end := range tc.ends {
			end(d)
		}
		d.refused(d.begin(dawn), homeA, dawn)
		if d.proven != tc.proven {
			t.Errorf("%s: proven %v: %q", tc.name, d.proven, d.heard)
		}
	}
}

// "On a busy machine the clean end of its silent connection may be read later than all
// else": a dial that is begun after it, and refused or answered by another process, still
// proves.
func TestProvenLate(t *testing.T) {
	quiet := func(d *detectorTest) { d.silentEnded(true) }
	for name, tc := range map[string]struct {
		after  func(*detectorTest)
		proven bool
	}{
		"the end is read, and it refuses": {func(d *detectorTest) {
			quiet(d)
			d.refused(d.begin(dawn), homeA, dawn)
		}, true},
		"the end is read, and another answers": {func(d *detectorTest) {
			quiet(d)
			d.up(d.begin(dawn), s2, homeA)
		}, true},
		"the dial began before the end was read": {func(d *detectorTest) {
			a := d.begin(dawn)
			quiet(d)
			d.refused(a, homeA, dawn)
		}, false},
		"the silent connection was reset": {func(d *detectorTest) {
			d.silentEnded(false)
			d.refused(d.begin(dawn), homeA, dawn)
		}, false},
		"it refuses at another address": {func(d *detectorTest) {
			quiet(d)
			d.refused(d.begin(dawn), homeB, dawn)
		}, false},
		"the process has a link again": {func(d *detectorTest) {
			quiet(d)
			d.theirs[s1] = 1
			d.refused(d.begin(dawn), homeA, dawn)
		}, false},
		"another answered at its address, and then the process": {func(d *detectorTest) {
			d.up(d.begin(dawn), s2, homeA)
			quiet(d)
			d.up(d.begin(dawn), s1, homeA)
		}, false},
		"the process answered": {func(d *detectorTest) {
			quiet(d)
			a := d.begin(dawn)
			d.up(d.begin(dawn), s1, homeA)
			d.dropped()
			d.refused(a, homeA, dawn)
		}, false},
	} {
		d := newDetectorTest()
		d.up(d.begin(dawn), s1, homeA)
		d.silentUp(s1)
		d.ended(proto.LinkReset)
		d.refused(d.begin(dawn), homeA, time.Now().Add(silentPatience))
		if d.proven || !slices.Contains(d.heard, said(proto.DialRefused, s1, 0)) {
			t.Fatalf("only resets were seen: proven %v, %q", d.proven, d.heard)
		}
		if tc.after(d); d.proven != tc.proven {
			t.Errorf("%s: proven %v: %q", name, d.proven, d.heard)
		}
	}
}

func TestARefusalProvesNothing(t *testing.T) {
	for name, run := range map[string]func(*detectorTest){
		"of a dial begun before the link was lost": func(d *detectorTest) {
			d.theirs[s1] = 1
			d.tell(s1, homeA)
			a := d.begin(dawn)
			d.endedByPeer(s1, proto.LinkClosed, d.leaves(s1))
			d.refused(a, homeA, dawn)
		},
		"at another address than the process had": func(d *detectorTest) {
			d.up(d.begin(dawn), s1, homeA)
			d.ended(proto.LinkClosed)
			d.refused(d.begin(dawn), homeB, dawn)
		},
		"about a process that has a link still": func(d *detectorTest) {
			d.theirs[s1] = 1
			d.up(d.begin(dawn), s1, homeA)
			d.ended(proto.LinkReset)
			d.refused(d.begin(dawn), homeA, dawn)
		},
		"of a dial begun between two losses": func(d *detectorTest) {
			d.up(d.begin(dawn), s1, homeA)
			d.theirs[s1] = 1
			d.ended(proto.LinkClosed)
			a := d.begin(dawn)
			d.endedByPeer(s1, proto.LinkClosed, d.leaves(s1))
			d.refused(a, homeA, dawn)
		},
		"about a process that came back meanwhile": func(d *detectorTest) {
			d.up(d.begin(dawn), s1, homeA)
			d.ended(proto.LinkClosed)
			a := d.begin(dawn)
			d.theirs[s1] = 1
			d.refused(a, homeA, dawn)
		},
		"about a process never met": func(d *detectorTest) {
			d.tell(s1, homeA)
			d.refused(d.begin(dawn), homeA, dawn)
		},
		"when this node ended the link": func(d *detectorTest) {
			d.up(d.begin(dawn), s1, homeA)
			d.dropped()
			d.refused(d.begin(dawn), homeA, dawn)
		},
	} {
		d := newDetectorTest()
		run(d)
		if slices.Contains(d.heard, said(proto.DialRefused, s1, 0)) ||
			slices.Contains(d.heard, said(proto.DialRefused, s1, 1)) {
			t.Errorf("%s: it proved: %q", name, d.heard)
		}
	}
}

// A process that only ever dialled this node listens where SetPeers says.
func TestRefusedWhereThePeerWasSaidToBe(t *testing.T) {
	d := newDetectorTest()
	d.tell(s1, homeA)
	d.endedByPeer(s1, proto.LinkClosed, d.leaves(s1))
	d.refused(d.begin(dawn), homeA, dawn)
	d.expect(t, said(proto.LinkClosed, s1, 0), said(proto.DialRefused, s1, 0))
}

// The two links of a process end one after the other: until the last is
// ended, nothing is proven.
func TestBothLinksMustEnd(t *testing.T) {
	d := newDetectorTest()
	d.theirs[s1] = 1
	d.up(d.begin(dawn), s1, homeA)
	d.ended(proto.LinkClosed)
	d.refused(d.begin(dawn), homeA, dawn)
	d.endedByPeer(s1, proto.LinkClosed, d.leaves(s1))
	d.refused(d.begin(dawn), homeA, dawn)
	d.expect(t, said(proto.LinkUp, s1, 2), said(proto.LinkClosed, s1, 1),
		said(proto.LinkClosed, s1, 0), said(proto.DialRefused, s1, 0))
}

// "… or answering as a new incarnation": the old process is gone, and that is said
// before anything of the new one.
func TestAnotherIncarnationAnswers(t *testing.T) {
	d := newDetectorTest()
	d.up(d.begin(dawn), s1, homeA)
	d.ended(proto.LinkReset)
	d.up(d.begin(dawn), s2, homeA)
	d.endedByPeer(s1, proto.LinkReset, d.leaves(s1)) // its other end is read late
	d.expect(t, said(proto.LinkUp, s1, 1), said(proto.LinkReset, s1, 0),
		said(proto.OtherIncarnation, s1, 0), said(proto.LinkUp, s2, 1))
}

func TestAnotherIncarnationThanSetPeersSaid(t *testing.T) {
	d := newDetectorTest()
	d.tell(s1, homeA)
	d.up(d.begin(dawn), s2, homeA)
	d.expect(t, said(proto.OtherIncarnation, s1, 0), said(proto.LinkUp, s2, 1))
}

func TestAnotherIncarnationProvesNothing(t *testing.T) {
	d := newDetectorTest() // at another address
	d.tell(s1, homeA)
	d.up(d.begin(dawn), s2, homeB)
	d.expect(t, said(proto.LinkUp, s2, 1))

	d = newDetectorTest() // to a dial begun before s1 was known to be there
	a := d.begin(dawn)
	d.tell(s1, homeA)
	d.up(a, s2, homeA)
	d.expect(t, said(proto.LinkUp, s2, 1))

	d = newDetectorTest() // when the process is known to be gone
	d.up(d.begin(dawn), s1, homeA)
	d.ended(proto.LinkClosed)
	d.refused(d.begin(dawn), homeA, dawn)
	d.up(d.begin(dawn), s2, homeA)
	d.expect(t, said(proto.LinkUp, s1, 1), said(proto.LinkClosed, s1, 0),
		said(proto.DialRefused, s1, 0), said(proto.LinkUp, s2, 1))
}

// "A reset, a timeout, an unreachable host prove nothing": they are told, once,
// and only after a while.
func TestUnreachable(t *testing.T) {
	d := newDetectorTest()
	d.tell(s1, homeA)
	for _, seconds := range []time.Duration{0, 1, 2, 3, 4, 5} {
		begun := dawn.Add(seconds * time.Second)
		d.unanswered(d.begin(begun), begun.Add(time.Second))
	}
	d.expect(t, said(proto.Unreachable, s1, 0))

	d.up(d.begin(dawn), s1, homeA) // an answer ends it, and it may come again
	d.ended(proto.LinkReset)
	d.unanswered(d.begin(dawn), dawn.Add(2*time.Second))
	d.unanswered(d.begin(dawn), dawn.Add(3*time.Second))
	d.expect(t, said(proto.Unreachable, s1, 0), said(proto.LinkUp, s1, 1),
		said(proto.LinkReset, s1, 0), said(proto.Unreachable, s1, 0))
}

// A refusal that proves no death tells of an address that is wrong, or shut to
// this node: elections need their own reachability, so that counts as no
// answer, and is complained of.
func TestRefusedForLong(t *testing.T) {
	d := newDetectorTest()
	d.tell(s1, homeA)
	for _, seconds := range []time.Duration{0, 1, 2, 3, 4, 5} {
		at := dawn.Add(seconds * time.Second)
		if said := d.refused(d.begin(at), homeA, at); said != (seconds >= 3) {
			t.Errorf("after %d s it says %v", seconds, said)
		}
	}
	d.expect(t, said(proto.Unreachable, s1, 0))
}

// Somebody who answers, another node or an angry one, ends the wait; and that a
// gone process is unreachable is no news.
func TestUnreachableIsNotSaid(t *testing.T) {
	d := newDetectorTest()
	d.unanswered(d.begin(dawn.Add(2*time.Second)), dawn.Add(4*time.Second))
	d.answered()
	d.unanswered(d.begin(dawn.Add(4*time.Second)), dawn.Add(6*time.Second))
	d.expect(t)

	d.up(d.begin(dawn), s1, homeA)
	d.ended(proto.LinkClosed)
	d.refused(d.begin(dawn), homeA, dawn)
	d.unanswered(d.begin(dawn), dawn.Add(time.Hour))
	d.expect(t, said(proto.LinkUp, s1, 1), said(proto.LinkClosed, s1, 0), said(proto.DialRefused, s1, 0))
}

// A process that was reported gone and answers was not: what is said of it
// counts again.
func TestGoneAndBack(t *testing.T) {
	d := newDetectorTest()
	for range 2 {
		d.up(d.begin(dawn), s1, homeA)
		d.ended(proto.LinkClosed)
		d.refused(d.begin(dawn), homeA, dawn)
	}
	once := []string{said(proto.LinkUp, s1, 1), said(proto.LinkClosed, s1, 0), said(proto.DialRefused, s1, 0)}
	d.expect(t, append(once, once...)...)
}

// In doubt is a process whose last link ended, until anything is known of it.
func TestInDoubt(t *testing.T) {
	d := newDetectorTest()
	doubt := func(want proto.Incarnation) {
		t.Helper()
		if got := d.inDoubt(); got != want {
			t.Errorf("in doubt: %v, want %v", got, want)
		}
	}
	doubt(proto.Incarnation{})
	d.theirs[s1] = 1
	d.up(d.begin(dawn), s1, homeA)
	d.ended(proto.LinkReset)
	doubt(proto.Incarnation{}) // it has a link still
	d.endedByPeer(s1, proto.LinkReset, d.leaves(s1))
	doubt(s1)
	d.refused(d.begin(dawn), homeA, dawn)
	doubt(proto.Incarnation{}) // gone
	d.up(d.begin(dawn), s2, homeA)
	d.ended(proto.LinkReset)
	doubt(s2)
	d.unanswered(d.begin(dawn), dawn.Add(time.Hour))
	doubt(proto.Incarnation{}) // said to be unreachable
}

// Nobody hears the process: it is unreachable, unless something was heard since the
// question.
func TestUnheard(t *testing.T) {
	d := newDetectorTest()
	d.up(d.begin(dawn), s1, homeA)
	d.unheardByOthers(s1, d.answersSoFar()) // linked
	d.ended(proto.LinkReset)
	n := d.answersSoFar()
	d.unheardByOthers(s2, n) // another
	d.answered()
	d.unheardByOthers(s1, n) // it answered meanwhile
	d.expect(t, said(proto.LinkUp, s1, 1), said(proto.LinkReset, s1, 0))
	d.unheardByOthers(s1, d.answersSoFar())
	d.unheardByOthers(s1, d.answersSoFar()) // no news
	d.unanswered(d.begin(dawn), dawn.Add(time.Hour))
	d.expect(t, said(proto.LinkUp, s1, 1), said(proto.LinkReset, s1, 0), said(proto.IndirectUnreachable, s1, 0))
	d.up(d.begin(dawn), s1, homeA)
	d.heardByOthers(s1)
	d.ended(proto.LinkClosed)
	d.refused(d.begin(dawn), homeA, dawn)
	d.heardByOthers(s1) // it is proven gone
	d.unheardByOthers(s1, d.answersSoFar())
	d.expect(t, said(proto.LinkUp, s1, 1), said(proto.LinkReset, s1, 0), said(proto.IndirectUnreachable, s1, 0),
		said(proto.LinkUp, s1, 1), said(proto.IndirectAlive, s1, 1),
		said(proto.LinkClosed, s1, 0), said(proto.DialRefused, s1, 0))
}

func TestEvidenceForPeople(t *testing.T) {
	for want, e := range map[string]proto.LinkEvent{
		"link-up 5": proto.LinkUp, "link-closed 5": proto.LinkClosed, "link-reset 5": proto.LinkReset,
		"dial-refused 5": proto.DialRefused, "unreachable 5": proto.Unreachable,
		"other-incarnation 5": proto.OtherIncarnation, "event(0) 5": 0,
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
		d := newDetectorTest()
		d.up(d.begin(dawn), s1, homeA)
		d.silentUp(s1)
		d.silentEnded(true)
		d.ended(proto.LinkReset)
		d.refused(d.begin(dawn), homeA, dawn)
		if !d.proven {
			t.Fatalf("%s: not proven at first: %q", name, d.heard)
		}
		d.up(d.begin(dawn), s1, homeA)
		d.proven = false
		if tc.quietAgain {
			d.silentUp(s1)
			d.silentEnded(true)
		}
		d.ended(proto.LinkReset)
		d.refused(d.begin(dawn), homeA, dawn)
		if d.proven != tc.proven {
			t.Errorf("%s: proven %v: %q", name, d.proven, d.heard)
		}
	}
}
