package trace

import "time"

// Greeting is the line by which a process says that it runs. It is no record.
type Greeting struct {
	Time        time.Time `json:"time"`
	Cluster     string    `json:"cluster"`
	Node        uint64    `json:"node"`
	Incarnation string    `json:"incarnation"`
	Algorithm   string    `json:"algorithm"`
	Message     string    `json:"message"`
}
