package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/scrollback-ai/scrollback/cmd/scrollback/gather"
	"github.com/scrollback-ai/scrollback/internal/hook"
	"github.com/scrollback-ai/scrollback/internal/hook/ledger"
	"github.com/scrollback-ai/scrollback/internal/hook/stopped"
)

// importStopped lets the session that stopped be imported by a program that nobody waits for.
func (l hookLine) importStopped(dir string, in hook.Input) {
	if stopped.IsWatched(dir) {
		return
	}
	transcript := in.Transcript
	if info, err := os.Stat(transcript); err != nil || !info.Mode().IsRegular() {
		transcript = ""
	}
	if stopped.Add(dir, stopped.Request{Agent: in.Agent, Session: in.Session, Transcript: transcript, Answer: in.Answer,
		At: time.Now()}) != nil {
		return
	}
	program, err := os.Executable()
	if err != nil {
		return
	}
	args := []string{"hook", "import"}
	for _, name := range []string{"config", "data", "store", "objects"} {
		if value, given := l.flags[name]; given {
			args = append(args, "--"+name, value)
		}
	}
	cmd := exec.Command(program, args...) // its input and output are the null device
	cmd.Dir = dir
	cmd.SysProcAttr = detached()
	if cmd.Start() == nil {
		_ = cmd.Process.Release() // it goes on without us
	}
}

// hookImportCmd imports the sessions that have stopped. Hooks start it, one at a time for a store.
type hookImportCmd struct{}

// Run implements the command.
func (hookImportCmd) Run(g *globals) error {
	dir, err := g.dataDir()
	if err != nil {
		return err
	}
	g.stdout = io.Discard
	err = g.withLedger(false, func(l *ledger.Ledger) error {
		if l == nil {
			return nil
		}
		return l.Forget(g.ctx, time.Now()) // hooks themselves have no time for it
	})
	return errors.Join(err, stopped.Drain(g.ctx, dir, func(_ context.Context, r stopped.Request) error {
		return gather.ImportStopped(g.gatherProgram(nil), r.Agent, r.Transcript, r.Whole)
	}))
}
