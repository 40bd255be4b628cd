package rounds

import (
	"cmp"
	"slices"
	"time"
)

// Incident is one change of leadership, from the end of the last leadership that the records confirm to the
// beginning of the next. All elections that nobody won in between are part of it. It is the unit about which
// people ask: who led before, how long did nobody lead, why, and who leads since?
type Incident struct {
	// Former led FormerTerm until From. All three are zero before the first leadership.
	Former     uint64    `json:"former,omitempty"`
	FormerTerm uint64    `json:"former_term,omitempty"`
	From       time.Time `json:"from,omitzero"`
	Ended      Ending    `json:"ended,omitzero"` // how the leadership of Former ended
	// Perhaps is when nobody may have led from on, if that is long before From. A follower found then that the lease of
	// Former had ended, and Former found it later: it may have slept, or have led others on. Or most voters found so,
	// and Former wrote nothing: its lease may have been renewed after that of the voters, whom only its next HEARTBEAT
	// would have told. Or it is the last record of Former, whose process ended before the next one of its node began.
	// Or it is the last sign that Former led: nobody noticed its end, or who did may have slept. Or Former ceased to
	// lead then (see Ceased), and Between led later. Zero otherwise.
	Perhaps    time.Time `json:"perhaps_from,omitzero"`
	PerhapsRef Ref       `json:"perhaps_ref,omitzero"` // the record of Perhaps

	// Leader leads Term since Until. Leader is 0 if nobody leads when the logs end: Until is the time of the last
	// record then, or of a later line of a node.
	Leader uint64    `json:"leader,omitempty"`
	Term   uint64    `json:"term,omitempty"`
	Until  time.Time `json:"until"`
	// Sooner is since when Leader may have led at the earliest, if the record in which it began to is missing: Until is
	// when another record tells that it leads. Zero otherwise.
	Sooner    time.Time `json:"sooner,omitzero"`
	SoonerRef Ref       `json:"sooner_ref,omitzero"` // the record of Sooner
	// Between led until From or later, by its own word, after Former had ceased to, and no record tells when it began
	// to. 0 for none.
	Between    uint64 `json:"between,omitempty"`
	BetweenRef Ref    `json:"between_ref,omitzero"` // the record of that word

	// Leaderless is how long nobody led: from From to Until, or 0 if the leaderships met or overlapped. It is how long
	// nobody led at least where more is not known (see AtLeast and AtMost).
	// Before the first leadership it counts from the first call of an election.
	Leaderless time.Duration `json:"leaderless"`
	// PerhapsLed says that records are missing which would tell whether somebody led one of Terms meanwhile, or
	// followed on whom others had lost: Leaderless is then for how long nobody led as far as the records tell.
	PerhapsLed bool `json:"perhaps_led,omitempty"`
	// Anew says that nobody led before the first call either: it was of the first term, and no record is missing that
	// might tell otherwise.
	Anew bool `json:"anew,omitempty"`
	// Terms are those in which an election was held, in order: also later terms than Term, if those were called before.
	Terms   []uint64 `json:"terms"`
	Why     string   `json:"why"`     // in one clause: "voters 2 and 5 ended, 4 paused: 2 of 5 remain"
	Records []Ref    `json:"records"` // which prove From, Until and Why
	// Asked is the record by which Former was asked to hand over, or why it did so without being asked; Seq 0 if no
	// round of Terms has that for a cause.
	Asked Ref `json:"asked,omitzero"`

	lastSign bool      // see LastSign
	ceased   bool      // see Ceased
	sooner   bool      // nobody may have led before Until, where Leaderless is 0
	by       uint64    // the node that tells Until, by its clock; 0 if nobody leads then
	ledFrom  time.Time // when Former began to lead

	betweenUntil time.Time // when Between ceased to lead

	rounds   []*Round   // of Terms
	before   *Round     // of FormerTerm; nil if it is not kept
	lack     shortage   // the longest time in which the same voters were missing; zero if Why names none
	lacks    []shortage // all of them, in the order of time
	aside    bool       // Why says that the nodes which might have led stood aside
	all      bool       // lack is of all nodes, not of the voters
	unfenced bool       // Why says that former leaders could not be fenced
	store    bool       // Why says what in the store kept the nodes from a leader
	delay    bool       // Why says what took most of the time
	apart    shortage   // a time in which no voter saw a majority of them, if Why says so
	loss     Loss       // see Loss
	killed   bool       // so many of them ended without a good-bye that the others are no majority
}

