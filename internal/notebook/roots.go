package notebook

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/workspace"
)

// Beyond is a folder that a notebook asks for and does not get.
type Beyond struct {
	Asked string
	Why   string
}

// Why a folder is beyond what a notebook may use.
const (
	Elsewhere = "it is not a folder of this machine"
	Missing   = "there is no such folder"
	Outside   = "it is outside the folders that were granted"
	Partly    = "only what was granted in it can be used"
)

// Narrow returns what remains of the granted folders if a notebook asks for some of them: an
// asked folder inside a granted one, or a granted one inside an asked one. Everything else
// that it asks for is beyond. A relative name is one in the notebook's folder, and nil asks
// for nothing in particular.
func Narrow(granted, asked []string, dir string) (roots []string, beyond []Beyond) {
	if asked == nil {
		return granted, nil
	}
	roots = []string{}
	add := func(path string) {
		if !slices.Contains(roots, path) {
			roots = append(roots, path)
		}
	}
	for _, name := range asked {
		path, ok := resolveFolder(name, dir)
		if !ok {
			beyond = append(beyond, Beyond{name, Elsewhere})
			continue
		}
		if inside, err := workspace.Narrow(granted, []string{path}); err == nil {
			add(inside[0])
			continue
		} else if scrollback.CodeOf(err) != scrollback.Refused {
			beyond = append(beyond, Beyond{name, Missing})
			continue
		}
		why := Outside
		for _, root := range granted {
			if in, err := workspace.Narrow([]string{path}, []string{root}); err == nil && in[0] == root {
				add(root)
				why = Partly
			}
		}
		beyond = append(beyond, Beyond{name, why})
	}
	return dropInner(roots), beyond
}

// dropInner leaves out the folders inside others, which would only give each file a second name.
func dropInner(roots []string) []string {
	out := []string{}
	for _, r := range roots {
		if !slices.ContainsFunc(roots, func(o string) bool {
			_, err := workspace.Narrow([]string{o}, []string{r})
			return o != r && err == nil
		}) {
			out = append(out, r)
		}
	}
	return out
}

// resolveFolder returns the path that a notebook means by a name: a path or a file: address.
func resolveFolder(name, dir string) (string, bool) {
	if rest, ok := strings.CutPrefix(name, "file:"); ok {
		u, err := url.Parse("file:" + rest)
		if err != nil || u.Host != "" && u.Host != "localhost" {
			return "", false
		}
		name = filepath.FromSlash(u.Path)
		if !filepath.IsAbs(name) {
			return "", false
		}
	} else if strings.Contains(name, "://") || name == "" || strings.ContainsRune(name, 0) {
		return "", false
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return filepath.Clean(name), true
}
