//go:build linux

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/local"
)

// conversations are open at once in the figure of many servers, over all of them.
const conversations = 64

// measureAlone measures turns of one conversation, one after the other, and what they cost.
func (r *run) measureAlone(where string) (err error) {
	place, err := r.newDatabase(where, "alone")
	if err != nil {
		return err
	}
	sb, err := openStore(r.ctx, r.dir, place)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sb.Close()) }()
	c, _, err := sb.Store.CreateConversation(r.ctx, scrollback.Conversation{})
	if err != nil {
		return err
	}
	w := newWords(1)
	for range 20 { // statements are prepared
		if _, err := runTurn(r.ctx, sb.Store, c.ID, w); err != nil {
			return err
		}
	}
	for range r.rounds {
		n := r.seconds * 40
		cost, err := r.measureCost(where, place, n, func() error {
			var took []float64
			for range n {
				d, err := runTurn(r.ctx, sb.Store, c.ID, w)
				if err != nil {
					return err
				}
				took = append(took, toMillis(d))
			}
			r.addValue("a turn, p50", where, percentileMS(took, 0.5), "ms")
			r.addValue("a turn, p99", where, percentileMS(took, 0.99), "ms")
			return nil
		})
		if err != nil {
			return err
		}
		r.addCosts("a turn", "turn", where, cost)
	}
	if where == postgres && r.statements {
		if err := r.pg.listStatements(r.ctx, place, r.rounds*r.seconds*40+20); err != nil {
			return err
		}
	}
	return r.measureDrafts(where, place, sb, c.ID)
}

// measureDrafts measures what storing the draft of an open turn costs.
func (r *run) measureDrafts(where, place string, sb *local.Scrollback, id scrollback.ConversationID) error {
	begun, err := beginTurn(r.ctx, sb.Store, id, "a question")
	if err != nil {
		return err
	}
	n := r.seconds * 40
	text := newWords(2).makeText()
	cost, err := r.measureCost(where, place, n, func() error {
		var took []float64
		for i := range n {
			start := time.Now()
			if _, err := sb.Store.Turns.SaveDraft(r.ctx, begun.Turn, scrollback.Draft{Content: text[:i%len(text)]}); err != nil {
				return err
			}
			took = append(took, toMillis(time.Since(start)))
		}
		r.addValue("a draft, p50", where, percentileMS(took, 0.5), "ms")
		return nil
	})
	if err == nil {
		r.addCosts("a draft", "save", where, cost)
	}
	return err
}

// spent is what something cost, by one.
type spent struct {
	statements, walKB, databaseMS, serverMS float64
	counted                                 bool
}

// measureCost does something n times, and returns what one of them cost. What runs in the background
// meanwhile, such as the index, is in it.
func (r *run) measureCost(where, place string, n int, do func() error) (s spent, err error) {
	var before, after counters
	if where == postgres {
		if before, err = r.pg.readCounters(r.ctx, place); err != nil {
			return s, err
		}
	}
	cpu := processorTime()
	if err := do(); err != nil {
		return s, err
	}
	s.serverMS = (processorTime() - cpu) / float64(n)
	if where == postgres {
		if after, err = r.pg.readCounters(r.ctx, place); err != nil {
			return s, err
		}
		d := after.differenceTo(before)
		by := float64(n)
		s.statements = float64(d.statements) / by
		s.walKB = float64(d.wal) / 1024 / by
		s.databaseMS = d.cpu / by
		s.counted = r.pg.counts
	}
	return s, nil
}

// addCosts adds what something cost, and notes it for bench/scale.
func (r *run) addCosts(what, input, where string, s spent) {
	r.addValue(what+", processor of the server", where, s.serverMS, "ms")
	if where != postgres {
		return
	}
	r.addValue(what+", processor of the database", where, s.databaseMS, "ms")
	r.addValue(what+", WAL", where, s.walKB, "KB")
	r.inputs[input+"_wal_kb"] = s.walKB
	r.inputs[input+"_db_cpu_ms"] = s.databaseMS
	if s.counted {
		r.addValue(what+", statements", where, s.statements, "")
		r.inputs[input+"_statements"] = s.statements
	}
}

