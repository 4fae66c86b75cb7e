//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/local"
)

// job is what a worker does: turns in a number of conversations for a time, or a turn that it
// begins in one and holds until it is killed.
type job struct {
	URL, Dir      string
	Conversations int
	Seconds       int
	Seed          uint64
	Hold          scrollback.ConversationID
}

// done is what a worker has done: how long each turn took, and its own processor.
type done struct {
	Took []float64 // milliseconds
	CPU  float64   // milliseconds
}

// runWorker is the worker's side: it says a line when it is ready, and begins at the next one it
// is told.
func runWorker(ctx context.Context, text string) (err error) {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	sb, err := openStore(ctx, j.Dir, j.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sb.Close()) }()
	if j.Hold != "" {
		return holdTurn(ctx, sb, j.Hold)
	}
	ids := make([]scrollback.ConversationID, j.Conversations)
	for i := range ids {
		c, _, err := sb.Store.CreateConversation(ctx, scrollback.Conversation{})
		if err != nil {
			return err
		}
		ids[i] = c.ID
		if _, err := runTurn(ctx, sb.Store, c.ID, newWords(j.Seed+uint64(i))); err != nil { // connections are made
			return err
		}
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	before := processorTime()
	end := time.Now().Add(time.Duration(j.Seconds) * time.Second)
	var mu sync.Mutex
	var wg sync.WaitGroup
	var out done
	var errs []error
	for i, id := range ids {
		wg.Go(func() {
			var took []float64
			var err error
			for w := newWords(j.Seed + 1000 + uint64(i)); err == nil && time.Now().Before(end); {
				var d time.Duration
				if d, err = runTurn(ctx, sb.Store, id, w); err == nil {
					took = append(took, toMillis(d))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			out.Took = append(out.Took, took...)
			errs = append(errs, err)
		})
	}
	wg.Wait()
	out.CPU = processorTime() - before
	return errors.Join(append(errs, json.NewEncoder(os.Stdout).Encode(out))...)
}

// holdTurn begins a turn and keeps its lease until the process ends.
func holdTurn(ctx context.Context, sb *local.Scrollback, id scrollback.ConversationID) error {
	begun, err := beginTurn(ctx, sb.Store, id, "held")
	if err != nil {
		return err
	}
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for n := 0; ; n++ {
		if _, err := sb.Store.Turns.SaveDraft(ctx, begun.Turn,
			scrollback.Draft{Content: fmt.Sprint("piece ", n)}); err != nil {
			return err
		}
		if n == 0 {
			fmt.Println("ready")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-every.C:
		}
	}
}

// processorTime returns what this process has used of the processors, in milliseconds.
func processorTime() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return toMillis(time.Duration(u.Utime.Nano() + u.Stime.Nano()))
}

// workerGroup is a worker, seen from outside.
type workerGroup struct {
	cmd  *exec.Cmd
	in   *os.File
	out  *bufio.Reader
	dead bool
}

// startWorker starts a worker and waits until it is ready.
func (r *run) startWorker(j job) (*workerGroup, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if j.Dir, err = os.MkdirTemp(r.dir, "worker-"); err != nil {
		return nil, err
	}
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c := &workerGroup{cmd: exec.CommandContext(r.ctx, exe, "-worker", string(text)), in: to}
	c.cmd.Stdin = from
	c.cmd.Stderr = os.Stderr
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := c.cmd.StdoutPipe()
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, from.Close(), to.Close())
	}
	c.out = bufio.NewReader(out)
	if line, err := c.out.ReadString('\n'); err != nil || line != "ready\n" {
		return nil, errors.Join(fmt.Errorf("a worker said %q: %w", line, err), from.Close(), c.killWorker())
	}
	return c, from.Close()
}

// result tells the worker to begin, unless it was told, and returns what it did.
func (c *workerGroup) beginWork() error {
	_, err := c.in.WriteString("go\n")
	return err
}

func (c *workerGroup) waitResult() (d done, err error) {
	line, err := c.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &d)
	}
	return d, errors.Join(err, c.in.Close(), c.cmd.Wait())
}

// killWorker ends the worker at once.
func (c *workerGroup) killWorker() error {
	if c.dead {
		return nil
	}
	c.dead = true
	err := errors.Join(c.cmd.Process.Kill(), c.in.Close())
	_ = c.cmd.Wait() // it was killed
	return err
}