// Voters reports whether Why says which voters were missing, so that the others were no majority.
func (in *Incident) Voters() bool { return in.Absent() && !in.all }

// Absent reports whether Why says which voters were missing, or that all nodes were.
func (in *Incident) Absent() bool { return len(in.lack.missing) > 0 }

// Held reports whether Why says what kept the nodes from a leader: none of those which might have led was eligible, or
// former leaders could not be fenced, or the store kept them from it, or no voter saw a majority, or they waited for a
// node that was silent, or for the end of promises.
func (in *Incident) Held() bool {
	return in.aside || in.unfenced || in.store || in.delay || in.apart.length() > 0
}

// MainTerm returns the one of Terms whose round stands for the change: that of Leader, or else the last one.
func (in *Incident) MainTerm() uint64 {
	if slices.Contains(in.Terms, in.Term) {
		return in.Term
	}
	return in.Terms[len(in.Terms)-1]
}

// StoppedFirst reports whether Former had stopped leading, by its own word, before Leader led.
func (in *Incident) StoppedFirst() bool {
	return in.Ended.Kind == EndedByWord && in.From.Before(in.Until)
}

// LastSign reports whether Perhaps is the last sign that Former led: nobody noticed its end, or who did may have slept.
func (in *Incident) LastSign() bool { return in.lastSign }

// Ceased reports whether Perhaps is when Former ceased to lead, and Between led later.
func (in *Incident) Ceased() bool { return in.ceased }

// Unsure reports whether it is not known whether Former leads when the records end.
func (in *Incident) Unsure() bool {
	return in.Leader == 0 && in.Ended == (Ending{Kind: EndedUnseen, Known: Inferred}) && !in.Perhaps.IsZero()
}

// unheardFor returns for how long no record tells of a leader when the logs end, if it is not known whether one leads.
func (in *Incident) unheardFor() time.Duration {
	if !in.Unsure() {
		return 0
	}
	return in.AtMost()
}

// Missing returns a time at which the node was missing so, in the words of Why; zero if Why says of none. "dead" is for
// one of those that ended: it ran no process then.
func (in *Incident) Missing(id uint64, how string) (at time.Time) {
	if s := in.missing(id, how); !s.from.IsZero() {
		at = s.from.Add(s.length() / 2)
	}
	return at
}

// missing returns the longest time in which the node was missing so; zero if there is none.
func (in *Incident) missing(id uint64, how string) (found shortage) {
	for _, s := range in.lacks {
		for _, a := range s.missing {
			so := a.id == id && (a.state() == how || a.how == how)
			if so && (found.from.IsZero() || s.length() > found.length()) {
				found = s
			}
		}
	}
	return found
}

// Unheard reports whether Why says of the node that there is no sign of life of it.
func (in *Incident) Unheard(id uint64) bool { return !in.Missing(id, unheard).IsZero() }

// AtMost returns for how long nobody led at most.
func (in *Incident) AtMost() time.Duration {
	switch {
	case !in.Perhaps.IsZero():
		return in.Until.Sub(in.Perhaps)
	case !in.Sooner.IsZero():
		return max(in.Until.Sub(in.From), 0)
	}
	return in.Leaderless
}

// Bounded reports whether the records tell only for how long nobody led at most.
func (in *Incident) Bounded() bool { return !in.Perhaps.IsZero() || !in.Sooner.IsZero() }

// AtLeast reports whether nobody may have led for longer than Leaderless: the records bound it, or do not tell when the
// leadership before ended, or it ended as others lost the leader, which was silent to them before. Or another one led
// by the time by which its process or its lease had ended, as others saw.
func (in *Incident) AtLeast() bool {
	return in.sooner || in.Bounded() || in.Ended.Kind == EndedUnseen || in.Ended.Kind == EndedByLoss
}

// Began returns since when nobody led at the earliest.
func (in *Incident) Began() time.Time {
	if in.Perhaps.IsZero() {
		return in.From
	}
	return in.Perhaps
}

// Nobody says that nobody led, or did as far as the records tell, if some that might tell otherwise are missing.
func (in *Incident) Nobody() string {
	if in.PerhapsLed {
		return "as far as the records tell, nobody led"
	}
	return "nobody led"
}

