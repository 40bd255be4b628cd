package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/needs"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// playsReal plays a scenario with real processes, too. It must end with the code and say all of want.
func playsReal(t *testing.T, code int, script string, flags []string, want ...string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "scenario.txt")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	got, out := runRingleader(t, append(append([]string{"play", "--real"}, flags...), file)...)
	for _, text := range want {
		if !strings.Contains(out, text) {
			t.Errorf("it does not say %q", text)
		}
	}
	if got != code || t.Failed() {
		t.Errorf("exit code %d, want %d:\n%s", got, code, out)
	}
}

// Promise: real processes send what virtual time sends, message by message: 3N - 1 in the worst case of the ring, 2N in
// the best; and who dies at a named message, is stopped or cut off is replaced by the same node.
func TestPlayReal(t *testing.T) {
	t.Parallel()
	const six = " ring=3,5,6,12,32,80\n"
	// A process that waits for a message longer than the budget allows asks for it again.
	same := []string{"--same", "--failover-budget", "10s"}
	for _, c := range []struct {
		name, script string
		flags, want  []string
	}{
		{
			"worst case",
			"new algorithm=ring" + six + "campaign 3\nagree\n" +
				"expect leader=80 term=2 ELECTION=11 total=17 leads=80 bit=0", same,
			[]string{"     1  3 > 5 ELECTION\n", "    17  32 > 80 ELECTED\n17 of 17 messages are the same\n"},
		},
		{
			"best case", "new algorithm=ring" + six + "campaign 80\nagree\nexpect leader=80 total=12 times=12", same,
			[]string{"12 of 12 messages are the same\n", "* times is not looked at in reality\n"},
		},
		{
			"attributes", "new algorithm=ring attrs=0,0,7" + six + "campaign 3\nagree\nexpect leader=6", same,
			[]string{" messages are the same\n"},
		},
		{
			"leader dies", "new algorithm=bully" + six + "crash 80\nagree\nexpect leader=32\nstart 80\nagree", calm,
			[]string{"in reality all follow 32, term +1, after ", "COORDINATOR\n"},
		},
		{
			"leader dies at a named message",
			"new algorithm=ring" + six + "crash 80 on=ELECTED\ncampaign 6\nuntil ELECTED from=80\nagree\n" +
				"expect leader=32", calm,
			[]string{"    10  80 > 3 ELECTED\n", "in reality all follow 32, term +2, "},
		},
		{
			"leader hangs", "new algorithm=bully nodes=3\npause 3 for=4s\nrun 6s\nagree", nil,
			[]string{"2 > 1 COORDINATOR\n", "in reality all follow "},
		},
		{
			"under a lease",
			"new algorithm=bully nodes=3 voters=1,2,3 lease=3s\ntransfer 3 to=1\nagree\n" +
				"expect leader=1 term=2\nwipe 1", calm,
			[]string{"  3 > 1 OFFER, term +0\n", "in reality all follow 1, term +1, "},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			playsReal(t, exitOK, c.script, c.flags, c.want...)
		})
	}
}

func TestPlayRealCut(t *testing.T) {
	t.Parallel()
	needs.Here(t, "a scenario that cuts the network", cmp.Or(testcluster.MayCut(4), testcluster.MayBlock()))
	const script = "new algorithm=bully nodes=4 sight=paths\npartition 1,2|3,4\nrun 4s\nheal\nrun 3s\nagree\n" +
		"campaign 1\nagree\nexpect leader=4"
	playsReal(t, exitOK, script, nil,
		"2 > 1 COORDINATOR\n", "     1  1 > 2 ELECTION\n", "in reality all follow 4, ")
}

// Promise: "The exit code is 1 if an expectation failed"; other messages alone make no error, without --same. A
// process that resigns asks first who could lead.
func TestPlayRealDiffers(t *testing.T) {
	t.Parallel()
	const resigns = "new algorithm=bully nodes=3 voters=1,2,3\nresign 3\nagree\n"
	playsReal(t, exitOK, resigns, calm, "+       3 > 2 OFFER, term +0\n", " more in reality\n")
	playsReal(t, exitError, resigns, append([]string{"--same"}, calm...),
		"reality sent other messages than virtual time")
	playsReal(t, exitError, resigns+"expect leader=2 OFFER=0", calm, "line 4: ", "in reality: ", "OFFER is 1")
	playsReal(t, exitError, "new algorithm=bully nodes=3\ncrash 1 on=COORDINATOR\nrun 1s", calm,
		"in virtual time: line 2: crash 1 on=COORDINATOR: ")
	playsReal(t, exitUsage, "new algorithm=ring nodes=3\nsuspect 1 3\n", nil,
		"line 2: suspect 1 3: real processes cannot do that: a real detector cannot be made to lie")
}
