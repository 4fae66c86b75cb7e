//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store"
)

// turnsARound is how many turns a round appends.
const turnsARound = 400

// append measures turns at growing lengths of one conversation, and the plain
// file that they are compared with. They take turns in each round, so that whatever else
// the machine does affects all of them alike.
func (b *bench) append() (err error) {
	lengths := []int{100, b.big / 100, b.big}
	stores := make([]*store.Store, len(lengths))
	for i, n := range lengths {
		if stores[i], err = b.loaded(n); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stores[i].Close()) }()
	}
	w := newWriter(99)
	for _, s := range stores {
		if _, err := turns(b.ctx, s, conversation, w, 50); err != nil { // warm
			return err
		}
	}
	for r := range rounds {
		for i, n := range lengths {
			if err := b.appendAt(stores[i], w, "at "+count(n), r); err != nil {
				return err
			}
		}
		d, err := b.plainFile()
		if err != nil {
			return err
		}
		b.add("two syncs of a plain file, p50", r, percentile(d, 0.5), "ms")
		b.add("two syncs of a plain file, p99", r, percentile(d, 0.99), "ms")
	}
	return nil
}

// appendAt is one round of one length.
func (b *bench) appendAt(s *store.Store, w *writer, at string, r int) error {
	before, err := written()
	if err != nil {
		return err
	}
	took, err := turns(b.ctx, s, conversation, w, turnsARound)
	if err != nil {
		return err
	}
	after, err := written()
	if err != nil {
		return err
	}
	b.add("turn "+at+", p50", r, percentile(took, 0.5), "ms")
	b.add("turn "+at+", p99", r, percentile(took, 0.99), "ms")
	b.add("written a turn "+at, r, float64(after-before)/turnsARound/1024, "KB")
	return nil
}

// turns appends n turns and returns how long each took.
func turns(ctx context.Context, s *store.Store, id scrollback.ConversationID, w *writer, n int) ([]time.Duration, error) {
	var took []time.Duration
	for range n {
		ask, say := incoming(scrollback.RoleUser, w.text(900)), incoming(scrollback.RoleAssistant, w.text(900)) // not timed
		start := time.Now()
		begun, err := s.Turns.Begin(ctx, store.BeginRequest{Conversation: id, Owner: "bench", Messages: []store.Incoming{ask},
			Admit: func(*scrollback.Turn) error { return nil }, Edit: func(*scrollback.Conversation) {}})
		if err != nil {
			return nil, err
		}
		_, err = s.Turns.Finish(ctx, store.FinishRequest{Turn: begun.Turn, Messages: []store.Incoming{say}, State: scrollback.TurnComplete, FinishReason: scrollback.FinishStop,
			Usage: []scrollback.UsageRecord{{Conversation: id, TurnID: begun.Turn.ID, Model: "bench/model", Purpose: "turn", At: s.Now(),
				Usage: scrollback.Usage{InputTokens: 1000, OutputTokens: 100, TotalTokens: 1100}}}})
		if err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	return took, nil
}

// plainFile appends what a turn says to a file, in two synced writes.
func (b *bench) plainFile() ([]time.Duration, error) {
	f, err := os.OpenFile(filepath.Join(b.dir, "plain"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text := bytes.Repeat([]byte("x"), 900)
	var took []time.Duration
	for range turnsARound {
		start := time.Now()
		for range 2 {
			if _, err := f.Write(text); err != nil {
				return nil, err
			}
			if err := syscall.Fdatasync(int(f.Fd())); err != nil {
				return nil, err
			}
		}
		took = append(took, time.Since(start))
	}
	return took, nil
}

// written is how many bytes this process has handed to the disk so far.
func written() (int64, error) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(text, []byte("\nwrite_bytes: "))
	var n int64
	_, err = fmt.Sscan(string(rest), &n)
	return n, err
}

// count is a number with commas.
func count(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
