package main

import (
	"context"
	"log/slog"

	"github.com/scrollback-ai/scrollback/internal/hook/socket"
	"github.com/scrollback-ai/scrollback/local"
)

// answerHooks looks things up for the hooks of this machine until ctx ends. Where it cannot, they do so themselves, if
// the database lets them.
func (g *globals) answerHooks(ctx context.Context, a *app) {
	dir, err := g.dataDir()
	if err != nil {
		return // it was not opened then
	}
	s := socket.Server{Dir: dir, Store: local.NameDatabase(dir, g.set.Store), Evidence: a.Evidence(), Log: g.newLogger()}
	if s.Store == "" { // in memory: nobody else means it
		return
	}
	if err := s.Serve(ctx); err != nil {
		level := slog.LevelInfo
		if needsServer(g.set.Store) {
			level = slog.LevelWarn
		}
		s.Log.Log(ctx, level, "hooks are not answered over a socket", "folder", dir, "error", err)
	}
}
