//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
)

// wholeTurns is how many turns a round takes of one conversation: a compaction comes about every 35.
const wholeTurns = 120

// instantModel answers at once, with about as much as it is asked.
type instantModel struct{ w *writer }

func (instantModel) Facts() model.Facts { return model.Facts{Name: "bench/instant", Limit: 32_768} }

func (m instantModel) Stream(_ context.Context, _ model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		if yield(model.Delta{Text: m.w.makeText(900)}, nil) {
			yield(model.Delta{Finish: scrollback.FinishStop,
				Usage: &scrollback.Usage{InputTokens: 1000, OutputTokens: 100}}, nil)
		}
	}
}

// measureTurn measures a whole turn as a program pays for it: from the question to the stored answer, through local,
// with a model that answers at once; beside it raw SQLite that stores the same two texts and reads the last fifty.
func (b *bench) measureTurn() (err error) {
	lengths := []int{100, b.big / 100, b.mid}
	var opened []*local.Scrollback
	defer func() {
		for _, sb := range opened {
			err = errors.Join(err, sb.Close())
		}
	}()
	for _, n := range lengths {
		s, err := b.openLoaded(n)
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			return err
		}
		sb, err := openLocal(b.ctx, filepath.Join(b.dir, folderNames([]int{n})[0]), instantModel{newWriter(5)})
		if err != nil {
			return err
		}
		opened = append(opened, sb)
		if _, err := takeTurns(b.ctx, sb, conversation, newWriter(7), 40); err != nil { // compacts what was loaded
			return err
		}
	}
	w := newWriter(98)
	for r := range rounds {
		for i, n := range lengths {
			took, err := takeTurns(b.ctx, opened[i], conversation, w, wholeTurns)
			if err != nil {
				return err
			}
			at := "whole turn at " + formatCount(n)
			b.addNumber(at+", p50", r, percentileMS(took, 0.5), "ms")
			b.addNumber(at+", p99", r, percentileMS(took, 0.99), "ms")
		}
		if err := rawTurns(b, w, r); err != nil {
			return err
		}
		for _, name := range append(folderNames(lengths), rawFolder) {
			if err := b.firstWindow(name, r); err != nil {
				return err
			}
		}
		if err := b.turnsTogether(opened[0], r); err != nil {
			return err
		}
	}
	return nil
}

// folderNames names the folders of conversations of some lengths.
func folderNames(lengths []int) (out []string) {
	for _, n := range lengths {
		out = append(out, fmt.Sprint("messages-", n))
	}
	return out
}

// firstRuns is how often the first window of a fresh process is laid out in a round.
const firstRuns = 9

// firstWindow measures how long a process that has just begun takes to open a folder, and then to lay out the next
// request of its conversation; of raw SQLite, to open its file and to read the last fifty.
func (b *bench) firstWindow(name string, round int) error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	var opening, reading, whole []time.Duration
	for range firstRuns {
		cmd := exec.CommandContext(b.ctx, own, "-dir", b.dir, "-first", name)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return err
		}
		var opened, read int64
		if _, err := fmt.Sscan(string(out), &opened, &read); err != nil {
			return err
		}
		opening = append(opening, time.Duration(opened)*time.Microsecond)
		reading = append(reading, time.Duration(read)*time.Microsecond)
		whole = append(whole, time.Duration(opened+read)*time.Microsecond)
	}
	if name == rawFolder {
		b.addNumber(rawFirst, round, percentileMS(whole, 0.5), "ms")
		return nil
	}
	n, _ := strconv.Atoi(strings.TrimPrefix(name, "messages-"))
	b.addNumber("opening in a fresh process at "+formatCount(n), round, percentileMS(opening, 0.5), "ms")
	b.addNumber("first window of a fresh process at "+formatCount(n), round, percentileMS(reading, 0.5), "ms")
	return nil
}

