package trace

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Mismatch is a line in which a node says that it takes no part with another one, since their settings differ. It is no
// record.
type Mismatch struct {
	Time     time.Time     `json:"time"`
	ClockSet time.Duration `json:"clock_set_ns,omitempty"` // see Record
	Cluster  string        `json:"cluster"`
	Node     uint64        `json:"node"`
	Message  string        `json:"message"`
	Reason   string        `json:"reason"`
}

// settings are the reasons for which a link is refused since settings differ.
var settings = []string{"cluster", "algorithm", "voters", "version", "plaintext"}

// Other returns the node that was refused, whether as a member or only a link, and why. It returns 0 if the line is
// another one.
func (m *Mismatch) Other() (id uint64, link bool, why string) {
	head, why, _ := strings.Cut(m.Message, ": ")
	at := ""
	if n, _ := fmt.Sscanf(head, "refused node %q at %s", &at, new(string)); n == 2 && why != "" {
		if n, _ := fmt.Sscanf(at, "%d", &id); n == 1 && fmt.Sprint(id) == at {
			return id, false, why
		}
	}
	if n, _ := fmt.Sscanf(head, "no link to node %d at %s", &id, &at); n == 2 && slices.Contains(settings, m.Reason) {
		return id, true, why
	}
	return 0, false, ""
}
