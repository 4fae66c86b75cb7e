//go:build linux

// Command servers measures what many servers get from one PostgreSQL, beside SQLite and beside
// pgbench on the same PostgreSQL, in one run.
//
//	go -C bench run ./servers                    SQLite, and a PostgreSQL that is thrown away
//	go -C bench run ./servers -dsn postgres://…  a server on which databases may be made
//	go -C bench run ./servers -without postgres  SQLite alone
//	go -C bench run ./servers -quick             small, to see that it runs
//	go -C bench run ./servers -json              numbers for the report, instead of a table
//
// A server is a process of its own that opens the store through the library. The throw-away
// PostgreSQL is durable, as one in production is. What it prints at the end are inputs for
// bench/scale.
//
// Words it adds: worker (a process that takes turns in conversations of its own), place (a
// database, as a URL), counters (what a PostgreSQL says it has done so far).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback/bench/measured"
)

// run is one run of everything.
type run struct {
	ctx      context.Context
	dir      string // for SQLite and logs; removed at the end
	messages int    // of the long conversation
	seconds  int    // of a round of turns
	rounds   int

	statements bool // which statements turns run is listed
	asJSON     bool // numbers are printed for the report

	pg     *cluster // nil without PostgreSQL
	rows   []row
	inputs map[string]float64 // for bench/scale, by name
}

// row is one measured number.
type row struct {
	what, where string
	value       float64
	unit        string
}

func (r *run) addValue(what, where string, value float64, unit string) {
	fmt.Fprintf(os.Stderr, "   %-44s %-12s %s\n", what, where, measured.Format(value, unit))
	r.rows = append(r.rows, row{what, where, value, unit})
}

func main() {
	dsn := flag.String("dsn", "",
		"URL of a PostgreSQL on which databases may be made; without it, one that is thrown away")
	bin := flag.String("bin", "", "folder with PostgreSQL's programs; without it, the newest of Debian's")
	without := flag.String("without", "", "sqlite or postgres")
	messages := flag.Int("messages", 1_000_000, "messages of the long conversation")
	seconds := flag.Int("seconds", 10, "seconds of a round of turns")
	rounds := flag.Int("rounds", 3, "rounds; the median is reported")
	quick := flag.Bool("quick", false, "2,000 messages, one round of a second")
	statements := flag.Bool("statements", false, "list the statements of a turn")
	asJSON := flag.Bool("json", false, "print numbers for the report instead of a table")
	job := flag.String("worker", "", "be a worker: the other process of a figure")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *job != "" {
		exitWith(runWorker(ctx, *job))
		return
	}
	r := &run{ctx: ctx, messages: *messages, seconds: *seconds, rounds: *rounds, statements: *statements, asJSON: *asJSON,
		inputs: map[string]float64{}}
	if *quick {
		r.messages = 2000
		r.seconds = 1
		r.rounds = 1
	}
	exitWith(r.runAll(*dsn, *bin, *without))
}

func exitWith(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		os.Exit(1)
	}
}

func (r *run) runAll(dsn, bin, without string) (err error) {
	if r.dir, err = os.MkdirTemp("", "scrollback-servers-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.dir)) }()
	if without != "" && without != "sqlite" && without != "postgres" {
		return fmt.Errorf("-without %s: it is sqlite or postgres", without)
	}
	if without != "postgres" {
		if r.pg, err = startCluster(r.ctx, dsn, bin); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.pg.closeCluster()) }()
	}
	for _, figure := range []func(*run, string) error{(*run).measureAlone, (*run).measureTogether, (*run).measureLong,
		(*run).measureTakeover} {
		for _, where := range []string{sqlite, postgres} {
			if strings.EqualFold(where, without) || where == postgres && r.pg == nil {
				continue
			}
			if err := figure(r, where); err != nil {
				return fmt.Errorf("%s: %w", where, err)
			}
		}
	}
	if r.pg != nil {
		if err := r.measurePgbench(); err != nil {
			return err
		}
	}
	if r.asJSON {
		return measured.Write(os.Stdout, r.numbers(), true)
	}
	fmt.Print(r.writeReport())
	return nil
}

// The places.
const (
	sqlite   = "SQLite"
	postgres = "PostgreSQL"
)

// newDatabase returns a new, empty database.
func (r *run) newDatabase(where, name string) (string, error) {
	if where == sqlite {
		dir, err := os.MkdirTemp(r.dir, name+"-")
		return "sqlite://" + dir + "/scrollback.db", err
	}
	return r.pg.createDatabase(r.ctx, name)
}

// numbers returns what was measured, for the report.
func (r *run) numbers() (out []measured.Number) {
	round := map[string]int{}
	for _, x := range r.rows {
		what := x.where + ": " + x.what
		out = append(out, measured.Number{What: what, Round: round[what], Value: x.value, Unit: x.unit})
		round[what]++
	}
	return out
}

// writeReport returns the table of medians, and the inputs for bench/scale.
func (r *run) writeReport() string {
	var b strings.Builder
	b.WriteString("| | SQLite | PostgreSQL |\n|---|---|---|\n")
	done := map[string]bool{}
	for _, x := range r.rows {
		if done[x.what] {
			continue
		}
		done[x.what] = true
		fmt.Fprintf(&b, "| %s | %s | %s |\n", x.what, r.medianOf(x.what, sqlite), r.medianOf(x.what, postgres))
	}
	if len(r.inputs) > 0 {
		text, err := json.MarshalIndent(r.inputs, "", "  ")
		if err == nil {
			fmt.Fprintf(&b, "\nFor bench/scale/inputs.json, as measured:\n\n%s\n", text)
		}
	}
	return b.String()
}

func (r *run) medianOf(what, where string) string {
	var all []float64
	unit := ""
	for _, x := range r.rows {
		if x.what == what && x.where == where {
			all = append(all, x.value)
			unit = x.unit
		}
	}
	if len(all) == 0 {
		return ""
	}
	return measured.Format(measured.Median(all), unit)
}

// percentileMS of times in milliseconds.
func percentileMS(took []float64, p float64) float64 {
	if len(took) == 0 {
		return 0
	}
	took = slices.Sorted(slices.Values(took))
	return took[min(len(took)-1, int(p*float64(len(took))))]
}

func toMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
