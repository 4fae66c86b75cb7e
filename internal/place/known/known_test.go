package known

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// folders makes folders below a new one, of which those that end in .git are repositories.
func folders(t *testing.T, names ...string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(top, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(name) == ".git" {
			if err := os.WriteFile(filepath.Join(top, name, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return top
}

// Folders are one place when a person says so, and no longer when they are parted; that they share a name says nothing.
// What is changed is kept.
func TestJoinAndPart(t *testing.T) {
	top := folders(t, "a/shop/.git", "a/shop/src", "b/shop", "c/shop", "data")
	at := func(name string) string { return filepath.Join(top, name) }
	data := at("data")
	check := func(from, folder string, want bool) {
		t.Helper()
		here := Open(data).Find(at(from))
		if has := here.Has(at(folder)); has != want {
			t.Errorf("%s has %s: %v, want %v", from, folder, has, want)
		}
		if in := slices.Contains(here.Folders, at(folder)); in != want {
			t.Errorf("%s is looked for with %s: %v, want %v", folder, from, in, want)
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check("a/shop", "b/shop", false)
	p := Open(data)
	do(p.Join(at("a/shop/src"), at("b/shop")))
	check("a/shop", "b/shop", true)
	check("b/shop", "a/shop", true)
	check("b/shop", "c/shop", false)
	do(p.Join(at("c/shop"), at("b/shop")))
	for _, from := range []string{"a/shop", "b/shop", "c/shop"} {
		for _, to := range []string{"a/shop", "b/shop", "c/shop"} {
			check(from, to, true)
		}
	}
	if all := Open(data).List(); len(all) != 1 || len(all[0].Folders) != 3 {
		t.Errorf("listed: %+v", all)
	}
	do(p.Part(at("a/shop")))
	check("a/shop", "b/shop", false)
	check("b/shop", "a/shop", false)
	check("b/shop", "c/shop", true)
	do(p.Part(at("b/shop")))
	check("b/shop", "c/shop", false)
	if all := Open(data).List(); len(all) != 2 || !all[0].Parted || !all[1].Parted {
		t.Errorf("listed: %+v", all)
	}
	do(p.Join(at("a/shop"), at("b/shop")))
	check("a/shop", "b/shop", true)
	if all := Open(data).List(); len(all) != 1 {
		t.Errorf("listed: %+v", all)
	}
}

// A file that is damaged says nothing, and one that is missing is made.
func TestDamagedFile(t *testing.T) {
	top := folders(t, "a", "b", "data")
	data := filepath.Join(top, "data")
	if err := os.WriteFile(filepath.Join(data, fileName), []byte(`{"joined": [["`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := Open(data)
	if all := p.List(); len(all) != 0 {
		t.Errorf("listed: %+v", all)
	}
	if err := p.Join(filepath.Join(top, "a"), filepath.Join(top, "b")); err != nil {
		t.Fatal(err)
	}
	if all := Open(data).List(); len(all) != 1 {
		t.Errorf("listed: %+v", all)
	}
	names, err := filepath.Glob(filepath.Join(data, "*.draft"))
	if err != nil || len(names) > 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// What a repository is known by is kept, so that its history is read once, and a parted place is not known by it.
func TestRepositoriesAreKept(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("SCROLLBACK_REQUIRE_SERVICES") != "" {
			t.Fatal(err)
		}
		t.Skip("git is not installed")
	}
	top := folders(t, "shop", "data")
	shop := filepath.Join(top, "shop")
	data := filepath.Join(top, "data")
	for _, args := range [][]string{{"init", "-q"}, {"remote", "add", "origin", "https://example.org/owner/shop"},
		{"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "first"}} {
		git := exec.Command("git", args...)
		git.Dir = shop
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if r := Open(data).Find(shop).Repository; r.IsKnown() {
		t.Errorf("before it was looked at: %+v", r)
	}
	r := Open(data).FindRepository(t.Context(), shop)
	if !r.IsKnown() || r.Remote != "example.org/owner/shop" {
		t.Fatalf("%+v", r)
	}
	if err := os.Rename(filepath.Join(shop, ".git", "objects"), filepath.Join(top, "objects")); err != nil {
		t.Fatal(err)
	}
	p := Open(data)
	if again := p.FindRepository(t.Context(), shop); again != r {
		t.Errorf("again: %+v", again)
	}
	if here := p.Find(shop); here.Repository != r || !slices.Contains(here.Folders, r.Folder()) {
		t.Errorf("its place: %+v", here)
	}
	if gone := p.FindRepository(t.Context(), filepath.Join(top, "gone")); gone.IsKnown() {
		t.Errorf("of a folder that is not there: %+v", gone)
	}
	if err := p.Part(shop); err != nil {
		t.Fatal(err)
	}
	if p.FindRepository(t.Context(), shop).IsKnown() || Open(data).Find(shop).Repository.IsKnown() {
		t.Error("it is known although it was parted")
	}
}
