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
		return float64(nodes) * in.of("node_cores") * 1000 / in.of("node_cpu_ms")
	}, false},
	{"connections in use", func(in inputs, nodes int) float64 {
		open := math.Min(in.of("connections"), float64(nodes)*in.of("node_pool"))
		return open * 1000 / held(in)
	}, true},
	{"processors of the primary", func(in inputs, nodes int) float64 {
		free := in.of("primary_cores")*1000 - polled(in, nodes)
		a, b := feed(in, nodes)
		return math.Max(0, free-b) / (in.of("turn_db_cpu_ms") + in.saves()*in.of("save_db_cpu_ms") + a)
	}, true},
	{"commits", func(in inputs, _ int) float64 {
		return in.of("flush_group") * 1000 / in.of("flush_ms") / (2 + in.saves())
	}, true},
	{"WAL", func(in inputs, _ int) float64 {
		return in.of("wal_mb_s") * 1024 / (in.of("turn_wal_kb") + in.saves()*in.of("save_wal_kb"))
	}, true},
	{"lanes of usage_days", func(in inputs, _ int) float64 {
		// A lane is held from its statement to the end of the commit; lanes are picked by
		// chance, and past two thirds of what they hold those who wait for one hold connections.
		return 2.0 / 3 * in.of("usage_lanes") * 1000 / (in.of("lane_statements")*in.of("round_trip_ms") + in.of("flush_ms"))
	}, true},
	{"the sequencer", func(in inputs, _ int) float64 {
		rows := in.of("sequence_rows")
		return rows * 1000 / (in.of("sequence_ms") + rows*in.of("sequence_row_us")/1000) / in.of("outbox_rows")
	}, false},
	{"tending the index", func(in inputs, _ int) float64 {
		return 1000 / in.of("tend_ms") / in.of("turn_messages")
	}, false},
	{"vacuum of the outboxes", func(in inputs, _ int) float64 {
		// Each row of an outbox dies, and each save and each turn leaves a dead version of the
		// turn's row, and each turn two of the conversation's and the branch's.
		return in.of("vacuum_rows_s") / (in.of("outbox_rows") + in.saves() + 5)
	}, true},
	{"reading the feed", func(in inputs, nodes int) float64 {
		a, b := feed(in, nodes)
		// At most half of the primary may go to telling nodes what happened.
		return math.Max(0, in.of("primary_cores")*500-b-polled(in, nodes)) / a
	}, false},
}

// held is for how many milliseconds a turn holds connections, without waiting for others.
func held(in inputs) float64 {
	statements := in.of("turn_statements") + in.saves()*in.of("save_statements")
	return statements*in.of("round_trip_ms") + in.of("turn_db_cpu_ms") + in.saves()*in.of("save_db_cpu_ms") +
		(2+in.saves())*1.5*in.of("flush_ms") // who comes during a flush waits for the rest of it
}

// feed is what telling all nodes costs the primary in milliseconds: of each turn, and of each
// second. A node looks once for each batch of the sequencer, however little is in it, but not
// more often than it is let; batches come no faster than they are numbered.
func feed(in inputs, nodes int) (turn, second float64) {
	looks := math.Min(1000/(in.of("sequence_ms")+in.of("flush_ms")), in.of("feed_reads_s"))
	return float64(nodes) * in.of("outbox_rows") * in.of("feed_row_us") / 1000, float64(nodes) * looks * in.of("feed_read_ms")
}

// polled is what the polling behind the signals costs the primary, in milliseconds a second.
func polled(in inputs, nodes int) float64 {
	return float64(nodes) * in.of("feed_polls_s") * in.of("feed_read_ms")
}

// limit is a resource with how many turns a second it can serve.
type limit struct {
	resource
	turns float64
}

// limits are those of all resources; first is the one that is used up first.
func limits(in inputs, nodes int) (all []limit, first limit) {
	first.turns = math.Inf(1)
	for _, r := range resources {
		l := limit{r, r.most(in, nodes)}
		if all = append(all, l); l.turns < first.turns {
			first = l
		}
	}
	return all, first
}

// databases is how many primaries that share the conversations a resource needs for what the
// nodes ask, with a third of it left free.
func databases(in inputs, l limit, nodes int) int {
	if l.turns <= 0 {
		return 0
	}
	return max(1, int(math.Ceil(in.asked(nodes)/(l.turns*2/3))))
}
