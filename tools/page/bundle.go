package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// Where the files of the page stand, from the folder of this program, by the address they are served at.
const (
	assets = "../../internal/server/webui"
	client = "../../clients/typescript"
)

// at is the address of the bundle. Modules name some files by their way from themselves; it is as deep as theirs.
const at = "/assets/bundle/"

// fronts are the documents.
var fronts = []string{"index", "docs"}

// readSource returns the file that is served at an address.
func readSource(address string) ([]byte, error) {
	if name, ok := strings.CutPrefix(address, "/assets/client/"); ok {
		return os.ReadFile(filepath.Join(client, name))
	}
	return os.ReadFile(filepath.Join(assets, address))
}

// bundlePage returns the files of the bundle by name: the documents, their scripts and styles, and inputs.txt, which
// lists what they were made of.
func bundlePage() (map[string][]byte, error) {
	var documents []document
	var entries []api.EntryPoint
	known := map[string]string{}
	inputs := map[string][]byte{}
	for _, name := range fronts {
		address := "/assets/" + name + ".html"
		text, err := readSource(address)
		if err != nil {
			return nil, err
		}
		inputs[address] = text
		d, err := readDocument(name, string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", address, err)
		}
		maps.Copy(known, d.imports)
		documents = append(documents, d)
		entries = append(entries, api.EntryPoint{InputPath: d.script, OutputPath: name},
			api.EntryPoint{InputPath: d.stylesAt(), OutputPath: name + "-styles"})
	}
	made := api.Build(api.BuildOptions{
		EntryPointsAdvanced: entries,
		Bundle:              true, Splitting: true, Format: api.FormatESModule,
		MinifySyntax: true, MinifyWhitespace: true, MinifyIdentifiers: true,
		Target: api.ES2022, Charset: api.CharsetUTF8, LegalComments: api.LegalCommentsNone,
		Outdir: "/bundle", EntryNames: "[name]-[hash]", ChunkNames: "part-[hash]",
		Metafile: true, LogLevel: api.LogLevelSilent,
		Plugins: []api.Plugin{{Name: "page", Setup: func(b api.PluginBuild) { setUpSources(b, documents, known, inputs) }}},
	})
	if len(made.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(made.Errors, api.FormatMessagesOptions{}), "\n"))
	}
	var meta metafile
	if err := json.Unmarshal([]byte(made.Metafile), &meta); err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, f := range made.OutputFiles {
		out[path.Base(filepath.ToSlash(f.Path))] = f.Contents
	}
	for _, d := range documents {
		early, err := readSource(d.early)
		if err != nil {
			return nil, err
		}
		inputs[d.early] = early
		text, err := d.rewrite(&meta, string(early))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		out[d.name+".html"] = []byte(text)
	}
	var list strings.Builder
	for _, address := range slices.Sorted(maps.Keys(inputs)) {
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(inputs[address]), address)
	}
	out["inputs.txt"] = []byte(list.String())
	return out, nil
}

// setUpSources has esbuild find files as a browser does: by their addresses, and by the import map.
func setUpSources(b api.PluginBuild, documents []document, known map[string]string, inputs map[string][]byte) {
	const space = "page"
	var mu sync.Mutex // esbuild loads files side by side
	b.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		to := a.Path
		if mapped, ok := known[to]; ok {
			to = mapped
		}
		if strings.HasPrefix(to, ".") {
			to = path.Join(path.Dir(a.Importer), to)
		}
		if !strings.HasPrefix(to, "/assets/") {
			return api.OnResolveResult{}, fmt.Errorf("%s names %s, which is not a file of the page", a.Importer, a.Path)
		}
		if a.Kind == api.ResolveCSSURLToken { // a font stays a file
			return api.OnResolveResult{Path: to, External: true}, nil
		}
		return api.OnResolveResult{Path: to, Namespace: space}, nil
	})
	b.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: space}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		for _, d := range documents {
			if a.Path == d.stylesAt() {
				text := d.joinStyles()
				return api.OnLoadResult{Contents: &text, Loader: api.LoaderCSS}, nil
			}
		}
		content, err := readSource(a.Path)
		if err != nil {
			return api.OnLoadResult{}, err
		}
		mu.Lock()
		inputs[a.Path] = content
		mu.Unlock()
		text := string(content)
		loader := api.LoaderJS
		if path.Ext(a.Path) == ".css" {
			loader = api.LoaderCSS
		}
		return api.OnLoadResult{Contents: &text, Loader: loader}, nil
	})
}

