package render

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/ringleader-dev/ringleader/rounds"
)

//go:embed page.html page.css *.js
var pageFiles embed.FS

// The scripts of the page. Each script needs only scripts before it.
var scripts = []string{"stage.js", "timeline.js", "filter.js", "replay.js", "page.js"}

// pageTemplate returns the template of the page. The first call parses it; a node never calls it.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(pageFiles, "page.html"))
})

// MaxPictured is the largest number of rounds of one cluster in a page. A round takes some 20 KB. If
// there are more rounds, the page has the newest.
const MaxPictured = 500

// page has the values that the template fills in.
type page struct {
	Policy string
	CSS    template.CSS
	JS     template.JS
	Notes  []string
	Groups []*pageGroup
}

// HTML writes a history as one page: the rounds to choose from, who led when,
// and each round as a diagram and as a replay. It needs nothing but a browser:
// its Content-Security-Policy forbids every request.
func HTML(w io.Writer, h *rounds.History) error {
	p, err := blankPage()
	if err != nil {
		return err
	}
	p.Notes = cleanAll(h.Notes)
	for i, g := range h.Groups {
		p.Groups = append(p.Groups, layGroup(i, g))
	}
	out := bufio.NewWriter(w)
	if err := pageTemplate().Execute(out, &p); err != nil {
		return err
	}
	return out.Flush()
}

// blankPage returns a page with only what all pages have in common: styles, scripts and the policy.
var blankPage = sync.OnceValues(func() (p page, err error) {
	css, err := pageFiles.ReadFile("page.css")
	if err != nil {
		return p, err
	}
	p.CSS = template.CSS("\n" + svgCSS + string(css)) // a file of ours
	var js strings.Builder
	for _, name := range scripts {
		file, err := pageFiles.ReadFile(name)
		if err != nil {
			return p, err
		}
		js.Write(file)
	}
	p.JS = template.JS(js.String()) // files of ours
	p.Policy = "default-src 'none'; style-src " + source(string(p.CSS)) +
		"; script-src " + source(string(p.JS)) + "; base-uri 'none'; form-action 'none'"
	return p, nil
})

// source returns the expression by which a policy allows an inline text: the text's hash.
func source(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func cleanAll(texts []string) (cleaned []string) {
	for _, t := range texts {
		cleaned = append(cleaned, sentence(t))
	}
	return cleaned
}
