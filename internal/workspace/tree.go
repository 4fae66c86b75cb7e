package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// Bounds of a walk.
const (
	maxListed  = 10_000    // entries read of one folder
	maxFolders = 2_000     // folders read of one root
	maxIgnore  = 256 << 10 // bytes of one ignore file
	maxPattern = 4096      // bytes of a pattern in it: no path is longer
	maxDepth   = 40
	maxMatches = 2_000_000 // names compared with patterns in one root, long ones counted by their length
)

// ignoreFiles say what is left out, in every folder.
var ignoreFiles = []string{".gitignore", ".scrollbackignore"}

// folderTree is the top of a root, breadth first: entries of less depth come before those
// of more, so that cutting the list leaves the top.
type folderTree struct {
	root    string
	inside  string // another root that holds it
	entries []treeEntry
	more    bool // there is more than entries
	notes   []string
}

// treeEntry is a file or folder, by its slash path within the root.
type treeEntry struct {
	path string
	kind treeEntryKind
}

type treeEntryKind int

const (
	fileEntry treeEntryKind = iota
	folderEntry
	linkEntry
)

// walkTree reads a root until limit entries are found.
func walkTree(ctx context.Context, root string, limit int) folderTree {
	t := folderTree{root: root}
	dir, err := openRoot(root)
	if err != nil {
		t.addNote("%s cannot be read: %v", root, explainError(err))
		return t
	}
	defer func() { _ = dir.Close() }() // only read
	w := treeWalker{root: dir, tree: &t}
	w.patterns = w.readIgnoreFile(".git/info/exclude", nil)
	queue := []string{"."}
	for read := 0; len(queue) > 0 && ctx.Err() == nil; read++ {
		if len(t.entries) >= limit || read == maxFolders {
			t.more = true
			break
		}
		folder := queue[0]
		queue = append(queue[1:], w.listFolder(folder)...)
	}
	if len(t.entries) > limit {
		t.entries = t.entries[:limit]
		t.more = true
	}
	return t
}

func (t *folderTree) addNote(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// explainError returns an error of the file system without the path, which is already known.
func explainError(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

type treeWalker struct {
	root     *os.Root
	tree     *folderTree
	patterns []gitignore.Pattern
	weight   int // of the patterns
	matches  int // done so far
}

// usualPattern is how long a pattern is, in bytes, that counts as one.
const usualPattern = 64

// listFolder adds what one folder holds and returns the folders in it.
func (w *treeWalker) listFolder(folder string) []string {
	f, err := w.root.Open(folder)
	if err != nil {
		w.tree.addNote("%s cannot be read: %s", path.Join(w.tree.root, folder), explainError(err))
		return nil
	}
	defer f.Close()
	found, err := f.ReadDir(maxListed)
	if err != nil && !errors.Is(err, io.EOF) {
		w.tree.addNote("%s cannot be read: %s", path.Join(w.tree.root, folder), explainError(err))
	}
	if len(found) == maxListed {
		w.tree.more = true
	}
	for _, name := range ignoreFiles {
		w.patterns = append(w.patterns, w.readIgnoreFile(path.Join(folder, name), patternDomain(folder))...)
	}
	found = w.limitMatched(found, 1+len(patternDomain(folder)))
	ignored := gitignore.NewMatcher(w.patterns)
	var out []treeEntry
	for _, d := range found {
		e := treeEntry{path: path.Join(folder, d.Name())}
		switch {
		case d.IsDir():
			e.kind = folderEntry
		case d.Type()&fs.ModeSymlink != 0:
			e.kind = linkEntry
		}
		if d.Name() != ".git" && !ignored.Match(strings.Split(e.path, "/"), d.IsDir()) {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b treeEntry) int {
		folders := func(e treeEntry) int {
			if e.kind == folderEntry {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(folders(a), folders(b)), cmp.Compare(a.path, b.path))
	})
	w.tree.entries = append(w.tree.entries, out...)
	var folders []string
	for _, e := range out {
		if e.kind == folderEntry && strings.Count(e.path, "/") < maxDepth {
			folders = append(folders, e.path)
		}
	}
	return folders
}

// limitMatched returns the part of a folder that may still be compared with the patterns, each of
// which looks at every name of a path with depth names.
func (w *treeWalker) limitMatched(found []fs.DirEntry, depth int) []fs.DirEntry {
	each := w.weight * depth
	if n := (maxMatches - w.matches) / max(each, 1); len(found) > n {
		slices.SortFunc(found, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
		found = found[:max(n, 0)]
		w.tree.more = true
	}
	w.matches += len(found) * each
	return found
}

// patternDomain returns where the patterns of a folder's ignore file apply.
func patternDomain(folder string) []string {
	if folder == "." {
		return nil
	}
	return strings.Split(folder, "/")
}

// readIgnoreFile reads an ignore file; one that is missing or not a file holds nothing.
func (w *treeWalker) readIgnoreFile(name string, domain []string) []gitignore.Pattern {
	text, err := readHead(w.root, name, maxIgnore)
	if err != nil {
		return nil
	}
	var out []gitignore.Pattern
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" && !strings.HasPrefix(line, "#") && len(line) <= maxPattern {
			w.weight += 1 + len(line)/usualPattern
			out = append(out, gitignore.ParsePattern(line, domain))
		}
	}
	return out
}

// errNoFile is the error for something that is not a regular file.
var errNoFile = errors.New("it is no regular file")

// readHead reads at most n bytes of a regular file within a root.
func readHead(root *os.Root, name string, n int64) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNoFile
	}
	f, err := root.OpenFile(name, os.O_RDONLY|noWait, 0) // it may be a pipe by now
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n))
}

// shareEntries divides limit entries among trees: none gets more than it has, and what one
// leaves goes to the others.
func shareEntries(trees []folderTree, limit int) []int {
	out := make([]int, len(trees))
	for left := limit; left > 0; {
		var hungry []int
		for i, t := range trees {
			if t.inside == "" && out[i] < len(t.entries) {
				hungry = append(hungry, i)
			}
		}
		if len(hungry) == 0 {
			break
		}
		each := max(left/len(hungry), 1)
		for _, i := range hungry {
			n := min(each, len(trees[i].entries)-out[i], left)
			out[i] += n
			left -= n
		}
	}
	return out
}
