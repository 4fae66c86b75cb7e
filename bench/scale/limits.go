package main

import "math"

// resource is something that turns use up.
type resource struct {
	name string
	// most is how many turns a second it can serve for a number of nodes.
	most func(in inputs, nodes int) float64
	// split is whether databases that share the conversations share it out. What is one for
	// all is split only by making it one for each database.
	split bool
}

// resources are what a turn passes, in the order of its way.
var resources = []resource{
	{"processors of the nodes", func(in inputs, nodes int) float64 {
		return float64(nodes) * in.numberOf("node_cores") * 1000 / in.numberOf("node_cpu_ms")
	}, false},
	{"connections in use", func(in inputs, nodes int) float64 {
		open := math.Min(in.numberOf("connections"), float64(nodes)*in.numberOf("node_pool"))
		return open * 1000 / connectionTime(in)
	}, true},
	{"processors of the primary", func(in inputs, nodes int) float64 {
		free := in.numberOf("primary_cores")*1000 - pollingCost(in, nodes)
		a, b := feedCost(in, nodes)
		return math.Max(0, free-b) / (in.numberOf("turn_db_cpu_ms") + in.draftSaves()*in.numberOf("save_db_cpu_ms") + a)
	}, true},
	{"commits", func(in inputs, _ int) float64 {
		return in.numberOf("flush_group") * 1000 / in.numberOf("flush_ms") / (2 + in.draftSaves())
	}, true},
	{"WAL", func(in inputs, _ int) float64 {
		return in.numberOf("wal_mb_s") * 1024 / (in.numberOf("turn_wal_kb") + in.draftSaves()*in.numberOf("save_wal_kb"))
	}, true},
	{"lanes of usage_days", func(in inputs, _ int) float64 {
		// A lane is held from its statement to the end of the commit; lanes are picked by
		// chance, and past two thirds of what they hold those who wait for one hold connections.
		return 2.0 / 3 * in.numberOf("usage_lanes") * 1000 / (in.numberOf("lane_statements")*in.numberOf("round_trip_ms") +
			in.numberOf("flush_ms"))
	}, true},
	{"the sequencer", func(in inputs, _ int) float64 {
		rows := in.numberOf("sequence_rows")
		return rows * 1000 / (in.numberOf("sequence_ms") +
			rows*in.numberOf("sequence_row_us")/1000) / in.numberOf("outbox_rows")
	}, false},
	{"tending the index", func(in inputs, _ int) float64 {
		return 1000 / in.numberOf("tend_ms") / in.numberOf("turn_messages")
	}, false},
	{"vacuum of the outboxes", func(in inputs, _ int) float64 {
		// Each row of an outbox dies, and each save and each turn leaves a dead version of the
		// turn's row, and each turn two of the conversation's and the branch's.
		return in.numberOf("vacuum_rows_s") / (in.numberOf("outbox_rows") + in.draftSaves() + 5)
	}, true},
	{"reading the feed", func(in inputs, nodes int) float64 {
		a, b := feedCost(in, nodes)
		// At most half of the primary may go to telling nodes what happened.
		return math.Max(0, in.numberOf("primary_cores")*500-b-pollingCost(in, nodes)) / a
	}, false},
}

// connectionTime is for how many milliseconds a turn holds connections, without waiting for others.
func connectionTime(in inputs) float64 {
	statements := in.numberOf("turn_statements") + in.draftSaves()*in.numberOf("save_statements")
	return statements*in.numberOf("round_trip_ms") + in.numberOf("turn_db_cpu_ms") +
		in.draftSaves()*in.numberOf("save_db_cpu_ms") +
		(2+in.draftSaves())*1.5*in.numberOf("flush_ms") // who comes during a flush waits for the rest of it
}

// feedCost returns what telling all nodes costs the primary in milliseconds: of each turn, and of each
// second. A node looks once for each batch of the sequencer, however little is in it, but not
// more often than it is let; batches come no faster than they are numbered.
func feedCost(in inputs, nodes int) (turn, second float64) {
	looks := math.Min(1000/(in.numberOf("sequence_ms")+in.numberOf("flush_ms")), in.numberOf("feed_reads_s"))
	return float64(nodes) * in.numberOf("outbox_rows") * in.numberOf("feed_row_us") / 1000, float64(
		nodes) * looks * in.numberOf("feed_read_ms")
}

// pollingCost returns what the polling behind the signals costs the primary, in milliseconds a second.
func pollingCost(in inputs, nodes int) float64 {
	return float64(nodes) * in.numberOf("feed_polls_s") * in.numberOf("feed_read_ms")
}

// limit is a resource with how many turns a second it can serve.
type limit struct {
	resource
	turns float64
}

// listLimits returns those of all resources; first is the one that is used up first.
func listLimits(in inputs, nodes int) (all []limit, first limit) {
	first.turns = math.Inf(1)
	for _, r := range resources {
		l := limit{r, r.most(in, nodes)}
		if all = append(all, l); l.turns < first.turns {
			first = l
		}
	}
	return all, first
}

// countDatabases returns how many primaries that share the conversations a resource needs for what the
// nodes ask, with a third of it left free.
func countDatabases(in inputs, l limit, nodes int) int {
	if l.turns <= 0 {
		return 0
	}
	return max(1, int(math.Ceil(in.turnRate(nodes)/(l.turns*2/3))))
}
