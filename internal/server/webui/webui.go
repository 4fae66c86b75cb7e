// Package webui is the page: what a browser gets, embedded in the program.
//
// Words it adds: asset (one file of the page), front (a document that a browser opens: the
// page at /, the reader of the API's description at /docs), import map (the names by which
// the modules of the page know each other), state (what the page knows and does,
// one module a noun, without the DOM), view (what draws it), bundle (modules and styles
// joined into few files). app.js gives the state its browser and the view its place. The
// client of the API is the one that any program may use: its files come from
// clients/typescript.
//
// The fronts load the bundle, which go generate makes of assets and which is committed:
// the program is built with Go alone. The page runs without it too, at /assets/index.html,
// by its sources as they are written, for people who work on it.
//
// Invariants: the bundle is made of the sources that are embedded beside it; the page asks
// no other host for anything, and its content policy lets it ask only this one; only
// scripts of our own run, and inline ones only if their hash is named; a browser that holds
// an asset is told so by its content's hash, and keeps what has its hash in its name.
//
// It may not know the engine or another face: the page speaks to the REST API
// as any client does.
package webui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback/clients/typescript"
)

//go:generate go -C ../../../tools/page run .

//go:embed assets bundle/*.html bundle/*.js bundle/*.css
var files embed.FS

// root is the folder of assets, clientAt that of the client's modules among them, and bundleAt that of the bundle.
const (
	root     = "assets"
	clientAt = root + "/client"
	bundleAt = root + "/bundle"
)

// fronts are the documents that a browser opens, by their address: the page itself, and
// the reader of the API's description.
var fronts = map[string]string{"/": bundleAt + "/index.html", "/docs": bundleAt + "/docs.html"}

// mediaTypes are those of the kinds of file that the page consists of. The
// system's table is not asked: it differs between machines.
var mediaTypes = map[string]string{
	".html":        "text/html; charset=utf-8",
	".css":         "text/css; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".mjs":         "text/javascript; charset=utf-8",
	".svg":         "image/svg+xml",
	".png":         "image/png",
	".webmanifest": "application/manifest+json",
	".woff2":       "font/woff2",
	".md":          "text/plain; charset=utf-8",
	"":             "text/plain; charset=utf-8",
}

// pageAsset is a file and what is sent with it.
type pageAsset struct {
	content   []byte
	mediaType string
	tag       string        // its ETag, without quotes
	kept      bool          // its name has its hash: it never changes
	zipped    func() []byte // the content by gzip, made when it is first asked for; nil where that saves nothing
}

// newAsset returns the asset of a file.
func newAsset(name string, content []byte) (pageAsset, error) {
	kind, ok := mediaTypes[path.Ext(name)]
	if !ok {
		return pageAsset{}, fmt.Errorf("no media type for %s", name)
	}
	sum := sha256.Sum256(content)
	a := pageAsset{content: content, mediaType: kind, tag: hex.EncodeToString(sum[:12])}
	if strings.HasPrefix(kind, "text/") || strings.HasPrefix(kind, "image/svg") {
		a.zipped = sync.OnceValue(func() []byte { return zip(content) })
	}
	return a, nil
}

// zip returns a text by gzip.
func zip(content []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(content) // a buffer takes all
	_ = w.Close()
	return b.Bytes()
}

// webPage is every asset by the path it is served at.
type webPage struct {
	assets map[string]pageAsset
	policy string
}

// Handler serves the page; any other path is 404. Images may also come from an origin, as
// https://host, unless it is empty.
func Handler(images string) http.Handler {
	p := *embedded()
	if images != "" {
		p.policy = strings.Replace(p.policy, imageSources, imageSources+" "+images, 1)
	}
	return &p
}

// imageSources is where images come from.
const imageSources = "img-src 'self' data:"

// embedded is the page, read once.
var embedded = sync.OnceValue(loadPage)

