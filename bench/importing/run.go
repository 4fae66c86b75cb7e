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
	took time.Duration
	peak int64 // bytes
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
	r := ran{took: time.Since(began)}
	if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.peak = used.Maxrss << 10
	}
	return r, err
}

// measureFollow watches, writes lines, and measures how long each takes until a search in another
// process finds it; then the watch is told to end.
func (b bench) measureFollow(ctx context.Context, lines int) ([]row, error) {
	if lines == 0 {
		return nil, nil
	}
	cmd := b.newCommand(ctx, "serve", "--watch", "--addr", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
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
			return nil, err
		}
		if err := waitFound(ctx, url, word); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	began := time.Now()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		return nil, err
	}
	if err := cmd.Wait(); err != nil {
		return nil, err
	}
	return []row{{"a line written until a search finds it",
		fmt.Sprintf("%d ms median, %d ms at most, of %d", took[len(took)/2].Milliseconds(), took[len(took)-1].Milliseconds(),
			len(took))},
		{"told to end until it has", fmt.Sprintf("%d ms", time.Since(began).Milliseconds())}}, nil
}

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
