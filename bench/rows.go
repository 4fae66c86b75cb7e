//go:build linux

package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback/bench/measured"
)

// row is one measured number: of what, in which round.
type row struct {
	figure, what string
	round        int
	value        float64
	unit         string
}

// addNumber notes a number and shows it.
func (b *bench) addNumber(what string, round int, value float64, unit string) {
	b.rows = append(b.rows, row{b.now, what, round, value, unit})
	fmt.Fprintf(os.Stderr, "   %-52s %d  %s\n", what, round, measured.Format(value, unit))
}

// medianOf returns the median of what was measured, and its unit; ok is false when
// nothing was.
func (b *bench) medianOf(figure, what string) (v float64, unit string, ok bool) {
	var all []float64
	for _, r := range b.rows {
		if r.figure == figure && r.what == what {
			all = append(all, r.value)
			unit = r.unit
		}
	}
	if len(all) == 0 {
		return 0, "", false
	}
	return measured.Median(all), unit, true
}

// percentileMS of durations, in milliseconds.
func percentileMS(ds []time.Duration, p float64) float64 {
	ds = slices.Clone(ds)
	slices.Sort(ds)
	return toMillis(ds[min(len(ds)-1, int(p*float64(len(ds))))])
}

func toMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// target holds a number, or its ratio to another of the same run, against what is wanted.
type target struct {
	figure, what, over string // over: divided by this one
	beside             string // the ratio to this one is shown, and not judged
	most, least        float64
	aim                bool // wished for, not promised
}

// targets is what the project promises and wishes for.
var targets = []target{
	{figure: "turn", what: "whole turn at 100, p50", over: rawTurn + ", p50", most: 2, aim: true},
	{figure: "turn", what: "whole turn at 100,000, p50", over: rawTurn + ", p50", most: 2, aim: true},
	{figure: "turn", what: "whole turn at 100,000, p50", over: "whole turn at 100, p50", most: 1.5},
	{figure: "turn", what: "whole turn at 100,000, p99", most: 12, aim: true},
	{figure: "turn", what: "whole turns of 8 conversations", least: 1200, aim: true},
	{figure: "turn", what: "first window of a fresh process at 100", most: 4, aim: true},
	{figure: "turn", what: "first window of a fresh process at 100,000", most: 4, aim: true},
	{figure: "append", what: "turn at 1,000,000, p50", over: "turn at 100, p50", most: 1.3},
	{figure: "append", what: "turn at 100, p50", over: rawTransactions + ", p50", most: 1.5},
	{figure: "append", what: "written a turn at 100", most: 40},
	{figure: "append", what: "written a turn at 1,000,000", most: 48},
	{figure: "concurrent", what: "8 conversations", over: "a bare group commit of 8", least: 0.25},
	{figure: "concurrent", what: "8 conversations", over: "a bare group commit of 8", least: 0.35, aim: true},
	{figure: "concurrent", what: "64 conversations", over: "a bare group commit of 64", least: 0.35},
	{figure: "concurrent", what: "64 conversations", over: "a bare group commit of 64", least: 0.5, aim: true},
	{figure: "concurrent", what: "8 conversations", over: "8 connections waiting for each other", least: 3},
	{figure: "concurrent", what: "64 conversations", over: "8 connections waiting for each other", least: 3},
	{figure: "concurrent", what: "8 conversations, p99", most: 12},
	{figure: "concurrent", what: "lost by two processes", most: 0},
	{figure: "window", what: "window at 1,000,000", over: "window at 1,000", most: 1.3},
	{figure: "window", what: "allocations at 1,000,000", over: "allocations at 1,000", most: 1.05},
	{figure: "window", what: "window at 1,000,000", most: 2},
	{figure: "resume", what: "latest at 10,000", over: "latest at 100", most: 1.3},
	{figure: "resume", what: "latest at 1,000,000", over: "latest at 100", most: 1.3},
	{figure: "resume", what: "latest after 1,000 rewinds", over: "latest at 100", most: 1.3},
	{figure: "search", what: "a question of 100,000", beside: "a page of 200 of 100,000", most: 40},
	{figure: "search", what: "what vectors add to a question of 100,000", most: 40},
	{figure: "search", what: "a question of 1,000,000", beside: "a page of 200 of 1,000,000", most: 40},
	{figure: "search", what: "English, 1 % of 1,000,000", over: "a page of 200 of 1,000,000", most: 5, aim: true},
	{figure: "search", what: "Chinese, 1 % of 1,000,000", over: "a page of 200 of 1,000,000", most: 5, aim: true},
	{figure: "search", what: "index bytes a message byte", most: 0.4},
	{figure: "references", what: "200 references in 100,000 files", over: "200 references in 1,000 files", most: 1.5},
	{figure: "server", what: "peak memory, a chat at 1,000,000", most: 80},
	{figure: "server", what: "start to the first answer", over: "start to its version", most: 4, aim: true},
	{figure: "grep", what: "folded a second", least: 6000},
	{figure: "grep", what: "a word of 1 %, 100,000 messages live", most: 500},
	{figure: "grep", what: "nothing, 100,000 messages live", most: 500},
	{figure: "resume", what: "imported a second", least: 4000},
	{figure: "page", what: "bytes of the first visit", most: 400},
	{figure: "page", what: "requests of the first visit", most: 25},
	{figure: "page", what: "first paint", most: 500, aim: true},
	{figure: "importing", what: "tool output: throughput", least: 20, aim: true},
	{figure: "importing", what: "prose: throughput", least: 20, aim: true},
	{figure: "backups", what: "backup: peak memory", most: 250},
	{figure: "backups", what: "restore: peak memory", most: 250},
	{figure: "servers", what: "PostgreSQL: a turn, statements", most: 12, aim: true},
	{figure: "servers", what: "PostgreSQL: a turn, WAL", most: 6, aim: true},
	{figure: "servers", what: "PostgreSQL: a turn, processor of the database", most: 0.8, aim: true},
	{figure: "servers", what: "PostgreSQL: 64 conversations, 2 servers", over: "PostgreSQL: 64 conversations, 1 server",
		least: 1, aim: true},
	{figure: "tokens", what: "counter, English", least: 12},
	{figure: "tokens", what: "counter, code", least: 12},
	{figure: "tokens", what: "counter, JSON", least: 12},
	{figure: "tokens", what: "counter, Chinese", least: 5},
	{figure: "tokens", what: "counter, Chinese characters in any order", least: 5},
}

