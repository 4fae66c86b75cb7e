package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// ran is what a run of the program took.
type ran struct {
	took, used time.Duration // by the clock, and of processors
	peak       int64         // bytes
}

func (b bench) newCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.program, args...)
	cmd.Env = []string{"HOME=" + b.home, "SCROLLBACK_DATA=" + b.data, "PATH=" + os.Getenv("PATH"),
		"SCROLLBACK_CONFIG=" + os.DevNull}
	cmd.Stderr = os.Stderr
	return cmd
}

// runCommand runs the program to its end.
func (b bench) runCommand(ctx context.Context, args ...string) (ran, error) {
	cmd := b.newCommand(ctx, args...)
	began := time.Now()
	err := cmd.Run()
	r := ran{took: time.Since(began), used: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.peak = used.Maxrss << 10
	}
	return r, err
}

// measureFollow watches, writes lines, and measures how long each takes until a search in another
// process finds it; then the watch is told to end.
func (b bench) measureFollow(ctx context.Context, lines int, add func(what string, value float64, unit string)) error {
	if lines == 0 {
		return nil
	}
	cmd := b.newCommand(ctx, "serve", "--watch", "--addr", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { _ = cmd.Process.Kill() }() // it has ended, if all went well
	url := ""
	for s := bufio.NewScanner(out); url == "" && s.Scan(); {
		_, url, _ = strings.Cut(s.Text(), "scrollback is at ")
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // nobody reads on
	var took []time.Duration
	for i := range lines {
		word := fmt.Sprintf("zyx%dq", i)
		began := time.Now()
		if err := b.writePrompt(i, word); err != nil {
			return err
		}
		if err := waitFound(ctx, url, word); err != nil {
			return err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	began := time.Now()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		return err
	}
	add("a line written until a search finds it", toMillis(took[len(took)/2]), "ms")
	add("a line written until a search finds it, at most", toMillis(took[len(took)-1]), "ms")
	add("told to end until it has", toMillis(time.Since(began)), "ms")
	return nil
}

func toMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// writePrompt writes a prompt to a new session; the first lines of it come before.
func (b bench) writePrompt(i int, word string) error {
	f, err := os.OpenFile(b.sessionFile(1_000_000), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	parent := "null"
	if i > 0 {
		parent = fmt.Sprintf(`"%08x-0000-4000-8000-00000000000f"`, i-1)
	}
	_, err = fmt.Fprintf(f,
		`{"type":"user","uuid":"%08x-0000-4000-8000-00000000000f","parentUuid":%s,"sessionId":"%08x-0000-4000-8000-000000000000","cwd":"/work/project","timestamp":%q,"isSidechain":false,"version":"2.1.197","message":{"role":"user","content":"the word is %s"}}`+"\n",
		i, parent, 1_000_000, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), word)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
