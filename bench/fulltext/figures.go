//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// listQuestions returns what the ways are asked.
func (r *run) listQuestions() []question {
	one := max(r.documents/2/each/atOnce, 1) * atOnce // a conversation in the middle
	within := []driver.PlaceRun{{First: driver.NewPlace(int64(one), 0), Last: driver.NewPlace(int64(one), 1<<32-1)}}
	return []question{
		{"a rare term (1 in 10,000)", driver.PostingQuery{Terms: []string{rare}}},
		{"a term of 1 %", driver.PostingQuery{Terms: []string{middle}}},
		{"a common term (10 %)", driver.PostingQuery{Terms: []string{common}}},
		{"two terms (10 % and 1 %)", driver.PostingQuery{Terms: []string{common, middle}}},
		{"a beginning (40 terms, 2 %)", driver.PostingQuery{Terms: []string{begin + "*"}}},
		{"a common term in one conversation", driver.PostingQuery{Terms: []string{common}, Within: within}},
	}
}

type question struct {
	what  string
	query driver.PostingQuery
}

// loadAll gives each way all documents, in turns of a part of them.
func (r *run) loadAll() error {
	const parts = 10
	spent := map[string]*spent{}
	took := map[string][]float64{}
	for part := range parts {
		docs := r.talk.nextDocuments(r.documents*(part+1)/parts - r.documents*part/parts)
		for _, w := range r.ways {
			// What a checkpoint makes the next changes write is then the same for each.
			if _, err := r.pg.admin.Exec(r.ctx, `CHECKPOINT`); err != nil {
				return err
			}
			s, err := r.measureCost(func() error {
				for some := range slices.Chunk(docs, r.batch) {
					start := time.Now()
					if err := w.putBatch(r.ctx, some); err != nil {
						return fmt.Errorf("%s: %w", w.wayName(), err)
					}
					took[w.wayName()] = append(took[w.wayName()], toMillis(time.Since(start)))
				}
				return nil
			})
			if err != nil {
				return err
			}
			if spent[w.wayName()] == nil {
				spent[w.wayName()] = &s
			} else {
				spent[w.wayName()].addCost(s)
			}
		}
	}
	for _, w := range r.ways {
		n := float64(r.documents)
		s := spent[w.wayName()]
		all := took[w.wayName()]
		r.addValue("putting", w, n/s.seconds, "documents/s")
		r.addValue("a batch, p50", w, percentileOf(all, 0.5), "ms")
		r.addValue("a batch, p99", w, percentileOf(all, 0.99), "ms")
		r.addValue("the longest batch", w, percentileOf(all, 1), "ms")
		r.addValue("WAL", w, s.wal/n, "bytes a document")
		if err := r.settleDatabase(w); err != nil {
			return err
		}
	}
	return nil
}

// settleDatabase lets the database do what it would sooner or later, and measures what is stored.
func (r *run) settleDatabase(w way) error {
	conn, err := pgx.Connect(r.ctx, r.dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(r.ctx) }() // it only read
	stored := 0.0
	for _, t := range w.listTables() {
		var n float64
		if _, err := conn.Exec(r.ctx, `VACUUM ANALYZE `+t); err != nil {
			return err
		}
		if err := conn.QueryRow(r.ctx, `SELECT pg_total_relation_size(CAST($1 AS regclass))`, t).Scan(&n); err != nil {
			return err
		}
		stored += n
	}
	r.addValue("stored", w, stored/float64(r.documents), "bytes a document")
	return nil
}

// askAll asks each way the questions, and holds that they find the same.
func (r *run) askAll() error {
	for range r.rounds {
		for _, q := range r.listQuestions() {
			if err := r.checkSame(q); err != nil {
				return err
			}
			for _, w := range r.ways {
				var took, less []float64
				for range r.times {
					start := time.Now()
					if _, err := w.findDocuments(r.ctx, q.query); err != nil {
						return err
					}
					took = append(took, toMillis(time.Since(start)))
					if v, ok := w.(*vectors); ok {
						start := time.Now()
						if _, err := v.readPlaces(r.ctx, q.query); err != nil {
							return err
						}
						less = append(less, toMillis(time.Since(start)))
					}
				}
				r.addValue(q.what+", p50", w, percentileOf(took, 0.5), "ms")
				r.addValue(q.what+", p99", w, percentileOf(took, 0.99), "ms")
				if less != nil {
					r.addValue(q.what+": places alone, p50", w, percentileOf(less, 0.5), "ms")
				}
			}
		}
	}
	return nil
}

// checkSame holds that all ways find the same, and something.
func (r *run) checkSame(q question) error {
	var first []driver.Postings
	for i, w := range r.ways {
		got, err := w.findDocuments(r.ctx, q.query)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", w.wayName(), q.what, err)
		}
		if i == 0 {
			first = got
		}
		for n, p := range got {
			if p.Holding != first[n].Holding || !slices.Equal(p.Places, first[n].Places) ||
				!slices.Equal(p.Counts, first[n].Counts) {
				return fmt.Errorf("%s: %s finds %d of %d, and %s %d of %d, or others", q.what, w.wayName(), len(p.Places),
					p.Holding,
					r.ways[0].wayName(), len(first[n].Places), first[n].Holding)
			}
			if p.Holding == 0 || len(p.Places) == 0 {
				return fmt.Errorf("%s: nothing is found", q.what)
			}
		}
	}
	return nil
}

