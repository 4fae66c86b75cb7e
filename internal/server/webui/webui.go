// Package webui is the page: what a browser gets, embedded in the program.
//
// Words it adds: asset (one file of the page), front (a document that a browser opens: the
// page at /, the reader of the API's description at /docs), import map (the names by which
// the modules of the page know each other), state (what the page knows and does,
// one module a noun, without the DOM), view (what draws it). app.js gives the
// state its browser and the view its place. The client of the API is the one that any
// program may use: its files come from clients/typescript.
//
// Invariants: there is no build step; the page asks no other host for anything,
// and its content policy lets it ask only this one; only scripts of our own run,
// and of inline ones only the import map, named by its hash; a browser that holds
// an asset is told so by its content's hash.
//
// It may not know the engine or another face: the page speaks to the REST API
// as any client does.
package webui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback/clients/typescript"
)

//go:embed assets
var files embed.FS

// root is the folder of assets, and clientAt that of the client's modules among them.
const (
	root     = "assets"
	clientAt = root + "/client"
)

// fronts are the documents that a browser opens, by their address: the page itself, and
// the reader of the API's description.
var fronts = map[string]string{"/": root + "/index.html", "/docs": root + "/docs.html"}

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
	tag       string
}

// webPage is every asset by the path it is served at.
type webPage struct {
	assets map[string]pageAsset
	policy string
}

// Handler serves the page; any other path is 404. Images may also come from an origin, as
// https://host, unless it is empty.
func Handler(images string) http.Handler {
	p := loadPage()
	if images != "" {
		p.policy = strings.Replace(p.policy, imageSources, imageSources+" "+images, 1)
	}
	return p
}

// imageSources is where images come from.
const imageSources = "img-src 'self' data:"

// loadPage reads the page. What is embedded is whole or the program was not built,
// so a fault is a panic.
func loadPage() *webPage {
	p := &webPage{assets: map[string]pageAsset{}}
	err := p.addFiles(files, "")
	if err == nil {
		err = p.addFiles(typescript.Modules, clientAt)
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
		p.assets[at] = front
	}
	if icon, ok := p.assets["/assets/favicon.svg"]; ok {
		p.assets["/favicon.ico"] = icon
	}
	p.policy = contentPolicy(p.assets["/"].content, p.assets["/docs"].content)
	return p
}

// addFiles adds all files, below a folder.
func (p *webPage) addFiles(from fs.FS, at string) error {
	return fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		kind, ok := mediaTypes[path.Ext(name)]
		if !ok {
			return fmt.Errorf("no media type for %s", name)
		}
		sum := sha256.Sum256(content)
		p.assets["/"+path.Join(at, name)] = pageAsset{content, kind, `"` + hex.EncodeToString(sum[:12]) + `"`}
		return nil
	})
}

// contentPolicy returns the Content-Security-Policy of all documents: nothing but our own files, and
// the inline import maps by their hashes.
func contentPolicy(fronts ...[]byte) string {
	script := "'self'"
	for _, front := range fronts {
		body, _ := importMap(front)
		sum := sha256.Sum256(body)
		if named := " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(script, named) {
			script += named
		}
	}
	return strings.Join([]string{"default-src 'none'", "script-src " + script, "style-src 'self'", imageSources,
		"font-src 'self'", "connect-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'none'",
		"frame-ancestors 'none'"}, "; ")
}

// importMap returns the text between the tags of the inline import map, as a browser
// hashes it.
func importMap(front []byte) ([]byte, bool) {
	_, rest, ok := bytes.Cut(front, []byte(`<script type="importmap">`))
	if !ok {
		return nil, false
	}
	body, _, ok := bytes.Cut(rest, []byte("</script>"))
	return body, ok
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
	h.Set("ETag", a.tag)
	h.Set("Cache-Control", "no-cache") // ask each time; the answer is nearly always 304
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.content))
}
