// Package place says which folders are one place of work: all worktrees and sub-folders of a repository, or else one
// folder.
//
// Words it adds: place (what conversations belong to by their folders), common folder (of a repository: where git keeps
// what its worktrees share).
//
// Invariants: folders are compared with their links resolved, never by their names; git's files are read, and no
// more of them than a bound, and it is run by [ReadRepository] alone; looking makes nothing. A folder that is gone
// belongs where the nearest folder above it does that is still there.
//
// It may not know conversations.
package place

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Place is where somebody works.
type Place struct {
	Common  string   // the common folder of the repository; empty for a folder that is in none
	Root    string   // the top of the worktree, or the folder itself
	Folders []string // absolute, as they may be spelled: everything of the place is in one of them or below

	// Repository is what it is known by on other machines, where that is known; conversations of theirs are found by
	// its folder.
	Repository Repository
	joined     []Place // by a person
}

// Bounds of what is read.
const (
	mostWorktrees = 256
	mostBytes     = 4 << 10 // of a file that names a folder
	mostLevels    = 128
)

// Find returns the place of a folder. A relative folder, and an empty one, have none: nothing is of it.
func Find(folder string) Place {
	if !filepath.IsAbs(folder) {
		return Place{}
	}
	folder = filepath.Clean(folder)
	real := resolve(folder)
	root, common := findRepository(real)
	if common == "" {
		return Place{Root: real, Folders: distinct(real, folder)}
	}
	folders := []string{root}
	if filepath.Base(common) == ".git" {
		folders = append(folders, filepath.Dir(common))
	}
	folders = append(folders, listWorktrees(common)...)
	if spelled := spelledRoot(folder, real, root); spelled != "" {
		folders = append(folders, spelled)
	}
	return Place{Common: common, Root: root, Folders: distinct(folders...)}
}

// Join returns the place with others that are one with it.
func (p Place) Join(others ...Place) Place {
	p.joined = append(slices.Clone(p.joined), others...)
	p.Folders = slices.Clone(p.Folders)
	for _, o := range others {
		p.Folders = append(p.Folders, o.Folders...)
	}
	p.Folders = distinct(p.Folders...)
	return p
}

// Like returns a folder of the place with what is the same one in its other worktrees and clones, and in the places
// that are one with it: of the top of a repository their tops, of a folder below it the folders of the same path.
func (p Place) Like(folder string) []string {
	if !filepath.IsAbs(folder) || p.Root == "" {
		return distinct(folder)
	}
	below, err := filepath.Rel(p.Root, resolve(filepath.Clean(folder)))
	if err != nil || !filepath.IsLocal(below) {
		return distinct(folder)
	}
	out := []string{folder}
	for _, top := range p.Folders {
		if below == "." {
			out = append(out, top)
		} else if top != p.Repository.Folder() { // its key, below which nothing is
			out = append(out, filepath.Join(top, below))
		}
	}
	return distinct(out...)
}

// KnownAs returns the place, which is known on other machines too.
func (p Place) KnownAs(r Repository) Place {
	if at := r.Folder(); at != "" {
		p.Repository = r
		p.Folders = distinct(append(slices.Clone(p.Folders), at)...)
	}
	return p
}

// Has reports whether a folder is of the place.
func (p Place) Has(folder string) bool {
	if p.Root == "" {
		return false
	}
	if at := p.Repository.Folder(); at != "" && folder == at {
		return true
	}
	if slices.ContainsFunc(p.joined, func(o Place) bool { return o.Has(folder) }) {
		return true
	}
	if !filepath.IsAbs(folder) {
		return false
	}
	real := resolve(filepath.Clean(folder))
	if p.Common == "" {
		return real == p.Root
	}
	_, common := findRepository(real)
	return common == p.Common
}

// Key names the place on this machine; empty for none.
func (p Place) Key() string {
	if p.Common != "" {
		return p.Common
	}
	return p.Root
}

// Branch returns the branch that is checked out in the place's worktree; empty if there is none.
func (p Place) Branch() string {
	if p.Common == "" {
		return ""
	}
	git := gitFolder(p.Root)
	branch, found := strings.CutPrefix(readLine(filepath.Join(git, "HEAD")), "ref: refs/heads/")
	if !found {
		return ""
	}
	return branch
}

// resolve returns a folder with its links resolved; of one that is not there, as far as it is.
func resolve(folder string) string {
	rest := ""
	for at := folder; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return folder
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// findRepository returns the top of the worktree that a folder is in, and the common folder; both are empty if it is
// in none.
func findRepository(folder string) (root, common string) {
	at := folder
	for range mostLevels {
		if git := gitFolder(at); git != "" {
			return at, commonFolder(git)
		}
		if at == filepath.Dir(at) {
			break
		}
		at = filepath.Dir(at)
	}
	return "", ""
}

// gitFolder returns the folder in which git keeps what is of the worktree with that top; empty if it is none.
func gitFolder(top string) string {
	at := filepath.Join(top, ".git")
	info, err := os.Stat(at)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		named, found := strings.CutPrefix(readLine(at), "gitdir: ")
		if !found {
			return ""
		}
		at = within(top, named)
	}
	if _, err := os.Stat(filepath.Join(at, "HEAD")); err != nil {
		return ""
	}
	return resolve(at)
}

// commonFolder returns what a worktree's folder of git shares with others: itself, unless it names another.
func commonFolder(git string) string {
	if named := readLine(filepath.Join(git, "commondir")); named != "" {
		return resolve(within(git, named))
	}
	return git
}

// listWorktrees lists the tops of the other worktrees of a repository, also of those that are gone.
func listWorktrees(common string) (out []string) {
	dir, err := os.Open(filepath.Join(common, "worktrees"))
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(mostWorktrees) // as many as could be read
	slices.Sort(names)
	for _, name := range names {
		at := filepath.Join(common, "worktrees", name)
		if named := readLine(filepath.Join(at, "gitdir")); named != "" {
			out = append(out, filepath.Dir(within(at, named)))
		}
	}
	return out
}

// spelledRoot returns the top of a worktree as it is above a folder that is spelled with links, or empty.
func spelledRoot(folder, real, root string) string {
	below, err := filepath.Rel(root, real)
	if err != nil || folder == real {
		return ""
	}
	if below == "." {
		return folder
	}
	if top, found := strings.CutSuffix(folder, string(filepath.Separator)+below); found && resolve(top) == root {
		return top
	}
	return folder
}

// within returns a path that is relative to a folder, unless it is absolute.
func within(folder, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, path)
}

// readLine returns the first line of a small file, or nothing.
func readLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostBytes))
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

// distinct returns the different ones of some folders, in their order.
func distinct(folders ...string) (out []string) {
	for _, f := range folders {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}
