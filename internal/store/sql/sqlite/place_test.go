package sqlite

import (
	"os"
	"path/filepath"
	"testing"
)

// A store keeps its id as long as it is the same file in the same folder; a copy and what is put back in its place get
// others, and one that had none gets none by being opened.
func TestNodeIsOfPlace(t *testing.T) {
	t.Parallel()
	node := func(path string) string {
		t.Helper()
		d, err := Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		id, err := d.Log.Node(t.Context())
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if err != nil || id == "" {
			t.Fatalf("the store is called %q, %v", id, err)
		}
		return id
	}
	path := newEmptyFile(t)
	first := node(path)
	if again := node(path); again != first {
		t.Errorf("it is called %s, and then %s", first, again)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(t.TempDir(), "s.db")
	if err := os.WriteFile(beside, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if id := node(beside); id == first {
		t.Error("a copy has the id of what was copied")
	}
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if id := node(path); id == first {
		t.Error("what was put back has the id of what was there")
	}
	if id := node(path); id == first {
		t.Error("it has its old id again")
	}
}
