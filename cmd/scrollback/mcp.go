package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/home"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	places "github.com/scrollback-ai/scrollback/internal/place/known"
	"github.com/scrollback-ai/scrollback/internal/server/mcpapi"
)

type mcpCmd struct {
	Conversation string `help:"serve-conversation-only" placeholder:"ID"`
	RecallScope  string `help:"what-served-besides-what-was-said-about" enum:"folder,project,all" default:"all"`
}

// Run implements the command.
func (c *mcpCmd) Run(g *globals) error {
	folder, err := g.dataDir()
	if err != nil {
		return scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	if _, err := os.Stat(folder); g.set.Store == "" && errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(g.stderr, "scrollback: "+g.localeTexts().Say(i18n.ChatNewFolder)+"\n", folder)
	}
	var roots []string // where the client works; a folder need not be there any more
	for _, root := range g.Root {
		if root, err = filepath.Abs(root); err != nil {
			return scrollback.Wrap(scrollback.Invalid, "scrollback", err)
		}
		roots = append(roots, root)
	}
	started := ""
	if len(roots) == 0 {
		started = startFolder()
	}
	open := g.withApp
	if _, err := os.Stat(filepath.Join(folder, "scrollback.db")); err == nil {
		open = g.withExisting // it may be in a folder that can only be read
	}
	return open(func(a *app) error {
		var only scrollback.ConversationID
		if c.Conversation != "" {
			id, err := a.Resolve(g.ctx, c.Conversation)
			if err != nil {
				return err
			}
			only = id
		}
		return mcpapi.Serve(g.ctx, mcpapi.New(a.View,
			mcpapi.Options{Version: programVersion(), Conversation: only, Folder: folder,
				Roots: roots, Started: started, Scope: c.RecallScope, Log: g.newLogger(),
				Place: listPlace(folder)}), g.stdin, g.stdout)
	})
}

// listPlace returns what returns a folder with what is the same place of work, by what the data folder knows of places
// at that moment.
func listPlace(dataFolder string) func(folder string) []string {
	return func(folder string) []string { return places.Open(dataFolder).Find(folder).Like(folder) }
}

// startFolder returns the folder that the program was started in, as agents start it where they work;
// empty for one that holds everything of a person.
func startFolder() string {
	folder, err := os.Getwd()
	if err != nil || filepath.Dir(folder) == folder {
		return ""
	}
	own, err := home.HomeFolder()
	if err != nil {
		return folder // nobody's
	}
	if below, err := filepath.Rel(folder, own); err == nil && filepath.IsLocal(below) {
		return ""
	}
	return folder
}
