package webui

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func get(t *testing.T, at string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, at, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	Handler("").ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestServes(t *testing.T) {
	for at, want := range map[string]string{
		"/":                          "text/html; charset=utf-8",
		"/docs":                      "text/html; charset=utf-8",
		"/assets/index.html":         "text/html; charset=utf-8",
		"/assets/docs.html":          "text/html; charset=utf-8",
		"/assets/view/css/base.css":  "text/css; charset=utf-8",
		"/assets/app.js":             "text/javascript; charset=utf-8",
		"/assets/client/index.js":    "text/javascript; charset=utf-8",
		"/assets/vendor/preact.mjs":  "text/javascript; charset=utf-8",
		"/assets/favicon.svg":        "image/svg+xml",
		"/favicon.ico":               "image/svg+xml",
		"/assets/app.webmanifest":    "application/manifest+json",
		"/assets/icon-192.png":       "image/png",
		"/assets/vendor/README.md":   "text/plain; charset=utf-8",
		"/assets/vendor/LICENSE-htm": "text/plain; charset=utf-8",
	} {
		res := get(t, at)
		if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != want || len(body(t, res)) == 0 {
			t.Errorf("%s: %d %q, want 200 %q", at, res.StatusCode, res.Header.Get("Content-Type"), want)
		}
		for _, form := range []string{"identity", "gzip"} {
			tag := get(t, at, "Accept-Encoding", form).Header.Get("ETag")
			again := get(t, at, "Accept-Encoding", form, "If-None-Match", tag)
			if again.StatusCode != http.StatusNotModified || len(body(t, again)) > 0 {
				t.Errorf("%s by %s with its own ETag %q: %d, want 304", at, form, tag, again.StatusCode)
			}
		}
	}
}

func TestUnknown(t *testing.T) {
	for _, at := range []string{"/nothing", "/assets/", "/assets", "/assets/nothing.js", "/index.html", "/docs/",
		"/assets/bundle/index.html", "/assets/bundle/inputs.txt", "/assets/bundle/", "/assets/../webui.go", "//",
		"/api"} {
		if res := get(t, at); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", at, res.StatusCode)
		}
	}
	w := httptest.NewRecorder()
	Handler("").ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST /: %d, want 405", w.Code)
	}
}

// TestPolicy computes the hash of the inline script by another way than the code.
func TestPolicy(t *testing.T) {
	for _, at := range []string{"/", "/docs", "/assets/index.html", "/assets/docs.html"} {
		t.Run(at, func(t *testing.T) { holdsPolicy(t, at) })
	}
}

func holdsPolicy(t *testing.T, at string) {
	res := get(t, at)
	inline := regexp.MustCompile(`(?s)<script([^>]*)>(.*?)</script>`).FindAllStringSubmatch(body(t, res), -1)
	policy := res.Header.Get("Content-Security-Policy")
	hashes := 0
	for _, s := range inline {
		if s[2] == "" {
			continue
		}
		sum := sha256.Sum256([]byte(s[2]))
		if want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
			t.Errorf("the policy does not name the inline script%s by %s: %s", s[1], want, policy)
		}
		hashes++
	}
	if hashes != 1 || strings.Count(policy, "sha256-") != 2 {
		t.Errorf("%d inline scripts and policy %q, want one of the two that documents have", hashes, policy)
	}
	for _, want := range []string{"default-src 'none'", "script-src 'self' 'sha256-", "style-src 'self'",
		"img-src 'self' data:",
		"font-src 'self'", "connect-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'none'",
		"frame-ancestors 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy lacks %s: %s", want, policy)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("the policy allows something unsafe: %s", policy)
	}
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// inBundle reports whether an address is one of the bundle's, which is made of others.
func inBundle(at string) bool { return fronts[at] != "" || strings.HasPrefix(at, "/"+bundleAt+"/") }

// own lists the page's own files: all but what is vendored, and what is made of others.
func own(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for at, a := range loadPage().assets {
		if !strings.Contains(at, "/vendor/") && at != "/favicon.ico" && !inBundle(at) {
			out[at] = string(a.content)
		}
	}
	return out
}

