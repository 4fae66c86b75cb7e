package main

import (
	"cmp"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
)

// home is the user's home folder: as the environment says, or as the system knows it, so
// that a program that starts this one with an empty environment finds the same data.
func home() (string, error) {
	if dir, err := os.UserHomeDir(); err == nil {
		return dir, nil
	}
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.HomeDir, nil
}

// folders are where the user's configuration and data are.
type folders struct{ config, data string }

// userFolders returns the folders of the user who runs the program.
func userFolders() (folders, error) {
	dir, err := home()
	return foldersOf(runtime.GOOS, dir, os.Getenv), err
}

// foldersOf returns the folders of a user with a home folder, as each system has them.
// Variables that name folders count if they are absolute.
func foldersOf(system, home string, env func(string) string) folders {
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
		return folders{config: own, data: cmp.Or(named("XDG_DATA_HOME"), own)}
	}
	return folders{config: cmp.Or(named("XDG_CONFIG_HOME"), filepath.Join(home, ".config", "scrollback")),
		data: cmp.Or(named("XDG_DATA_HOME"), filepath.Join(home, ".local", "share", "scrollback"))}
}
