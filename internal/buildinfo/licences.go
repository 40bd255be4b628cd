package buildinfo

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed licences.txt
var reviewed string

// Licences returns the reviewed licence of each module that is linked into ringleader, by the
// module's path: an SPDX identifier, or several joined by " AND ". The standard library is "std".
func Licences() (map[string]string, error) {
	licences := make(map[string]string)
	for line := range strings.Lines(reviewed) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		module, licence, ok := strings.Cut(line, " ")
		if !ok {
			return nil, fmt.Errorf("licences.txt: %q: want a module and its licence", line)
		}
		if licences[module] != "" {
			return nil, fmt.Errorf("licences.txt: %s is there twice", module)
		}
		licences[module] = licence
	}
	return licences, nil
}