// verdict is a target with what was measured of it; ok is false when nothing was.
type verdict struct {
	target
	value    float64
	unit     string
	absolute string // beside a ratio what was measured, and beside that a ratio
	met, ok  bool

	disturbed bool // the machine was not quiet
}

// judgeTarget holds a target against what a run measured.
func judgeTarget(b *bench, t target) verdict {
	v := verdict{target: t, disturbed: !b.quiet[t.figure].isQuiet()}
	if v.value, v.unit, v.ok = b.medianOf(t.figure, t.what); !v.ok {
		return v
	}
	if t.beside != "" {
		if base, _, ok := b.medianOf(t.figure, t.beside); ok && base > 0 {
			v.absolute = " (" + measured.Format(v.value/base, "× "+t.beside) + ")"
		}
	}
	if t.over != "" {
		base, _, ok := b.medianOf(t.figure, t.over)
		if !ok || base == 0 {
			v.ok = false
			return v
		}
		v.absolute = " (" + measured.Format(v.value, v.unit) + ")"
		v.value = v.value / base
		v.unit = "×"
	}
	v.met = v.value <= t.most
	if t.least > 0 {
		v.met = v.value >= t.least
	}
	return v
}

// tableRow returns a row of the table of bounds.
func (v verdict) tableRow() string {
	what := v.what
	if v.over != "" {
		what += " ÷ " + v.over
	}
	bound := "≤ " + measured.Format(v.most, v.unit)
	if v.least > 0 {
		bound = "≥ " + measured.Format(v.least, v.unit)
	}
	if v.aim {
		bound = "aim " + bound
	}
	number := measured.Format(v.value, v.unit) + v.absolute
	met := "yes"
	switch {
	case !v.ok:
		number = "not measured"
		met = "**no**"
	case !v.met:
		met = "**no**"
	}
	if v.disturbed {
		met += ", but the machine was not quiet"
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", what, number, bound, met)
}

// missedBounds names the bounds, not the aims, that were not met; one that nothing was measured
// for was not.
func missedBounds(b *bench) (out []string) {
	for _, t := range targets {
		if v := judgeTarget(b, t); !t.aim && !v.met {
			out = append(out, t.what)
		}
	}
	return out
}

// writeReport returns the Markdown of a run.
func (b *bench) writeReport(took time.Duration, whole bool) string {
	var s strings.Builder
	fmt.Fprintf(&s,
		"# Benchmarks\n\nWritten by `go -C bench run .` in %s, on %s.\nRatios are from one run; a number that was measured more than once is the median of %d rounds. The raw rows are in `bench/rows.csv`. A figure that was measured while the machine was not quiet says so, is measured again, and takes the place of no quiet one.\n",
		took.Round(time.Second), describeMachine(b.dir), rounds)
	s.WriteString("\n| checked against a bound | measured | bound | met |\n|---|---|---|---|\n")
	for _, t := range targets {
		if v := judgeTarget(b, t); v.ok || whole {
			s.WriteString(v.tableRow())
		}
	}
	for _, f := range figures {
		var seen []string
		for _, r := range b.rows {
			if r.figure == f.name && !slices.Contains(seen, r.what) {
				seen = append(seen, r.what)
			}
		}
		if len(seen) == 0 {
			continue
		}
		fmt.Fprintf(&s, "\n## %s\n\n%s\n\n%s.\n\n| | median |\n|---|---|\n", f.title, notes[f.name],
			b.quiet[f.name])
		for _, what := range seen {
			v, unit, _ := b.medianOf(f.name, what)
			fmt.Fprintf(&s, "| %s | %s |\n", what, measured.Format(v, unit))
		}
	}
	return s.String()
}

// notes say how each figure is measured.
var notes = map[string]string{
	"turn": "From the question to the stored answer through the library, with a model that answers at once, in a window of 32,768 tokens; about 0.9 KB of text each. The compactions that come every 35 turns or so are in it. " +
		"Raw SQLite inserts the same two texts in a transaction each, as durable, and reads the newest fifty.",
	"append": "Begin and Finish of one turn through the store, both durable, with about 0.9 KB of text each, tokens counted as the program counts them, and the usage, the window's mark and the account of the step that a turn stores; in one conversation per database. " +
		"Raw SQLite inserts the same text into a table with a whole number as its key, over the same driver, in two transactions as durable; the plain file gets as many bytes in two appends, each with fdatasync. " +
		"Bytes are those the process handed to the disk (`write_bytes`), including index, merges and checkpoints; a loaded index is merged first, as it would have been over time.",
	"concurrent": "Turns per second of 8 and of 64 conversations in one process, with what the turns of the figure above store and count. A bare group commit is one goroutine that inserts the same text into a table with a whole number as its key, whatever waits in one commit, with two waits a turn. " +
		"The 8 separate connections wait in SQLite's busy handler.",
	"window": "Reading the contents of the newest window of 8,000 tokens and laying it out, as each request does.",
	"resume": "Finding the latest conversation and laying its next request out, with its newest 14 messages live; the rewound one went back by one message a thousand times, so that each live message is on a branch of its own. " +
		"The list comes from the store; the import is the engine's, counting tokens; it compacts nothing.",
	"search":     "Store search over everything, five hits with a neighbour each; the words are in 1 % and in 0.01 % of the messages, and the question has six words from the most common one to a rare one. The page is the newest 200 messages, read by the same store. The index is what its rows hold, and the pages of the database that they take. With vectors, each message has one of 768 random numbers, and so has the question: a model's own time is not in it; the first question reads what of them is kept in memory.",
	"fold":       "A conversation of 200,000 tokens, compacted by the engine without a model: cleared at once, and piece by piece for a small window. Then the first page of each of its segments is read, which makes and checks its file, and read again.",
	"grep":       "Every matching line of a conversation is counted and fifty are returned; the words are in 1 % and in 0.01 % of the messages, and the totals are checked against that.",
	"references": "One prompt that names 200 files of 3.7 KB, spread over a tree whose files the system has in memory; and a part of a file's name, completed to a path.",
	"saved":      "Two prompts in a row that name the same 20 files of 3.7 KB: what stands behind each, in bytes.",
	"notebook":   "The program running the last cell of a notebook of 5,000 cells, about 9 MB, with the offline model in a window of 32,768 tokens. The first time the conversation is made of the cells before it, and compacted; then it is there, and is compared with the file.",
	"policy": "A conversation of 2,000 messages in a window of 32,768 tokens: the total weight of its requests, compared with sending everything each time. " +
		"Summaries are written by a stand-in for a model that quotes what it is given; what its own requests cost is in a separate row.",
	"provider": "A turn of a conversation in a window of 10,048 tokens, asked of a server on this machine that begins to answer at once: from the question to the first piece of the answer, the commit of the question included, beside the same request sent by hand.",
	"server":   "The program with a million messages in its store: its peak resident memory over 20 turns of one chat, and the time from exec to the first response, beside the time from exec to the end of the program that only prints its version.",
	"streams": "The program with a provider on this machine that begins to answer at once. The first token: from the question over HTTP to the first piece of the answer, beside the same request sent to the provider by hand, in a window of 10,048 tokens. " +
		"Requests: four readers of the newest 20 conversations, beside streams that get ten words a second each; provider, readers and server share the machine. Memory: what the server's resident memory grows by when 500 are opened at once, over 480, in a server that has had 20 before; a chat includes its turn and its request to the provider.",
	"build": "The program as `go build` makes it; the cold build starts with an empty cache.",
	"page":  "In Chromium, with a server on this machine, 10,000 conversations, one of them 100,000 messages long, and an answer of 20,000 words. A long frame is more than 50 ms between two paints.",
	"importing": "Transcripts like Claude Code's, full of outputs of tools or of sentences that differ, imported by the program from an empty folder, and once more; then lines are written while it watches. " +
		"The throughput of a processor is bytes of source by processor time.",
	"backups": "A data folder, half of it text in messages, half bytes behind artifacts: made into a backup, verified and restored by the program, beside `cp -a` and a sync to the same disk. Rates are over the bytes of the data folder; a restore reads the backup twice, once to check it.",
	"servers": "Each server is a process of its own that opens the store through the library; a turn is Begin and Finish, with its usage and its account. PostgreSQL is durable and runs on this machine, beside the servers.",
	"tokens":  "The tokenizer over mixed text, and over Chinese characters in random order, of which nothing was seen before.",
}

// describeMachine names what it ran on, by what matters.
func describeMachine(dir string) string {
	cpu := "an unknown processor"
	kernel := "an unknown kernel"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.SplitSeq(string(text), "\n") {
			if name, ok := strings.CutPrefix(line, "model name"); ok {
				cpu = strings.Trim(name, "\t :")
				break
			}
		}
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		kernel, _, _ = strings.Cut(strings.TrimSpace(string(text)), "-")
	}
	return fmt.Sprintf("%s, %d cores, %d GB of memory, %s, %s %s, %s, %s", cpu, runtime.NumCPU(), memoryGB(),
		fileSystem(dir), runtime.GOOS, kernel, runtime.Version(), time.Now().UTC().Format(time.DateOnly))
}

