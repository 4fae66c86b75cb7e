//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// turnsARound is how many turns a round appends.
const turnsARound = 400

// measureAppend measures turns at growing lengths of one conversation, and the bare table and
// the plain file that they are compared with. They take turns in each round, so that
// whatever else the machine does affects all of them alike.
func (b *bench) measureAppend() (err error) {
	lengths := []int{100, b.big / 100, b.big}
	stores := make([]*store.Store, len(lengths))
	for i, n := range lengths {
		if stores[i], err = openCounting(b, n); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stores[i].Close()) }()
	}
	w := newWriter(99)
	for _, s := range stores {
		if _, err := appendTurns(b.ctx, s, conversation, w, 50); err != nil { // warm
			return err
		}
	}
	sum := make([]int64, len(lengths))
	for r := range rounds {
		for i, n := range lengths {
			n, err := appendAt(b, stores[i], w, place{"at " + formatCount(n), r})
			if err != nil {
				return err
			}
			sum[i] += n
		}
		if err := errors.Join(rawSQLite(b, w, r), plainFile(b, r)); err != nil {
			return err
		}
	}
	for i, n := range lengths {
		// Over all rounds: the log is not copied into the database in each.
		b.addNumber("written a turn at "+formatCount(n), 0, float64(sum[i])/rounds/turnsARound/1024, "KB")
	}
	return nil
}

// openCounting returns a loaded database that counts tokens as the program does from here on.
func openCounting(b *bench, n int) (*store.Store, error) {
	s, err := b.openLoaded(n)
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		return nil, err
	}
	return b.openCounting(fmt.Sprint("messages-", n))
}

// place is a length of a conversation, in words, and a round.
type place struct {
	at    string
	round int
}

// appendAt measures one round at one length. It returns how many bytes were written.
func appendAt(b *bench, s *store.Store, w *writer, p place) (int64, error) {
	before, err := bytesWritten()
	if err != nil {
		return 0, err
	}
	took, err := appendTurns(b.ctx, s, conversation, w, turnsARound)
	if err != nil {
		return 0, err
	}
	after, err := bytesWritten()
	b.addNumber("turn "+p.at+", p50", p.round, percentileMS(took, 0.5), "ms")
	b.addNumber("turn "+p.at+", p99", p.round, percentileMS(took, 0.99), "ms")
	return after - before, err
}