// Surely returns for how long nobody led at least.
func (in *Incident) Surely() time.Duration {
	if in.PerhapsLed {
		return 0
	}
	return in.Leaderless
}

// Length says for how long nobody led, or for how long at least.
func (in *Incident) Length() string {
	if in.AtLeast() {
		return "at least " + Span(in.Leaderless)
	}
	return Span(in.Leaderless)
}

// Leaderless says for how long nobody led in all, since the first leadership.
type Leaderless struct {
	Changes int           `json:"changes"` // how many leaderships came to an end, or may have
	Sum     time.Duration `json:"sum"`
	AtLeast bool          `json:"at_least,omitempty"` // the records do not tell all, or not of all changes
	Worst   *Incident     `json:"-"`                  // the longest, nil without changes

	unbounded *Incident // for which the records tell no most: the one that may have been longest, nil for none
}

// Longer returns the change that may have been longer than Worst, since the records tell no most for it. It returns nil
// if there is none.
func (s *Leaderless) Longer() *Incident {
	if in := s.unbounded; in != nil && in.most() > s.Worst.AtMost() && in.Term != s.Worst.Term {
		return in
	}
	return nil
}

// add adds one change. It does nothing for the first leadership: nobody could have led before.
func (s *Leaderless) add(in *Incident) {
	if in.Former == 0 {
		return
	}
	s.Changes++
	s.Sum += in.Surely()
	s.AtLeast = s.AtLeast || in.AtLeast() || in.PerhapsLed
	if s.Worst == nil || in.AtMost() > s.Worst.AtMost() {
		s.Worst = new(*in)
	}
	unbounded := in.AtLeast() && !in.Bounded() && in.Leader != 0
	if unbounded && (s.unbounded == nil || in.most() > s.unbounded.most()) {
		s.unbounded = new(*in)
	}
}

// most returns for how long nobody can have led at most: Former led before that.
func (in *Incident) most() time.Duration { return in.Until.Sub(in.ledFrom) }

// Ending says how a leadership ended, and how this is known.
type Ending struct {
	Kind  EndKind    `json:"kind"`
	Known Confidence `json:"known"`
	Ref   Ref        `json:"ref,omitzero"` // the record that shows it
}

// EndKind is what ended a leadership: whatever came first.
type EndKind string

// The ends of a leadership. The leader stepped down by its own word; its lease ended, and it was not renewed; its
// process ended; without a lease, the other nodes lost it; or no record tells an end before another node led.
const (
	EndedByWord    EndKind = "word"
	EndedByLease   EndKind = "lease"
	EndedByProcess EndKind = "process"
	EndedByLoss    EndKind = "lost"
	EndedUnseen    EndKind = "unseen"
)

// Confidence says how a statement about a node is known.
type Confidence string

// The confidences: the node wrote it itself, its peers saw it, or it is inferred from what is missing.
const (
	OwnWord  Confidence = "own"
	PeersSaw Confidence = "peers"
	Inferred Confidence = "inferred"
)

// incidents returns the changes of leadership, in the order of time. It notes whether there may be others, which only
// clocks would tell that are not compared.
func (g *group) incidents(rounds []*Round) []Incident {
	g.changesUntold = false
	former := g.settledLeadership() // the one that lasted longest so far
	later := g.list[slices.Index(g.list, former)+1:]
	all := make([]change, 0, len(later)+1)
	for _, next := range later {
		if former != nil && next.Term <= former.Term {
			if !former.outlivedBy(next) { // two led at once, and the former led on
				continue
			}
			if surely, perhaps := g.replaced(former, next); !surely {
				g.changesUntold = g.changesUntold || perhaps
				former = next
				continue
			}
		}
		all = append(all, change{former: former, next: next})
		former = next
	}
	over := former != nil && !former.End.IsZero() && !slices.ContainsFunc(g.list, g.leadsOn)
	if over || former == nil && len(rounds) > 0 || former != nil && g.mayBeOver(former) {
		all = append(all, change{former: former})
	}
	g.allot(all, rounds)
	list := make([]Incident, 0, len(all))
	for i := range all {
		list = append(list, g.incident(&all[i]))
	}
	return list
}

// leadsOn reports whether a leader goes on as far as the records tell, although others may have led later terms:
// without a lease, nothing keeps it from that.
func (g *group) leadsOn(r *Leadership) bool {
	return !leased(g.guarantee) && r.End.IsZero() && !r.First.IsZero() && g.believes(r.Leader, r)
}

