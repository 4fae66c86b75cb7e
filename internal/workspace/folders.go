package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/text/unicode/norm"
)

// Why something in the folders cannot be read, in words for a person and a model.
var (
	ErrNoFolder  = errors.New("refused: no folder was granted")
	ErrOutside   = errors.New("refused: outside the roots")
	ErrMissing   = errors.New("not found")
	ErrIrregular = errors.New("not a regular file")
)

// errLeads is ErrOutside for a name that is inside a root, but a link on its way leads out.
var errLeads = fmt.Errorf("%w", ErrOutside)

// IsNameError reports whether err is about something that a name inside the folders leads to,
// rather than a name that leads to nothing or is outside itself.
func IsNameError(err error) bool {
	if errors.Is(err, errLeads) {
		return true
	}
	return err != nil && !errors.Is(err, ErrMissing) && !errors.Is(err, ErrOutside) && !errors.Is(err, ErrNoFolder)
}

// Folders are roots that are held open. Everything is reached through them, name by
// name, so that nothing outside is read even while links are being swapped. They are
// safe for concurrent use.
type Folders struct {
	roots []openedRoot
}

// openedRoot is a root that is open; its name differs from those of the others.
type openedRoot struct {
	path, name string
	dir        *os.Root // nil: it is gone or cannot be read
}

// rootPath is a place in a root, by a clean slash path without "..".
type rootPath struct {
	root int
	path string
}

// OpenFolders opens roots, absolute and without links. One that cannot be opened, or has
// become a link, holds nothing. The caller closes them.
func OpenFolders(roots []string) *Folders {
	f := &Folders{}
	for i, root := range roots {
		h := openedRoot{path: filepath.Clean(root), name: f.distinctName(roots, i)}
		if dir, err := openRoot(h.path); err == nil {
			h.dir = dir
		}
		f.roots = append(f.roots, h)
	}
	return f
}

// Close closes the roots.
func (f *Folders) Close() {
	for _, r := range f.roots {
		if r.dir != nil {
			_ = r.dir.Close() // nothing is buffered in a folder
		}
	}
}

// distinctName returns the name of the i-th root: its base name, with a number if another root
// before it has that name.
func (f *Folders) distinctName(roots []string, i int) string {
	name := baseName(roots[i])
	for n := 2; slices.ContainsFunc(f.roots, func(h openedRoot) bool { return h.name == name }); n++ {
		name = fmt.Sprintf("%s-%d", baseName(roots[i]), n)
		for slices.ContainsFunc(roots, func(r string) bool { return baseName(r) == name }) {
			n++
			name = fmt.Sprintf("%s-%d", baseName(roots[i]), n)
		}
	}
	return name
}

func baseName(root string) string {
	if name := filepath.Base(filepath.Clean(root)); name != string(filepath.Separator) {
		return name
	}
	return "root"
}

// openRoot opens a folder without following a link on the way to it: between the time
// it was granted and now, any name of its path may have become one.
func openRoot(path string) (*os.Root, error) {
	if !filepath.IsAbs(path) {
		return nil, ErrOutside
	}
	at := filepath.VolumeName(path) + string(filepath.Separator)
	dir, err := os.OpenRoot(at)
	for name := range strings.SplitSeq(strings.TrimPrefix(path, at), string(filepath.Separator)) {
		if name == "" {
			continue // the path is the top itself
		}
		at = filepath.Join(at, name)
		next, nextErr := openStep(dir, at)
		if dir != nil {
			_ = dir.Close() // only read
		}
		// A folder on the way may be closed to us and what is in it open.
		if dir, err = next, nextErr; err != nil && !errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
	}
	return dir, err
}

// openStep opens the folder at, by its last name in dir, or by its whole path where dir could
// not be opened.
func openStep(dir *os.Root, at string) (*os.Root, error) {
	name := filepath.Base(at)
	lstat := os.Lstat
	open := os.OpenRoot
	if dir != nil {
		lstat = dir.Lstat
		open = dir.OpenRoot
	} else {
		name = at
	}
	seen, err := lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, ErrOutside
	}
	next, err := open(name)
	if err != nil {
		return nil, err
	}
	if opened, err := next.Stat("."); err != nil || !os.SameFile(seen, opened) {
		_ = next.Close() // only read
		return nil, ErrOutside
	}
	return next, nil
}

