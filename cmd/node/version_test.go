package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/buildinfo"
)

// Each module that is linked is in the bill of materials, with its version, its sum and, where it has
// been reviewed, its licence.
func TestSBOMHasEachModule(t *testing.T) {
	var out, stderr bytes.Buffer
	if err := newApp(&out, &stderr).Run([]string{"ringleader", "version", "--sbom"}); err != nil {
		t.Fatal(err)
	}
	var bom buildinfo.SBOM
	if err := json.Unmarshal(out.Bytes(), &bom); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	named := make(map[string]buildinfo.Component)
	for _, c := range bom.Components {
		named[c.Name] = c
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || len(info.Deps) < 40 {
		t.Fatalf("the test itself has no build information: %v", info)
	}
	for _, dep := range info.Deps {
		c := named[dep.Path]
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(dep.Sum, "h1:"))
		if err != nil {
			t.Fatal(err)
		}
		if c.Version != dep.Version || len(c.Hashes) != 1 || c.Hashes[0].Content != hex.EncodeToString(sum) ||
			c.PURL != "pkg:golang/"+dep.Path+"@"+dep.Version {
			t.Errorf("%s %s %s is %+v", dep.Path, dep.Version, dep.Sum, c)
		}
	}
	if std := named["std"]; "go"+std.Version != info.GoVersion {
		t.Errorf("the standard library of %s is %+v", info.GoVersion, std)
	}
	licences, err := buildinfo.Licences()
	if err != nil {
		t.Fatal(err)
	}
	named[info.Main.Path] = bom.Metadata.Component
	for module, licence := range licences {
		if c := named[module]; len(c.Licences) != 1 || licenceOf(c.Licences[0]) != licence {
			t.Errorf("%s is under %s, but the bill has %+v", module, licence, c)
		}
	}
}

func licenceOf(choice buildinfo.LicenceChoice) string {
	if choice.Licence != nil {
		return choice.Licence.ID
	}
	return choice.Expression
}