func memoryGB() int64 {
	var kb int64
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		_, _ = fmt.Sscanf(string(text), "MemTotal: %d kB", &kb) // 0 is shown then
	}
	return (kb + 1<<19) >> 20
}

// keepRows writes the rows, each with how quiet the machine was.
func (b *bench) keepRows(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	_ = w.Write([]string{"figure", "what", "round", "value", "unit", "date", "others", "raw", "spread"}) // Flush tells
	for _, r := range b.rows {
		q := b.quiet[r.figure]
		_ = w.Write([]string{r.figure, r.what, strconv.Itoa(r.round), strconv.FormatFloat(r.value, 'g', 8, 64), r.unit,
			q.date, strconv.FormatFloat(q.others, 'f', 3, 64), q.raw, strconv.FormatFloat(q.spread, 'f', 2, 64)})
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return f.Close()
}

// mergeRows adds the rows of earlier runs: of the figures that were not measured now, and of those that were on a quiet
// machine then and not now.
func (b *bench) mergeRows(path string) error {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	old := map[string][]row{}
	quiet := map[string]quietness{}
	for _, cells := range all[min(1, len(all)):] {
		r, q, err := parseRow(cells)
		if err != nil {
			return fmt.Errorf("%s: %v: %w", path, cells, err)
		}
		old[r.figure] = append(old[r.figure], r)
		quiet[r.figure] = q
	}
	var out []row
	for _, f := range figures {
		fresh := slices.DeleteFunc(slices.Clone(b.rows), func(r row) bool { return r.figure != f.name })
		if len(fresh) == 0 || !b.quiet[f.name].isQuiet() && quiet[f.name].isQuiet() && len(old[f.name]) > 0 {
			if len(fresh) > 0 {
				fmt.Fprintf(os.Stderr, "the machine was not quiet: “%s” stays as it was on %s\n", f.title, quiet[f.name].date)
			}
			fresh = old[f.name]
			b.quiet[f.name] = quiet[f.name]
		}
		out = append(out, fresh...)
	}
	b.rows = out
	return nil
}

// parseRow reads what keepRows writes.
func parseRow(cells []string) (r row, q quietness, err error) {
	const columns, older = 9, 5 // which did not say how quiet it was
	if len(cells) != columns && len(cells) != older {
		return r, q, fmt.Errorf("%d columns, want %d", len(cells), columns)
	}
	errs := make([]error, 4)
	r = row{figure: cells[0], what: cells[1], unit: cells[4]}
	r.round, errs[0] = strconv.Atoi(cells[2])
	r.value, errs[1] = strconv.ParseFloat(cells[3], 64)
	if len(cells) == older || cells[5] == "" {
		return r, q, errors.Join(errs...)
	}
	q = quietness{date: cells[5], raw: cells[7]}
	q.others, errs[2] = strconv.ParseFloat(cells[6], 64)
	q.spread, errs[3] = strconv.ParseFloat(cells[8], 64)
	return r, q, errors.Join(errs...)
}
