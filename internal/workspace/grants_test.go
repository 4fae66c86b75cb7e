package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// granted returns a folder with others in it and beside it, and what grants it by a link.
func granted(t *testing.T) (root string, g *Grants) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	fill(t, top, map[string]string{"root/in/": "", "root/out": "->../beside", "beside/": "", "root-too/": "",
		"link": "->root"})
	root = filepath.Join(top, "root")
	g = &Grants{}
	if got, err := g.GrantFolder(filepath.Join(top, "link")); err != nil || got != root {
		t.Fatalf("granted %s, %v", got, err)
	}
	return root, g
}

func wantRefused(t *testing.T, what string, got []string, err error) {
	t.Helper()
	var e *scrollback.Error
	if !errors.As(err, &e) || e.Code != scrollback.Refused || got != nil {
		t.Errorf("%s: %v, %v, want it refused", what, got, err)
	}
}

// Folders are given within what was granted and nowhere else, whatever leads there.
func TestGrantsNarrow(t *testing.T) {
	root, g := granted(t)
	in := filepath.Join(root, "in")
	link := filepath.Join(filepath.Dir(root), "link")
	got, err := g.NarrowRoots([]string{in, root, link, filepath.Join(link, "in")})
	if err != nil || !slices.Equal(got, []string{in, root}) {
		t.Errorf("narrowed to %v, %v", got, err)
	}
	for _, out := range []string{"beside", "root-too", "root/out", ".", "root/../beside", "not-there"} {
		got, err := g.NarrowRoots([]string{in, filepath.Join(filepath.Dir(root), out)})
		wantRefused(t, out, got, err)
	}
	if got, err := g.NarrowRoots(nil); err != nil || got == nil || len(got) != 0 {
		t.Errorf("nothing is narrowed to %v, %v", got, err)
	}
	if _, err := g.NarrowRoots([]string{"root"}); scrollback.CodeOf(err) != scrollback.Invalid {
		t.Errorf("a relative path: %v", err)
	}
}

// Nothing is granted by the zero value, by a folder that is gone, or by changing the
// list that grants were made from.
func TestGrantsNothing(t *testing.T) {
	root, _ := granted(t)
	beside := filepath.Join(filepath.Dir(root), "beside")
	got, err := (&Grants{}).NarrowRoots([]string{root})
	wantRefused(t, "the zero value", got, err)

	list := []string{beside}
	g := NewGrants(list)
	list[0] = root
	got, err = g.NarrowRoots([]string{root})
	wantRefused(t, "a changed list", got, err)
	if err := os.Remove(beside); err != nil {
		t.Fatal(err)
	}
	got, err = g.NarrowRoots([]string{beside})
	wantRefused(t, "a folder that is gone", got, err)
	for _, bad := range []string{beside, filepath.Join(filepath.Dir(root), "root", "none")} {
		if _, err := g.GrantFolder(bad); scrollback.CodeOf(err) != scrollback.Invalid {
			t.Errorf("%s was granted: %v", bad, err)
		}
	}
}

// What a conversation has it keeps, granted or not; what it wants besides is checked.
func TestGrantsChange(t *testing.T) {
	root, g := granted(t)
	beside := filepath.Join(filepath.Dir(root), "beside")
	in := filepath.Join(root, "in")
	link := filepath.Join(filepath.Dir(root), "link")
	got, err := g.ChangeRoots([]string{beside}, []string{beside, in, link, root, beside})
	if err != nil || !slices.Equal(got, []string{beside, in, root}) {
		t.Errorf("changed to %v, %v", got, err)
	}
	got, err = g.ChangeRoots([]string{in}, []string{in, beside})
	wantRefused(t, "a folder beside", got, err)
	if got, err := g.ChangeRoots([]string{beside, in}, nil); err != nil || got == nil || len(got) != 0 {
		t.Errorf("without any it is %v, %v", got, err)
	}
}
