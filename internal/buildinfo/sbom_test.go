package buildinfo

import (
	"encoding/json"
	"runtime/debug"
	"testing"
)

func TestSBOM(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8",
		Main:      debug.Module{Path: "example.org/Program", Version: "(devel)"},
		Deps: []*debug.Module{
			{Path: "example.org/a/v2", Version: "v2.1.0", Sum: "h1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="},
			{Path: "example.org/b", Version: "v3.0.0+incompatible", Sum: "h2:AAECAw=="},
			{
				Path: "example.org/c", Version: "v1.0.0", Sum: "h1:AAEC",
				Replace: &debug.Module{Path: "example.org/fork", Version: "v1.0.1"},
			},
			{Path: "example.org/d", Version: "v1.0.0", Replace: &debug.Module{Path: "../d"}},
		},
		Settings: []debug.BuildSetting{
			{Key: "CGO_ENABLED", Value: "0"}, {Key: "vcs.time", Value: "2026-11-27T12:00:00Z"},
		},
	}
	got, err := json.MarshalIndent(sbomOf(info, map[string]string{
		"example.org/Program": "MPL-2.0", "example.org/a/v2": "Apache-2.0 AND MIT", "std": "BSD-3-Clause",
	}), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != bom {
		t.Errorf("%s\nwant\n%s", got, bom)
	}
}

const bom = `{
  "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
  "bomFormat": "CycloneDX",
  "specVersion": "1.5",
  "version": 1,
  "metadata": {
    "timestamp": "2026-11-27T12:00:00Z",
    "component": {
      "type": "application",
      "bom-ref": "pkg:golang/example.org/program",
      "name": "example.org/Program",
      "version": "(devel)",
      "licenses": [
        {
          "license": {
            "id": "MPL-2.0"
          }
        }
      ],
      "purl": "pkg:golang/example.org/program"
    },
    "properties": [
      {
        "name": "go:build:CGO_ENABLED",
        "value": "0"
      },
      {
        "name": "go:build:vcs.time",
        "value": "2026-11-27T12:00:00Z"
      }
    ]
  },
  "components": [
    {
      "type": "library",
      "bom-ref": "pkg:golang/std@1.26.8",
      "name": "std",
      "version": "1.26.8",
      "licenses": [
        {
          "license": {
            "id": "BSD-3-Clause"
          }
        }
      ],
      "purl": "pkg:golang/std@1.26.8"
    },
    {
      "type": "library",
      "bom-ref": "pkg:golang/example.org/a/v2@v2.1.0",
      "name": "example.org/a/v2",
      "version": "v2.1.0",
      "hashes": [
        {
          "alg": "SHA-256",
          "content": "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
        }
      ],
      "licenses": [
        {
          "expression": "Apache-2.0 AND MIT"
        }
      ],
      "purl": "pkg:golang/example.org/a/v2@v2.1.0"
    },
    {
      "type": "library",
      "bom-ref": "pkg:golang/example.org/b@v3.0.0%2Bincompatible",
      "name": "example.org/b",
      "version": "v3.0.0+incompatible",
      "purl": "pkg:golang/example.org/b@v3.0.0%2Bincompatible"
    },
    {
      "type": "library",
      "bom-ref": "pkg:golang/example.org/fork@v1.0.1",
      "name": "example.org/fork",
      "version": "v1.0.1",
      "purl": "pkg:golang/example.org/fork@v1.0.1"
    },
    {
      "type": "library",
      "bom-ref": "pkg:golang/example.org/d",
      "name": "example.org/d",
      "purl": "pkg:golang/example.org/d"
    }
  ]
}`
