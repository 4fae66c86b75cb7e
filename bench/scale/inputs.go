package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// input is one number that the model is given, and where it comes from.
type input struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	From  string  `json:"from"` // measured or assumed
	Note  string  `json:"note"`
}

// inputs are the numbers of a model by their names.
type inputs map[string]input

// needed are the inputs that there have to be, in the order of the report.
var needed = []string{
	"node_streams", "turn_seconds", "turn_messages", "message_bytes", "node_stream_kb", "node_cpu_ms", "node_cores",
	"row_bytes", "index_bytes", "turn_bytes",
	"turn_statements", "turn_wal_kb", "turn_db_cpu_ms", "save_seconds", "save_statements", "save_wal_kb", "save_db_cpu_ms",
	"round_trip_ms", "flush_ms", "flush_p99_ms", "flush_group", "wal_mb_s", "primary_cores", "connections", "node_pool",
	"usage_lanes", "lane_statements", "outbox_rows", "sequence_ms", "sequence_row_us", "sequence_rows",
	"feed_reads_s", "feed_read_ms", "feed_row_us", "feed_polls_s", "tend_ms", "vacuum_rows_s", "replicas", "primary_tb",
}

// mayBeZero may be nothing; everything else divides or is divided.
var mayBeZero = []string{"save_statements", "save_wal_kb", "save_db_cpu_ms", "round_trip_ms", "feed_polls_s"}

// readInputs reads a file of inputs and returns an error that names each one which is
// missing, unknown, out of range or from nowhere.
func readInputs(text []byte) (inputs, error) {
	in := inputs{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return nil, fmt.Errorf("the inputs cannot be read: %w", err)
	}
	var wrong []string
	for _, name := range needed {
		if _, ok := in[name]; !ok {
			wrong = append(wrong, name+" is missing")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		x := in[name]
		switch {
		case !slices.Contains(needed, name):
			wrong = append(wrong, name+" is not an input")
		case x.From != "measured" && x.From != "assumed":
			wrong = append(wrong, fmt.Sprintf("%s is %q, not measured or assumed", name, x.From))
		case x.Value < 0 || x.Value == 0 && !slices.Contains(mayBeZero, name):
			wrong = append(wrong, fmt.Sprintf("%s may not be %v", name, x.Value))
		case x.Unit == "" || x.Note == "":
			wrong = append(wrong, name+" has no unit or no note")
		}
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	return in, nil
}

// withNumber returns a copy with one number changed.
func (in inputs) withNumber(name string, value float64) inputs {
	out := maps.Clone(in)
	x := out[name]
	x.Value = value
	out[name] = x
	return out
}

// numberOf returns a number by its name; readInputs has seen to it that it is there.
func (in inputs) numberOf(name string) float64 { return in[name].Value }

// draftSaves returns how often the draft of a turn is stored while its answer comes.
func (in inputs) draftSaves() float64 {
	return in.numberOf("turn_seconds") / in.numberOf("save_seconds")
}

// turnRate returns how many turns a second that many full nodes ask for.
func (in inputs) turnRate(nodes int) float64 {
	return float64(nodes) * in.numberOf("node_streams") / in.numberOf("turn_seconds")
}