var (
	attribute = regexp.MustCompile(`<(?:script|link|img)[^>]*\s(?:src|href)="([^"]+)"`)
	imported  = regexp.MustCompile(`(?m)^\s*(?:import|export)\b[^'"]*?\bfrom\s*['"]([^'"]+)['"]` +
		`|^import\s*['"]([^'"]+)['"]|\b(?:import|asset)\('([^']+)'\)`)
	icons   = regexp.MustCompile(`"src": "([^"]+)"()`)
	bundled = regexp.MustCompile(`(?:from|import)\s*"([@./\w-]+)"`)
)

// names reads the import map.
func names(t *testing.T) map[string]string {
	t.Helper()
	_, rest, _ := strings.Cut(string(loadPage().assets["/assets/index.html"].content), `<script type="importmap">`)
	raw, _, ok := strings.Cut(rest, "</script>")
	var m struct{ Imports map[string]string }
	if err := json.Unmarshal([]byte(raw), &m); !ok || err != nil || len(m.Imports) == 0 {
		t.Fatalf("the import map: %v", err)
	}
	return m.Imports
}

// TestReferences walks from the documents by their sources: what they name exists, and what exists
// is named.
func TestReferences(t *testing.T) {
	p := loadPage()
	known := names(t)
	met := map[string]bool{}
	var walk func(at string)
	visit := func(from, to string) {
		if mapped, ok := known[to]; ok {
			to = mapped
		}
		if strings.HasPrefix(to, ".") {
			to = path.Join(path.Dir(from), to)
		}
		if _, ok := p.assets[to]; !ok {
			t.Errorf("%s names %s, which does not exist", from, to)
			return
		}
		walk(to)
	}
	walk = func(at string) {
		if met[at] {
			return
		}
		met[at] = true
		text := string(p.assets[at].content)
		var found [][]string
		switch {
		case path.Ext(at) == ".html":
			found = attribute.FindAllStringSubmatch(text, -1)
		case strings.HasSuffix(at, ".webmanifest"):
			found = icons.FindAllStringSubmatch(text, -1)
		case strings.HasSuffix(at, ".mjs"):
			found = bundled.FindAllStringSubmatch(text, -1)
		case strings.HasSuffix(at, ".js"):
			found = imported.FindAllStringSubmatch(text, -1)
		}
		for _, f := range found {
			visit(at, f[1]+strings.Join(f[2:], ""))
		}
	}
	walk("/assets/index.html")
	walk("/assets/docs.html")
	for at := range p.assets {
		if inBundle(at) {
			continue
		}
		switch ext := path.Ext(at); {
		case ext != ".js" && ext != ".mjs" && ext != ".css" && ext != ".svg" && ext != ".png" && ext != ".webmanifest":
		case !met[at]:
			t.Errorf("%s is part of the page, but nothing names it", at)
		}
	}
	if len(met) < 10 {
		t.Errorf("only %d files were met: the walk reads too little", len(met))
	}
}

// sanitised is the one file that shows HTML, which the server has sanitised.
const sanitised = "/assets/view/markup.js"

// TestClosed finds what would leave this host, or make code or markup of text.
func TestClosed(t *testing.T) {
	namespaces := []string{"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml",
		"http://www.w3.org/1998/Math/MathML"}
	comment := regexp.MustCompile(`(?m)^\s*(?://|/?\*).*$`)
	address := regexp.MustCompile(`(?i)\b(?:https?|wss?):\\?/\\?/[^\s"'` + "`" + `)]*|["'(]\s*//[a-z0-9]`)
	for at, a := range loadPage().assets {
		if strings.Contains(at, "/vendor/") && !strings.HasSuffix(at, ".mjs") {
			continue // licences
		}
		text := string(a.content)
		if strings.Contains(at, "/vendor/") {
			text = comment.ReplaceAllString(text, "") // says where it comes from
		}
		for _, m := range address.FindAllString(text, -1) {
			if !slices.Contains(namespaces, m) {
				t.Errorf("%s names another host: %s", at, m)
			}
		}
	}
	unsafe := regexp.MustCompile(`(?i:innerHTML)|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new ` +
		`Function|\balert\(|\bconfirm\(|\bprompt\(`)
	for at, text := range own(t) {
		for _, m := range unsafe.FindAllString(text, -1) {
			if at != sanitised || m != "InnerHTML" {
				t.Errorf("%s uses %s", at, m)
			}
		}
		generated := strings.HasPrefix(text, "// Made of the API's description by go test ")
		if strings.HasSuffix(at, ".js") && !generated && strings.Count(text, "\n") >= 400 {
			t.Errorf("%s has %d lines; 400 is too many", at, strings.Count(text, "\n"))
		}
	}
}

