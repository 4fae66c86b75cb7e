//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/sample"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/offline"
)

// foldedTokens is how much is folded at once.
const foldedTokens = 200_000

// kept is an engine over a store, and the archive of both with its files in a folder.
type kept struct {
	*engine.View
	engine  *engine.Engine
	store   *store.Store
	archive *archive.Archive
	files   string
	close   func() error
}

// openEngine puts an engine over a store for windows of limit tokens, with the model that
// needs no key.
func (b *bench) openEngine(s *store.Store, name string, limit int64) *kept {
	k := &kept{store: s, files: filepath.Join(b.dir, name, "context")}
	bucket := blob.NewMemory()
	k.archive = archive.New(s, bucket, &archive.Options{Dir: k.files, GrepTime: time.Hour})
	k.engine = engine.New(s, k.archive, engine.Options{Limit: limit, Model: "offline", NoBackgroundFolds: true,
		Models: func(string) (model.Model, error) { return offline.New(nil), nil }})
	k.View = k.engine.As(scrollback.Operator())
	k.close = func() error { return errors.Join(k.engine.Close(b.ctx), bucket.Close(), s.Close()) }
	return k
}

// measureFolds measures folding many tokens without a model: all at once, as clearing does,
// and piece by piece for a small window, as after an import. Then it measures reading
// what was folded, the first time and the second.
func (b *bench) measureFolds() error {
	s, err := b.openCounting(fmt.Sprint("fold-", time.Now().UnixNano()))
	if err != nil {
		return err
	}
	wide := b.openEngine(s, "fold", 1_000_000)
	defer func() { _ = wide.close() }() // nothing is kept of it
	small := b.openEngine(s, "fold", 10_048)
	defer func() { _ = small.engine.Close(b.ctx) }() // it runs nothing
	for r := range rounds {
		for _, how := range []struct {
			what string
			do   func(scrollback.ConversationID) (scrollback.Receipt, error)
		}{
			{"200,000 tokens at once", func(id scrollback.ConversationID) (scrollback.Receipt, error) {
				return wide.Compact(b.ctx, id, engine.CompactRequest{Clear: true})
			}},
			{"200,000 tokens for a window of 8,000", func(id scrollback.ConversationID) (scrollback.Receipt, error) {
				return small.Compact(b.ctx, id, engine.CompactRequest{Overrides: engine.Overrides{Policy: "segments"}, Force: true})
			}},
		} {
			id, err := b.newTalk(s, foldedTokens)
			if err != nil {
				return err
			}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			start := time.Now()
			got, err := how.do(id)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if err != nil || got.Result != scrollback.ResultCompacted {
				return fmt.Errorf("compacted as %+v: %w", got, err)
			}
			b.addNumber(how.what, r, toMillis(took), "ms")
			b.addNumber(how.what+", allocated", r, float64(after.TotalAlloc-before.TotalAlloc)/(1<<20), "MB")
			if err := b.measureReads(wide, id, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// newTalk returns a new conversation of at least a number of tokens.
func (b *bench) newTalk(s *store.Store, tokens int64) (scrollback.ConversationID, error) {
	c, _, err := s.CreateConversation(b.ctx, scrollback.Conversation{})
	if err != nil {
		return "", err
	}
	head, err := s.ReadHead(b.ctx, c.ID)
	for seed := uint64(1); err == nil && head.Branch.Sum.Tokens < tokens; seed++ {
		messages, _ := sample.MakeSample(sample.Options{Seed: seed, Messages: 200})
		var in []store.IncomingMessage
		for _, m := range messages {
			for _, p := range m.Content {
				if text, ok := p["text"].(string); ok && p["type"] == "text" {
					in = append(in, newIncoming(scrollback.Role(m.Role), text))
				}
			}
		}
		done, appendErr := s.AppendMessages(b.ctx, head, in)
		head = done.Head
		err = appendErr
	}
	return c.ID, err
}

// measureReads measures the first page of each segment: first with its file still to be made, then again.
func (b *bench) measureReads(k *kept, id scrollback.ConversationID, round int) error {
	if err := k.archive.ForgetRendered(id); err != nil {
		return err
	}
	var first, second []time.Duration
	refs, _, err := k.Recall().Refs(b.ctx, id, scrollback.RefQuery{Kind: scrollback.RefHistory, Limit: scrollback.ListMax})
	if err != nil {
		return err
	}
	for _, into := range []*[]time.Duration{&first, &second} {
		for _, ref := range refs {
			start := time.Now()
			if _, err := k.Recall().Read(b.ctx, id, ref.Ref, 0, 0); err != nil {
				return err
			}
			*into = append(*into, time.Since(start))
		}
	}
	b.addNumber("first read of a segment", round, percentileMS(first, 0.5), "ms")
	b.addNumber("first read of a segment, p99", round, percentileMS(first, 0.99), "ms")
	b.addNumber("second read of a segment", round, percentileMS(second, 0.5), "ms")
	return nil
}

// measureGrep measures finding lines in a conversation of many messages, none of them folded,
// and all of them: with their files still to be made, and already made.
func (b *bench) measureGrep() error {
	n := b.mid
	s, err := b.openLoaded(n)
	if err != nil {
		return err
	}
	live := b.openEngine(s, fmt.Sprint("messages-", n), 10_048)
	if err := errors.Join(b.grepAt(live, n, "live", 1), live.close()); err != nil {
		return err
	}
	name := fmt.Sprint("folded-", n)
	if s, err = b.openDatabase(name); err != nil {
		return err
	}
	k := b.openEngine(s, name, 10_048)
	defer func() { _ = k.close() }() // it was only read from by then
	c, _, err := s.CreateConversation(b.ctx, scrollback.Conversation{ID: conversation, Title: "bench"})
	if err == nil && c.Messages < int64(n) {
		err = loadMessages(b.ctx, s, conversation, int(c.Messages), n)
	}
	if err != nil {
		return err
	}
	start := time.Now()
	got, err := k.Compact(b.ctx, conversation, engine.CompactRequest{Clear: true})
	if err != nil {
		return err
	}
	if got.Result == scrollback.ResultCompacted { // once a folder
		b.addNumber("folded a second", 0, float64(n)/time.Since(start).Seconds(), "messages")
	}
	if err := b.grepAt(k, n, "folded, files to be made", 1); err != nil {
		return err
	}
	// A pattern that any message may match makes the files of all segments.
	if _, err := k.Recall().Grep(b.ctx, conversation, scrollback.GrepQuery{Pattern: "[qz]{9}"}); err != nil {
		return err
	}
	return b.grepAt(k, n, "folded", rounds)
}

func (b *bench) grepAt(k *kept, n int, state string, times int) error {
	for r := range times {
		for _, c := range []struct {
			what, pattern string
			total         int64
		}{
			{"a word of 1 %", commonEnglish, int64(n / 100)}, {"a word of 0.01 %", rareEnglish, int64((n + 9_922) / 10_000)},
			{"two words, either", commonEnglish + "|" + rareChinese, int64(n/100 + (n+9_922)/10_000)},
			{"nothing", "qqq[0-9]+zzz", 0},
		} {
			if times == 1 {
				if err := os.RemoveAll(k.files); err != nil {
					return err
				}
			}
			start := time.Now()
			found, err := k.Recall().Grep(b.ctx, conversation, scrollback.GrepQuery{Pattern: c.pattern})
			took := time.Since(start)
			if err != nil || found.Partial || found.Total != c.total {
				return fmt.Errorf("%s, %s: %d lines, partial %v, want %d: %w", c.what, state, found.Total, found.Partial, c.total,
					err)
			}
			b.addNumber(fmt.Sprintf("%s, %s messages %s", c.what, formatCount(n), state), r, toMillis(took), "ms")
		}
	}
	return nil
}
