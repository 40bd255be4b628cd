package trace

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// Greeting is the line by which a process says that it runs. It is no record.
type Greeting struct {
	Time        time.Time `json:"time"`
	Cluster     string    `json:"cluster"`
	Node        uint64    `json:"node"`
	Incarnation string    `json:"incarnation"`
	Algorithm   string    `json:"algorithm"`
	Message     string    `json:"message"`

	// Settings of the process, as they stand in the line; nil where it has them not.
	RankBy  json.RawMessage `json:"rank_by"`
	Voters  json.RawMessage `json:"voters"`
	Budget  json.RawMessage `json:"failover_budget"`
	Lease   json.RawMessage `json:"lease"`
	Profile json.RawMessage `json:"profile"`
	Preempt json.RawMessage `json:"preempt"`
}

// Changed returns the settings that the process before had otherwise: "--rank-by memory instead of id".
func (g *Greeting) Changed(before *Greeting) (list []string) {
	for _, s := range []struct {
		flag    string
		is, was json.RawMessage
	}{
		{"--algorithm", text(g.Algorithm), text(before.Algorithm)},
		{"--rank-by", g.RankBy, before.RankBy},
		{"--voters", g.Voters, before.Voters},
		{"--failover-budget", g.Budget, before.Budget},
		{"--lease", g.Lease, before.Lease},
		{"--profile", g.Profile, before.Profile},
		{"--preempt", g.Preempt, before.Preempt},
	} {
		byItself := s.flag == "--preempt" && g.Algorithm != before.Algorithm // each algorithm has its own default
		if s.is != nil && s.was != nil && !bytes.Equal(s.is, s.was) && !byItself {
			list = append(list, s.flag+" "+plain(s.is)+" instead of "+plain(s.was))
		}
	}
	return list
}

// text returns a setting that is a text, nil if the line has it not.
func text(value string) json.RawMessage {
	if value == "" {
		return nil
	}
	return json.RawMessage(value)
}

// plain returns the value of a setting as on a command line.
func plain(value json.RawMessage) string {
	if text := strings.Trim(string(value), `"`); text != "" {
		return text
	}
	return "none"
}
