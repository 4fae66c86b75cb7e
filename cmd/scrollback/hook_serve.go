package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/scrollback-ai/scrollback/cmd/scrollback/gather"
	"github.com/scrollback-ai/scrollback/internal/hook/socket"
	"github.com/scrollback-ai/scrollback/local"
)

// findHookServer returns whether a server looks things up for hooks. It may be busy, but greets at once.
func (g *globals) findHookServer() gather.HookServer {
	out := gather.HookServer{Needed: needsServer(g.set.Store)}
	if dir, err := g.dataDir(); err == nil {
		out.Answers = socket.Probe(g.ctx, dir, local.NameDatabase(dir, g.set.Store), hookServerTime)
	}
	return out
}

// hookServerTime is how long a server that is looked for may take to greet.
const hookServerTime = 200 * time.Millisecond

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