// findSpots returns the places that a name may mean, in the order they are tried: relative to a
// root whose name it begins with where there are several, to the first root that has
// it, to near, the absolute path of a folder, and behind the name of a single root.
func (f *Folders) findSpots(name, near string) ([]rootPath, error) {
	if len(f.roots) == 0 {
		return nil, ErrNoFolder
	}
	if rest, ok := cutScheme(name); ok {
		u, err := url.PathUnescape(rest)
		if err != nil {
			return nil, ErrMissing
		}
		name = filepath.FromSlash(u)
	}
	if name == "" || strings.ContainsRune(name, 0) {
		return nil, ErrMissing
	}
	if filepath.IsAbs(name) || strings.HasPrefix(name, "/") {
		at, ok := f.locatePath(filepath.Clean(name))
		if !ok {
			return nil, ErrOutside
		}
		return []rootPath{at}, nil
	}
	clean := path.Clean(filepath.ToSlash(name))
	var out []rootPath
	for i := range f.roots {
		if rest, ok := cutFolder(f.roots[i].name, clean); ok {
			out = append(out, rootPath{i, rest})
		}
	}
	named := len(out)
	if clean != ".." && !strings.HasPrefix(clean, "../") {
		for i := range f.roots {
			out = append(out, rootPath{i, clean})
		}
	}
	if len(f.roots) == 1 { // what is in it comes before its own name
		out = slices.Concat(out[named:], out[:named])
	}
	if near != "" {
		if at, ok := f.locatePath(filepath.Join(near, filepath.FromSlash(clean))); ok {
			out = append(out, at)
		}
	}
	if len(out) == 0 {
		return nil, ErrOutside
	}
	return out, nil
}

// cutScheme returns what follows file:// and the name of this machine, or file: alone.
func cutScheme(name string) (string, bool) {
	if len(name) < 5 || !strings.EqualFold(name[:5], "file:") {
		return name, false
	}
	rest := strings.TrimPrefix(name[5:], "//")
	if after, ok := strings.CutPrefix(rest, "localhost/"); ok {
		rest = "/" + after
	}
	if len(rest) > 2 && rest[0] == '/' && filepath.VolumeName(rest[1:]) != "" {
		rest = rest[1:] // file:///C:/x
	}
	return rest, true
}

// cutFolder returns the part of a clean path behind the name of a folder.
func cutFolder(folder, clean string) (string, bool) {
	if clean == folder {
		return ".", true
	}
	return strings.CutPrefix(clean, folder+"/")
}

// locatePath returns the place of a clean absolute path, in the innermost root that holds it.
func (f *Folders) locatePath(abs string) (at rootPath, ok bool) {
	for i, r := range f.roots {
		if isWithin(r.path, abs) && (!ok || isWithin(f.roots[at.root].path, r.path)) {
			rel, err := filepath.Rel(r.path, abs)
			if err != nil {
				continue
			}
			at = rootPath{i, filepath.ToSlash(rel)}
			ok = true
		}
	}
	return at, ok
}

// sourceName returns how a place is named: by its path, behind the name of its root where there
// are several.
func (f *Folders) sourceName(at rootPath) string {
	if len(f.roots) == 1 {
		return at.path
	}
	return path.Join(f.roots[at.root].name, at.path)
}

// unicodeForms returns the ways to write a name that look alike.
func unicodeForms(name string) []string {
	out := []string{name}
	for _, form := range []norm.Form{norm.NFC, norm.NFD} {
		if other := form.String(name); !slices.Contains(out, other) {
			out = append(out, other)
		}
	}
	return out
}

// maxLinks bounds how many links are followed from one name.
const maxLinks = 40

// followLink finds where a name leads that os.Root refused to follow, because a link is
// absolute or leaves its root: into this root or another, or out. It reads links only.
func (f *Folders) followLink(at rootPath) (rootPath, bool) {
next:
	for range maxLinks {
		names := strings.Split(at.path, "/")
		for i := range names {
			link := path.Join(names[:i+1]...)
			target, err := f.roots[at.root].dir.Readlink(filepath.FromSlash(link))
			if err != nil {
				continue // no link, or gone
			}
			if !filepath.IsAbs(target) {
				target = filepath.Join(f.roots[at.root].path, filepath.FromSlash(path.Dir(link)), target)
			}
			to, ok := f.locatePath(filepath.Join(append([]string{target}, names[i+1:]...)...))
			if !ok || f.roots[to.root].dir == nil {
				return rootPath{}, false
			}
			at = to
			continue next
		}
		return at, true
	}
	return rootPath{}, false
}

// withoutPath turns an error of the file system into words without its path.
func withoutPath(err error) error {
	var number syscall.Errno
	switch {
	case err == nil, errors.Is(err, ErrOutside), errors.Is(err, ErrIrregular):
		return err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG),
		errors.Is(err, syscall.EINVAL):
		return ErrMissing
	case errors.Is(err, fs.ErrPermission):
		return errors.New("not readable: permission denied")
	case errors.As(err, &number):
		return fmt.Errorf("not readable: %w", number)
	}
	return errLeads // what os.Root itself refuses is not an error of the system
}
