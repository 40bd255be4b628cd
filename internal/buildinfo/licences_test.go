package buildinfo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/needs"
)

// top is the directory of the module, from this package's.
const top = "../.."

// Each module that is linked has been reviewed, and its licence is still the reviewed one.
func TestLicences(t *testing.T) {
	licences, err := Licences()
	if err != nil {
		t.Fatal(err)
	}
	linked := linkedModules(t)
	count := make(map[string]int)
	for _, module := range slices.Sorted(maps.Keys(linked)) {
		got, err := licenceOf(linked[module])
		if module == standard && errors.Is(err, fs.ErrNotExist) {
			needs.Has(t, "the licence of Go", err)
			continue
		}
		want, known := licences[module]
		switch {
		case err != nil:
			t.Errorf("%s is linked: %v", module, err)
			continue
		case !known:
			t.Errorf("%s is linked, and not reviewed: read its licence, and add %q to licences.txt",
				module, module+" "+got)
		case got != want:
			t.Errorf("%s was reviewed as %s, and its licence reads as %s", module, want, got)
		}
		count[got]++
	}
	for module := range licences {
		if linked[module] == nil {
			t.Errorf("%s is not linked any more: remove it from licences.txt", module)
		}
	}
	var all []string
	for _, licence := range slices.Sorted(maps.Keys(count)) {
		all = append(all, fmt.Sprintf("%d of %s", count[licence], licence))
	}
	t.Logf("%d modules are linked, this one and the standard library among them: %s",
		len(linked), strings.Join(all, ", "))
}

// linkedModules returns the directories whose licences count, by the path of a linked module: those of
// its linked packages, up to its own.
func linkedModules(t *testing.T) map[string][]string {
	t.Helper()
	linked := map[string][]string{standard: {goroot(t)}}
	for _, goos := range []string{"linux", "darwin"} {
		cmd := exec.Command("go", "list", "-deps", "-tags", "urfave_cli_no_docs",
			"-f", "{{with .Module}}{{.Path}}\t{{.Dir}}{{end}}\t{{.Dir}}", "./...")
		cmd.Dir, cmd.Env = top, append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
		for line := range strings.Lines(output(t, cmd)) {
			fields := strings.Split(strings.TrimSpace(line), "\t")
			if len(fields) != 3 {
				continue // of the standard library
			}
			module, root, dir := fields[0], fields[1], fields[2]
			for ; dir != root && strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
				linked[module] = append(linked[module], dir)
			}
			linked[module] = append(linked[module], root)
		}
	}
	for module, dirs := range linked {
		slices.Sort(dirs)
		linked[module] = slices.Compact(dirs)
	}
	return linked
}

func goroot(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(output(t, exec.Command("go", "env", "GOROOT")))
}

// output runs a command that must succeed and returns what it printed.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v: %s%s", cmd.Args, err, out, stderr.String())
	}
	return string(out)
}

var licenceFile = regexp.MustCompile(`(?i)^(un)?(li[cs]en[cs]e|copying|copyright)s?([-_.].*)?$`)

// licenceOf reads the licence files in dirs. The error is fs.ErrNotExist if there is none.
func licenceOf(dirs []string) (string, error) {
	var text strings.Builder
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return "", err
		}
		for _, entry := range entries {
			if entry.IsDir() || filepath.Ext(entry.Name()) == ".go" || !licenceFile.MatchString(entry.Name()) {
				continue
			}
			b, err := os.ReadFile(filepath.Join(dir, entry.Name()))
			if err != nil {
				return "", err
			}
			text.Write(append(b, '\n'))
		}
	}
	if text.Len() == 0 {
		return "", fmt.Errorf("no licence file in %s: %w", strings.Join(dirs, ", "), fs.ErrNotExist)
	}
	return recognise(text.String())
}

// allowed are the licences that a linked module may have, by their whole texts: no condition
// was added to one, and none was left out. "…" stands for a few words. A long text is given by
// where it begins and ends, and the sum of the words between.
var allowed = []struct {
	id, text, begin, end, sum string
}{
	{id: "MIT", text: mit},
	{id: "ISC", text: isc},
	{id: "BSD-3-Clause", text: bsdSource + bsdBinary + bsdName + bsdDisclaimer},
	{id: "BSD-2-Clause", text: bsdSource + bsdBinary + bsdDisclaimer},
	{id: "Apache-2.0", text: apacheNotice},
	{
		id: "Apache-2.0", begin: "terms and conditions for use reproduction and distribution",
		end: " liability incurred by or claims asserted against such contributor by reason of your " +
			"accepting any such warranty or additional liability end of terms and conditions",
		sum: "0780a023f6a7d55d6a573418c4d6a970ba7f4581e729ad914c434c8cb7380cee",
	},
	{
		id: "MPL-2.0", begin: "definitions contributor means",
		end: " is incompatible with secondary licenses as defined by the mozilla public license",
		sum: "68152622853a05daa498a7929208a5f5b2ecaefd52778dc2eec26f481cc7feb4",
	},
}