// TestVendored compares the modules and the font with the checksums that are written down.
func TestVendored(t *testing.T) {
	p := loadPage()
	table := p.assets["/assets/vendor/README.md"].content
	for at, a := range p.assets {
		if !strings.Contains(at, "/vendor/") || strings.HasPrefix(path.Base(at), "LICENSE") || path.Ext(at) == ".md" {
			continue
		}
		sum := sha256.Sum256(a.content)
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(path.Base(at)) +
			` \|.*\| ([0-9a-f]{64}) \|$`).FindSubmatch(table)
		if row == nil || !bytes.Equal(row[1], []byte(hex.EncodeToString(sum[:]))) {
			t.Errorf("%s is not the file that README.md describes (sha256 %x)", at, sum)
		}
	}
}

// TestWords holds the two languages together: both say the same things, and all
// that the page asks for.
func TestWords(t *testing.T) {
	text := own(t)
	key := regexp.MustCompile(`(?m)(?:^  |, )(?:'([\w. ]+)'|(\w+)): (?:'|\()`)
	said := func(at string) map[string]bool {
		out := map[string]bool{}
		for _, m := range key.FindAllStringSubmatch(text[at], -1) {
			out[m[1]+m[2]] = true
		}
		return out
	}
	en := said("/assets/state/words.en.js")
	zh := said("/assets/state/words.zh.js")
	for at := range text { // the areas have both languages in one file
		if !strings.HasPrefix(at, "/assets/state/words/") {
			continue
		}
		half := strings.Index(text[at], "export const zh = {")
		if half < 0 {
			t.Fatalf("%s has no Chinese", at)
		}
		whole := text[at]
		text[at] = whole[:half]
		maps.Copy(en, said(at))
		text[at] = whole[half:]
		maps.Copy(zh, said(at))
		text[at] = whole
	}
	if len(en) < 80 {
		t.Fatalf("only %d words were read", len(en))
	}
	for w := range en {
		if !zh[w] {
			t.Errorf("Chinese lacks %q", w)
		}
	}
	for w := range zh {
		if !en[w] {
			t.Errorf("English lacks %q", w)
		}
	}
	docs := text["/assets/docs/words.js"]
	half := strings.Index(docs, "zh: {")
	keys := func(of string) (out []string) {
		for _, m := range regexp.MustCompile(`(\w+): '`).FindAllStringSubmatch(of, -1) {
			out = append(out, m[1])
		}
		return out
	}
	if e, z := keys(docs[:half]), keys(docs[half:]); !slices.Equal(e, z) || len(e) < 15 {
		t.Errorf("the reader says %v in English and %v in Chinese", e, z)
	}
	read := regexp.MustCompile(`\bsay\('(\w+)'\)`)
	for at, s := range text {
		for _, m := range read.FindAllStringSubmatch(s, -1) {
			if !slices.Contains(keys(docs), m[1]) {
				t.Errorf("%s says %q, which no language has", at, m[1])
			}
		}
	}
	asked := regexp.MustCompile(`\bt\('([\w. ]+)'[,)]`)
	for at, s := range text {
		for _, m := range asked.FindAllStringSubmatch(s, -1) {
			if !en[m[1]] {
				t.Errorf("%s says %q, which no language has", at, m[1])
			}
		}
	}
	spoken := saidAnywhere(text)
	for w := range en {
		if !spoken(w) {
			t.Errorf("nobody says %q", w)
		}
	}
}

