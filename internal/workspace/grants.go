package workspace

import (
	"slices"
	"sync"
)

// Grants are the folders that conversations may be given: the operator's word, never
// a request's. The zero value grants none; it is safe for concurrent use.
type Grants struct {
	mu      sync.Mutex
	folders []string
}

// NewGrants grants folders, absolute and without links.
func NewGrants(folders []string) *Grants { return &Grants{folders: slices.Clone(folders)} }

// GrantFolder grants a folder more and returns it as it is kept.
func (g *Grants) GrantFolder(folder string) (string, error) {
	roots, err := ResolveFolders([]string{folder})
	if err != nil {
		return "", err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !slices.Contains(g.folders, roots[0]) {
		g.folders = append(slices.Clone(g.folders), roots[0])
	}
	return roots[0], nil
}

// NarrowRoots checks roots that a request names against what is granted.
func (g *Grants) NarrowRoots(roots []string) ([]string, error) {
	if len(roots) == 0 {
		return []string{}, nil
	}
	g.mu.Lock()
	granted := g.folders
	g.mu.Unlock()
	return Narrow(granted, roots)
}

// ChangeRoots is Narrow for a conversation that has roots already: those were checked when
// they came, and are again whenever they are read.
func (g *Grants) ChangeRoots(was, want []string) ([]string, error) {
	out := []string{}
	for _, root := range want {
		if !slices.Contains(was, root) {
			checked, err := g.NarrowRoots([]string{root})
			if err != nil {
				return nil, err
			}
			root = checked[0]
		}
		if !slices.Contains(out, root) {
			out = append(out, root)
		}
	}
	return out, nil
}