// layOutFirst is the process that does it: it prints how many microseconds opening took, and what came then.
func (b *bench) layOutFirst(name string) (err error) {
	silent := instantModel{} // it is not asked
	began := time.Now()
	var opened time.Time
	if name == rawFolder {
		t, err := openBare(b, name)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, t.close()) }()
		opened = time.Now()
		if err := t.readLast(b.ctx, 50); err != nil {
			return err
		}
	} else {
		sb, err := openLocal(b.ctx, filepath.Join(b.dir, name), silent)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, sb.Close()) }()
		opened = time.Now()
		if _, err := sb.Context(b.ctx, conversation); err != nil {
			return err
		}
	}
	_, err = fmt.Println(opened.Sub(began).Microseconds(), time.Since(opened).Microseconds())
	return err
}

// openLocal opens a folder as programs do, with a model as its own.
func openLocal(ctx context.Context, dir string, m instantModel) (*local.Scrollback, error) {
	return local.Open(ctx, dir, &local.Options{Model: "bench/instant",
		Models: map[string]model.Model{"bench/instant": m},
		Env:    func(string) string { return "" }})
}

// takeTurns takes n turns of a conversation, one after the other, and returns how long each took.
func takeTurns(ctx context.Context, sb *local.Scrollback, id scrollback.ConversationID, w *writer,
	n int) ([]time.Duration, error) {
	var took []time.Duration
	for range n {
		ask := scrollback.Say(w.makeText(900))
		start := time.Now()
		for _, err := range sb.Turn(ctx, engine.TurnRequest{Conversation: id, Message: ask}) {
			if err != nil {
				return nil, err
			}
		}
		took = append(took, time.Since(start))
	}
	return took, nil
}

// turnsTogether takes turns in eight conversations at once.
func (b *bench) turnsTogether(sb *local.Scrollback, round int) error {
	const at = 8
	ids := make([]scrollback.ConversationID, at)
	for i := range ids {
		c, _, err := sb.Create(b.ctx, scrollback.Conversation{})
		if err != nil {
			return err
		}
		ids[i] = c.ID
		if _, err := takeTurns(b.ctx, sb, c.ID, newWriter(uint64(i)), 20); err != nil {
			return err
		}
	}
	var done sync.WaitGroup
	failed := make([]error, at)
	start := time.Now()
	for i, id := range ids {
		done.Go(func() { _, failed[i] = takeTurns(b.ctx, sb, id, newWriter(uint64(100+i)), wholeTurns/4) })
	}
	done.Wait()
	b.addNumber("whole turns of 8 conversations", round, float64(at*wholeTurns/4)/time.Since(start).Seconds(), "/s")
	return errors.Join(failed...)
}

// rawTurns stores two texts in a transaction each and reads the last fifty, with raw SQLite.
func rawTurns(b *bench, w *writer, round int) (err error) {
	t, err := openBare(b, rawFolder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	for range 50 {
		if _, err := t.insert.ExecContext(b.ctx, w.makeText(900)); err != nil {
			return err
		}
	}
	var took []time.Duration
	for range wholeTurns {
		texts := []string{w.makeText(900), w.makeText(900)}
		start := time.Now()
		for _, text := range texts {
			if _, err := t.insert.ExecContext(b.ctx, text); err != nil {
				return err
			}
		}
		if err := t.readLast(b.ctx, 50); err != nil {
			return err
		}
		took = append(took, time.Since(start))
	}
	b.addNumber(rawTurn+", p50", round, percentileMS(took, 0.5), "ms")
	b.addNumber(rawTurn+", p99", round, percentileMS(took, 0.99), "ms")
	return nil
}

// What whole turns, and first windows, are compared with.
const (
	rawTurn   = "raw SQLite doing the same"
	rawFirst  = "raw SQLite opened, the last fifty read"
	rawFolder = "rawturns"
)

// readLast reads the newest n texts.
func (t bareTable) readLast(ctx context.Context, n int) error {
	rows, err := t.conn.QueryContext(ctx, `SELECT text FROM said ORDER BY n DESC LIMIT ?`, n)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err has what matters
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
	}
	return rows.Err()
}
