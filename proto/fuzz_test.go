package proto

import (
	"bytes"
	"testing"
)

// addSeeds gives the fuzzer a valid payload of every kind and every hostile one.
func addSeeds(f *testing.F) {
	f.Helper()
	for _, m := range messages() {
		kind, payload, err := Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(kind.Number(), payload)
	}
	for _, b := range linkBodies() {
		kind, payload, err := MarshalLink(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(kind), payload)
	}
	for _, payload := range hostile() {
		f.Add(kindRich.Number(), payload)
	}
}

// Whatever the bytes: no panic, no more memory than a few times their size,
// and what is taken for a message is one that Marshal writes.
func FuzzUnmarshal(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, k uint8, payload []byte) {
		var m Message
		var b LinkBody
		var err, linkErr error
		spent := allocated(func() {
			m, err = table.Unmarshal(k, payload)
			b, linkErr = UnmarshalLink(LinkKind(k), payload)
		})
		if spent > bound(payload) {
			t.Fatalf("%d bytes allocated for %d", spent, len(payload))
		}
		if err == nil {
			roundTrip(t, m)
		}
		if linkErr == nil {
			roundTripLink(t, b)
		}
	})
}

func roundTrip(t *testing.T, m Message) {
	t.Helper()
	kind, first, err := Marshal(m)
	if err != nil {
		t.Fatalf("%+v was taken, and now: %v", m, err)
	}
	back, err := kind.Unmarshal(first)
	if err != nil || back != m {
		t.Fatalf("came back as %+v, %v; want %+v", back, err, m)
	}
	if _, second, err := Marshal(back); err != nil || !bytes.Equal(first, second) {
		t.Fatalf("marshalled again as %x, %v; want %x", second, err, first)
	}
}

func roundTripLink(t *testing.T, b LinkBody) {
	t.Helper()
	kind, first, err := MarshalLink(b)
	if err != nil {
		t.Fatalf("%+v was taken, and now: %v", b, err)
	}
	back, err := UnmarshalLink(kind, first)
	if err != nil || back != b {
		t.Fatalf("came back as %+v, %v; want %+v", back, err, b)
	}
	if _, second, err := MarshalLink(back); err != nil || !bytes.Equal(first, second) {
		t.Fatalf("marshalled again as %x, %v; want %x", second, err, first)
	}
}

// What Check passes, every decoder survives; and a payload with anything cut
// off its end, or put there, is not passed.
func FuzzCheck(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, k uint8, payload []byte) {
		if Check(payload) != nil {
			return
		}
		unmarshalAny(k, payload)
		if Check(payload[:len(payload)-1]) == nil {
			t.Fatal("passed with its last byte cut off")
		}
		if Check(append(bytes.Clone(payload), 0)) == nil {
			t.Fatal("passed with a byte after its end")
		}
	})
}
