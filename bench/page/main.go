//go:build linux

// Command page measures the page in a real browser: what it weighs, when it paints and can be
// written in, and what scrolling a very long conversation and reading a very long answer cost.
//
//	go -C bench run ./page                 about five minutes; prints a table
//	go -C bench run ./page -quick          small conversations, to see that it runs
//	go -C bench run ./page -json           numbers for the report, instead of a table
//
// Words it adds: long frame (more than 50 ms between two paints).
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

	"github.com/scrollback-ai/scrollback/bench/measured"
)

// size is how much there is to show.
type size struct {
	conversations, messages, words int
}

func main() {
	quick := flag.Bool("quick", false, "small conversations, to see that it runs")
	asJSON := flag.Bool("json", false, "print numbers for the report instead of a table")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s := size{conversations: 10_000, messages: 100_000, words: 20_000}
	if *quick {
		s = size{conversations: 100, messages: 2_000, words: 1_000}
	}
	all, err := measurePage(ctx, s)
	if err == nil {
		err = measured.Write(os.Stdout, all, *asJSON)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