// outlivedBy reports whether other goes on when r is over. Where no record tells an end of r, it may be over since the
// last sign of it.
func (r *Leadership) outlivedBy(other *Leadership) bool {
	switch {
	case r.End.IsZero() && other.End.IsZero():
		return other.sign.After(r.sign)
	case r.End.IsZero():
		return other.End.After(r.sign)
	}
	return other.End.IsZero() || other.End.After(r.End)
}

// incident tells of the change from one leadership to the next.
func (g *group) incident(c *change) Incident {
	former, next := c.former, c.next
	in := Incident{Until: g.logsEnd, Terms: []uint64{}, Records: []Ref{}, rounds: c.rounds, before: c.before}
	if next != nil {
		in.Leader, in.Term, in.Until, in.by = next.Leader, next.Term, next.From, next.first().Node
		in.prove(next.first())
	}
	if former != nil {
		in.Former, in.FormerTerm, in.From, in.Ended = former.Leader, former.Term, former.End, former.Ended
		in.ledFrom = former.From
	}
	for _, r := range in.rounds {
		in.Terms = append(in.Terms, r.Term)
		in.began(r, g)
		if former != nil && r.Cause.Handing() == former.Leader && !r.Cause.asked.at.Before(former.From) {
			in.Asked = cmp.Or(r.Cause.Asked(), in.Asked)
			in.prove(in.Asked)
		}
	}
	if in.From.IsZero() || in.unsure(g, former, next) || former == nil && len(in.unseenIn(g)) > 0 {
		in.From, in.Ended = in.Until, Ending{Kind: EndedUnseen, Known: Inferred}
	}
	beside, most := in.ledBeside(g, c)
	if in.perhaps(g, former); !beside.at.IsZero() {
		in.From, in.Perhaps, in.PerhapsRef = earliest(beside.at, in.Until), time.Time{}, Ref{}
		in.prove(beside.by)
	}
	in.Leaderless = max(in.Until.Sub(in.From), 0)
	if next != nil && (next.unseen || next.First.IsZero()) && in.Leaderless > 0 {
		in.Sooner, in.SoonerRef = in.From, in.Ended.Ref
		for _, v := range []moment{{next.before, next.beforeRef}, in.soonest()} {
			if v.at.After(in.Sooner) {
				in.Sooner, in.SoonerRef = v.at, v.by
			}
		}
		in.Leaderless = earliest(in.Sooner, in.Until).Sub(in.From)
		in.prove(next.beforeRef)
	}
	others := in.Ended.Kind == EndedByProcess || in.Ended.Kind == EndedByLease && in.Ended.Known != OwnWord
	in.sooner = in.Leaderless == 0 && (others && !g.ledOn(former, in.Until) || in.wasSilent(g)) || most
	in.prove(in.Ended.Ref)
	if former != nil && in.Until.After(in.From) {
		in.ledBetween(g, former)
	}
	in.Why = in.reason(g) // by the time since Former ceased to lead
	in.sinceBetween(g, !beside.at.IsZero())
	perhaps := in.perhapsLed(g) || in.perhapsLedBefore(g)
	in.PerhapsLed = in.Leaderless > 0 && (perhaps || in.perhapsFollowed(g, former) || in.perhapsBeside(g, c) ||
		in.perhapsSkipped(g))
	untold := next != nil && (next.unseen || next.First.IsZero()) // since when it led
	in.Anew = former == nil && !perhaps && in.Ended.Kind == "" && !untold && slices.Contains(in.Terms, 1) &&
		!in.calledBefore(g)
	return in
}

// soonest returns when Leader had the votes at the earliest, by the records of the voters; zero if they do not tell.
func (in *Incident) soonest() (last moment) {
	for _, r := range in.rounds {
		if r.Winner != nil && r.Winner.Node == in.Leader && r.soonest.at.After(last.at) {
			last = r.soonest
		}
	}
	return last
}

