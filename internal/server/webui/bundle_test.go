package webui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// byItself are the files that are fetched when they are needed, and no part of the bundle.
var byItself = []string{"/assets/vendor/temml.min.js", "/assets/vendor/temml.css"}

// The bundle was made of the sources as they are. That it is all that they make, .ci/run has esbuild say.
func TestBundleIsOfItsSources(t *testing.T) {
	list, err := os.ReadFile("bundle/inputs.txt")
	if err != nil {
		t.Fatal(err)
	}
	p := loadPage()
	met := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		sum, at, ok := strings.Cut(strings.TrimSpace(line), "  ")
		met[at] = true
		if got := fmt.Sprintf("%x", sha256.Sum256(p.assets[at].content)); !ok || got != sum {
			t.Errorf("%s has changed since the bundle was made: go generate ./internal/server/webui", at)
		}
	}
	for at := range p.assets {
		code := slices.Contains([]string{".html", ".css", ".js", ".mjs"}, path.Ext(at))
		if code && !met[at] && !inBundle(at) && !slices.Contains(byItself, at) {
			t.Errorf("%s is not in the bundle: go generate ./internal/server/webui", at)
		}
	}
	if len(met) < 100 {
		t.Errorf("the bundle was made of only %d files", len(met))
	}
}

// What the documents and parts of the bundle name is there, and all that is there is named.
func TestBundleIsWhole(t *testing.T) {
	p := loadPage()
	named := regexp.MustCompile(`(?:href|src)="(/assets/[^"]+)"|(?:from|import)\s*\(?"(\./[^"]+)"|url\("?(/[^")]+)|` +
		"\\(\"(\\.\\./[\\w./-]+)\"\\)")
	met := map[string]bool{}
	var walk func(at string)
	walk = func(at string) {
		met[at] = true
		if path.Ext(at) != ".js" && path.Ext(at) != ".css" && fronts[at] == "" || slices.Contains(byItself, at) {
			return
		}
		for _, m := range named.FindAllStringSubmatch(string(p.assets[at].content), -1) {
			to := strings.Join(m[1:], "")
			if strings.HasPrefix(to, ".") {
				to = path.Join(path.Dir(at), to)
			}
			if _, ok := p.assets[to]; !ok {
				t.Errorf("%s names %s, which does not exist", at, to)
			} else if !met[to] {
				walk(to)
			}
		}
	}
	for at := range fronts {
		walk(at)
	}
	for at := range p.assets {
		if (inBundle(at) || slices.Contains(byItself, at)) && !met[at] {
			t.Errorf("%s is there, but nothing of the bundle names it", at)
		}
	}
}

// A client gets the form that it takes, and may keep what never changes.
func TestForms(t *testing.T) {
	for at, a := range loadPage().assets {
		plain := get(t, at)
		if body(t, plain) != string(a.content) || plain.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s without an Accept-Encoding is not the file", at)
		}
		want := "no-cache"
		if strings.HasPrefix(at, "/assets/bundle/") {
			want = "public, max-age=31536000, immutable"
		}
		if got := plain.Header.Get("Cache-Control"); got != want {
			t.Errorf("%s may be kept by %q, want %q", at, got, want)
		}
		zipped := get(t, at, "Accept-Encoding", "deflate, gzip;q=1.0, br", "Range", "bytes=0-3")
		if a.zipped == nil {
			if zipped.Header.Get("Content-Encoding") != "" || zipped.StatusCode != http.StatusPartialContent {
				t.Errorf("%s is zipped, or not sent in parts: %d", at, zipped.StatusCode)
			}
			continue
		}
		sent := body(t, zipped)
		r, err := gzip.NewReader(strings.NewReader(sent))
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		got, err := io.ReadAll(r)
		h := zipped.Header
		if err != nil || !bytes.Equal(got, a.content) || h.Get("Content-Encoding") != "gzip" ||
			h.Get("Content-Length") != fmt.Sprint(len(sent)) || zipped.StatusCode != http.StatusOK {
			t.Errorf("%s by gzip: %d, %v, %v", at, zipped.StatusCode, h, err)
		}
		if plain.Header.Get("Vary") != "Accept-Encoding" || h.Get("Vary") != "Accept-Encoding" ||
			h.Get("ETag") == plain.Header.Get("ETag") {
			t.Errorf("%s: both forms are %s, by %q", at, h.Get("ETag"), h.Get("Vary"))
		}
	}
}

func TestTakesGzip(t *testing.T) {
	for accepted, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "x-gzip": true, "br": false, "br, gzip": true, "gzip;q=0": false,
		"gzip; q=0.000": false, "gzip; q=0.5": true, "*": true, "*;q=0": false, "gzip;q=0, *": false, "*, gzip;q=0": false,
		"*;q=0, gzip": true, "identity": false, "gzip;q=x": false, "gzipped": false,
	} {
		if got := takesGzip([]string{accepted}); got != want {
			t.Errorf("%q takes gzip: %v, want %v", accepted, got, want)
		}
	}
	if !takesGzip([]string{"br", "gzip"}) {
		t.Error("of two headers only the first is read")
	}
}
