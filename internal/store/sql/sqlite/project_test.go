package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// What is stored of a project and cannot be read is a flaw, and an error where somebody
// asks for it; it can be deleted.
func TestBrokenProject(t *testing.T) {
	t.Parallel()
	db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
	ctx := t.Context()
	if _, err := db.Access.PutProject(ctx, "p", 1,
		func(p *scrollback.Project) error { p.Title = "t"; return nil }); err != nil {
		t.Fatal(err)
	}
	if got := findFlaws(t, db); len(got) != 0 {
		t.Fatalf("a sound project has flaws: %+v", got)
	}
	damageRows(t, db, `UPDATE projects SET settings = '{'`)
	if got := findFlaws(t, db); len(got) != 1 || got[0].Kind != driver.FlawDamage || got[0].Where != "project p" {
		t.Errorf("the flaws are %+v", got)
	}
	if _, err := db.Access.ReadProject(ctx, "p"); scrollback.CodeOf(err) != scrollback.Internal {
		t.Errorf("read as %v", err)
	}
	if err := db.Access.DeleteProject(ctx, "p", 9, func(scrollback.Project) error { return nil }); err != nil {
		t.Errorf("deleted: %v", err)
	}
	if p, err := db.Access.ReadProject(ctx, "p"); err != nil || p.Version != 0 {
		t.Errorf("after that %+v, %v", p, err)
	}
}
