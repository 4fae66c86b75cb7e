package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func model(t *testing.T) inputs {
	t.Helper()
	in, err := readInputs(ours)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestInputsThatAreRefused(t *testing.T) {
	for what, change := range map[string][2]string{
		"turn_wal_kb is missing":     {`"turn_wal_kb"`, `"turn_wal"`},
		"turn_wal is not an input":   {`"turn_wal_kb"`, `"turn_wal"`},
		"not measured or assumed":    {`"assumed"`, `"guessed"`},
		"turn_seconds may not be 0":  {`"turn_seconds": {"value": 20`, `"turn_seconds": {"value": 0`},
		"turn_seconds may not be -1": {`"turn_seconds": {"value": 20`, `"turn_seconds": {"value": -1`},
		"flush_ms has no unit or no note": {`"flush_ms": {"value": 1, "unit": "ms"`,
			`"flush_ms": {"value": 1, "unit": ""`},
		"unknown field":                      {`"unit": "ms"`, `"units": "ms"`},
		"the inputs cannot be read: invalid": {`{`, `[[`},
	} {
		text := strings.Replace(string(ours), change[0], change[1], 1)
		if text == string(ours) {
			t.Fatalf("%s: nothing was changed", what)
		}
		if _, err := readInputs([]byte(text)); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Each resource is used up first when it alone is poor, and serves no less when it is rich.
func TestWhatIsUsedUpFirst(t *testing.T) {
	in := model(t)
	poor := map[string][2]any{
		"processors of the nodes":   {"node_cpu_ms", 4000.0},
		"connections in use":        {"connections", 8.0},
		"processors of the primary": {"turn_db_cpu_ms", 500.0},
		"commits":                   {"flush_group", 1.0},
		"WAL":                       {"wal_mb_s", 0.5},
		"lanes of usage_days":       {"usage_lanes", 1.0},
		"the sequencer":             {"sequence_row_us", 50_000.0},
		"tending the index":         {"tend_ms", 100.0},
		"vacuum of the outboxes":    {"vacuum_rows_s", 100.0},
		"reading the feed":          {"feed_row_us", 100_000.0},
	}
	for _, r := range resources {
		change, ok := poor[r.name]
		if !ok {
			t.Errorf("%s is poor in no case", r.name)
			continue
		}
		before, _ := listLimits(in, 10)
		after, first := listLimits(in.withNumber(change[0].(string), change[1].(float64)), 10)
		if first.name != r.name {
			t.Errorf("with %s at %v %s is used up first, not %s", change[0], change[1], first.name, r.name)
		}
		for i := range after {
			if after[i].name == r.name && after[i].turns >= before[i].turns {
				t.Errorf("%s serves %v turns, and %v when it is poor", r.name, before[i].turns, after[i].turns)
			}
		}
	}
}

// With one connection and nothing random but when turns come and what they compute, the
// simulation is the queue that theory has a formula for.
func TestSimulationOfAKnownQueue(t *testing.T) {
	in := model(t)
	for name, v := range map[string]float64{"node_pool": 1, "primary_cores": 1, "round_trip_ms": 0, "save_statements": 0,
		"turn_db_cpu_ms": 4,
		"flush_ms":       1e-6, "flush_p99_ms": 1e-6, "save_seconds": 1e12, "usage_lanes": 1} {
		in = in.withNumber(name, v)
	}
	// Two visits of 2 ms each at 60 turns a second: a server that is busy 24 % of the time.
	s := simulateTurns(in, 1, 60, 40_000)
	want := 2 * math.Ln2 * 2 / (1 - 0.24) // about: the median of two visits is above that of one
	if s.p50 < want*0.9 || s.p50 > want*1.6 {
		t.Errorf("half of the turns took %.2f ms; theory has about %.2f", s.p50, want)
	}
	if math.Abs(s.turns-60) > 3 {
		t.Errorf("%.1f turns a second were served of 60", s.turns)
	}
	// At ten times what it serves, it serves what it can: 250 turns a second.
	if s = simulateTurns(in, 1, 2500, 20_000); math.Abs(s.turns-250) > 20 {
		t.Errorf("%.1f turns a second were served of the 250 that fit", s.turns)
	}
}

// The simulation is full where the table says so, when connections, commits or lanes are short.
func TestSimulationAgreesWithLimits(t *testing.T) {
	for name, change := range map[string]map[string]float64{
		"connections in use": {"node_pool": 1, "turn_db_cpu_ms": 0.1, "save_seconds": 1e9, "flush_ms": 0.1,
			"flush_p99_ms": 0.1},
		"lanes of usage_days": {"usage_lanes": 1, "save_seconds": 1e9, "flush_p99_ms": 1},
		"processors of the primary": {"primary_cores": 1, "save_seconds": 1e9, "turn_db_cpu_ms": 20, "node_pool": 64,
			"feed_read_ms": 1e-9, "feed_row_us": 1e-9},
	} {
		in := model(t)
		for k, v := range change {
			in = in.withNumber(k, v)
		}
		all, first := listLimits(in, 10)
		if first.name != name && name != "lanes of usage_days" {
			t.Fatalf("%s is used up first, not %s", first.name, name)
		}
		most := first.turns
		for _, l := range all {
			if l.name == name {
				most = l.turns
			}
		}
		if name == "lanes of usage_days" {
			most *= 1.5 // all of a lane, not two thirds
		}
		got := simulateTurns(in, 10, most*5, 6000).turns
		if got < most*0.6 || got > most*1.3 {
			t.Errorf("%s: the table has %.0f turns a second, the simulation %.0f", name, most, got)
		}
	}
}

func TestSimulationIsTheSameAgain(t *testing.T) {
	in := model(t)
	a := simulateTurns(in, 3, 75, 2000)
	b := simulateTurns(in, 3, 75, 2000)
	if a != b {
		t.Errorf("%v, then %v", a, b)
	}
	if busy := simulateTurns(in.withNumber("usage_lanes", 1), 30, 240,
		2000); busy.p99 <= simulateTurns(in, 30, 240, 2000).p99 {
		t.Error("one lane is as fast as many")
	}
}

// The page has the tables of the inputs as they are.
func TestPageIsUpToDate(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "SCALE.md"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := replaceBetween(string(page), writeReport(model(t)))
	if err != nil {
		t.Fatal(err)
	}
	if want != string(page) {
		t.Error("docs/SCALE.md has other tables: go -C bench run ./scale -write")
	}
	if _, err := replaceBetween("no marks", ""); err == nil {
		t.Error("a page without marks was written")
	}
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.0325: "0.033", 1.5: "1.5", 12.34: "12.3", 99.96: "100",
		1234: "1,230", 1e10: "10,000,000,000"} {
		if got := formatShort(v); got != want {
			t.Errorf("%v is %s, not %s", v, got, want)
		}
	}
}
