//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// notebookCells is how many cells the notebook has.
const notebookCells = 5000

// notebook measures the program running the last cell of a long notebook: when its
// conversation is made of the cells before it, and again, when it is there.
func notebook(b *bench) error {
	path, err := b.program()
	if err != nil {
		return err
	}
	for round := range rounds {
		dir, err := os.MkdirTemp(b.dir, "notebook-")
		if err != nil {
			return err
		}
		file := filepath.Join(dir, "long.mtm")
		if err := longNotebook(file, notebookCells); err != nil {
			return err
		}
		run := func(args ...string) (time.Duration, *exec.Cmd, []byte, error) {
			cmd := exec.CommandContext(b.ctx, path, append([]string{"--data", filepath.Join(dir, "data"), "--limit", "32768", "notebook"}, args...)...)
			cmd.Env = append(os.Environ(), "SCROLLBACK_CONFIG="+os.DevNull)
			start := time.Now()
			out, err := cmd.Output()
			if err != nil {
				err = fmt.Errorf("notebook %v: %w", args, err)
			}
			return time.Since(start), cmd, out, err
		}
		for _, what := range []string{"the last cell, first time", "the last cell, again"} {
			took, cmd, _, err := run("run", file, "--cell", "last")
			if err != nil {
				return err
			}
			b.add(what, round, took.Seconds(), "s")
			if use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
				b.add("peak memory, "+what, round, float64(use.Maxrss)/1024, "MiB")
			}
		}
		_, _, out, err := run("show", file, "--json")
		if err != nil {
			return err
		}
		var shown struct{ Window scrollback.Manifest }
		if err := json.Unmarshal(out, &shown); err != nil {
			return err
		}
		b.add("window behind the last cell", round, float64(shown.Window.Tokens), "tokens")
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// longNotebook writes a notebook of which all cells but the last were run.
func longNotebook(file string, cells int) error {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	w := newWriter(14)
	var all []message
	for i := range cells {
		all = append(all, message{"user", w.message(2 * i)})
		if i < cells-1 {
			all = append(all, message{"assistant", w.message(2*i + 1)})
		}
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"uuid": "bench", "name": "bench"}, "context": all})
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
