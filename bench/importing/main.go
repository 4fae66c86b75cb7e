// Command importing measures what it takes to bring another tool's conversations: it makes
// transcripts like Claude Code's in a folder of its own, imports them with the real program,
// imports them again, and then follows them while lines are written.
//
//	go -C bench run ./importing                 8 MB, to see that it runs
//	go -C bench run ./importing -mb 1024        a gigabyte; -sessions N for more or fewer files
//	go -C bench run ./importing -prose          sentences that differ, with short outputs of tools
//	go -C bench run ./importing -o FILE         writes the table into a file
//
// Words it adds: row (one measured number), source (the made transcripts).
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
	"strings"
	"time"
)

// row is one number of the report.
type row struct{ what, value string }

func main() {
	mb := flag.Int("mb", 8, "megabytes of transcripts")
	sessions := flag.Int("sessions", 0, "how many files; 0 is one for each megabyte")
	prose := flag.Bool("prose", false, "sentences that differ instead of long outputs of tools")
	lines := flag.Int("lines", 20, "lines that are written while the program watches")
	out := flag.String("o", "", "write the table into this file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *sessions == 0 {
		*sessions = max(*mb, 1)
	}
	rows, err := measureImport(ctx, size{bytes: *mb << 20, sessions: *sessions, lines: *lines, prose: *prose})
	if err == nil {
		err = writeReport(*out, rows)
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

// writeReport prints the rows, and writes them into a file if one is named.
func writeReport(file string, rows []row) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Figures of imports\n\nWritten by `go -C bench run ./importing` on %s.\n\n| | |\n|---|---:|\n",
		time.Now().UTC().Format("2006-01-02"))
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s |\n", r.what, r.value)
	}
	fmt.Print(b.String())
	if file == "" {
		return nil
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// bench is the program over a home folder and data of its own.
type bench struct {
	home, data, program string
}

// measureImport makes the source, and imports it.
func measureImport(ctx context.Context, s size) (rows []row, err error) {
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
	rows = append(rows, row{"source", fmt.Sprintf("%.0f MB in %d files, %d lines", formatMega(wrote), s.sessions,
		messages)})
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
	rows = append(rows, row{"first import", fmt.Sprintf("%.1f s", first.took.Seconds())},
		row{"throughput", fmt.Sprintf("%.1f MB/s", formatMega(wrote)/first.took.Seconds())},
		row{"peak memory", fmt.Sprintf("%d MB", first.peak>>20)},
		row{"stored", fmt.Sprintf("%.2f bytes a byte of source", float64(stored)/float64(wrote))},
		row{"second import, nothing new", fmt.Sprintf("%.2f s", again.took.Seconds())},
		row{"its peak memory", fmt.Sprintf("%d MB", again.peak>>20)})
	followed, err := b.measureFollow(ctx, s.lines)
	return append(rows, followed...), err
}

func formatMega(n int64) float64 { return float64(n) / (1 << 20) }

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
