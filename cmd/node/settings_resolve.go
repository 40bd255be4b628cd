package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// surroundings is what settings are read from. It is a value so that tests
// need no machine of their own.
type surroundings struct {
	flags    map[string][]string // those set on the command line
	config   string              // --config, "" when not given
	environ  []string            // as os.Environ gives it
	hostname func() (string, error)
	addrs    func() ([]net.Addr, error)              // this machine's, in use
	source   func(to netip.Addr) (netip.Addr, error) // the kernel's choice
	names    func(netip.Addr) []string               // as the DNS has them
}

// resolved is the settings with the origin of each.
type resolved struct {
	settings
	origins   map[string]origin
	unknown   []string     // variables that are no setting
	warnings  []string     // of the settings, which the node says itself
	tokenText string       // from the environment
	in        surroundings // that they were read from
}

const (
	envPrefix = "RINGLEADER_"
	configEnv = "RINGLEADER_CONFIG"
	addrEnv   = "RINGLEADER_ADDR"
)

func envName(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// resolve finds every setting: flag before environment before file before
// default. It returns all problems at once. A problem on the command line is
// an errUsage, any other an errConfig.
func resolve(in surroundings) (resolved, error) {
	r := resolved{origins: make(map[string]origin), in: in}
	env := environment(in.environ)
	r.unknown = unknownVariables(env)
	if in.config == "" {
		in.config = env[configEnv]
	}
	file, fileErr := readFile(in.config)
	errs := []error{mark(errConfig, fileErr)}
	for _, s := range table {
		value := s.find(in.flags, env, file)
		if value.values == nil {
			continue // its default is derived below
		}
		r.origins[s.name] = value.origin
		if err := s.parse(&r.settings, value.values); err != nil {
			errs = append(errs, s.refuse(value, err))
		}
	}
	for _, s := range retired {
		if value := s.find(in.flags, env, file); value.values != nil {
			errs = append(errs, s.refuse(value, errors.New(s.usage)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return r, err
	}
	if !r.has("api-token-file") {
		r.tokenText = env[tokenEnv]
	}
	return r, mark(errConfig, r.derive(in))
}

// find is the value that wins, without values when there is none.
func (s setting) find(flags map[string][]string, env map[string]string,
	file map[string]given,
) given {
	if values, ok := flags[s.name]; ok {
		return given{values, origin{"flag", "--" + s.name}}
	}
	// A variable that is set but empty counts as absent: compose files pass
	// on what the operator did not set as an empty string.
	if value := env[s.env()]; value != "" {
		return given{s.split(value), origin{"environment", s.env()}}
	}
	if value, ok := file[s.name]; ok {
		return value
	}
	if s.fallback != "" {
		return given{[]string{s.fallback}, origin{Source: "default"}}
	}
	return given{}
}

// refuse says which value from where is wrong, and why.
func (s setting) refuse(value given, err error) error {
	text := strings.Join(value.values, ",")
	if text == "" {
		text = "''"
	}
	where := value.origin.Where
	if value.origin.Source == "file" {
		where += ": " + s.name + ":"
	}
	err = fmt.Errorf("%s %s: %w", where, text, err)
	if value.origin.Source == "flag" {
		return mark(errUsage, err)
	}
	return mark(errConfig, err)
}

func readFile(file string) (map[string]given, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	return parseFile(file, data)
}

// environment is our part of it.
func environment(environ []string) map[string]string {
	env := make(map[string]string)
	for _, kv := range environ {
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, envPrefix) {
			env[name] = value
		}
	}
	return env
}

// unknownVariables warns of variables that look like ours and are not. They
// are not refused: under Kubernetes a service named ringleader puts some into
// every container.
func unknownVariables(env map[string]string) []string {
	known := []string{
		configEnv, addrEnv, tokenEnv, fenceEnv("bind"), fenceEnv("data-dir"),
		commandTermEnv, commandTokenEnv,
	}
	for _, s := range slices.Concat(table, retired) {
		known = append(known, s.env())
	}
	var warnings []string
	for name := range env {
		if !slices.Contains(known, name) {
			warnings = append(warnings, fmt.Sprintf("the environment variable %s is no setting%s",
				name, didYouMean(name, known)))
		}
	}
	slices.Sort(warnings)
	return warnings
}
