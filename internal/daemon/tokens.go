package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/node/httpapi"
)

const (
	maxTokens = 64 << 10 // bytes of a file
	// tokensEvery is how often the file is read, at most: when somebody asks, and with the credentials.
	tokensEvery = time.Second
)

// tokens are the tokens that the node takes over HTTP. Those of a file are read again while the node runs. Any
// goroutine may call their methods.
type tokens struct {
	file string // "" for tokens that do not change
	log  zerolog.Logger

	mu     sync.Mutex
	read   time.Time
	now    httpapi.Tokens
	failed string // why the file could not be read the last time
}

// openTokens returns the tokens of the settings.
func openTokens(s Settings, log zerolog.Logger) (*tokens, error) {
	t := &tokens{log: log}
	var err error
	switch {
	case s.APIToken != "":
		if t.now, err = httpapi.ParseTokens(s.APIToken); err != nil {
			return nil, FieldError{"APIToken", wrong(err)}
		}
	case s.Credentials != nil:
		t.file = s.Credentials.Token()
		t.now, err = readTokens(t.file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			t.failed = err.Error()
			log.Warn().Str("file", t.file).
				Msg("there are no tokens: over HTTPS this node answers only /healthz and /readyz; ringleader certs " +
					"make writes some")
		case err != nil:
			return nil, FieldError{"Credentials", wrong(err)}
		}
		t.read = time.Now()
	}
	return t, nil
}

func readTokens(file string) (httpapi.Tokens, error) {
	text, err := credentials.ReadSecret(file, maxTokens)
	if err != nil {
		return httpapi.Tokens{}, err
	}
	t, err := httpapi.ParseTokenFile(string(text))
	if err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return t, err
}

// get returns the tokens. While the file cannot be read, they stay as they were: it may just be written.
func (t *tokens) get() httpapi.Tokens {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.file == "" || now.Sub(t.read) < tokensEvery {
		return t.now
	}
	t.read = now
	read, err := readTokens(t.file)
	if err != nil {
		if t.failed != err.Error() {
			t.failed = err.Error()
			t.log.Warn().Err(err).Msg("the tokens stay as they were")
		}
		return t.now
	}
	switch {
	case !read.Equal(t.now):
		t.now = read
		t.log.Info().Str("file", t.file).Msg("the tokens have changed")
	case t.failed != "":
		t.log.Info().Str("file", t.file).Msg("the tokens on disk can be used again")
	}
	t.failed = ""
	return t.now
}
