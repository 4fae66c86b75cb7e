package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Narrow checks folders that a request names against those that the operator
// granted: each must be one of them or inside one, after links are resolved, else it
// is refused. One that is no folder is invalid. The answer is absolute, cleaned and
// without doubles, in the order given.
func Narrow(grant, want []string) ([]string, error) {
	const op = "workspace.Narrow"
	var granted []string
	for _, g := range grant {
		real, err := resolvePath(g)
		if err != nil {
			continue // what is not there grants nothing
		}
		granted = append(granted, real)
	}
	out := []string{}
	for _, w := range want {
		if !filepath.IsAbs(w) {
			return nil, scrollback.ParamErrorf(op, "roots", i18n.RootMustBeAbsolute, w)
		}
		real, err := resolvePath(w)
		allowed := func(path string) bool {
			return slices.ContainsFunc(granted, func(g string) bool { return isWithin(g, path) })
		}
		switch {
		case err != nil && !allowed(filepath.Clean(w)):
			return nil, newRefusal(op, w) // whether it exists is not revealed
		case err != nil:
			return nil, scrollback.ParamErrorf(op, "roots", i18n.NoSuchFolder, w)
		case !allowed(real):
			return nil, newRefusal(op, w)
		}
		if info, err := os.Stat(real); err != nil || !info.IsDir() {
			return nil, scrollback.ParamErrorf(op, "roots", i18n.IsNotAFolder, w)
		}
		if !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	return out, nil
}

func newRefusal(op, path string) error {
	err := scrollback.Errorf(scrollback.Refused, op, i18n.OutsideGrantedFolders, path)
	err.Param = "roots"
	return err
}

// ResolveFolders makes the folders that the operator names absolute and resolves their links.
func ResolveFolders(names []string) ([]string, error) {
	out := []string{}
	for _, name := range names {
		if name == "" { // which would be the current folder
			return nil, scrollback.ParamErrorf("workspace.Grant", "root", i18n.RootNeedsName)
		}
		abs, err := filepath.Abs(name)
		if err == nil {
			abs, err = resolvePath(abs)
		}
		if err != nil {
			return nil, scrollback.ParamErrorf("workspace.Grant", "root", i18n.NoSuchFolder, name)
		}
		if info, err := os.Stat(abs); err != nil || !info.IsDir() {
			return nil, scrollback.ParamErrorf("workspace.Grant", "root", i18n.IsNotAFolder, name)
		}
		if !slices.Contains(out, abs) {
			out = append(out, abs)
		}
	}
	return out, nil
}

func resolvePath(path string) (string, error) { return filepath.EvalSymlinks(filepath.Clean(path)) }

// isWithin reports whether path is root or inside it, by whole names.
func isWithin(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// innerRoot returns the root that the i-th lies in, or empty.
func innerRoot(roots []string, i int) string {
	for k, other := range roots {
		if k != i && other != roots[i] && isWithin(other, roots[i]) {
			return other
		}
	}
	return ""
}
