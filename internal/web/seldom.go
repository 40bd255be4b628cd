package web

import (
	"fmt"
	"log"
	"sync"
	"time"
)

const (
	seldomEvery = 10 * time.Second
	seldomFirst = 5 // lines that come one after another are written before it counts them
)

// rationed writes a few lines, and then one in a while: whoever connects can cause one.
type rationed struct {
	to *log.Logger

	mu      sync.Mutex
	since   time.Time
	written int
	left    int // out
}

// Seldom returns a logger for what strangers cause; nil stands for the standard logger.
func Seldom(to *log.Logger) *log.Logger {
	if to == nil {
		to = log.Default()
	}
	return log.New(&rationed{to: to}, "", 0)
}

func (s *rationed) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.since) >= seldomEvery {
		s.since, s.written = now, 0
	}
	if s.written >= seldomFirst {
		s.left++
		return len(line), nil
	}
	s.written++
	text := string(line)
	if s.left > 0 {
		text = fmt.Sprintf("%d lines like this were left out; %s", s.left, text)
		s.left = 0
	}
	return len(line), s.to.Output(2, text)
}
