//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/sample"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/offline"
	"github.com/scrollback-ai/scrollback/transcript/all"
)

// Sizes of this figure, besides the conversations'.
const (
	rewinds  = 1000
	listed   = 10_000
	imported = 20_000
)

// measureResume measures opening the latest conversation and laying out its next request,
// whatever its length and however often it was rewound; a page of a long list; and an
// import.
func (b *bench) measureResume() error {
	for _, n := range []int{100, 10_000, b.big} {
		s, err := b.openLoaded(n)
		if err != nil {
			return err
		}
		if err := errors.Join(b.openLatest(s, "latest at "+formatCount(n)), s.Close()); err != nil {
			return err
		}
	}
	s, err := b.newRewound()
	if err != nil {
		return err
	}
	if err := errors.Join(b.openLatest(s, fmt.Sprintf("latest after %s rewinds", formatCount(rewinds))),
		s.Close()); err != nil {
		return err
	}
	if err := b.measureLists(); err != nil {
		return err
	}
	return b.measureImport()
}

// over is an engine that only reads and imports, for the operator.
type over struct {
	*engine.View
	archive *archive.Archive
	close   func(context.Context) error
}

func engineOver(s *store.Store) over {
	a := archive.New(s, blob.NewMemory(), nil)
	e := engine.New(s, a, engine.Options{Limit: 10_048, Model: "offline",
		Models: func(string) (model.Model, error) { return offline.New(nil), nil }})
	return over{e.As(scrollback.Operator()), a, e.Close}
}

func (b *bench) openLatest(s *store.Store, what string) error {
	if err := b.foldAllBut(s, 14); err != nil {
		return err
	}
	e := engineOver(s)
	defer func() { _ = e.close(b.ctx) }() // it runs nothing
	for r := range rounds {
		var took []time.Duration
		for range 200 {
			start := time.Now()
			id, err := e.Resolve(b.ctx, "latest")
			if err != nil {
				return err
			}
			m, err := e.Context(b.ctx, id)
			if err != nil {
				return err
			}
			took = append(took, time.Since(start))
			if m.Tokens < 3000 || m.Tokens > m.Budget {
				return fmt.Errorf("the window weighs %d tokens of %d: not what was to be measured", m.Tokens, m.Budget)
			}
		}
		b.addNumber(what, r, percentileMS(took, 0.5), "ms")
	}
	return nil
}

// newRewound returns a conversation that was rewound by one message a thousand times, so that each
// of its newest messages is on its own branch.
func (b *bench) newRewound() (*store.Store, error) {
	s, err := b.openDatabase("rewinds")
	if err != nil {
		return nil, err
	}
	c, created, err := s.CreateConversation(b.ctx, scrollback.Conversation{ID: conversation, Title: "bench"})
	if err != nil || !created {
		return s, err
	}
	if err := loadMessages(b.ctx, s, c.ID, 0, 100); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	w := newWriter(5)
	for range rewinds {
		head, err := s.ReadHead(b.ctx, c.ID)
		if err == nil {
			head, err = s.Branches.Rewind(b.ctx, head, head.Branch, head.Branch.HeadSeq-1, nil)
		}
		if err == nil {
			_, err = s.AppendMessages(b.ctx, head, []store.IncomingMessage{newIncoming(scrollback.RoleUser, w.makeText(900)),
				newIncoming(scrollback.RoleAssistant, w.makeText(900))})
		}
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// measureLists measures a page of 50 of many conversations.
func (b *bench) measureLists() error {
	s, err := b.openDatabase("list")
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // it was only read from by then
	w := newWriter(3)
	for i := range listed {
		id := scrollback.ConversationID(fmt.Sprintf("01a00000-0000-7000-8000-%012d", i))
		if _, created, err := s.CreateConversation(b.ctx, scrollback.Conversation{ID: id,
			Title: strings.TrimSpace(w.makeText(40))}); err != nil {
			return err
		} else if !created {
			break
		}
	}
	for r := range rounds {
		var took []time.Duration
		for range 200 {
			start := time.Now()
			page, _, err := s.ListConversations(b.ctx, scrollback.ListQuery{Limit: 50})
			if err != nil || len(page) != 50 {
				return fmt.Errorf("a page of %d: %w", len(page), err)
			}
			took = append(took, time.Since(start))
		}
		b.addNumber("a page of 50 of "+formatCount(listed)+" conversations", r, percentileMS(took, 0.5), "ms")
	}
	return nil
}

// measureImport measures an import as the program does it: with tokens counted.
func (b *bench) measureImport() error {
	var file bytes.Buffer
	if _, _, err := sample.WriteSample(&file, "import", sample.Options{Seed: 4, Messages: imported}); err != nil {
		return err
	}
	for r := range 3 {
		s, err := b.openCounting(fmt.Sprint("import-", r, "-", time.Now().UnixNano()))
		if err != nil {
			return err
		}
		e := engineOver(s)
		moves := transfer.New(s, e.archive, transfer.Options{Importers: all.Importers()})
		start := time.Now()
		out, err := moves.Import(b.ctx, e.View, bytes.NewReader(file.Bytes()), transfer.ImportRequest{})
		if err == nil && (len(out.Conversations) != 1 || out.Conversations[0].Messages != imported) {
			err = fmt.Errorf("imported %+v", out.Conversations)
		}
		took := time.Since(start)
		if err = errors.Join(err, e.close(b.ctx), s.Close()); err != nil {
			return err
		}
		b.addNumber("imported a second", r, imported/took.Seconds(), "messages")
	}
	return nil
}