// measureCold measures the first question after the server was started again: what the machine
// itself keeps of its files stays. A given server is left alone.
func (r *run) measureCold() error {
	if r.pg.server == nil {
		return nil
	}
	for range r.rounds {
		for i, open := range []func(context.Context, string) (way, error){openPostings, openVectors, openUnbuffered} {
			r.closeWays()
			if err := errors.Join(r.pg.admin.Close(r.ctx), r.pg.stopServer()); err != nil {
				return err
			}
			if err := r.pg.startServer(r.ctx); err != nil {
				return err
			}
			w, err := open(r.ctx, r.dsn)
			if err != nil {
				return fmt.Errorf("way %d: %w", i, err)
			}
			start := time.Now()
			_, err = w.findDocuments(r.ctx, driver.PostingQuery{Terms: []string{common}})
			r.addValue("the first after a start: a common term", w, toMillis(time.Since(start)), "ms")
			w.closeWay()
			if err != nil {
				return err
			}
		}
	}
	talk := r.talk
	err := r.openWays(r.ctx, r.dsn)
	r.talk = talk
	return err
}

// measurePurge deletes one conversation in a hundred, at least one.
func (r *run) measurePurge() error {
	var gone []int64
	for b := 1; b <= r.documents/each; b += 100 {
		gone = append(gone, int64(b))
	}
	for _, w := range r.ways {
		if err := r.addCosts("purging 1 %: not found any more", w,
			func() error { return w.hideBranches(r.ctx, gone) }); err != nil {
			return err
		}
		if err := r.addCosts("purging 1 %: gone", w, func() error { return w.cleanUp(r.ctx) }); err != nil {
			return err
		}
	}
	for _, q := range r.listQuestions()[2:3] {
		if err := r.checkSame(q); err != nil {
			return fmt.Errorf("after a purge: %w", err)
		}
	}
	return nil
}

func (r *run) addCosts(what string, w way, do func() error) error {
	s, err := r.measureCost(do)
	if err == nil {
		r.addValue(what, w, s.seconds*1000, "ms")
		r.addValue(what+", WAL", w, s.wal/1024, "KB")
	}
	return err
}

// measureTogether measures several servers that put documents at once, each in transactions of its
// own. Of the store's own index one server at a time puts, whichever it is.
func (r *run) measureTogether() error {
	const servers = 4
	for _, w := range r.ways {
		v, ok := w.(*vectors)
		if !ok {
			continue
		}
		docs := r.talk.nextDocuments(max(r.documents/10, servers*r.batch))
		batches := make(chan []driver.Document, len(docs)/r.batch+1)
		for some := range slices.Chunk(docs, r.batch) {
			batches <- some
		}
		close(batches)
		var all sync.WaitGroup
		errs := make([]error, servers)
		start := time.Now()
		for i := range servers {
			all.Go(func() { errs[i] = v.drainBatches(r.ctx, r.dsn, batches) })
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		r.addValue("putting, 4 servers at once", w, float64(len(docs))/time.Since(start).Seconds(), "documents/s")
	}
	return nil
}

// drainBatches puts batches until there are no more.
func (v *vectors) drainBatches(ctx context.Context, dsn string, batches <-chan []driver.Document) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // all is committed
	for some := range batches {
		if err := putVectors(ctx, conn, v.table, some); err != nil {
			return err
		}
	}
	return nil
}

// spent is what something cost.
type spent struct{ seconds, wal float64 }

func (s *spent) addCost(o spent) {
	s.seconds += o.seconds
	s.wal += o.wal
}

func (r *run) measureCost(do func() error) (s spent, err error) {
	var before, after float64
	const position = `SELECT CAST(pg_current_wal_insert_lsn() - '0/0' AS double precision)`
	if err := r.pg.admin.QueryRow(r.ctx, position).Scan(&before); err != nil {
		return s, err
	}
	start := time.Now()
	if err := do(); err != nil {
		return s, err
	}
	s.seconds = time.Since(start).Seconds()
	err = r.pg.admin.QueryRow(r.ctx, position).Scan(&after)
	s.wal = after - before
	return s, err
}

// row is one measured number.
type row struct {
	what, way string
	value     float64
	unit      string
}

func (r *run) addValue(what string, w way, value float64, unit string) {
	fmt.Fprintf(os.Stderr, "   %-52s %-26s %.4g %s\n", what, w.wayName(), value, unit)
	r.rows = append(r.rows, row{what, w.wayName(), value, unit})
}

// writeReport returns the table of medians.
func (r *run) writeReport() string {
	var b strings.Builder
	b.WriteString("| |")
	for _, w := range r.ways {
		b.WriteString(" " + w.wayName() + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(r.ways)) + "\n")
	done := map[string]bool{}
	for _, x := range r.rows {
		if done[x.what] {
			continue
		}
		done[x.what] = true
		fmt.Fprintf(&b, "| %s, %s |", x.what, x.unit)
		for _, w := range r.ways {
			b.WriteString(" " + r.medianOf(x.what, w.wayName()) + " |")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (r *run) medianOf(what, way string) string {
	var all []float64
	for _, x := range r.rows {
		if x.what == what && x.way == way {
			all = append(all, x.value)
		}
	}
	if len(all) == 0 {
		return ""
	}
	v := percentileOf(all, 0.5)
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

// percentileOf of numbers.
func percentileOf(all []float64, p float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return all[min(len(all)-1, int(p*float64(len(all))))]
}

func toMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
