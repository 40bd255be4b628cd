package render_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/ringleader-dev/ringleader/internal/needs"
	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/render"
)

var shots = flag.String("shots", "", "keep screenshots of the page in this `directory`, to be looked at")

// browserLimit is generous: a page takes a second.
const browserLimit = 2 * time.Minute

// browser is a headless Chromium without a network, with one page in it.
type browser struct {
	*testing.T
	ctx context.Context

	mu       sync.Mutex
	trouble  []string // errors and warnings of the page
	requests []string // what it loaded, or tried to
}

// chromium is the path of a Chromium, Debian's headless one first.
func chromium() (path string, err error) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		var missing error
		if path, missing = exec.LookPath(name); missing == nil {
			return path, nil
		}
		err = errors.Join(err, missing)
	}
	return "", err
}

// open shows a history in a browser of its own.
func open(t *testing.T, h *rounds.History, media ...string) *browser {
	t.Helper()
	b := launch(t)
	b.prefer(media...)
	b.load(h)
	return b
}

// launch starts a browser with an empty page.
func launch(t *testing.T) *browser {
	t.Helper()
	path, err := chromium()
	needs.Here(t, "the page in a browser", err)
	ctx, cancel := context.WithTimeout(t.Context(), browserLimit)
	t.Cleanup(cancel)
	options := append(
		chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.NoSandbox,                                      // a container's root has none
		chromedp.UserDataDir(t.TempDir()),                       // shared with nobody
		chromedp.ProxyServer("http://127.0.0.1:9"),              // nothing answers there
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"), // and no name is known
		chromedp.Flag("proxy-bypass-list", "<-loopback>"),       // not even this machine
		chromedp.Flag("disable-component-update", true),         // nor is anything else fetched
		chromedp.Flag("no-pings", true),
	)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{T: t, ctx: ctx}
	b.must(chromedp.Listen(ctx, b.listen))
	return b
}

// load shows the page of a history.
func (b *browser) load(h *rounds.History) {
	b.Helper()
	var page bytes.Buffer
	b.must(render.HTML(&page, h))
	b.show(page.Bytes())
}

// show writes a page to a file and opens that.
func (b *browser) show(page []byte) {
	b.Helper()
	file := filepath.Join(b.TempDir(), "page.html")
	b.must(os.WriteFile(file, page, 0o600))
	address := url.URL{Scheme: "file", Path: file}
	b.must(chromedp.Do(b.ctx, chromedp.Navigate(address.String())))
	b.Cleanup(b.quiet)
}

// listen keeps what the page complains of and what it loads.
func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.trouble = append(b.trouble, fmt.Sprintf("%+v", e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		b.trouble = append(b.trouble, fmt.Sprintf("console %s", e.Type))
	case *log.EventEntryAdded:
		b.trouble = append(b.trouble, e.Entry.Text)
	case *page.EventJavascriptDialogOpening:
		b.trouble = append(b.trouble, "a dialog: "+e.Message)
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// quiet checks "that no console error and no network request occurs".
func (b *browser) quiet() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.trouble) > 0 {
		b.Errorf("the page complains: %s", strings.Join(b.trouble, "; "))
	}
	if len(b.requests) != 1 || !strings.HasPrefix(b.requests[0], "file://") {
		b.Errorf("the page loads more than itself: %q", b.requests)
	}
}

func (b *browser) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// press types keys, as a person without a mouse would.
func (b *browser) press(keys ...string) {
	b.Helper()
	b.must(chromedp.Do(b.ctx, chromedp.KeyEvent(strings.Join(keys, ""))))
}

// prefer sets media features, "prefers-color-scheme=dark".
func (b *browser) prefer(media ...string) {
	b.Helper()
	params := emulation.SetEmulatedMediaParams{}
	for _, m := range media {
		name, value, _ := strings.Cut(m, "=")
		params.Features = append(params.Features, &emulation.MediaFeature{Name: name, Value: value})
	}
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, params)
	b.must(err)
}

func (b *browser) size(width, height int64) {
	b.Helper()
	b.must(chromedp.Do(b.ctx, chromedp.EmulateViewport(width, height, chromedp.EmulateMobile)))
}

// eval is the value of an expression in the page.
func eval[T any](b *browser, expression string) T {
	b.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return value
}

// await waits until an expression is true.
func (b *browser) await(expression string) {
	b.Helper()
	_, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(time.Minute)))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
}

// shot keeps a screenshot, when asked to.
func (b *browser) shot(name string) {
	b.Helper()
	if *shots == "" {
		return
	}
	image, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	b.must(err)
	b.must(os.WriteFile(filepath.Join(*shots, name+".png"), image, 0o644))
}
