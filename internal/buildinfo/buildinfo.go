// Package buildinfo tells what the running program was built from.
package buildinfo

import (
	"runtime"
	"runtime/debug"
)

// Build says from what a program was built.
type Build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the sources had changes that were not committed
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

const (
	ringleader = "github.com/ringleader-dev/ringleader"
	standard   = "std" // the name of the standard library as a module
)

// Read returns the build of this program. If another program embeds a node, Read returns the version
// of this module, without a commit.
func Read() Build {
	b := Build{
		Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, dep := range info.Deps {
		if dep.Path == ringleader {
			b.Version = dep.Version
			return b
		}
	}
	b.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String returns the build as one line of text.
func (b Build) String() string {
	text := "ringleader " + b.Version
	if b.Commit != "" {
		text += ", commit " + b.Commit[:min(12, len(b.Commit))]
		if b.Modified {
			text += " with changes"
		}
	}
	return text + ", " + b.Go + ", " + b.Platform
}
