package follow

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
)

// out collects what is printed.
type out struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *out) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *out) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// lease is a record of a cluster of voters 1 to 3.
func lease(at time.Time, node, seq int, rest string) string {
	return fmt.Sprintf(`{"level":"info","time":%q,"cluster":"c","node":%d,"incarnation":"inc%d","algo":"bully",`+
		`"seq":%d,"hlc":"%d.0","term":1,"guarantee":"lease",%s}`+"\n",
		at.Format(time.RFC3339Nano), node, node, seq, at.UnixMicro(), rest)
}

// "--follow speaks within a second of a quorum lost": two of three voters end, and nobody leads.
func TestQuorumLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		logged, write := io.Pipe()
		defer write.Close()
		var printed out
		done := make(chan error)
		go func() {
			_, err := Run(ctx, Config{
				Files: []string{"-"}, Stdin: logged, Out: &printed, Remarks: io.Discard,
				Builder: rounds.NewBriefBuilder(), Filter: func(to logs.Sink) logs.Sink { return to },
				Unread: func(err error) { t.Error(err) },
			})
			done <- err
		}()
		say := func(node, seq int, rest string) {
			if _, err := io.WriteString(write, lease(time.Now(), node, seq, rest)); err != nil {
				t.Error(err)
			}
		}
		say(3, 1, `"event":"timeout","why":["no leader was heard of -> ask the voters for term 1"],"role":"looking",`+
			`"leader":0,"sent":["PRE_VOTE>1#3:1","PRE_VOTE>2#3:2"]`)
		say(3, 2, `"event":"receive","why":["a majority voted in term 1 -> lead"],"role":"leader","leader":3,`+
			`"token":1,"leader_change":"elected","prev_leader":0`)
		for node := 1; node <= 2; node++ {
			say(node, 1, `"event":"receive","why":["3 leads term 1 -> follow it"],"role":"follower","leader":3,`+
				`"token":1,"leader_change":"elected","prev_leader":0`)
		}
		time.Sleep(time.Minute)
		if strings.Contains(printed.String(), "Nobody leads") {
			t.Errorf("somebody leads: %s", &printed)
		}
		for seq, dead := range []int{2, 3} {
			say(1, 2+seq, fmt.Sprintf(`"event":"peers","alive":[1],"evidence":"link-closed %d, dial-refused %d",`+
				`"role":"looking","leader":0`, dead, dead))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		const want = "* Nobody leads cluster c, bully since 00:01:00.000: voters 2 and 3 dead: 1 of 3 remains " +
			"[inferred: 1:3 1:2]."
		if !strings.Contains(printed.String(), want) {
			t.Errorf("no %q in: %s", want, &printed)
		}
		time.Sleep(time.Minute)
		if n := strings.Count(printed.String(), "Nobody leads"); n != 1 {
			t.Errorf("it is said %d times: %s", n, &printed)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// "--follow" ends with a signal, and the files that it read were not asked any more what they had: which lines are
// damaged. A compressed file was followed as one without records.
func TestRemarksOfFollowedFiles(t *testing.T) {
	began := lease(time.Now(), 3, 1, `"event":"start","role":"looking","leader":0`)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.WriteString(w, began+began[:150]+"\n"+began[:150]+"\n"); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "n.log")
	if err := os.WriteFile(path, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	var remarks out
	if _, err := Run(ctx, Config{
		Files: []string{path}, Out: io.Discard, Remarks: &remarks, Builder: rounds.NewBriefBuilder(),
		Filter: func(to logs.Sink) logs.Sink { return to }, Unread: func(err error) { t.Error(err) },
	}); err != nil {
		t.Error(err)
	}
	if !strings.Contains(remarks.String(), "2 lines look like records") {
		t.Errorf("%s", &remarks)
	}
}