// loadPage reads the page. What is embedded is whole or the program was not built,
// so a fault is a panic.
func loadPage() *webPage {
	p := &webPage{assets: map[string]pageAsset{}}
	err := p.addFiles(files, root, root)
	if err == nil {
		err = p.addFiles(typescript.Modules, ".", clientAt)
	}
	if err == nil {
		err = p.addFiles(files, "bundle", bundleAt)
	}
	if err != nil {
		panic("webui: " + err.Error())
	}
	for at, name := range fronts {
		front, ok := p.assets["/"+name]
		if !ok {
			panic("webui: there is no " + name)
		}
		delete(p.assets, "/"+name)
		front.kept = false
		p.assets[at] = front
	}
	if icon, ok := p.assets["/assets/favicon.svg"]; ok {
		p.assets["/favicon.ico"] = icon
	}
	p.policy = p.contentPolicy()
	return p
}

// addFiles adds the files of a folder, below an address.
func (p *webPage) addFiles(from fs.FS, folder, at string) error {
	return fs.WalkDir(from, folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		a, err := newAsset(name, content)
		if err != nil {
			return err
		}
		a.kept = at == bundleAt
		p.assets["/"+path.Join(at, strings.TrimPrefix(name, folder))] = a
		return nil
	})
}

// inlineScript is a script that stands in a document.
var inlineScript = regexp.MustCompile(`(?s)<script(?: type="importmap")?>(.*?)</script>`)

// contentPolicy returns the Content-Security-Policy of all documents: nothing but our own files, and
// the inline scripts by their hashes.
func (p *webPage) contentPolicy() string {
	script := "'self'"
	for _, at := range slices.Sorted(maps.Keys(p.assets)) {
		if !strings.HasPrefix(p.assets[at].mediaType, "text/html") {
			continue
		}
		for _, m := range inlineScript.FindAllSubmatch(p.assets[at].content, -1) {
			sum := sha256.Sum256(m[1])
			if named := " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(script, named) {
				script += named
			}
		}
	}
	return strings.Join([]string{"default-src 'none'", "script-src " + script, "style-src 'self'", imageSources,
		"font-src 'self'", "connect-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'none'",
		"frame-ancestors 'none'"}, "; ")
}

// ServeHTTP implements http.Handler.
func (p *webPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", p.policy)
	a, ok := p.assets[r.URL.Path]
	if !ok {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	h.Set("Content-Type", a.mediaType)
	if a.kept {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache") // ask each time; the answer is nearly always 304
	}
	if a.zipped == nil {
		a.send(w, r, a.content, `"`+a.tag+`"`)
		return
	}
	h.Set("Vary", "Accept-Encoding")
	if !takesGzip(r.Header.Values("Accept-Encoding")) {
		a.send(w, r, a.content, `"`+a.tag+`"`)
		return
	}
	// A part of what is zipped would be of use to nobody: a range of it is answered by the whole.
	r = r.Clone(r.Context())
	r.Header.Del("Range")
	h.Set("Content-Encoding", "gzip")
	h.Set("Content-Length", strconv.Itoa(len(a.zipped())))
	a.send(w, r, a.zipped(), `"`+a.tag+`-gzip"`)
}

// send sends the content in one of its forms, or says that the client has it.
func (a pageAsset) send(w http.ResponseWriter, r *http.Request, content []byte, tag string) {
	w.Header().Set("ETag", tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// takesGzip reports whether a client takes gzip, by what it says of encodings: it names gzip, or else any,
// and not with the weight 0.
func takesGzip(accepted []string) bool {
	takes := false
	for one := range strings.SplitSeq(strings.Join(accepted, ","), ",") {
		name, weight, _ := strings.Cut(one, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		if name != "gzip" && name != "x-gzip" && name != "*" {
			continue
		}
		q, ok := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(weight, " ", "")), "q=")
		n, err := strconv.ParseFloat(q, 64)
		takes = !ok || err == nil && n > 0
		if name != "*" {
			return takes
		}
	}
	return takes
}