// metafile is what esbuild says about what it made.
type metafile struct {
	Outputs map[string]struct {
		EntryPoint string
		Imports    []struct{ Path, Kind string }
	}
}

// madeOf returns the name of the file that was made of an entry, and the names of what it needs at once.
func (m *metafile) madeOf(entry string) (name string, needs []string) {
	for made, o := range m.Outputs {
		if o.EntryPoint != "page:"+entry {
			continue
		}
		for _, i := range o.Imports {
			if i.Kind == "import-statement" {
				needs = append(needs, path.Base(i.Path))
			}
		}
		slices.Sort(needs)
		return path.Base(made), needs
	}
	return "", nil
}

// document is what one of the page's documents asks for.
type document struct {
	name    string
	text    string
	styles  []string
	imports map[string]string
	early   string // the script that runs before the first paint
	script  string // the module that starts the page
}

var (
	styleLine  = regexp.MustCompile(`(?m)^<link rel="stylesheet" href="([^"]+)">\n`)
	earlyLine  = regexp.MustCompile(`(?m)^<script src="([^"]+)"></script>\n`)
	mapLines   = regexp.MustCompile(`(?ms)^<script type="importmap">\n(.*?)</script>\n`)
	moduleLine = regexp.MustCompile(`(?m)^<script type="module" src="([^"]+)"></script>\n`)
)

// readDocument finds what a document asks for. Each kind of line must be there.
func readDocument(name, text string) (document, error) {
	d := document{name: name, text: text}
	for _, m := range styleLine.FindAllStringSubmatch(text, -1) {
		d.styles = append(d.styles, m[1])
	}
	early := earlyLine.FindStringSubmatch(text)
	named := mapLines.FindStringSubmatch(text)
	module := moduleLine.FindStringSubmatch(text)
	if d.styles == nil || early == nil || named == nil || module == nil {
		return d, errors.New("no styles, early script, import map or module")
	}
	d.early = early[1]
	d.script = module[1]
	var m struct{ Imports map[string]string }
	if err := json.Unmarshal([]byte(named[1]), &m); err != nil {
		return d, fmt.Errorf("the import map: %w", err)
	}
	d.imports = m.Imports
	return d, nil
}

// stylesAt is the address of a sheet that exists only while the bundle is made: all of the document's, in their order.
func (d document) stylesAt() string { return "/assets/" + d.name + ".css" }

func (d document) joinStyles() string {
	var b strings.Builder
	for _, s := range d.styles {
		fmt.Fprintf(&b, "@import %q;\n", s)
	}
	return b.String()
}

// rewrite returns the document with the bundle's files in place of its own. The early script, whose text is given,
// moves into it.
func (d document) rewrite(meta *metafile, early string) (string, error) {
	script, needs := meta.madeOf(d.script)
	styles, _ := meta.madeOf(d.stylesAt())
	if script == "" || styles == "" {
		return "", fmt.Errorf("made %q and %q", script, styles)
	}
	small := api.Transform(early, api.TransformOptions{MinifySyntax: true, MinifyWhitespace: true,
		MinifyIdentifiers: true, Target: api.ES2022, Charset: api.CharsetUTF8})
	if len(small.Errors) > 0 {
		return "", fmt.Errorf("%s: %s", d.early, small.Errors[0].Text)
	}
	var scripts strings.Builder
	fmt.Fprintf(&scripts, "<script>%s</script>\n", strings.TrimSpace(string(small.Code)))
	for _, name := range needs {
		fmt.Fprintf(&scripts, "<link rel=\"modulepreload\" href=\"%s%s\">\n", at, name)
	}
	fmt.Fprintf(&scripts, "<script type=\"module\" src=\"%s%s\"></script>\n", at, script)
	first := styleLine.FindStringIndex(d.text)
	text := d.text[:first[0]] + fmt.Sprintf("<link rel=\"stylesheet\" href=\"%s%s\">\n", at, styles) +
		styleLine.ReplaceAllLiteralString(d.text[first[0]:], "")
	text = earlyLine.ReplaceAllLiteralString(text, "")
	text = mapLines.ReplaceAllLiteralString(text, "")
	return moduleLine.ReplaceAllLiteralString(text, scripts.String()), nil
}
