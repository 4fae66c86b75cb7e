package main

import (
	"fmt"
	"math"
	"strings"
)

// fleets are the numbers of nodes that the report is about, and lengths those of messages.
var (
	fleets  = []int{1, 3, 10, 30, 100, 300, 1000}
	lengths = []float64{1e6, 1e8, 1e9, 1e10}
)

// simulatedTurns is how many turns each simulation has.
const simulatedTurns = 4000

// writeReport returns the tables of a file of inputs, as Markdown.
func writeReport(in inputs) string {
	var b strings.Builder
	b.WriteString("Inputs:\n\n| input | value | from | note |\n|---|---|---|---|\n")
	for _, name := range needed {
		x := in[name]
		fmt.Fprintf(&b, "| `%s` | %s %s | %s | %s |\n", name, formatShort(x.Value), x.Unit, x.From, x.Note)
	}
	b.WriteString("\nOn one primary, in turns a second:\n\n" +
		"| nodes | asked | served at most | used up first | simulated, p50 | p99 |\n|---|---|---|---|---|---|\n")
	for _, n := range fleets {
		_, first := listLimits(in, n)
		at := math.Min(in.turnRate(n), first.turns*2/3)
		p50 := "—"
		p99 := "—"
		if at > 0 {
			s := simulateTurns(in, n, at, simulatedTurns)
			p50 = formatShort(s.p50) + " ms"
			p99 = formatShort(s.p99) + " ms"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", formatShort(float64(n)), formatShort(in.turnRate(n)),
			formatShort(first.turns),
			first.name, p50, p99)
	}
	most := fleets[len(fleets)-1]
	fmt.Fprintf(&b,
		"\nWhat each resource of one primary serves, in turns a second, and how many databases it would take for %s "+
			"nodes that ask for %s, with a third left free:\n\n| resource | 1 node | 10 | 100 | 1,000 | databases |\n|---|---|---|---|---|---|\n",
		formatShort(float64(most)), formatShort(in.turnRate(most)))
	for i, r := range resources {
		fmt.Fprintf(&b, "| %s |", r.name)
		for _, n := range []int{1, 10, 100} {
			all, _ := listLimits(in, n)
			fmt.Fprintf(&b, " %s |", formatShort(all[i].turns))
		}
		all, _ := listLimits(in, most)
		fmt.Fprintf(&b, " %s | %s |\n", formatShort(all[i].turns), formatCount(in, all[i], most))
	}
	b.WriteString("\nWith some inputs changed, on one primary:\n\n| changed | 100 nodes, at most | used up first | 1,000 nodes, at most | used up first |\n" +
		"|---|---|---|---|---|\n")
	changed := in
	for _, c := range changes {
		if c.input != "" {
			changed = changed.withNumber(c.input, c.to*map[bool]float64{true: changed.numberOf(c.input), false: 1}[c.times])
		}
		writeRow(&b, c.what, changed)
	}
	b.WriteString("\nWhat is stored:\n\n| messages | rows | index | with replicas | databases | tending the index from nothing, by one |\n" +
		"|---|---|---|---|---|---|\n")
	for _, n := range lengths {
		rows := n * (in.numberOf("row_bytes") + in.numberOf("turn_bytes")/in.numberOf("turn_messages"))
		index := n * in.numberOf("index_bytes")
		all := (rows + index) * (1 + in.numberOf("replicas"))
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %.0f | %s |\n", formatShort(n), bytesOf(rows), bytesOf(index), bytesOf(all),
			math.Ceil((rows+index)/(in.numberOf("primary_tb")*1e12)), timeOf(n*in.numberOf("tend_ms")/1000))
	}
	return b.String()
}

// changes are what one would do first, each in addition to those before it. With times a
// number is what the input is multiplied by.
var changes = []struct {
	what, input string
	to          float64
	times       bool
}{
	{what: "nothing"},
	{"drafts stored every 5 s", "save_seconds", 5, false},
	{"and nodes look at the feed 10 times a second", "feed_reads_s", 10, false},
	{"and a quarter of the time to tend a message", "tend_ms", 0.25, true},
	{"and half the processor of a turn", "turn_db_cpu_ms", 0.5, true},
	{"and a tenth of what a row of the feed costs", "feed_row_us", 0.1, true},
	{"and four times the lanes", "usage_lanes", 4, true},
	{"and twice the processors", "primary_cores", 2, true},
}

func writeRow(b *strings.Builder, what string, in inputs) {
	fmt.Fprintf(b, "| %s |", what)
	for i, n := range []int{100, 1000} {
		_, first := listLimits(in, n)
		fmt.Fprintf(b, " %s | %s |%s", formatShort(first.turns), first.name, []string{"", "\n"}[i])
	}
}

// formatCount returns how many databases a resource takes, in words where databases do not help.
func formatCount(in inputs, l limit, nodes int) string {
	n := countDatabases(in, l, nodes)
	switch {
	case l.name == resources[0].name:
		return "—"
	case n == 0:
		return "more than this model can say"
	case n > 1 && !l.split:
		return fmt.Sprintf("%s, with one of its own in each", formatShort(float64(n)))
	}
	return formatShort(float64(n))
}

// formatShort returns a number with three digits that count, and commas.
func formatShort(v float64) string {
	if v <= 0 {
		return "0"
	}
	scale := math.Pow(10, math.Floor(math.Log10(v))-2)
	v = math.Round(v/scale) * scale
	if v < 100 {
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", v), "0"), ".")
	}
	s := fmt.Sprintf("%.0f", v)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func bytesOf(v float64) string {
	for _, u := range []struct {
		of   float64
		name string
	}{{1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}} {
		if v >= u.of {
			return formatShort(v/u.of) + " " + u.name
		}
	}
	return formatShort(v/1e6) + " MB"
}

func timeOf(seconds float64) string {
	switch {
	case seconds < 2*60*60:
		return formatShort(seconds/60) + " min"
	case seconds < 3*24*60*60:
		return formatShort(seconds/60/60) + " h"
	}
	return formatShort(seconds/24/60/60) + " days"
}
