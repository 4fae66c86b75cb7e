package place

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestNormalizeRemote(t *testing.T) {
	for text, want := range map[string]string{
		"git@github.com:owner/shop.git":                "github.com/owner/shop",
		"https://GitHub.com/owner/shop":                "github.com/owner/shop",
		"https://me:secret@github.com/owner/shop.git/": "github.com/owner/shop",
		"ssh://git@github.com:2222/owner/shop.git":     "github.com/owner/shop",
		"git.example.org:shop":                         "git.example.org/shop",
		"https://github.com/owner/../other/shop":       "github.com/other/shop",
		"/srv/git/shop.git":                            "",
		"../shop":                                      "",
		"file:///srv/git/shop.git":                     "",
		"file://host/srv/shop":                         "",
		"http://localhost:3000/owner/shop":             "",
		`C:\repositories\shop`:                         "",
		"https://github.com/":                          "",
		"https://github.com/a\x01b":                    "",
		"":                                             "",
	} {
		if got := normalizeRemote(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestRepositoryThatIsKnown(t *testing.T) {
	first := strings.Repeat("a1", 20)
	for r, want := range map[Repository]string{
		{First: first, Remote: "github.com/owner/shop"}: foldersBegin + "github.com/owner/shop/" + first,
		{First: first}:                                          "",
		{Remote: "github.com/owner/shop"}:                       "",
		{First: "HEAD", Remote: "github.com/owner/shop"}:        "",
		{First: first, Remote: "github.com/../../etc"}:          "",
		{First: first, Remote: "github.com/owner/shop.git"}:     "",
		{First: first + "/..", Remote: "github.com/owner/shop"}: "",
	} {
		if got := r.Folder(); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}

// run runs git in a folder.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	git := exec.Command("git", args...)
	git.Dir = dir
	git.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := git.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Clones of a repository are known as the same, by their first commit and their remote; one that is shallow, has no
// remote, or another history is not.
func TestReadRepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("SCROLLBACK_REQUIRE_SERVICES") != "" {
			t.Fatal(err)
		}
		t.Skip("git is not installed")
	}
	top := tree(t, nil)
	make := func(name, text string) string {
		dir := filepath.Join(top, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		run(t, dir, "init", "-q", "-b", "main")
		run(t, dir, "commit", "-q", "--allow-empty", "-m", text)
		run(t, dir, "commit", "-q", "--allow-empty", "-m", "second")
		return dir
	}
	shop := make("shop", "first")
	other := make("other", "another first")
	run(t, top, "clone", "-q", shop, "clone")
	run(t, top, "clone", "-q", "--depth=1", "file://"+shop, "shallow")
	clone := filepath.Join(top, "clone")
	shallow := filepath.Join(top, "shallow")
	read := func(dir string) Repository { return ReadRepository(t.Context(), Find(dir).Common) }
	if got := read(shop); got != (Repository{}) {
		t.Errorf("without a remote: %+v", got)
	}
	if got := read(clone); got != (Repository{}) {
		t.Errorf("with a remote that is a folder: %+v", got)
	}
	run(t, clone, "remote", "set-url", "origin", "git@example.org:owner/shop.git")
	run(t, shop, "remote", "add", "upstream", "https://example.org/owner/shop")
	run(t, other, "remote", "add", "origin", "https://example.org/owner/shop")
	run(t, shallow, "remote", "set-url", "origin", "https://example.org/owner/shop")
	want := Repository{First: run(t, shop, "rev-list", "--max-parents=0", "HEAD"), Remote: "example.org/owner/shop"}
	for _, dir := range []string{shop, clone} {
		if got := read(dir); got != want {
			t.Errorf("%s: %+v, want %+v", dir, got, want)
		}
	}
	if got := read(other); got == want || got.Remote != want.Remote {
		t.Errorf("another history: %+v", got)
	}
	if got := read(shallow); got != (Repository{}) {
		t.Errorf("a shallow one: %+v", got)
	}
	here := Find(clone).KnownAs(want)
	if !here.Has(want.Folder()) || Find(clone).Has(want.Folder()) {
		t.Error("the folder of its repository is of a place where that is known, and only there")
	}
	if here.Has(read(other).Folder()) {
		t.Error("the folder of another repository is of the place")
	}
}
