package rounds_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/ringleader-dev/ringleader/rounds"
)

// steering returns characters that steer a terminal, or the direction of writing, without an escape character.
func steering() (all []rune) {
	for _, span := range [][2]rune{
		{0x7f, 0x9f}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069}, {0x061c, 0x061c}, {0x2028, 0x2029},
	} {
		for c := span[0]; c <= span[1]; c++ {
			all = append(all, c)
		}
	}
	return all
}

// U+009B begins what ESC [ begins, and U+202E turns the text behind it: neither gets to a terminal, as text or as
// JSON, which nevertheless stands for the same text.
func TestNothingSteersATerminal(t *testing.T) {
	for _, c := range steering() {
		text := fmt.Sprintf("größer %c31m → \U0001f600", c)
		if got, want := rounds.Printable(text), fmt.Sprintf("größer \\u%04x31m → \U0001f600", c); got != want {
			t.Errorf("%U as text: %q, want %q", c, got, want)
		}
		encoded, err := json.Marshal(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		safe := rounds.EscapeJSON(encoded)
		if bytes.ContainsRune(safe, c) || !bytes.Contains(safe, []byte("größer")) {
			t.Errorf("%U as JSON: %s", c, safe)
		}
		var back map[string]string
		if err := json.Unmarshal(safe, &back); err != nil || back[text] != text {
			t.Errorf("%U as JSON: %s stands for %q, %v", c, safe, back, err)
		}
	}
}

func TestEscapeJSON(t *testing.T) {
	for in, want := range map[string]string{
		"{\n\t\"a\": \"ö → 😀\"\n}\n": "{\n\t\"a\": \"ö → 😀\"\n}\n",
		"\"\U000e0041\"":             `"\udb40\udc41"`, // a character that draws nothing
		"\"\xff\"":                   `"\ufffd"`,
		"\"\x1b[0m\"":                `"\u001b[0m"`,
		"":                           "",
	} {
		if got := rounds.EscapeJSON([]byte(in)); string(got) != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Whatever the JSON is, it is as valid as it was, stands for the same, and steers nothing.
func FuzzEscapeJSON(f *testing.F) {
	f.Add([]byte(`{"a":["\u009b",1.5,null]}`))
	f.Add([]byte("\"\u009b\u202e\xff\\\u200f\""))
	f.Fuzz(func(t *testing.T, b []byte) {
		safe := rounds.EscapeJSON(b)
		if !utf8.Valid(safe) || bytes.ContainsAny(safe, string(steering())) {
			t.Fatalf("%q became %q", b, safe)
		}
		var before, after any
		if json.Unmarshal(b, &before) != nil {
			return
		}
		if err := json.Unmarshal(safe, &after); err != nil || fmt.Sprintf("%q", before) != fmt.Sprintf("%q", after) {
			t.Fatalf("%q became %q, which stands for %q instead of %q: %v", b, safe, after, before, err)
		}
	})
}
