// Package home is where a user's files are: the configuration, the data, and what can be wrong
// with a folder that somebody names for them.
//
// Words it adds: folders (those of a user, as their system has them).
//
// Invariants: a folder that was named is used or refused, never another in its place; looking
// makes nothing. The folder to be used is judged by what is there, so that a message can name
// what is in its way.
//
// It knows the environment's folders and nothing of what they hold.
package home

import (
	"cmp"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// HomeFolder returns the user's home folder: as the environment says, or as the system knows it, so
// that a program that starts this one with an empty environment finds the same data.
func HomeFolder() (string, error) {
	if dir, err := os.UserHomeDir(); err == nil {
		return dir, nil
	}
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.HomeDir, nil
}

// Folders are where the user's configuration and data are, and what may be lost.
type Folders struct{ Config, Data, Cache string }

// UserFolders returns the folders of the user who runs the program.
func UserFolders() (Folders, error) {
	dir, err := HomeFolder()
	return systemFolders(runtime.GOOS, dir, os.Getenv), err
}

// systemFolders returns the folders of a user with a home folder, as each system has them.
// Variables that name folders count if they are absolute.
func systemFolders(system, home string, env func(string) string) Folders {
	named := func(name string) string {
		if dir := env(name); filepath.IsAbs(dir) {
			return filepath.Join(dir, "scrollback")
		}
		return ""
	}
	switch own := filepath.Join(home, "Library", "Application Support", "scrollback"); system {
	case "windows":
		own = cmp.Or(named("AppData"), filepath.Join(home, "AppData", "Roaming", "scrollback"))
		fallthrough
	case "darwin":
		cache := filepath.Join(home, "Library", "Caches", "scrollback")
		if system == "windows" {
			cache = cmp.Or(named("LocalAppData"), filepath.Join(home, "AppData", "Local", "scrollback"))
		}
		return Folders{Config: own, Data: cmp.Or(named("XDG_DATA_HOME"), own), Cache: cmp.Or(named("XDG_CACHE_HOME"), cache)}
	}
	return Folders{Config: cmp.Or(named("XDG_CONFIG_HOME"), filepath.Join(home, ".config", "scrollback")),
		Data:  cmp.Or(named("XDG_DATA_HOME"), filepath.Join(home, ".local", "share", "scrollback")),
		Cache: cmp.Or(named("XDG_CACHE_HOME"), filepath.Join(home, ".cache", "scrollback"))}
}

// CheckUsable returns why a folder cannot hold the data. One that is not there yet can, if there is
// nothing in its way.
func CheckUsable(dir string) error {
	const op = "scrollback.data"
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			if at != filepath.Dir(at) {
				continue
			}
		case err != nil:
			return scrollback.ParamErrorf(op, "data", i18n.DataFolderCannotBeUsed, dir, explainError(err))
		case !info.IsDir() && at == dir:
			return scrollback.ParamErrorf(op, "data", i18n.DataFolderIsFile, dir)
		case !info.IsDir():
			return scrollback.ParamErrorf(op, "data", i18n.DataFolderBlockedByFile, dir, at)
		}
		if at != dir {
			return nil
		}
		f, err := os.Open(dir)
		if err != nil {
			return scrollback.ParamErrorf(op, "data", i18n.DataFolderCannotBeUsed, dir, explainError(err))
		}
		return f.Close()
	}
}

// MakeDataFolder makes the data folder, with those around it.
func MakeDataFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return scrollback.ParamErrorf("scrollback.data", "data", i18n.DataFolderCannotBeMade, dir, explainError(err))
	}
	return nil
}

// CheckStored says that a database that somebody named is not there. Only a file can be looked for
// without opening it; a server says so itself.
func CheckStored(database string) error {
	u, err := url.Parse(database)
	if err != nil || u.Scheme != "sqlite" || u.Path == "" {
		return nil // whatever is wrong with it is said when it is opened
	}
	file := filepath.FromSlash(u.Path)
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return scrollback.Errorf(scrollback.NotFound, "scrollback.store",
		i18n.NoDatabaseCheckName, file)
}

// explainError returns why a file could not be used, without its name.
func explainError(err error) string {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}