// appendTurns appends n turns and returns how long each took. They store what turns of the
// program do: a usage record that teaches, the window's mark, the account of the step.
func appendTurns(ctx context.Context, s *store.Store, id scrollback.ConversationID, w *writer,
	n int) ([]time.Duration, error) {
	var took []time.Duration
	for range n {
		// not timed
		ask := newIncoming(scrollback.RoleUser, w.makeText(900))
		say := newIncoming(scrollback.RoleAssistant, w.makeText(900))
		sent := sentAccount(s.Now(), w)
		mark := windowMark(w)
		start := time.Now()
		begun, err := s.Turns.Begin(ctx,
			store.BeginRequest{Conversation: id, Owner: "bench", Messages: []store.IncomingMessage{ask},
				Admit: func(*scrollback.Turn) error { return nil }, Edit: func(*scrollback.Conversation) {}})
		if err != nil {
			return nil, err
		}
		_, err = s.Turns.FinishStep(ctx, store.FinishRequest{Turn: begun.Turn, Messages: []store.IncomingMessage{say},
			State: scrollback.TurnComplete, FinishReason: scrollback.FinishStop,
			Window: mark, Sent: sent, Texts: map[string]string{sent.Instructions: "instructions", sent.Tools: "tools"},
			Usage: []scrollback.UsageRecord{{Conversation: id, TurnID: begun.Turn.ID, Model: "bench/model", Purpose: "turn",
				At: s.Now(), WindowTokens: 1000,
				Usage: scrollback.Usage{InputTokens: 1000, OutputTokens: 100, TotalTokens: 1100}}}})
		if err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	return took, nil
}

// sentAccount returns what a step of a turn sent, with three placeholders: about 850 bytes.
func sentAccount(now int64, w *writer) *scrollback.SentRequest {
	s := &scrollback.SentRequest{Step: 1, At: now, Model: "bench/model", Policy: "segments", Limit: 32_768,
		LimitFrom: scrollback.LimitCatalog, Budget: 27_034,
		CompactsAt: 24_330, Tokens: 12_345, Bytes: 49_380, Reused: 11_111, Dialect: "chat", Factor: 1.0625,
		Instructions: strings.Repeat("1", 32), Tools: strings.Repeat("2", 32), Environment: w.hashLike(16), First: 301,
		Last:   340,
		Prompt: 340, Hash: w.hashLike(32)}
	s.Runs = append(s.Runs, scrollback.SentRun{Kind: scrollback.KindInstructions, Layer: scrollback.LayerInstructions,
		Tokens: 210})
	for i := range int64(3) {
		s.Segments = append(s.Segments, scrollback.SegmentID(w.hashLike(16)))
		s.Runs = append(s.Runs, scrollback.SentRun{Kind: scrollback.KindPlaceholder, Layer: scrollback.LayerPlaceholders,
			Seq: i*100 + 1, LastSeq: i*100 + 100, Tokens: 180 + i})
	}
	s.Runs = append(s.Runs, scrollback.SentRun{Kind: scrollback.KindMessage, Layer: scrollback.LayerMessages, Seq: 301,
		LastSeq: 339, Tokens: 11_000},
		scrollback.SentRun{Kind: scrollback.KindMessage, Layer: scrollback.LayerPrompt, Seq: 340, LastSeq: 340, Tokens: 250})
	s.Summary = &scrollback.ViewSummary{Segment: s.Segments[2], FirstSeq: 1, LastSeq: 300, Tokens: 400}
	return s
}

// windowMark returns that of a window with all its layers.
func windowMark(w *writer) *scrollback.WindowMark {
	m := &scrollback.WindowMark{Items: 45, Tokens: 12_345, Hash: w.hashLike(32)}
	for i := range 5 {
		m.Layers = append(m.Layers, scrollback.LayerMark{Items: 8 * (i + 1), Tokens: int64(2000 * (i + 1)),
			Hash: w.hashLike(32)})
	}
	return m
}

// hashLike returns n bytes that look like a hash, in hexadecimal.
func (w *writer) hashLike(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(w.rng.Uint32())
	}
	return hex.EncodeToString(b)
}

// formatCount returns a number with commas.
func formatCount(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// rawSQLite inserts what turns say into a bare table, each message in a transaction of its
// own.
func rawSQLite(b *bench, w *writer, r int) (err error) {
	t, err := openBare(b, "raw")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	before, err := bytesWritten()
	if err != nil {
		return err
	}
	var took []time.Duration
	for range turnsARound {
		texts := []string{w.makeText(900), w.makeText(900)}
		start := time.Now()
		for _, text := range texts {
			if _, err := t.insert.ExecContext(b.ctx, text); err != nil {
				return err
			}
		}
		took = append(took, time.Since(start))
	}
	after, err := bytesWritten()
	if err != nil {
		return err
	}
	b.addNumber(rawTransactions+", p50", r, percentileMS(took, 0.5), "ms")
	b.addNumber(rawTransactions+", p99", r, percentileMS(took, 0.99), "ms")
	b.addNumber(rawTransactions+", written", r, float64(after-before)/turnsARound/1024, "KB")
	return nil
}

// rawTransactions is the row that turns are compared with.
const rawTransactions = "raw SQLite with two transactions"

// plainFile appends what a turn says to a file, in two synced writes.
func plainFile(b *bench, r int) error {
	f, err := os.OpenFile(filepath.Join(b.dir, "plain"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	text := bytes.Repeat([]byte("x"), 900)
	var took []time.Duration
	for range turnsARound {
		start := time.Now()
		for range 2 {
			if _, err := f.Write(text); err != nil {
				return err
			}
			if err := syscall.Fdatasync(int(f.Fd())); err != nil {
				return err
			}
		}
		took = append(took, time.Since(start))
	}
	b.addNumber("two syncs of a plain file, p50", r, percentileMS(took, 0.5), "ms")
	b.addNumber("two syncs of a plain file, p99", r, percentileMS(took, 0.99), "ms")
	return nil
}

// bytesWritten returns how many bytes this process has handed to the disk so far.
func bytesWritten() (int64, error) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(text, []byte("\nwrite_bytes: "))
	var n int64
	_, err = fmt.Sscan(string(rest), &n)
	return n, err
}
