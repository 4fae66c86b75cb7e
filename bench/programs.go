//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scrollback-ai/scrollback/bench/measured"
)

// measurePage measures the page in a browser.
func (b *bench) measurePage() error {
	if b.quick {
		return b.runProgram("./page", "-quick")
	}
	return b.runProgram("./page")
}

// measureImporting measures importing two kinds of transcripts.
func (b *bench) measureImporting() error {
	megabytes := "256"
	if b.quick {
		megabytes = "8"
	}
	if err := b.runProgram("./importing", "-mb", megabytes); err != nil {
		return err
	}
	return b.runProgram("./importing", "-mb", megabytes, "-prose", "-lines", "0")
}

// measureBackups measures backups beside a copy of the same bytes.
func (b *bench) measureBackups() error {
	if b.quick {
		return b.runProgram("./backups", "-mb", "8")
	}
	return b.runProgram("./backups", "-mb", "1024")
}

// measureServers measures many servers with one PostgreSQL.
func (b *bench) measureServers() error {
	if b.quick {
		return b.runProgram("./servers", "-quick")
	}
	return b.runProgram("./servers", "-rounds", "1", "-seconds", "5")
}

// runProgram adds the numbers that a program of this module measures.
func (b *bench) runProgram(args ...string) error {
	cmd := exec.CommandContext(b.ctx, "go", append(append([]string{"run"}, args...), "-json")...)
	cmd.Dir = filepath.Join(b.root, "bench")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	all, err := measured.Read(bytes.NewReader(out))
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	for _, n := range all {
		b.addNumber(n.What, n.Round, n.Value, n.Unit)
	}
	return nil
}

// adoptChildren makes this process the parent of what its children leave behind, as a browser that is ended leaves
// its own, so that their time is this process's and not that of others.
func adoptChildren() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// reapChildren waits a moment for what was left behind.
func reapChildren() {
	for until := time.Now().Add(time.Second); time.Now().Before(until); {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err != nil {
			return // there is none
		}
		if pid == 0 {
			time.Sleep(10 * time.Millisecond)
		}
	}
}
