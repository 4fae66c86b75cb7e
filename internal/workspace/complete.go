package workspace

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/scrollback-ai/scrollback"
)

// maxSought bounds the entries that are visited for one completion, over all roots.
const maxSought = 5_000

// Completion is a path that continues what somebody typed.
type Completion struct {
	Path   string // as a reference names it; a folder's ends in "/"
	Folder bool
}

// Complete lists at most limit paths that continue what somebody typed: first what the
// folder it names holds, then what has its letters in that order anywhere in the roots,
// base names first. Case counts only where something matches by case. What ignore files
// name is left out. Its only error is the end of ctx.
func Complete(ctx context.Context, roots []string, prefix string, limit int) ([]Completion, error) {
	f := OpenFolders(roots)
	defer f.Close()
	c := completer{folders: f, prefix: prefix, seen: map[string]bool{}}
	c.addContinued()
	if folder, _ := path.Split(prefix); len(c.found) < limit && prefix != folder && !filepath.IsAbs(prefix) {
		c.addMatches(ctx)
	}
	if err := scrollback.Wrap(scrollback.Canceled, "workspace.Complete", ctx.Err()); err != nil {
		return nil, err
	}
	return c.found[:min(len(c.found), max(limit, 0))], nil
}

type completer struct {
	folders *Folders
	prefix  string
	found   []Completion
	seen    map[string]bool
}

func (c *completer) addPath(name string, folder bool) {
	if folder {
		name += "/"
	}
	if !c.seen[name] {
		c.seen[name] = true
		c.found = append(c.found, Completion{Path: name, Folder: folder})
	}
}

// addContinued adds what the folder in front of the last name holds.
func (c *completer) addContinued() {
	folder, begun := path.Split(c.prefix)
	var all []Completion
	if folder == "" && len(c.folders.roots) > 1 {
		for _, r := range c.folders.roots {
			all = append(all, Completion{r.name, true})
		}
	}
	spots := []rootPath{{0, "."}}
	var err error
	switch {
	case folder != "":
		spots, err = c.folders.findSpots(folder, "")
	case len(c.folders.roots) != 1:
		spots = nil
	}
	if err != nil {
		return
	}
	for _, at := range spots {
		for _, e := range c.folders.listFolder(at) {
			all = append(all, Completion{folder + path.Base(e.path), e.kind == folderEntry})
		}
	}
	same := func(s string) string { return s }
	alike := func(s string) string { return norm.NFC.String(strings.ToLower(s)) }
	for _, fold := range []func(string) string{same, alike} {
		for _, e := range all {
			if strings.HasPrefix(fold(path.Base(e.Path)), fold(begun)) {
				c.addPath(e.Path, e.Folder)
			}
		}
		if len(c.found) > 0 {
			return
		}
	}
}

// listFolder returns what a folder holds that no ignore file on the way to it names.
func (f *Folders) listFolder(at rootPath) []treeEntry {
	root := f.roots[at.root]
	if root.dir == nil {
		return nil
	}
	if info, err := root.dir.Stat(filepath.FromSlash(at.path)); err != nil || !info.IsDir() {
		return nil
	}
	t := folderTree{root: root.path}
	w := treeWalker{root: root.dir, tree: &t}
	w.patterns = w.readIgnoreFile(".git/info/exclude", nil)
	folder := "."
	for name := range strings.SplitSeq(at.path, "/") {
		if name == ".git" {
			return nil
		}
		if name == "." {
			break
		}
		for _, file := range ignoreFiles {
			w.patterns = append(w.patterns, w.readIgnoreFile(path.Join(folder, file), patternDomain(folder))...)
		}
		folder = path.Join(folder, name)
	}
	w.listFolder(at.path)
	return t.entries
}

// addMatches adds what has the letters of the prefix somewhere, the best first.
func (c *completer) addMatches(ctx context.Context) {
	type hit struct {
		Completion
		rank, depth int
	}
	var hits []hit
	for i, r := range c.folders.roots {
		if r.dir == nil {
			continue
		}
		t := walkTree(ctx, r.path, maxSought/len(c.folders.roots))
		for _, e := range t.entries {
			name := c.folders.sourceName(rootPath{i, e.path})
			if rank := matchScore(name, c.prefix); rank > 0 {
				hits = append(hits, hit{Completion{name, e.kind == folderEntry}, rank, strings.Count(name, "/")})
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.depth, b.depth), cmp.Compare(len(a.Path), len(b.Path)),
			cmp.Compare(a.Path, b.Path))
	})
	for _, h := range hits {
		c.addPath(h.Path, h.Folder)
	}
}

// matchScore returns how much a path is like what was typed, whatever the case; 0 is not at all.
func matchScore(name, typed string) int {
	name = norm.NFC.String(strings.ToLower(name))
	typed = norm.NFC.String(strings.ToLower(typed))
	last := path.Base(name)
	switch {
	case strings.HasPrefix(last, typed):
		return 5
	case strings.Contains(last, typed):
		return 4
	case subsequence(last, typed):
		return 3
	case strings.Contains(name, typed):
		return 2
	case subsequence(name, typed):
		return 1
	}
	return 0
}

// subsequence reports whether s has the characters of typed in their order.
func subsequence(s, typed string) bool {
	for _, want := range typed {
		i := strings.IndexRune(s, want)
		if i < 0 {
			return false
		}
		_, n := utf8.DecodeRuneInString(s[i:]) // a byte that is not a character is found as one of three
		s = s[i+n:]
	}
	return true
}
