package place

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// tree makes folders and files with their texts below a new folder, and returns it with links resolved.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		at := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

// repository is one with a worktree beside it, a worktree that is gone, a submodule and another repository inside.
func repository(t *testing.T) string {
	t.Helper()
	top := tree(t, map[string]string{
		"shop/.git/HEAD":                      "ref: refs/heads/main\n",
		"shop/.git/worktrees/fix/HEAD":        "ref: refs/heads/fix/one\n",
		"shop/.git/worktrees/fix/commondir":   "../..\n",
		"shop/.git/worktrees/gone/HEAD":       "ref: refs/heads/gone\n",
		"shop/.git/modules/lib/HEAD":          "ref: refs/heads/main\n",
		"shop/src/deep/a.go":                  "",
		"shop/lib/.git":                       "gitdir: ../.git/modules/lib\n",
		"shop/vendor/other/.git/HEAD":         "ref: refs/heads/main\n",
		"elsewhere/shop/.git/HEAD":            "ref: refs/heads/main\n",
		"plain/shop/notes.txt":                "",
		"broken/.git":                         "nonsense",
		"shop/.git/worktrees/gone/locked":     "",
		"shop/.git/worktrees/gone/commondir":  "../..",
		"shop/.git/worktrees/unnamed/nothing": "",
	})
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(top, "fix"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("fix/.git", "gitdir: "+filepath.Join(top, "shop/.git/worktrees/fix")+"\n")
	write("shop/.git/worktrees/fix/gitdir", filepath.Join(top, "fix/.git")+"\n")
	write("shop/.git/worktrees/gone/gitdir", filepath.Join(top, "gone/.git")+"\n")
	return top
}

// Worktrees and sub-folders of a repository are one place; repositories inside it, and others of the same name, are
// not.
func TestRepositoryIsOnePlace(t *testing.T) {
	top := repository(t)
	at := func(name string) string { return filepath.Join(top, name) }
	here := Find(at("shop/src/deep"))
	if here.Common != at("shop/.git") || here.Root != at("shop") {
		t.Fatalf("found %+v", here)
	}
	for _, want := range []string{"shop", "fix", "gone"} {
		if !slices.Contains(here.Folders, at(want)) {
			t.Errorf("%s is not among %q", want, here.Folders)
		}
	}
	for name, want := range map[string]bool{"shop": true, "shop/src": true, "shop/src/removed/since": true, "fix": true,
		"fix/sub": true, "shop/lib": false, "shop/vendor/other": false, "elsewhere/shop": false, "plain/shop": false,
		"broken": false, "": false} {
		if got := here.Has(at(name)); got != want {
			t.Errorf("%s is of the place: %v", name, got)
		}
	}
	if there := Find(at("fix")); there.Key() != here.Key() || there.Branch() != "fix/one" || here.Branch() != "main" {
		t.Errorf("the worktree is %+v on %q, the other on %q", there, there.Branch(), here.Branch())
	}
	if lib := Find(at("shop/lib")); lib.Key() == here.Key() || lib.Common != at("shop/.git/modules/lib") {
		t.Errorf("the submodule is %+v", lib)
	}
}

// makeLink makes a link, for which Windows wants a privilege.
func makeLink(t *testing.T, to, at string) {
	t.Helper()
	err := os.Symlink(to, at)
	if err != nil && runtime.GOOS == "windows" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A folder that is in no repository is a place by itself, however it is spelled.
func TestPlainFolder(t *testing.T) {
	top := repository(t)
	plain := filepath.Join(top, "plain/shop")
	link := filepath.Join(top, "link")
	makeLink(t, plain, link)
	here := Find(link)
	if here.Common != "" || here.Root != plain || !slices.Equal(here.Folders, []string{plain, link}) {
		t.Errorf("found %+v", here)
	}
	if !here.Has(plain) || !here.Has(link) || here.Has(filepath.Join(plain, "sub")) || here.Has(filepath.Dir(plain)) {
		t.Error("another folder is of the place, or its own is not")
	}
	if none := Find("relative"); none.Key() != "" || none.Has(top) || none.Has("relative") {
		t.Errorf("a relative folder is %+v", none)
	}
}

// A repository that is reached by a link is the same place, also by the spelling that an agent was started with.
func TestLinkedRepository(t *testing.T) {
	top := repository(t)
	link := filepath.Join(top, "link")
	makeLink(t, filepath.Join(top, "shop"), link)
	here := Find(filepath.Join(link, "src"))
	if here.Common != filepath.Join(top, "shop/.git") || !slices.Contains(here.Folders, link) {
		t.Errorf("found %+v", here)
	}
}

// A folder of a repository is the same one in its worktrees and in what was joined; elsewhere it is only itself.
func TestLike(t *testing.T) {
	repo := Place{Root: "/work/shop", Common: "/work/shop/.git", Folders: []string{"/work/shop", "/work/shop-fix"}}
	joined := repo.Join(Place{Root: "/old/shop", Folders: []string{"/old/shop"}})
	for folder, want := range map[string][]string{
		"/work/shop":     {"/work/shop", "/work/shop-fix", "/old/shop"},
		"/work/shop/src": {"/work/shop/src", "/work/shop-fix/src", "/old/shop/src"},
		"/elsewhere":     {"/elsewhere"},
		"relative":       {"relative"},
	} {
		if got := joined.Like(folder); !slices.Equal(got, want) {
			t.Errorf("%s is like %q, want %q", folder, got, want)
		}
	}
}
