package fence

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/proto"
)

const hexIncarnation = "9f86d081884c7d659a2feaa0c55ad015"

// token is the one of a term for a process of a node: each call is another
// process.
func token(term proto.Term, node proto.NodeID) Token {
	return Token{Term: term, Leader: node, Incarnation: proto.NewIncarnation()}
}

func TestParse(t *testing.T) {
	for _, text := range []string{
		"1;node=1;incarnation=" + hexIncarnation,
		"9007199254740992;node=9007199254740992;incarnation=00000000000000000000000000000001",
	} {
		got, err := Parse(text)
		former := strings.Replace(text, "incarnation", "session", 1)
		if was, err := Parse(former); err != nil || was != got {
			t.Errorf("Parse(%s) = %v, %v", former, was, err)
		}
		if err != nil || got.String() != text || got.Validate() != nil {
			t.Errorf("Parse(%s) = %v, %v", text, got, err)
		}
	}
}

// A token has one spelling, so that whoever compares texts compares tokens; and
// what is none is refused: "a forged, replayed or absurd term".
func TestParseRefuses(t *testing.T) {
	const rest = ";node=3;incarnation=" + hexIncarnation
	for _, text := range []string{
		"", "none", "7", "7;node=3", rest, "7;node=3;incarnation=", "7;node=;incarnation=" + hexIncarnation,
		"0" + rest, "07" + rest, "+7" + rest, "-7" + rest, " 7" + rest, "7 " + rest, "7.0" + rest,
		"7e1" + rest, "0x7" + rest, "7_0" + rest, "٧" + rest,
		"9007199254740993" + rest, "18446744073709551616" + rest,
		"7;node=0;incarnation=" + hexIncarnation, "7;node=03;incarnation=" + hexIncarnation,
		"7;node=9007199254740993;incarnation=" + hexIncarnation,
		"7;incarnation=" + hexIncarnation + ";node=3", "7; node=3;incarnation=" + hexIncarnation,
		"7;NODE=3;incarnation=" + hexIncarnation, "7;node=3;incarnation=" + strings.ToUpper(hexIncarnation),
		"7;node=3;incarnation=" + hexIncarnation[1:], "7" + rest + "0", "7" + rest + ";", "7" + rest + "\n",
		"7;node=3;incarnation=00000000000000000000000000000000", "7;node=3;node=3" + rest,
		strings.Repeat("7", 1<<16) + rest,
	} {
		got, err := Parse(text)
		if !errors.Is(err, ErrMalformedToken) || !got.IsZero() {
			t.Errorf("Parse(%.80q) = %v, %v", text, got, err)
		}
		if err != nil && len(err.Error()) > 400 {
			t.Errorf("the error about %.20q… has %d bytes", text, len(err.Error()))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"7;node=3;incarnation=" + hexIncarnation, "", ";node=;incarnation=", "07"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse(text)
		if (err == nil) != (got.Validate() == nil) {
			t.Errorf("Parse(%q) = %v, %v", text, got, err)
		}
		if err == nil && got.String() != text {
			t.Errorf("Parse(%q) has another spelling: %v", text, got)
		}
	})
}

func TestTokenJSON(t *testing.T) {
	type holder struct{ Token Token }
	want := holder{token(7, 3)}
	for _, h := range []holder{want, {}} {
		data, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		var back holder
		if err := json.Unmarshal(data, &back); err != nil || back != h {
			t.Errorf("%s became %v, %v", data, back, err)
		}
	}
	var bad holder
	if err := json.Unmarshal([]byte(`{"Token":"7"}`), &bad); !errors.Is(err, ErrMalformedToken) {
		t.Errorf("half a token: %v", err)
	}
}