// measureTogether measures turns of many conversations at once, in 1, 2 and 4 processes.
func (r *run) measureTogether(where string) error {
	for range r.rounds {
		for _, servers := range []int{1, 2, 4} {
			if where == sqlite && servers > 1 {
				continue // one file is one machine's
			}
			if err := r.measureServers(where, servers); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) measureServers(where string, n int) error {
	place, err := r.newDatabase(where, fmt.Sprint("servers", n))
	if err != nil {
		return err
	}
	var workers []*workerGroup
	for i := range n {
		c, err := r.startWorker(job{URL: place, Conversations: conversations / n, Seconds: r.seconds,
			Seed: uint64(i * 10_000)})
		if err != nil {
			return err
		}
		defer func() { _ = c.killWorker() }() // it has ended, or something failed
		workers = append(workers, c)
	}
	var before counters
	if where == postgres {
		if before, err = r.pg.readCounters(r.ctx, place); err != nil {
			return err
		}
	}
	for _, c := range workers {
		if err := c.beginWork(); err != nil {
			return err
		}
	}
	var all done
	for _, c := range workers {
		d, err := c.waitResult()
		if c.dead = true; err != nil {
			return err
		}
		all.Took = append(all.Took, d.Took...)
		all.CPU += d.CPU
	}
	what := fmt.Sprintf("%d conversations, %d %s", conversations, n,
		map[bool]string{true: "server", false: "servers"}[n == 1])
	r.addValue(what, where, float64(len(all.Took))/float64(r.seconds), "turns/s")
	r.addValue(what+", p99", where, percentileMS(all.Took, 0.99), "ms")
	r.addValue(what+", processor of the servers a turn", where, all.CPU/float64(len(all.Took)), "ms")
	if where != postgres {
		return nil
	}
	after, err := r.pg.readCounters(r.ctx, place)
	if err != nil {
		return err
	}
	d := after.differenceTo(before)
	by := float64(len(all.Took))
	r.addValue(what+", processor of the database a turn", where, d.cpu/by, "ms")
	r.addValue(what+", WAL a turn", where, float64(d.wal)/1024/by, "KB")
	r.inputs["turn_wal_kb"] = float64(d.wal) / 1024 / by
	r.inputs["turn_db_cpu_ms"] = d.cpu / by
	if r.pg.counts {
		r.addValue(what+", statements a turn", where, float64(d.statements)/by, "")
		r.inputs["turn_statements"] = float64(d.statements) / by
	}
	return nil
}

// measureTakeover measures how long a turn stays with a server that was killed: from the kill to
// the next turn of its conversation, begun by another one.
func (r *run) measureTakeover(where string) (err error) {
	place, err := r.newDatabase(where, "takeover")
	if err != nil {
		return err
	}
	sb, err := openStore(r.ctx, r.dir, place)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sb.Close()) }()
	for range r.rounds {
		c, _, err := sb.Store.CreateConversation(r.ctx, scrollback.Conversation{})
		if err != nil {
			return err
		}
		w, err := r.startWorker(job{URL: place, Hold: c.ID})
		if err != nil {
			return err
		}
		if err := w.killWorker(); err != nil {
			return err
		}
		start := time.Now()
		for {
			_, err := beginTurn(r.ctx, sb.Store, c.ID, "again")
			if err == nil {
				break
			}
			if scrollback.CodeOf(err) != scrollback.Conflict || time.Since(start) > time.Minute {
				return err
			}
			time.Sleep(10 * time.Millisecond)
		}
		r.addValue("takeover from a killed server", where, time.Since(start).Seconds(), "s")
	}
	return nil
}
