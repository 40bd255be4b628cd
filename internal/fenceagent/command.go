package fenceagent

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// Parse takes a command line apart at its spaces: there is no shell, and no
// quoting. It refuses a program that is missing or not executable.
func Parse(line string) ([]string, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil, errors.New("want a program and its arguments")
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return nil, fmt.Errorf("no fence agent can be run: %w: name an executable file, "+
			"and its arguments after it", err)
	}
	return words, nil
}
