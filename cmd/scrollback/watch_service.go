package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/scrollback-ai/scrollback/cmd/scrollback/gather"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/home"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/install"
	"github.com/scrollback-ai/scrollback/internal/transfer"
)

// How often a service tries to start, and how long it waits between two tries.
const (
	serviceTries = 5
	servicePause = 10 * time.Second
)

// gaveUpFile has why the service gave up: in the data folder, or in the user's cache where that cannot be written.
const gaveUpFile = "watch-gave-up.json"

// gaveUp is why the service gave up.
type gaveUp struct {
	At    int64  `json:"at"` // Unix ms
	Tries int    `json:"tries"`
	Why   string `json:"why"`
}

// runService follows as a service. Who starts it again and again would change nothing about a store that cannot be
// opened: after some tries it gives up, says so where doctor looks, and ends as if all were well. What fails after it
// has begun is an error, and the service starts it again.
func (c *watchCmd) runService(g *globals, p gather.Program) error {
	began := false
	open := p.Open
	p.Open = func(write bool, do func(t *transfer.Transfer, v *engine.View) error) error {
		return open(write, func(t *transfer.Transfer, v *engine.View) error {
			began = true
			g.forgetGaveUp()
			return do(t, v)
		})
	}
	var err error
	for try := 1; ; try++ {
		if err = c.Follow(p); err == nil || began || g.ctx.Err() != nil {
			return err
		}
		fmt.Fprintln(g.stderr, "scrollback:", explainError(err))
		if try == serviceTries {
			break
		}
		select {
		case <-g.ctx.Done():
			return nil
		case <-time.After(cmp.Or(testTime("SCROLLBACK_SERVICE_PAUSE"), servicePause)):
		}
	}
	g.noteGaveUp(serviceTries, err)
	return nil
}

// noteGaveUp says why the service gives up.
func (g *globals) noteGaveUp(tries int, why error) {
	fmt.Fprintln(g.stderr, "scrollback:", g.localeTexts().Say(i18n.WatchGivesUp, tries))
	text, err := json.Marshal(gaveUp{At: time.Now().UnixMilli(), Tries: tries, Why: explainError(why)})
	for _, file := range g.gaveUpFiles() {
		if err == nil && os.MkdirAll(filepath.Dir(file), 0o700) == nil && os.WriteFile(file, text, 0o600) == nil {
			return
		}
	}
}

// gaveUpFiles are where it is said why the service gave up.
func (g *globals) gaveUpFiles() (out []string) {
	if dir, err := g.dataDir(); err == nil {
		out = append(out, filepath.Join(dir, gaveUpFile))
	}
	if own, err := home.UserFolders(); err == nil {
		out = append(out, filepath.Join(own.Cache, gaveUpFile))
	}
	return out
}

// forgetGaveUp is for a service that has started.
func (g *globals) forgetGaveUp() {
	for _, file := range g.gaveUpFiles() {
		_ = os.Remove(file) // if it stays, it is overwritten the next time
	}
}

// findGaveUp returns why the service gave up, if it did.
func (g *globals) findGaveUp() (install.SetupProblem, bool) {
	for _, file := range g.gaveUpFiles() {
		text, err := os.ReadFile(file)
		var said gaveUp
		if errors.Is(err, fs.ErrNotExist) || err == nil && json.Unmarshal(text, &said) != nil {
			continue
		}
		if err == nil {
			return install.SetupProblem{Kind: install.GaveUp, At: said.At, Why: said.Why}, true
		}
	}
	return install.SetupProblem{}, false
}

// endService ends a service that never came to run: by its configuration it never will.
func (c *commands) endService(err error) bool {
	if !c.Watch.Service || err == nil || c.ctx.Err() != nil {
		return false
	}
	fmt.Fprintln(c.stderr, "scrollback:", explainError(err))
	c.noteGaveUp(1, err)
	return true
}
