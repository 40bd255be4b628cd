package containers_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/needs"
)

// engineless runs one of scripts/ with a docker that only prints what `docker
// ps` should, and returns what the script printed, its exit code, and the
// commands that it gave to docker.
func engineless(t *testing.T, ps string, line ...string) (out string, code int, asked string) {
	t.Helper()
	_, missing := exec.LookPath("bash")
	needs.Here(t, "a script", missing)
	bin := t.TempDir()
	log := filepath.Join(bin, "asked")
	docker := "#!/bin/sh\necho \"$*\" >>\"$ASKED\"\n[ \"$1\" != ps ] || printf %s \"$PS\"\n"
	if err := os.WriteFile(filepath.Join(bin, "docker"), []byte(docker), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join("..", "..", "scripts", line[0]), line[1:]...)
	cmd.Env = append(
		os.Environ(),
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"COMPOSE_PROJECT_NAME=usage",
		"COMPOSE=docker",
		"ASKED="+log,
		"PS="+ps,
	)
	text, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	commands, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text)), cmd.ProcessState.ExitCode(), string(commands)
}

// "1 to 50": any other number of nodes is refused before anything is done.
func TestNumberOfNodes(t *testing.T) {
	for _, nodes := range []string{"0", "51", "07", "-1", "x", "5 "} {
		t.Setenv("NODES", nodes)
		out, code, asked := engineless(t, "", "up")
		want := `image: NODES is a number from 1 to 50, not "` + nodes + `"; see scripts/image --help`
		if out != want || code != 2 || asked != "" {
			t.Errorf("exit code %d, %q, asked docker %q", code, out, asked)
		}
	}
}

// "A container of certs ended with code 4" tells nobody what is wrong with the credentials: scripts/up does, in the
// words of certs. The engine here is one that starts nothing.
func TestUpSaysWhyThereAreNoCredentials(t *testing.T) {
	c := &cluster{dir: t.TempDir(), ctx: t.Context()}
	c.checkout(t)
	bin := t.TempDir()
	docker := "#!/bin/sh\ncase $1 in\nup) exit 1 ;;\nlogs) echo \"of $*: bring back the authority\" ;;\nesac\n"
	if err := os.WriteFile(filepath.Join(bin, "docker"), []byte(docker), 0o755); err != nil {
		t.Fatal(err)
	}
	c.env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "COMPOSE=docker")
	out, err := c.run(filepath.Join(c.dir, "scripts", "up"))
	if err == nil || !strings.Contains(out, "certs: bring back the authority") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A wrong command line gets one sentence and exit code 2, and nothing is done.
func TestMisuse(t *testing.T) {
	const (
		noNode   = `a node is a number or its name, as 3 or n3, not "x"`
		noNumber = `--wait needs a whole number from 0 to 999999999, not "x"`
	)
	for line, want := range map[string]string{
		"up --bogus":               "takes no arguments",
		"down --bogus":             `unknown argument "--bogus"`,
		"down --volumes n1":        "takes one argument at most, --volumes",
		"heal n1":                  "takes no arguments",
		"image n1":                 "takes no arguments",
		"urls n1":                  "takes no arguments",
		"kill":                     "name one node",
		"kill x":                   noNode,
		"kill n3x":                 `a node is a number or its name, as 3 or n3, not "n3x"`,
		"pause x":                  noNode,
		"unpause x":                noNode,
		"restart x":                noNode,
		"cut n1 x":                 noNode,
		"logs x":                   noNode,
		"rounds x":                 `a term is a number from 1 on, or last, not "x"`,
		"rounds 0":                 `a term is a number from 1 on, or last, not "0"`,
		"rounds 1 2":               "takes one term at most",
		"status x":                 noNode,
		"status --wait x":          noNumber,
		"status --wait":            "--wait needs a number after it",
		"status --wait 08":         `--wait needs a whole number from 0 to 999999999, not "08"`,
		"rolling-restart --wait x": noNumber,
		"rolling-restart --wait":   "--wait needs a number after it",
		"rolling-restart n1":       `unknown argument "n1"`,
		"chaos --wait x":           noNumber,
		"chaos --rounds x":         `--rounds needs a whole number from 0 to 999999999, not "x"`,
		"chaos --seed":             "--seed needs a number after it",
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			want := args[0] + ": " + want + "; see scripts/" + args[0] + " --help"
			out, code, asked := engineless(t, "n1 1 running usage_cluster", args...)
			if out != want || code != 2 {
				t.Errorf("exit code %d, want 2, and\n%s\nwant\n%s", code, out, want)
			}
			if asked != "" {
				t.Errorf("it gave docker the commands\n%s", asked)
			}
		})
	}
}

// "After any of them scripts/status shows one leader, or says why not."
func TestNoLeaderWhy(t *testing.T) {
	const (
		down    = `the cluster is not up: project "usage" has no containers; run make up`
		killed  = "n1 1 exited usage_cluster\nn2 2 exited usage_cluster\n"
		running = "n1 1 running usage_cluster\nn3 3 paused usage_cluster\n"
	)
	for _, c := range []struct{ ps, line, want string }{
		{"", "status", "no one leader: the cluster is not up; run make up"},
		{"", "status n3", "status: " + down},
		{"", "kill-leader", "kill-leader: " + down},
		{"", "kill n3", "kill: " + down},
		{"", "logs", "logs: " + down},
		{"", "rounds", "rounds: " + down},
		{"", "rolling-restart", "rolling-restart: " + down},
		{"", "chaos", "chaos: " + down},
		{"", "heal", "heal: " + down},
		{"", "urls", "urls: " + down},
		{killed, "status", "no one leader: none of these nodes is running"},
		{running, "status n3", "no one leader: none of these nodes is running"},
		{running, "status n1", "no one leader: n1 runs but does not answer"},
		{running, "status n9", `status: there is no n9 in project "usage", only n1 n3`},
	} {
		t.Run(c.line, func(t *testing.T) {
			out, code, _ := engineless(t, c.ps, strings.Fields(c.line)...)
			if last := out[strings.LastIndex(out, "\n")+1:]; last != c.want || code != 1 {
				t.Errorf("exit code %d, want 1, and\n%s\nwant, last\n%s", code, out, c.want)
			}
		})
	}
}
