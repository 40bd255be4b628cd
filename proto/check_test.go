package proto

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

// hostile are payloads that make the decoder panic, exhaust memory or believe
// what was not said, and a few that lie in plainer ways.
func hostile() map[string][]byte {
	hex := func(s string) []byte {
		b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
		if err != nil {
			panic(err)
		}
		return b
	}
	keys := []byte{0xde, 0, maxKeys + 1}
	for i := range maxKeys + 1 {
		keys = append(keys, 0xa1, byte('0'+i), 1)
	}
	nested := func(opening string, levels int) []byte {
		return append(bytes.Repeat(hex(opening), levels), 1)
	}
	return map[string][]byte{
		"nothing":                   nil,
		"no map":                    hex("01"),
		"an array":                  hex("93 01 02 03"),
		"nil":                       hex("c0"),
		"nil in a field":            hex("81 a166 c0"),
		"trailing byte":             hex("81 a166 01 00"),
		"second value":              hex("81 a166 01 81 a166 02"),
		"five bytes, huge array":    hex("dd 7fffffff"),
		"huge array in a field":     hex("81 a166 dd 7fffffff"),
		"huge array 16":             hex("81 a166 dc ffff 01"),
		"huge map":                  hex("df ffffffff"),
		"huge map in a field":       hex("81 a166 df ffffffff"),
		"map one short":             hex("82 a166 01"),
		"huge binary":               hex("81 a166 c6 ffffffff 00"),
		"huge text":                 hex("81 a166 db ffffffff 00"),
		"huge key":                  hex("81 db ffffffff 00"),
		"text one short":            hex("81 a166 a3 6161"),
		"number cut short":          hex("81 a166 cf 00000000"),
		"length cut short":          hex("81 a166 da 00"),
		"key without value":         hex("81 a166"),
		"key twice":                 hex("82 a166 01 a166 02"),
		"key twice, other length":   hex("82 a166 01 d90166 02"),
		"key twice, longer length":  hex("82 da000166 01 db0000000166 02"),
		"key twice, deep":           hex("81 a166 82 a161 01 a161 02"),
		"key of binary":             hex("81 c40166 01"),
		"key of nil":                hex("81 c0 01"),
		"key a number":              hex("81 01 01"),
		"uint64 above int64":        hex("81 a166 cf 8000000000000000"),
		"uint64 maximum":            hex("81 a166 cf ffffffffffffffff"),
		"unused code":               hex("81 a166 c1"),
		"fixext 1":                  hex("81 a166 d4 0100"),
		"fixext 16":                 hex("81 a166 d8 01 00000000000000000000000000000000"),
		"ext 8":                     hex("81 a166 c7 0001"),
		"ext 32":                    hex("81 a166 c9 ffffffff 01"),
		"an extension around a map": hex("d4 0100 81 a166 01"),
		"too many keys":             keys,
		"too deep in maps":          nested("81a161", maxDepth+1),
		"too deep in arrays":        append(hex("81 a166"), nested("91", maxDepth)...),
		"very deep":                 append(hex("81 a166"), nested("91", 60_000)...),
		"too large":                 append(hex("81 a166 c6 00010000"), make([]byte, 1<<16)...),
	}
}

func TestCheckRefusesHostilePayloads(t *testing.T) {
	for name, payload := range hostile() {
		if err := Check(payload); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, want %v", name, err, ErrMalformed)
		}
		for kind := range 256 {
			if _, err := table.Unmarshal(uint8(kind), payload); err == nil {
				t.Errorf("%s: taken as %d", name, kind)
			}
			if _, err := UnmarshalLink(LinkKind(kind), payload); err == nil {
				t.Errorf("%s: taken as %v", name, LinkKind(kind))
			}
		}
	}
}

func TestCheckAcceptsUpToItsLimits(t *testing.T) {
	encode := func(v any) []byte {
		b, err := msgpack.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	keys := map[string]int{}
	for i := range maxKeys {
		keys[fmt.Sprint(i)] = i
	}
	deep := bytes.Repeat([]byte{0x81, 0xa1, 'a'}, maxDepth)
	for name, payload := range map[string][]byte{
		"empty map":     encode(map[string]int{}),
		"every type":    encode(map[string]any{"a": 1.5, "b": float32(1), "c": true, "d": -1 << 60}),
		"text lengths":  encode(map[string]any{"a": make([]byte, 300), "b": strings.Repeat("x", 40)}),
		"long array":    encode(map[string]any{"a": make([]int8, 20_000)}),
		"as many keys":  encode(keys),
		"as deep":       append(deep, 1),
		"as large":      encode(map[string][]byte{"a": make([]byte, MaxPayload-6)}),
		"largest int64": encode(map[string]any{"a": uint64(1<<63 - 1)}),
	} {
		if err := Check(payload); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// "No frame, however hostile, allocates more than a few times its size."
func TestHostilePayloadsAllocateLittle(t *testing.T) {
	for name, payload := range hostile() {
		for _, number := range []uint8{uint8(KindHello), uint8(KindAck), kindPlain.Number(), kindRich.Number()} {
			if got := allocated(func() { unmarshalAny(number, payload) }); got > bound(payload) {
				t.Errorf("%s as %d: %d bytes allocated for %d", name, number, got, len(payload))
			}
		}
	}
}

func TestCheckAllocatesNothing(t *testing.T) {
	_, payload, err := Marshal(messages()[2])
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _ = Check(payload) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// bound is "a few times its size" plus what one error and one coder take.
func bound(payload []byte) uint64 { return 4*uint64(len(payload)) + 8192 }

// allocated is how many bytes f allocated.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func unmarshalAny(number uint8, payload []byte) {
	_, _ = table.Unmarshal(number, payload)
	_, _ = UnmarshalLink(LinkKind(number), payload)
}
