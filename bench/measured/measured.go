// Package measured has the numbers that the benchmarks measure: how they are shown, and how a program that measures
// some of them hands them to the report.
package measured

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Number is one measured number. What was measured more than once has a number for each round, counted from 0.
type Number struct {
	What  string  `json:"what"`
	Round int     `json:"round"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Format returns a value with its unit, with about three digits.
func Format(v float64, unit string) string {
	switch {
	case v >= 1000:
		return strings.TrimSpace(fmt.Sprintf("%.0f %s", v, unit))
	case v >= 10:
		return strings.TrimSpace(fmt.Sprintf("%.1f %s", v, unit))
	}
	return strings.TrimSpace(fmt.Sprintf("%.2f %s", v, unit))
}

// Median returns the middle of some values, the upper one of two; there must be one.
func Median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}

// Medians returns a number for each thing that was measured, in the order in which they came first.
func Medians(all []Number) (out []Number) {
	rounds := map[string][]float64{}
	for _, n := range all {
		if rounds[n.What] == nil {
			out = append(out, n)
		}
		rounds[n.What] = append(rounds[n.What], n.Value)
	}
	for i := range out {
		out[i].Round = 0
		out[i].Value = Median(rounds[out[i].What])
	}
	return out
}

// Write writes numbers as a table for people, or as JSON for Read.
func Write(w io.Writer, all []Number, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(all)
	}
	if _, err := io.WriteString(w, "| | median |\n|---|---:|\n"); err != nil {
		return err
	}
	for _, n := range Medians(all) {
		if _, err := fmt.Fprintf(w, "| %s | %s |\n", n.What, Format(n.Value, n.Unit)); err != nil {
			return err
		}
	}
	return nil
}

// Read reads what Write wrote as JSON.
func Read(r io.Reader) (all []Number, err error) {
	err = json.NewDecoder(r).Decode(&all)
	return all, err
}
