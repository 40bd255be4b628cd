package membership

import (
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// "memberlist's log lines parsed to levels at the edge, prefix removed; chatter
// at debug."
func TestMemberlistLines(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"[ERR] memberlist: Push/Pull with 5 failed: EOF", "warn Push/Pull with 5 failed: EOF"},
		{"[ERR] Failed to shutdown transport: x", "warn Failed to shutdown transport: x"},
		{"[ERROR] memberlist: x", "warn x"},
		{"Err: Could not set the deadline: x", "warn Could not set the deadline: x"},
		{
			"[WARN] memberlist: Refuting a suspect message (from: 3)",
			"warn Refuting a suspect message (from: 3)",
		},
		{
			"[INFO] memberlist: Suspect 3 has failed, no acks received",
			"debug Suspect 3 has failed, no acks received",
		},
		{"[DEBUG] memberlist: Stream connection from=x", "debug Stream connection from=x"},
		{"without a level", "debug without a level"},
		// said by this package, in words and once
		{
			"[WARN] memberlist: ignoring alive message for '3': peer refused: x",
			"debug ignoring alive message for '3': peer refused: x",
		},
		{
			"[ERR] memberlist: Conflicting address for 3. Mine: x",
			"debug Conflicting address for 3. Mine: x",
		},
		{
			"[WARN] memberlist: Refuting an alive message for '3' (x)",
			"debug Refuting an alive message for '3' (x)",
		},
	} {
		var b strings.Builder
		memberlistLog(zerolog.New(&b)).Print(tt.line)
		level, text, _ := strings.Cut(tt.want, " ")
		want := `{"level":"` + level + `","message":"` + text + `"}` + "\n"
		if b.String() != want {
			t.Errorf("%s\nbecame %swant   %s", tt.line, b.String(), want)
		}
	}
}

// Anybody who can send a packet can make memberlist complain: that must not
// fill a disk.
func TestMemberlistComplaintsAreFew(t *testing.T) {
	var b strings.Builder
	l := memberlistLog(zerolog.New(&b))
	for range 1000 {
		l.Print("[ERR] memberlist: msg type (77) not supported")
	}
	if n := strings.Count(b.String(), "\n"); n == 0 || n > 10 {
		t.Errorf("%d lines of 1000 complaints", n)
	}
}
