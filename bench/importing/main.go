// Command importing measures what it takes to bring another tool's conversations: it makes
// transcripts like Claude Code's in a folder of its own, imports them with the real program,
// imports them again, and then follows them while lines are written.
//
//	go -C bench run ./importing                 8 MB, to see that it runs
//	go -C bench run ./importing -mb 1024        a gigabyte; -sessions N for more or fewer files
//	go -C bench run ./importing -prose          sentences that differ, with short outputs of tools
//	go -C bench run ./importing -json           numbers for the report, instead of a table
//
// Words it adds: source (the made transcripts).
//
// Figures are of one run; the time until a line is found is the median of twenty.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"github.com/scrollback-ai/scrollback/bench/measured"
)

func main() {
	mb := flag.Int("mb", 8, "megabytes of transcripts")
	sessions := flag.Int("sessions", 0, "how many files; 0 is one for each megabyte")
	prose := flag.Bool("prose", false, "sentences that differ instead of long outputs of tools")
	lines := flag.Int("lines", 20, "lines that are written while the program watches")
	asJSON := flag.Bool("json", false, "print numbers for the report instead of a table")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *sessions == 0 {
		*sessions = max(*mb, 1)
	}
	all, err := measureImport(ctx, size{bytes: *mb << 20, sessions: *sessions, lines: *lines, prose: *prose})
	if err == nil {
		err = measured.Write(os.Stdout, all, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// size is how much is made.
type size struct {
	bytes, sessions, lines int
	prose                  bool
}

// bench is the program over a home folder and data of its own.
type bench struct {
	home, data, program string
}

// measureImport makes the source, and imports it.
func measureImport(ctx context.Context, s size) (all []measured.Number, err error) {
	dir, err := os.MkdirTemp("", "scrollback-importing-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left is in a temporary folder
	b := bench{filepath.Join(dir, "home"), filepath.Join(dir, "data"), filepath.Join(dir, "scrollback")}
	build := exec.CommandContext(ctx, "go", "build", "-o", b.program, "./cmd/scrollback")
	build.Dir = ".." // the product's module
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	wrote, messages, err := b.makeSource(s)
	if err != nil {
		return nil, err
	}
	kind := "tool output"
	if s.prose {
		kind = "prose"
	}
	add := func(what string, value float64, unit string) {
		all = append(all, measured.Number{What: kind + ": " + what, Value: value, Unit: unit})
	}
	add("source", toMega(wrote), "MB")
	add("files", float64(s.sessions), "")
	add("lines", float64(messages), "")
	first, err := b.runCommand(ctx, "import", "--from", "claude-code")
	if err != nil {
		return nil, err
	}
	stored, err := sizeOf(b.data)
	if err != nil {
		return nil, err
	}
	again, err := b.runCommand(ctx, "import", "--from", "claude-code")
	if err != nil {
		return nil, err
	}
	add("first import", first.took.Seconds(), "s")
	add("throughput", toMega(wrote)/first.took.Seconds(), "MB/s")
	add("throughput of a processor", toMega(wrote)/first.used.Seconds(), "MB/s")
	add("peak memory", toMega(first.peak), "MB")
	add("stored for a byte of source", float64(stored)/float64(wrote), "bytes")
	add("second import, nothing new", again.took.Seconds(), "s")
	add("its peak memory", toMega(again.peak), "MB")
	return all, b.measureFollow(ctx, s.lines, add)
}

func toMega(n int64) float64 { return float64(n) / (1 << 20) }

// sizeOf returns how many bytes a folder has.
func sizeOf(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