var (
	exported  = regexp.MustCompile(`(?m)^export (?:async )?(?:const|let|class|function\*?) (\w+)`)
	renamed   = regexp.MustCompile(`(?m)^export \{([^}]*)\}`)
	braces    = regexp.MustCompile(`(?m)^import \{([^}]*)\} from '(\.[^']+)'`)
	namespace = regexp.MustCompile(`(?m)^import \* as (\w+) from '(\.[^']+)'`)
)

// exports returns the names that a module gives away.
func exports(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range exported.FindAllStringSubmatch(text, -1) {
		out[m[1]] = true
	}
	for _, m := range renamed.FindAllStringSubmatch(text, -1) {
		for name := range strings.SplitSeq(m[1], ",") {
			words := strings.Fields(name)
			if len(words) > 0 {
				out[words[len(words)-1]] = true
			}
		}
	}
	return out
}

// A name that a module imports and another does not export would leave the page empty.
func TestImportedNamesExist(t *testing.T) {
	text := own(t)
	tried := 0
	for at, s := range text {
		for _, m := range braces.FindAllStringSubmatch(s, -1) {
			from := path.Join(path.Dir(at), m[2])
			if strings.Contains(from, "/vendor/") {
				continue
			}
			known := exports(text[from])
			for name := range strings.SplitSeq(m[1], ",") {
				words := strings.Fields(name)
				if tried++; len(words) > 0 && !known[words[0]] {
					t.Errorf("%s imports %s, which %s does not export", at, words[0], from)
				}
			}
		}
		for _, m := range namespace.FindAllStringSubmatch(s, -1) {
			from := path.Join(path.Dir(at), m[2])
			known := exports(text[from])
			for _, used := range regexp.MustCompile(`[^\w.'/]`+m[1]+`\.(\w+)\(`).FindAllStringSubmatch(s, -1) {
				if tried++; !strings.Contains(from, "/vendor/") && !known[used[1]] {
					t.Errorf("%s calls %s.%s, which %s does not export", at, m[1], used[1], from)
				}
			}
		}
	}
	if tried < 300 {
		t.Errorf("only %d names were looked up", tried)
	}
}

// An area of the page that styles a class of another's by its name alone changes that area
// without knowing. What all may style is in base and frame.
func TestClassesHaveOneArea(t *testing.T) {
	remark := regexp.MustCompile(`(?s)/\*.*?\*/`)
	rule := regexp.MustCompile(`(?:^|[{}])\s*([^{}@]+)\{`)
	alone := regexp.MustCompile(`^\.([\w-]+)(?:$|[ :>+~\[])`)
	areas := map[string]map[string]bool{}
	for at, text := range own(t) {
		area, ok := strings.CutPrefix(at, "/assets/view/css/")
		if !ok {
			continue
		}
		for _, r := range rule.FindAllStringSubmatch(remark.ReplaceAllString(text, ""), -1) {
			for selector := range strings.SplitSeq(r[1], ",") {
				if m := alone.FindStringSubmatch(strings.TrimSpace(selector)); m != nil {
					if areas[m[1]] == nil {
						areas[m[1]] = map[string]bool{}
					}
					areas[m[1]][area] = true
				}
			}
		}
	}
	if len(areas) < 100 {
		t.Fatalf("only %d classes were read", len(areas))
	}
	for class, in := range areas {
		if len(in) > 1 && !in["base.css"] && !in["frame.css"] {
			t.Errorf("the class %s begins rules of %v", class, slices.Sorted(maps.Keys(in)))
		}
	}
}

// saidAnywhere tells whether the page's modules name a word, whole or by how it begins.
func saidAnywhere(text map[string]string) func(word string) bool {
	var all strings.Builder
	for at, s := range text {
		if strings.HasSuffix(at, ".js") && !strings.HasPrefix(at, "/assets/state/words") {
			all.WriteString(s)
		}
	}
	var begun []string
	for _, m := range regexp.MustCompile("'([\\w.]+\\.)' \\+|\x60([\\w.]+\\.)\\$\\{").FindAllStringSubmatch(all.String(),
		-1) {
		begun = append(begun, m[1]+m[2])
	}
	return func(word string) bool {
		return strings.Contains(all.String(), "'"+word+"'") ||
			slices.ContainsFunc(begun, func(b string) bool { return strings.HasPrefix(word, b) })
	}
}
