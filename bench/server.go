//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// buildProgram builds scrollback once and returns where it is.
func (b *bench) buildProgram() (string, error) {
	path := filepath.Join(b.dir, "scrollback")
	cmd := exec.CommandContext(b.ctx, "go", "build", "-o", path, "./cmd/scrollback")
	cmd.Dir = b.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
}

// measureBuild measures the program itself.
func (b *bench) measureBuild() error {
	path, err := b.buildProgram()
	if err != nil {
		return err
	}
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	b.addNumber("binary", 0, float64(st.Size())/(1<<20), "MB")
	cache, err := os.MkdirTemp(b.dir, "cache-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(cache) }() // a temporary folder
	cmd := exec.CommandContext(b.ctx, "go", "build", "-o", path, "./cmd/scrollback")
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "GOCACHE="+cache)
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, out)
	}
	b.addNumber("cold build", 0, time.Since(start).Seconds(), "s")
	return nil
}

// measureServer measures the running program over a million stored messages.
func (b *bench) measureServer() error {
	path, err := b.buildProgram()
	if err != nil {
		return err
	}
	s, err := b.openLoaded(b.big)
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	for r := range rounds {
		start := time.Now()
		if err := exec.CommandContext(b.ctx, path, "--version").Run(); err != nil {
			return err
		}
		b.addNumber("start to its version", r, toMillis(time.Since(start)), "ms")
		if err := b.serveOnce(path, r); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) serveOnce(path string, round int) (err error) {
	cmd := exec.CommandContext(b.ctx, path, "serve", "--addr", "127.0.0.1:0", "--data",
		filepath.Dir(b.databaseFile(fmt.Sprint("messages-", b.big))))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, cmd.Process.Signal(os.Interrupt))
		_ = cmd.Wait() // ended by us
	}()
	url := ""
	for lines := bufio.NewScanner(out); url == "" && lines.Scan(); {
		_, url, _ = strings.Cut(lines.Text(), "scrollback is at ")
	}
	if _, err := sendRequest(url+"/api/conversations?limit=1", nil); err != nil {
		return err
	}
	b.addNumber("start to the first answer", round, toMillis(time.Since(start)), "ms")
	made, err := sendRequest(url+"/api/conversations", []byte(`{}`))
	if err != nil {
		return err
	}
	var c struct{ ID string }
	if err := json.Unmarshal(made, &c); err != nil {
		return err
	}
	w := newWriter(uint64(round))
	for range 20 {
		body, err := json.Marshal(map[string]string{"message": w.makeText(900)})
		if err != nil {
			return err
		}
		if _, err := sendRequest(url+"/api/conversations/"+c.ID+"/chat", body); err != nil {
			return err
		}
	}
	peak, err := peakMemory(cmd.Process.Pid)
	b.addNumber("peak memory, a chat at "+formatCount(b.big), round, peak, "MB")
	return err
}

// sendRequest gets, or posts a body, and reads the whole answer.
func sendRequest(url string, body []byte) ([]byte, error) {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s: %d %s", url, resp.StatusCode, b)
	}
	return b, err
}

// peakMemory returns the most memory, in MB, that a process has had resident.
func peakMemory(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kb float64
	_, err = fmt.Sscan(rest, &kb)
	return kb / 1024, err
}

// notebookCells is how many cells the notebook has.
const notebookCells = 5000

// measureNotebook measures the program running the last cell of a long notebook: when its
// conversation is made of the cells before it, and again, when it is there.
func measureNotebook(b *bench) error {
	path, err := b.buildProgram()
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
			cmd := exec.CommandContext(b.ctx, path,
				append([]string{"--data", filepath.Join(dir, "data"), "--limit", "32768", "notebook"}, args...)...)
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
			b.addNumber(what, round, took.Seconds(), "s")
			if use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
				b.addNumber("peak memory, "+what, round, float64(use.Maxrss)/1024, "MiB")
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
		b.addNumber("window behind the last cell", round, float64(shown.Window.Tokens), "tokens")
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
		all = append(all, message{"user", w.messageText(2 * i)})
		if i < cells-1 {
			all = append(all, message{"assistant", w.messageText(2*i + 1)})
		}
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"uuid": "bench", "name": "bench"}, "context": all})
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
