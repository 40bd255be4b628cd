package proto

import (
	"testing"
	"time"
)

func TestKindNames(t *testing.T) {
	for kind, want := range map[Kind]string{
		KindHello: "HELLO", KindWelcome: "WELCOME", KindRefuse: "REFUSE", KindAck: "ACK",
		KindTimeoutNow: "TIMEOUT_NOW", KindElection: "ELECTION", KindOK: "OK",
		KindCoordinator: "COORDINATOR", KindRingElection: "ELECTION", KindElected: "ELECTED",
		KindIdentity: "ID",
		0:            "KIND(0)", 255: "KIND(255)",
	} {
		if got := kind.String(); got != want {
			t.Errorf("kind %d is %q, want %q", uint8(kind), got, want)
		}
	}
}

// Messages "contain id:attr", and are shown with it.
func TestBodiesForPeople(t *testing.T) {
	p := Peer{ID: 5, Session: Session{1}, Attr: 80}
	for want, b := range map[string]Body{
		"TIMEOUT_NOW":                      TimeoutNow{},
		"ELECTION candidate 5:80":          Election{Candidate: p},
		"OK":                               OK{},
		"COORDINATOR leader 5:80":          Coordinator{Leader: p},
		"ELECTION best 5:80, initiator 17": RingElection{Initiator: 17, Best: p, Hops: 2},
		"ELECTED leader 5:80":              Elected{Leader: p, Hops: 2},
		"TRUCE":                            Truce{Session: p.Session},
		"SETTLED leader 5, term 3":         Settled{Reign: Epoch{3, 5, p.Session}},
		"SETTLED leader 5, term 3, rival 4, overlap 2s": Settled{
			Reign: Epoch{3, 5, p.Session}, Rival: Epoch{2, 4, p.Session}, Overlap: 2 * time.Second,
		},
		"ACCOUNT leader 5, term 3, led 2s, stopped 1s": Account{
			Reign: Epoch{3, 5, p.Session}, Led: 2 * time.Second, Ago: time.Second, Stopped: true,
		},
		"ELECTION collected 5 5, initiator 17": TokenElection{
			Initiator: 17, Roll: Roll("").Add(p).Add(p), Hops: 2,
		},
		"ELECTION collected 9 ids, initiator 17": TokenElection{
			Initiator: 17, Roll: fullRoll(p)[:9*peerSize],
		},
		"WATCH self 5:80":               Watch{p},
		"EXISTS":                        Exists{},
		"NEW_LEADER candidate 5:80":     NewLeader{p},
		"COMMIT leader 5:80":            Commit{p},
		"PREPARE ballot 2.5":            Prepare{Ballot{2, 5}},
		"PROMISE ballot 2.5":            Promise{Ballot: Ballot{2, 5}},
		"ACCEPT ballot 2.5, value 5:80": Accept{Ballot{2, 5}, p},
		"ACCEPTED ballot 2.5":           Accepted{Ballot{2, 5}},
		"ENQUIRY self 5:80":             Enquiry{p},
		"CHOSEN proposal 5:80":          Chosen{p, false},
		"CHOSEN leader 5:80":            Chosen{p, true},
		"PROMISE ballot 2.5, accepted 1.4 5:80, proposes 5:80": Promise{
			Ballot{2, 5}, Ballot{1, 4}, p, p,
		},
		"PROBE phase 3, candidate 5:80":           Probe{Candidate: p, Phase: 3},
		"HALT candidate 5:80":                     Halt{p},
		"ACK":                                     Halted{},
		"REJECT above 5:80":                       Reject{p},
		"LEADER leader 5:80":                      Leads{p},
		"NOT_NORM self 5:80":                      NotNorm{p},
		"ARE_YOU_COORDINATOR self 5:80":           AreYouCoordinator{p},
		"GROUP coordinator 5:80":                  Group{p},
		"INVITATION coordinator 5:80":             Invitation{p},
		"ACCEPT":                                  AcceptInvitation{},
		"READY leader 5:80":                       Ready{p},
		"CANDIDATE round 3, candidate 5:80":       Candidate{Candidate: p, Round: 3},
		"REPLY phase 3, candidate 5":              ProbeReply{Candidate: 5, Phase: 3},
		"ELECTION collected nobody, initiator 17": TokenElection{Initiator: 17},
		"COORDINATOR round, chosen 5:80":          TokenCoordinator{Leader: p},
		"COORDINATOR round, leader 5:80":          TokenCoordinator{Leader: p, Taken: true},
		"ID self 5:80":                            Identity{Self: p},
		"ANSWER yes":                              Answer{Session: p.Session, Yes: true},
		"ANSWER no, promised 4":                   Answer{Session: p.Session, Bar: BarPromise, Holder: 4},
		"DENY just started":                       Deny{Session: p.Session, Bar: BarBoot},
		"PRE_VOTE":                                PreVote{},
		"REQUEST_VOTE":                            RequestVote{},
		"VOTE":                                    Vote{},
		"HEARTBEAT_ACK":                           HeartbeatAck{},
		"HEARTBEAT leader 5:80, for 2.95s":        Heartbeat{Leader: p, Remaining: 2950 * time.Millisecond},
		"LEASE leader 5:80, for 2.95s":            Lease{Leader: p, Remaining: 2950 * time.Millisecond},
	} {
		if got := b.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestMessageID(t *testing.T) {
	if got := (Message{From: 4, To: 5, Seq: 31}).ID(); got != "4:31" {
		t.Errorf("%q, want sender:seq", got)
	}
}

// The office hands on what is the nomination's.
func TestNominates(t *testing.T) {
	for k, want := range map[Kind]bool{
		KindTimeoutNow: true, KindProbeReply: true, KindWatch: true, KindEnquiry: true, KindCandidate: true,
		KindPing: false, KindAsk: false, KindTakeOver: false, KindStanding: false, KindAccount: false,
	} {
		if k.Nominates() != want {
			t.Errorf("%v: %v", k, !want)
		}
	}
}