// recognise returns the allowed licences that text consists of, joined by " AND ". Titles, names of
// owners and the like may stand around them, but nothing that sounds like one more condition.
func recognise(text string) (string, error) {
	rest := words(text)
	var ids []string
	for _, licence := range allowed {
		found := false
		if licence.text != "" {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(words(licence.text)), "etcetera", `(?:\S+ ){0,7}\S+`)
			match := regexp.MustCompile(pattern)
			found = match.MatchString(rest)
			rest = match.ReplaceAllString(rest, "")
		} else if before, after, ok := strings.Cut(rest, licence.begin); ok {
			body, after, _ := strings.Cut(after, licence.end)
			sum := sha256.Sum256([]byte(body))
			if hex.EncodeToString(sum[:]) != licence.sum {
				return "", fmt.Errorf("the text of its licence %s has other words: %x", licence.id, sum)
			}
			found, rest = true, before+after
		}
		if found && !slices.Contains(ids, licence.id) {
			ids = append(ids, licence.id)
		}
	}
	if len(ids) == 0 {
		return "", fmt.Errorf("its licence is none that is allowed: %.300s", rest)
	}
	if more := condition.FindString(rest); more != "" {
		return "", fmt.Errorf("its licence is %s, and more: %s", strings.Join(ids, " and "), more)
	}
	slices.Sort(ids)
	return strings.Join(ids, " AND "), nil
}

// condition finds what may be one more condition, with the words around it.
var condition = regexp.MustCompile(`(?:\S+ ){0,5}\b(?:not|only|must|shall|except|unless|without|provided|` +
	`permission|permitted|conditions?|restrict\S*|prohibit\S*|commercial|fees?|royalt\S*|gnu|l?gpl|agpl)\b` +
	`(?: \S+){0,9}`)

// words returns the words of text, in lower case, without the numbers of its clauses.
func words(text string) string {
	text = strings.ReplaceAll(text, "…", " etcetera ")
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(slices.DeleteFunc(fields, func(word string) bool {
		return len(word) == 1 || strings.Trim(word, "0123456789") == ""
	}), " ")
}

const (
	mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction, including
without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies
of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following
conditions: The above copyright notice and this permission notice shall be included in all copies or
substantial portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS
OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE
AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR
OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`

	isc = `Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is
hereby granted, provided that the above copyright notice and this permission notice appear in all copies. THE
SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL
IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL,
DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR
PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION
WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.`

	bsdSource = `Redistribution and use in source and binary forms, with or without modification, are permitted
provided that the following conditions are met: Redistributions of source code must retain the above copyright
notice, this list of conditions and the following disclaimer. `

	bsdBinary = `Redistributions in binary form must reproduce the above copyright notice, this list of conditions
and the following disclaimer in the documentation and/or other materials provided with the distribution. `

	bsdName = `Neither the name of … nor the names of its contributors may be used to endorse or promote products
derived from this software without specific prior written permission. `

	bsdDisclaimer = `THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR
IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A
PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL … BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,
SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR
SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF
LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY
OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`

	apacheNotice = `Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
in compliance with the License. You may obtain a copy of the License at
http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND,
either express or implied. See the License for the specific language governing permissions and limitations under
the License.`
)

func TestRecognise(t *testing.T) {
	own, err := os.ReadFile(filepath.Join(top, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	mpl := string(own)
	bsd3 := bsdSource + bsdBinary + strings.Replace(bsdName, "…", "the holder", 1) +
		strings.Replace(bsdDisclaimer, "…", "THE COPYRIGHT OWNER OR CONTRIBUTORS", 1)
	bsd2 := bsdSource + bsdBinary + strings.Replace(bsdDisclaimer, "…", "THE AUTHOR", 1)
	for name, c := range map[string]struct{ text, want, err string }{
		"MIT":                {text: "MIT License\n\nCopyright (c) 2026 A. N. Author\n\n" + mit, want: "MIT"},
		"ISC":                {text: isc, want: "ISC"},
		"three clauses":      {text: bsd3, want: "BSD-3-Clause"},
		"two clauses":        {text: bsd2, want: "BSD-2-Clause"},
		"two of one kind":    {text: bsd2 + "\nCopyright B.\n" + bsd2, want: "BSD-2-Clause"},
		"a notice":           {text: apacheNotice, want: "Apache-2.0"},
		"MPL":                {text: mpl, want: "MPL-2.0"},
		"two":                {text: mit + "\nSome of it:\n" + bsd3, want: "BSD-3-Clause AND MIT"},
		"nothing":            {err: "none that is allowed"},
		"another":            {text: "GNU GENERAL PUBLIC LICENSE\nVersion 3", err: "none that is allowed"},
		"no warranty clause": {text: mit[:strings.Index(mit, "THE SOFTWARE IS")], err: "none that is allowed"},
		"a field of use":     {text: mit + "\nUse it for Good, not Evil.", err: "MIT, and more: use it"},
		"not to be sold":     {text: "Do not sell it.\n" + mit, err: "MIT, and more: do not sell"},
		"one more licence":   {text: mit + "\nor the GNU General Public License", err: "MIT, and more: or the gnu"},
		"a word of MPL":      {text: strings.Replace(mpl, "royalty-free", "paid", 1), err: "MPL-2.0 has other words"},
		"half of MPL":        {text: mpl[:len(mpl)/2], err: "MPL-2.0 has other words"},
	} {
		got, err := recognise(c.text)
		if got != c.want || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %q", name, got, err, c.want, c.err)
		}
	}
}

func TestLicenceFiles(t *testing.T) {
	for name, want := range map[string]bool{
		"LICENSE": true, "LICENCE": true, "License.md": true, "LICENSE-APACHE": true, "LICENSE_MIT.txt": true,
		"COPYING": true, "COPYRIGHT": true, "UNLICENSE": true, "LICENSES": true, "copyright.go": true,
		"README.md": false, "licensed.go": false, "PATENTS": false, "NOTICE": false,
	} {
		if got := licenceFile.MatchString(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
