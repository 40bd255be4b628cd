package tcp

import (
	"bytes"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// queue is an outbox under test. Its messages are single letters.
type queue struct {
	*outbox
	drops map[reason]int
}

func newQueue(limit int) *queue {
	q := &queue{drops: map[reason]int{}}
	q.outbox = newOutbox(limit, 5*time.Second, func(r reason, n int) { q.drops[r] += n })
	return q
}

func (q *queue) puts(at time.Duration, letters string) {
	for _, l := range letters {
		q.put(proto.Incarnation{}, nomination.KindTimeoutNow, []byte{byte(l)}, dawn.Add(at))
	}
}

// written are the letters that would now be written to s.
func (q *queue) written(t *testing.T, s proto.Incarnation, at time.Duration) string {
	t.Helper()
	frames, n := q.take(nil, s, proto.Incarnation{}, dawn.Add(at))
	r := newFrameReader(bytes.NewReader(frames))
	var letters []byte
	for {
		_, payload, err := r.next(1)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		letters = append(letters, payload...)
	}
	if n != len(letters) {
		t.Errorf("it says that it took %d frames of %q", n, letters)
	}
	return string(letters)
}

func (q *queue) dropped(t *testing.T, r reason, want int) {
	t.Helper()
	if q.drops[r] != want {
		t.Errorf("%d dropped as %v, want %d", q.drops[r], r, want)
	}
}

// "The dialler keeps unacknowledged messages and sends them again on the next
// connection to the same incarnation."
func TestUnacknowledgedMessagesAreWrittenAgain(t *testing.T) {
	q := newQueue(9)
	q.puts(0, "abc")
	q.begin(s1, dawn)
	if got := q.written(t, s1, 0); got != "abc" {
		t.Errorf("first: %q", got)
	}
	if err := q.ack(1); err != nil {
		t.Error(err)
	}
	q.puts(0, "de")
	if got := q.written(t, s1, 0); got != "de" {
		t.Errorf("then: %q", got)
	}
	q.end()
	q.begin(s1, dawn)
	if got := q.written(t, s1, 0); got != "bcde" {
		t.Errorf("on the next connection: %q", got)
	}
	if err := q.ack(4); err != nil || q.len() != 0 {
		t.Errorf("%v, %d left", err, q.len())
	}
}

// "When the peer comes back as another incarnation, they are dropped and counted",
// those that were never written too; what is for whichever answers is not.
func TestMessagesOfAFormerLifeAreDropped(t *testing.T) {
	q := newQueue(9)
	q.puts(0, "ab")
	q.begin(s1, dawn)
	q.written(t, s1, 0)
	q.end()
	q.puts(0, "c")
	q.put(s1, nomination.KindTimeoutNow, []byte("d"), dawn)
	q.put(s2, nomination.KindTimeoutNow, []byte("e"), dawn)
	q.begin(s2, dawn)
	if got := q.written(t, s2, 0); got != "ce" {
		t.Errorf("to the next process: %q", got)
	}
	q.dropped(t, newLife, 3)
}

// A link that reaches a former process still, its end not yet read, is not given what
// is for the next one.
func TestMessagesWaitForTheirProcess(t *testing.T) {
	q := newQueue(9)
	q.begin(s1, dawn)
	q.put(s1, nomination.KindTimeoutNow, []byte("a"), dawn)
	q.put(s2, nomination.KindTimeoutNow, []byte("b"), dawn)
	q.puts(0, "c")
	if got := q.written(t, s1, 0); got != "a" {
		t.Errorf("to the former process: %q", got)
	}
	q.end()
	q.begin(s2, dawn)
	if got := q.written(t, s2, 0); got != "bc" {
		t.Errorf("to the next: %q", got)
	}

	q.put(s1, nomination.KindTimeoutNow, []byte("d"), dawn) // by a view that lags behind
	if frames, n := q.take(nil, s2, s1, dawn); n != 1 {
		t.Errorf("instead of the dead one: %d frames, %q", n, frames)
	}
	q.put(s1, nomination.KindTimeoutNow, []byte("e"), dawn)
	q.puts(0, "f")
	q.replaced(s1)
	if got := q.written(t, s2, 0); got != "f" {
		t.Errorf("when the view has caught up: %q", got)
	}
	q.dropped(t, newLife, 2)
}

// "… or messages are older than a few seconds."
func TestOldMessagesAreDropped(t *testing.T) {
	q := newQueue(3)
	q.puts(0, "ab")
	q.begin(s1, dawn)
	q.written(t, s1, 0)
	q.end()
	q.puts(4*time.Second, "c")
	q.begin(s1, dawn.Add(6*time.Second))
	if got := q.written(t, s1, 6*time.Second); got != "c" {
		t.Errorf("after six seconds: %q", got)
	}
	q.dropped(t, expired, 2)

	q = newQueue(3) // and they make room
	q.puts(0, "abc")
	q.puts(6*time.Second, "d")
	q.begin(s1, dawn.Add(6*time.Second))
	if got := q.written(t, s1, 6*time.Second); got != "d" {
		t.Errorf("after a full queue: %q", got)
	}
	q.dropped(t, expired, 3)
	q.dropped(t, queueFull, 0)

	q = newQueue(3) // but what is on its way is not given up
	q.puts(0, "abc")
	q.begin(s1, dawn)
	q.written(t, s1, 0)
	q.puts(6*time.Second, "d")
	q.dropped(t, expired, 0)
	q.dropped(t, queueFull, 1)
	if err := q.ack(3); err != nil {
		t.Error(err)
	}
}

// "What HEARTBEAT says is left of a lease is less by what they waited for a
// connection", for each anew; "where nothing is left they are not sent".
func TestWhatIsLeftOfALeaseGrowsLess(t *testing.T) {
	body := func(left time.Duration) proto.Body {
		return proto.Heartbeat{Leader: proto.Peer{ID: 1, Incarnation: s1}, Remaining: left}
	}
	q := newQueue(9)
	say := func(at, left time.Duration) {
		kind, payload, err := proto.Marshal(proto.Message{From: 1, To: 2, Term: 1, Body: body(left)})
		if err != nil {
			t.Fatal(err)
		}
		q.put(proto.Incarnation{}, kind, payload, dawn.Add(at))
	}
	wrote := func(at time.Duration, want ...time.Duration) {
		t.Helper()
		frames, _ := q.take(nil, s1, proto.Incarnation{}, dawn.Add(at))
		r := newFrameReader(bytes.NewReader(frames))
		for _, left := range want {
			kind, payload, err := r.next(proto.MaxPayload)
			if err != nil {
				t.Fatalf("%v is missing: %v", left, err)
			}
			if m, err := catalog.Kinds().Unmarshal(kind, payload); err != nil || m.Body != body(left) {
				t.Errorf("%v, %v; want %v", m, err, body(left))
			}
		}
		if kind, _, err := r.next(proto.MaxPayload); err != io.EOF {
			t.Errorf("%v, %v more", kind, err)
		}
	}
	say(0, 3*time.Second)
	say(0, time.Second)
	q.begin(s1, dawn)
	wrote(time.Second, 2*time.Second)
	q.end()
	say(time.Second, 3*time.Second)
	q.begin(s1, dawn.Add(2*time.Second))
	wrote(2*time.Second, time.Second, 2*time.Second)
	q.end()
	q.begin(s1, dawn.Add(3*time.Second))
	wrote(3*time.Second, time.Second)
	q.dropped(t, expired, 2)
	if err := q.ack(1); err != nil || q.len() != 0 {
		t.Errorf("%v, %d left", err, q.len())
	}
	say(3*time.Second, time.Second)
	wrote(3*time.Second+moment, time.Second) // it did not wait
}

// "What cannot be sent is dropped and counted."
func TestAFullQueueDropsWhatComes(t *testing.T) {
	q := newQueue(3)
	q.puts(0, "abcde")
	q.dropped(t, queueFull, 2)
	q.begin(s1, dawn)
	if got := q.written(t, s1, 0); got != "abc" {
		t.Errorf("%q", got)
	}
	q.puts(0, "f") // written is not delivered
	q.dropped(t, queueFull, 3)
	q.close()
	q.dropped(t, closed, 3)
	q.puts(0, "g")
	q.dropped(t, closed, 4)
}

func TestABatchIsBounded(t *testing.T) {
	q := newQueue(1000)
	for range 1000 {
		q.put(proto.Incarnation{}, nomination.KindTimeoutNow, make([]byte, 1<<10), dawn)
	}
	q.begin(s1, dawn)
	total := 0
	for total < 1000 {
		<-q.ready // there is more
		frames, n := q.take(nil, s1, proto.Incarnation{}, dawn)
		if n == 0 || len(frames) > batch+1<<10+headerLen {
			t.Fatalf("%d frames, %d bytes", n, len(frames))
		}
		total += n
	}
}

func TestAcknowledgementsThatCannotBe(t *testing.T) {
	q := newQueue(9)
	q.puts(0, "abcd")
	q.begin(s1, dawn)
	q.written(t, s1, 0)
	for _, n := range []uint64{2, 2} { // twice the same is harmless
		if err := q.ack(n); err != nil {
			t.Error(err)
		}
	}
	for _, n := range []uint64{0, 1, 5, 1 << 62} {
		if f := faultIn(q.ack(n)); f == nil || f.reason != badAck {
			t.Errorf("ack %d: %v", n, f)
		}
	}
	if q.len() != 2 {
		t.Errorf("%d left, want 2", q.len())
	}
}

func TestWaitingSince(t *testing.T) {
	q := newQueue(9)
	q.puts(0, "a")
	if !q.waitingSince().IsZero() {
		t.Error("nothing was written yet")
	}
	q.begin(s1, dawn)
	q.written(t, s1, time.Second)
	q.puts(0, "b")
	q.written(t, s1, 2*time.Second)
	waits := []time.Time{q.waitingSince()}
	for n := range uint64(2) {
		if err := q.ack(n + 1); err != nil {
			t.Error(err)
		}
		waits = append(waits, q.waitingSince())
	}
	want := []time.Time{dawn.Add(time.Second), dawn.Add(2 * time.Second), {}}
	if !slices.Equal(waits, want) {
		t.Errorf("%v, want %v", waits, want)
	}
}
