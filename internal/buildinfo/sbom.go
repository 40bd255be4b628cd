package buildinfo

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/url"
	"runtime/debug"
	"strings"
)

// SBOM is a software bill of materials in the form CycloneDX 1.5: the modules that a program was
// linked from. It has no time but that of the commit, so one binary always prints the same.
type SBOM struct {
	Schema      string      `json:"$schema"`
	BOMFormat   string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    Metadata    `json:"metadata"`
	Components  []Component `json:"components"`
}

// Metadata says what an SBOM is of. Its properties are the settings of the build, as of
// `go version -m`.
type Metadata struct {
	Timestamp  string     `json:"timestamp,omitempty"` // of the commit
	Component  Component  `json:"component"`
	Properties []Property `json:"properties,omitempty"`
}

// Component is one module.
type Component struct {
	Type     string          `json:"type"`
	Ref      string          `json:"bom-ref"`
	Name     string          `json:"name"`
	Version  string          `json:"version,omitempty"`
	Hashes   []Hash          `json:"hashes,omitempty"`
	Licences []LicenceChoice `json:"licenses,omitempty"`
	PURL     string          `json:"purl"`
}

// Hash is the sum of a module in go.sum, h1:, in hexadecimal digits: the SHA-256 of the list
// of the SHA-256 of its files.
type Hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// LicenceChoice is one licence, or an SPDX expression of several.
type LicenceChoice struct {
	Licence    *Licence `json:"license,omitempty"`
	Expression string   `json:"expression,omitempty"`
}

// Licence is a licence by its SPDX identifier.
type Licence struct {
	ID string `json:"id"`
}

// Property is a name and a value.
type Property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ReadSBOM returns the SBOM of this program. The error says that the program has no build
// information: it was not built by go build, or not from a module.
func ReadSBOM() (SBOM, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return SBOM{}, errors.New("this binary does not know what it was built from: build it with make build")
	}
	licences, err := Licences()
	if err != nil {
		return SBOM{}, err
	}
	return sbomOf(info, licences), nil
}

// sbomOf returns the SBOM of a program. A module that licences does not have has none in it.
func sbomOf(info *debug.BuildInfo, licences map[string]string) SBOM {
	bom := SBOM{
		Schema:    "http://cyclonedx.org/schema/bom-1.5.schema.json",
		BOMFormat: "CycloneDX", SpecVersion: "1.5", Version: 1,
		Metadata: Metadata{Component: component("application", info.Main, licences)},
	}
	for _, s := range info.Settings {
		bom.Metadata.Properties = append(bom.Metadata.Properties, Property{"go:build:" + s.Key, s.Value})
		if s.Key == "vcs.time" {
			bom.Metadata.Timestamp = s.Value
		}
	}
	std := debug.Module{Path: standard, Version: strings.TrimPrefix(info.GoVersion, "go")}
	bom.Components = append(bom.Components, component("library", std, licences))
	for _, dep := range info.Deps {
		bom.Components = append(bom.Components, component("library", *dep, licences))
	}
	return bom
}

// component describes the module that was linked: m, or what go.mod has in place of it. A directory in
// place of it keeps its name, and has no version.
func component(kind string, m debug.Module, licences map[string]string) Component {
	if r := m.Replace; r != nil && r.Version != "" {
		m = *r
	} else if r != nil {
		m = debug.Module{Path: m.Path}
	}
	c := Component{Type: kind, Name: m.Path, Version: m.Version, PURL: purl(m)}
	c.Ref = c.PURL
	if sum, ok := strings.CutPrefix(m.Sum, "h1:"); ok {
		if b, err := base64.StdEncoding.DecodeString(sum); err == nil {
			c.Hashes = []Hash{{"SHA-256", hex.EncodeToString(b)}}
		}
	}
	switch licence := licences[m.Path]; {
	case strings.Contains(licence, " "):
		c.Licences = []LicenceChoice{{Expression: licence}}
	case licence != "":
		c.Licences = []LicenceChoice{{Licence: &Licence{licence}}}
	}
	return c
}

// purl returns the package URL of a module. That of a working tree has no version.
func purl(m debug.Module) string {
	segments := strings.Split(strings.ToLower(m.Path), "/")
	for i, segment := range segments {
		segments[i] = url.PathEscape(segment)
	}
	unversioned := "pkg:golang/" + strings.Join(segments, "/")
	if m.Version == "" || m.Version == "(devel)" {
		return unversioned
	}
	return unversioned + "@" + strings.ReplaceAll(m.Version, "+", "%2B")
}
