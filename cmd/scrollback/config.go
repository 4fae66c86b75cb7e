package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/config"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/home"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/line"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// checkNotEmpty refuses what was named and is empty: another place would be taken silently.
func checkNotEmpty(l *line.Line, data string) error {
	if l.Given("data") && data == "" {
		return scrollback.ParamErrorf("scrollback", "data", i18n.DataFlagEmpty)
	}
	return nil
}

// readConfig reads the config file and puts flags and environment over it.
func (g *globals) readConfig() error {
	file, err := g.configFile()
	if err != nil {
		return err
	}
	if err := (scrollback.Thinking{Effort: g.Effort}).Check(); err != nil {
		return err
	}
	if g.zone, err = scrollback.ParseZone(g.TZ); err != nil {
		return err
	}
	if g.zone == nil {
		g.zone = time.Local
	}
	flags := config.Flags{Data: g.Data, Store: g.Store, Objects: g.Objects, Model: g.Model,
		SummaryTimeout: g.SummaryTimeout, Limit: g.Limit}
	g.set, err = config.Read(file, flags, g.stderr)
	return err
}

// configFile returns the file to read: the one given, or the user's own if there is one.
func (g *globals) configFile() (string, error) {
	for _, name := range []string{g.Config, os.Getenv("SCROLLBACK_CONFIG")} {
		if name != "" {
			return name, nil
		}
	}
	own, err := home.UserFolders()
	if err != nil {
		return "", nil // a user without a home folder has no file
	}
	name := filepath.Join(own.Config, "config.toml")
	if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return name, nil
}
