//go:build linux

// Command page measures the page in a real browser: what it weighs, when it paints and can be
// written in, and what scrolling a very long conversation and reading a very long answer cost.
//
//	go -C bench run ./page                 about five minutes; prints a table
//	go -C bench run ./page -quick          small conversations, to see that it runs
//	go -C bench run ./page -o FILE         writes the table into a file
//
// Words it adds: row (one measured number), long frame (more than 50 ms between two paints).
//
// It starts a server in this process, on a database that it fills first, and a Chromium beside
// it. Figures are of one run; where rounds make sense, a number is the median of five.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

// row is one number of the report.
type row struct{ what, value string }

// size is how much there is to show.
type size struct {
	conversations, messages, words int
}

func main() {
	quick := flag.Bool("quick", false, "small conversations, to see that it runs")
	out := flag.String("o", "", "write the table into this file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s := size{conversations: 10_000, messages: 100_000, words: 20_000}
	if *quick {
		s = size{conversations: 100, messages: 2_000, words: 1_000}
	}
	rows, err := measurePage(ctx, s)
	if err == nil {
		err = writeReport(*out, s, rows)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// writeReport prints the rows, and writes them into a file if one is named.
func writeReport(file string, s size, rows []row) error {
	var b strings.Builder
	fmt.Fprintf(&b,
		"# Figures of the page\n\nWritten by `go -C bench run ./page` on %s, in Chromium on two cores, with %d conversations, one of them %d messages long, and an answer of %d words.\n\n| | |\n|---|---:|\n",
		time.Now().UTC().Format("2006-01-02"), s.conversations, s.messages, s.words)
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s |\n", r.what, r.value)
	}
	fmt.Print(b.String())
	if file == "" {
		return nil
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