// unsure reports whether the time until the next leadership is unlikely, and no messages compare the clocks by which it
// is measured: that of who tells it, and that of the leader before, or of who called the election. So it is where the
// leader before seems to have led on, and that of who tells its end.
func (in *Incident) unsure(g *group, former, next *Leadership) bool {
	took := in.Until.Sub(in.From)
	if next == nil || g.key.run > 0 || took >= 0 && took <= time.Minute {
		return false
	}
	if took < 0 {
		return former != nil && g.apart(in.Ended.Ref.Node, in.by) == unbounded
	}
	by := in.Former
	for _, r := range in.rounds {
		if former == nil && r.Cause.At.Equal(in.From) {
			by = r.Cause.Node
		}
	}
	return by != 0 && !g.paths.linked(by, in.by)
}

// ledOn reports whether the leader wrote that it led from the time t on.
func (g *group) ledOn(r *Leadership, t time.Time) bool {
	return r.life != nil && !g.fix.at(r.Leader, r.wrote).Before(t)
}

// began sets From where the round tells it: before the first leadership, from its call on. Without a lease, a leader
// that is lost to the others leads them no more, whatever it believes: also if it was frozen, and believes so as it
// wakes, when another one leads.
func (in *Incident) began(r *Round, g *group) {
	c := r.Cause
	lost := !leased(g.guarantee) && in.Former != 0 && c.Lost == in.Former && !in.lostBefore(&c, g) &&
		(EndedProcess(c.Evidence, c.Lost) || c.Back.IsZero() || in.wokeLate(&c, g))
	if c.At.IsZero() || in.Former != 0 && !lost || !in.From.IsZero() && !c.At.Before(in.From) {
		return
	}
	if by := cmp.Or(in.by, in.Former); by != 0 && g.apart(c.Node, by) == unbounded {
		return
	}
	in.From = c.At
	if lost {
		in.Ended = Ending{EndedByLoss, PeersSaw, c.Ref}
		if EndedProcess(c.Evidence, c.Lost) {
			in.Ended.Kind = EndedByProcess
		}
	}
	in.prove(c.Ref)
}

// lostBefore reports whether the leader before may have been lost before it began to lead, by what their clocks tell:
// another leadership of it ended so.
func (in *Incident) lostBefore(c *Cause, g *group) bool {
	led := g.leaderships[leadershipKey{in.Former, in.FormerTerm}]
	if led == nil || c.Lost != in.Former || in.Former == 0 || c.At.IsZero() {
		return false
	}
	off, followed := g.apart(c.Node, led.first().Node), g.followedTo(c.Ref)
	return off != unbounded && !c.At.Add(-off).After(led.From) || followed != 0 && followed < in.FormerTerm
}

// followedTo returns the term of the leader in which the process of a record believed before that, 0 for nobody's, or
// if that is not known.
func (g *group) followedTo(ref Ref) uint64 {
	if m := g.nodes[ref.Node]; m != nil && m.byIncarnation[ref.Incarnation] != nil && ref.Seq > 0 {
		return m.byIncarnation[ref.Incarnation].ledAt(ref.Seq - 1)
	}
	return 0
}

// wasSilent reports whether the leader before was lost to others without a lease, and may have been silent to them
// since before: it wrote nothing for long when they lost it, or nothing until the next one led. Or it was silent to
// some when that began to, which need not have lost it: it may have slept itself.
func (in *Incident) wasSilent(g *group) bool {
	if leased(g.guarantee) || in.Leader == 0 {
		return false
	}
	silent := g.silentFrom(in.Former, in.Until, in.Until)
	return silent || slices.ContainsFunc(in.rounds, func(r *Round) bool {
		m := g.nodes[r.Cause.Lost]
		if m == nil || r.Cause.Lost != in.Former {
			return false
		}
		l := m.at(r.Cause.At, g.fix)
		return l != nil && (l.silentAround(r.Cause.At, g.fix) || l.wroteNothing(r.Cause.At, in.Until, g.fix))
	})
}

// wokeLate reports whether the lost leader was silent to the others until another one led.
func (in *Incident) wokeLate(c *Cause, g *group) bool {
	off, from := g.apart(c.Node, in.by), c.At
	if c.Kind == LeaderSilent && off != unbounded { // by the initiator's word; others saw it a little later
		from = in.Until.Add(off)
	}
	return in.Leader != 0 && off != unbounded && g.silentFrom(c.Lost, from, in.Until.Add(off))
}

func (in *Incident) prove(ref Ref) {
	if !ref.IsZero() && !slices.Contains(in.Records, ref) {
		in.Records = append(in.Records, ref)
	}
}
