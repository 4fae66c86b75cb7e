package main

import (
	"cmp"
	"errors"
	"os"
	"runtime"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/workspace"
)

// app is the assembled program.
type app struct{ *local.Scrollback }

// open assembles the program over the data folder.
func (g *globals) open(mode local.Mode) (*app, error) {
	dir, err := g.dataDir()
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	pace, err := time.ParseDuration(os.Getenv("SCROLLBACK_OFFLINE_PACE"))
	if err != nil {
		pace = 0
	}
	s, err := local.Open(g.ctx, dir, &local.Options{
		Mode: mode, Objects: g.set.Objects, Env: g.set.env, Agent: "scrollback/" + version(), OfflinePace: pace, Model: g.set.Model, Known: g.set.Models,
		Engine: engine.Options{SummaryModels: g.set.SummaryModels, Compaction: g.set.Compaction, Projects: g.set.Projects, Eager: g.set.Eager,
			Limit: g.set.Limit, Strict: g.set.Strict, ReplyBounds: g.set.ReplyBounds, Place: g.place(), Log: g.logger()},
	})
	if err != nil {
		return nil, err
	}
	return &app{s}, nil
}

// place is what conversations are told about where they work.
func (g *globals) place() *workspace.Place {
	if g.set.NoEnvironment {
		return nil
	}
	p := &workspace.Place{Roots: g.roots, MemoryNames: g.set.MemoryFiles, Setup: g.set.Setup, Temp: os.TempDir(), OS: runtime.GOOS, Now: time.Now(),
		Locale: cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_TIME"), os.Getenv("LANG"))}
	if own, err := userFolders(); err == nil {
		p.UserFolder = own.config
	}
	return p
}

// grant sets the folders that the operator grants: the configured ones, or else those
// of otherwise that exist.
func (g *globals) grant(otherwise ...string) (err error) {
	if g.set.Roots != nil {
		g.roots, err = workspace.Grant(g.set.Roots)
		return err
	}
	g.roots, err = workspace.Grant(otherwise)
	if scrollback.CodeOf(err) == scrollback.Invalid { // the current folder was removed
		return nil
	}
	return err
}

// with runs fn over the opened program; kept does so for what exists already, and
// creates nothing.
func (g *globals) with(fn func(a *app) error) error { return g.during(local.Make, fn) }
func (g *globals) kept(fn func(a *app) error) error { return g.during(local.Existing, fn) }

func (g *globals) during(mode local.Mode, fn func(a *app) error) (err error) {
	a, err := g.open(mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return fn(a)
}
