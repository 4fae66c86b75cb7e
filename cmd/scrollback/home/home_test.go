package home

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The folders of each system, with an empty environment and with one that names others.
func TestFoldersOf(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are of other systems")
	}
	none := func(string) string { return "" }
	named := func(name string) string { return "/" + strings.ToLower(name) }
	relative := func(string) string { return "somewhere" }
	for _, c := range []struct {
		system              string
		env                 func(string) string
		config, data, cache string
	}{
		{"linux", none, "/home/ada/.config", "/home/ada/.local/share", "/home/ada/.cache"},
		{"linux", relative, "/home/ada/.config", "/home/ada/.local/share", "/home/ada/.cache"},
		{"linux", named, "/xdg_config_home", "/xdg_data_home", "/xdg_cache_home"},
		{"freebsd", none, "/home/ada/.config", "/home/ada/.local/share", "/home/ada/.cache"},
		{"darwin", none, "/home/ada/Library/Application Support", "/home/ada/Library/Application Support",
			"/home/ada/Library/Caches"},
		{"darwin", named, "/home/ada/Library/Application Support", "/xdg_data_home", "/xdg_cache_home"},
		{"windows", none, "/home/ada/AppData/Roaming", "/home/ada/AppData/Roaming", "/home/ada/AppData/Local"},
		{"windows", named, "/appdata", "/xdg_data_home", "/xdg_cache_home"},
	} {
		want := Folders{filepath.Join(c.config, "scrollback"), filepath.Join(c.data, "scrollback"),
			filepath.Join(c.cache, "scrollback")}
		if got := systemFolders(c.system, "/home/ada", c.env); got != want {
			t.Errorf("%s: %+v, want %+v", c.system, got, want)
		}
	}
}

// Without HOME the home folder is what the system knows.
func TestHomeWithoutEnvironment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has other variables")
	}
	t.Setenv("HOME", "")
	if dir, err := HomeFolder(); err != nil || !filepath.IsAbs(dir) {
		t.Errorf("the home folder is %q, %v", dir, err)
	}
}
