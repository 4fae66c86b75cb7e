//go:build linux

// Command bench measures what scrollback promises about speed and size, and writes
// docs/BENCHMARKS.md.
//
//	go -C bench run .                 every figure: about half an hour, with a browser and PostgreSQL
//	go -C bench run . -only append    some of them
//	go -C bench run . -quick          small conversations, to see that it runs
//
// A figure is a function that adds rows; a row is one measured number. The page, importing, backups and many servers
// are measured by programs of their own, in folders beside this one. Ratios are of
// numbers from one run; each number is the median of five rounds, where rounds make sense.
// The raw rows are kept beside the report.
//
// A bound that is not met says **no** in the report's table. When every figure was measured
// at full length, the exit status is 1 then; an aim that is not met changes nothing.
//
// Words it adds: figure (one question of speed or size), row (one number), target
// (what a number is compared with).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"time"
)

// figure is something that is measured.
type figure struct {
	name, title string
	run         func(*bench) error
}

// figures is the table of what is measured, in the order of the report.
var figures = []figure{
	{"turn", "A whole turn", (*bench).measureTurn},
	{"append", "Appending a turn", (*bench).measureAppend},
	{"concurrent", "Conversations appended to at once", (*bench).measureConcurrent},
	{"window", "From the store to the provider's items", (*bench).measureWindow},
	{"resume", "Opening, listing, importing", (*bench).measureResume},
	{"search", "Search", (*bench).measureSearch},
	{"fold", "Compacting, and reading what is compacted", (*bench).measureFolds},
	{"grep", "Grep", (*bench).measureGrep},
	{"references", "References in a prompt", measureReferences},
	{"saved", "References to what has not changed", measureSaved},
	{"notebook", "The last cell of 5,000", measureNotebook},
	{"policy", "Tokens saved by policy", (*bench).measurePolicies},
	{"provider", "The way to a provider", (*bench).measureProvider},
	{"server", "The server", (*bench).measureServer},
	{"door", "The open door", (*bench).measureDoor},
	{"threads", "Finding a client's conversation", (*bench).measureThreads},
	{"session", "A long session behind the open door", (*bench).measureSession},
	{"streams", "Streams", measureStreams},
	{"build", "The program", (*bench).measureBuild},
	{"tokens", "Tokens", (*bench).measureTokens},
	{"page", "The page", (*bench).measurePage},
	{"importing", "What is on a machine", (*bench).measureImporting},
	{"backups", "Backups", (*bench).measureBackups},
	{"servers", "Many servers", (*bench).measureServers},
}

// rounds is how often a figure is measured; the report shows the median.
const rounds = 5

// bench is one run.
type bench struct {
	ctx  context.Context
	dir  string // databases, made when they are first needed
	root string // of the repository
	big  int    // messages of the longest conversation
	mid  int
	// quick says that small conversations are enough, to see that it runs.
	quick bool
	rows  []row
	now   string // the figure being measured

	quiet map[string]quietness // by figure
}

func main() {
	only := flag.String("only", "", "names of figures, separated by commas")
	quick := flag.Bool("quick", false, "a tenth of the messages; the report is not written")
	keep := flag.Bool("keep", false, "with -only: put the figures into the report")
	dir := flag.String("dir", "", "folder for the databases, kept and used again; without it a temporary one")
	out := flag.String("o", filepath.Join("docs", "BENCHMARKS.md"), "the report")
	profile := flag.String("cpuprofile", "", "write a profile of this process")
	writer := flag.String("writer", "", "append to this conversation of a database and end: the other process of a figure")
	first := flag.String("first", "", "open this folder, lay out the first window of its conversation, print how many µs each took, and end")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := &bench{ctx: ctx, dir: *dir, big: 1_000_000, mid: 100_000, quick: *quick, quiet: map[string]quietness{}}
	if b.quick {
		b.big = 20_000
		b.mid = 5_000
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	run := func() error { return b.runAll(*only, *out, !*quick && (*only == "" || *keep)) }
	if *first != "" {
		run = func() error { return b.layOutFirst(*first) }
	}
	if *writer != "" {
		run = func() error { return b.writeAlone(*writer) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) runAll(only, out string, keep bool) error {
	root, err := moduleFolder()
	if err != nil {
		return err
	}
	b.root = root
	if b.dir == "" {
		if b.dir, err = os.MkdirTemp("", "scrollback-bench-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(b.dir) }() // a temporary folder
	}
	if err := adoptChildren(); err != nil {
		return err
	}
	began := time.Now()
	for _, f := range figures {
		if only != "" && !slices.Contains(strings.Split(only, ","), f.name) {
			continue
		}
		start := time.Now()
		fmt.Fprintf(os.Stderr, "== %s\n", f.title)
		b.now = f.name
		if err := b.measureQuietly(f); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "   (%s)\n", time.Since(start).Round(time.Second))
	}
	kept := filepath.Join(root, "bench", "rows.csv")
	if keep {
		if err := b.mergeRows(kept); err != nil {
			return err
		}
	}
	report := b.writeReport(time.Since(began), keep)
	fmt.Print(report)
	if !keep {
		return nil
	}
	if err := os.WriteFile(filepath.Join(root, out), []byte(report), 0o644); err != nil {
		return err
	}
	if err := b.keepRows(kept); err != nil {
		return err
	}
	if out := missedBounds(b); len(out) > 0 {
		return fmt.Errorf("bounds that were not met: %s", strings.Join(out, "; "))
	}
	return nil
}

// moduleFolder returns the folder that this module's is in: that of go.mod, which is the current one or
// above it.
func moduleFolder() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, statErr := os.Stat(filepath.Join(dir, "go.mod")); statErr == nil {
			return filepath.Dir(dir), nil
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		err = fmt.Errorf("run it inside the module")
	}
	return "", err
}
