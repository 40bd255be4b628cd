package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/internal/address"
	"github.com/ringleader-dev/ringleader/internal/execution"
	"github.com/ringleader-dev/ringleader/internal/storeurl"
)

// surroundings are the places that settings are read from. They are a value, so that tests can
// replace them.
type surroundings struct {
	flags        map[string][]string // those set on the command line
	config       string              // the value of --config, "" if not given
	environ      []string            // as os.Environ gives it
	hostname     func() (string, error)
	address.Host // the machine's addresses
}

// resolved holds the settings and the origin of each.
type resolved struct {
	settings
	origins   map[string]origin
	remarks   []string     // about variables and settings that were given and have no effect
	warnings  []string     // about the settings; the node logs them
	tokenText string       // the token, if it is from the environment
	in        surroundings // the places that the settings were read from
}

const (
	envPrefix = "RINGLEADER_"
	configEnv = "RINGLEADER_CONFIG"
	addrEnv   = "RINGLEADER_ADDR"
)

func envName(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// resolve finds the value of every setting: a flag wins over the environment, the environment
// over the file, the file over the default. It returns all problems at once. A problem on the
// command line is an errUsage, any other an errConfig.
func resolve(in surroundings) (resolved, error) {
	r := resolved{origins: make(map[string]origin), in: in}
	env := environment(in.environ)
	r.remarks = unknownVariables(env)
	if in.config == "" {
		in.config = env[configEnv]
	}
	file, fileErr := readFile(in.config)
	errs := []error{mark(errConfig, fileErr)}
	found := make(map[string]given)
	wrong := make(map[string]bool)
	for _, s := range table {
		value := s.find(in.flags, env, file)
		if value.values == nil {
			continue // its default is derived below
		}
		found[s.name], r.origins[s.name] = value, value.origin
		if err := s.parse(&r.settings, value.values); err != nil {
			errs = append(errs, s.refuse(value, err))
			wrong[s.name] = true
		}
	}
	for _, s := range retired {
		if value := s.find(in.flags, env, file); value.values != nil {
			errs = append(errs, s.refuse(value, errors.New(s.usage)))
		}
	}
	if !r.has("api-token-file") {
		r.tokenText = env[tokenEnv]
	}
	machine := r.deriveFromMachine(in)
	for _, name := range slices.Sorted(maps.Keys(machine)) {
		if err := machine[name]; err != nil {
			errs, wrong[name] = append(errs, mark(errConfig, err)), true
		}
	}
	c, err := r.WithDefaults()
	for _, field := range fieldErrors(err) {
		name := flagOf(field.Field)
		s, _ := named(name)
		value, isGiven := found[name]
		switch {
		case wrong[name]: // it was told above
		case field.Relation && !r.leased() && slices.Contains(ofLease, name): // finish warns of it
		case isGiven && !field.Relation:
			errs = append(errs, s.refuse(value, s.suggest(value, field.Err)))
		default:
			errs = append(errs, mark(errConfig, fmt.Errorf("--%s: %w", name, field.Err)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return r, err
	}
	r.Config = c
	return r, mark(errConfig, r.finish())
}

// fieldErrors returns the errors about fields in the error with which a Config was refused.
func fieldErrors(err error) (all []ringleader.FieldError) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, err := range joined.Unwrap() {
		if field, ok := errors.AsType[ringleader.FieldError](err); ok {
			all = append(all, field)
		}
	}
	return all
}

// wordEnd matches the place between two words of a field's name, as in "HTTPBind".
var wordEnd = regexp.MustCompile(`([a-z])([A-Z])|([A-Z])([A-Z][a-z])`)

// flagOf returns the name of the flag that sets a field of ringleader.Config.
func flagOf(field string) string {
	switch field {
	case "Health.Command":
		return "health-cmd"
	case "Health.URL":
		return "health-http"
	}
	return strings.ToLower(strings.ReplaceAll(wordEnd.ReplaceAllString(field, "$1$3-$2$4"), ".", "-"))
}

// find returns the setting's value from the flags, the environment, the file or the fallback,
// the first that has one. If none has, it returns the zero given.
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

// suggest adds to err the allowed word that the user probably meant, if there is one.
func (s setting) suggest(value given, err error) error {
	if s.words == nil {
		return err
	}
	return fmt.Errorf("%w%s", err, didYouMean(strings.Join(value.values, ","), s.words()))
}

// refuse returns the error about a wrong value: it names the value's origin, the value, and err.
func (s setting) refuse(value given, err error) error {
	text := storeurl.Redact(strings.Join(value.values, ",")) // a password goes into no log
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

// environment returns the variables whose names begin with RINGLEADER_.
func environment(environ []string) map[string]string {
	env := make(map[string]string)
	for _, kv := range environ {
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, envPrefix) {
			env[name] = value
		}
	}
	return env
}

// unknownVariables warns of variables with our prefix that this program does not know. It does
// not refuse them: under Kubernetes a service with the name ringleader puts such variables into
// every container.
func unknownVariables(env map[string]string) []string {
	known := []string{
		configEnv, addrEnv, tokenEnv, fenceEnv("bind"), fenceEnv("data-dir"),
		execution.TermEnv, execution.TokenEnv,
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
