package engine_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/token"
)

// Zero options work: an engine without models keeps and reads conversations that are
// there, and says of a turn that there is no model.
func TestZeroOptions(t *testing.T) {
	ctx := t.Context()
	s, err := store.New(oracle.New(), token.Count, &store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := archive.New(s, blob.NewMemory(), &archive.Options{})
	e := engine.New(s, a, engine.Options{})
	v := e.As(scrollback.Operator())
	c, _, err := s.CreateConversation(ctx, scrollback.Conversation{})
	if err != nil {
		t.Fatal(err)
	}
	moves := transfer.New(s, a, transfer.Options{})
	var file bytes.Buffer
	jsonl := transfer.ExportRequest{Format: "jsonl"}
	hello := engine.TurnRequest{Conversation: c.ID, Message: scrollback.Say("Hello?")}
	for what, do := range map[string]struct {
		code scrollback.Code
		run  func() error
	}{
		"ready":       {"", func() error { return e.Ready(ctx) }},
		"get":         {"", func() error { _, err := v.Get(ctx, c.ID); return err }},
		"get nothing": {scrollback.NotFound, func() error { _, err := v.Get(ctx, ""); return err }},
		"list":        {"", func() error { _, _, err := v.List(ctx, scrollback.ListQuery{}); return err }},
		"refs": {"", func() error {
			_, _, err := v.Recall().Refs(ctx, c.ID, scrollback.RefQuery{})
			return err
		}},
		"grep nothing": {scrollback.Invalid,
			func() error { _, err := v.Recall().Grep(ctx, c.ID, scrollback.GrepQuery{}); return err }},
		"search nothing": {scrollback.Invalid,
			func() error { _, err := v.Recall().Search(ctx, scrollback.SearchQuery{}); return err }},
		"usage":  {"", func() error { _, err := v.Usage(ctx, scrollback.UsageQuery{}); return err }},
		"models": {"", func() error { _, err := v.Models(ctx); return err }},
		"upload": {"", func() error { _, err := v.Upload(ctx, c.ID, strings.NewReader("x"), ""); return err }},
		"fork":   {"", func() error { _, err := v.Branches().Fork(ctx, c.ID, engine.Point{}, ""); return err }},
		"rewind to nothing": {scrollback.Invalid,
			func() error { _, err := v.Branches().Rewind(ctx, c.ID, engine.Point{}); return err }},
		"create": {scrollback.Invalid,
			func() error { _, _, err := v.Create(ctx, scrollback.Conversation{}); return err }},
		"context": {scrollback.Invalid, func() error { _, err := v.Context(ctx, c.ID); return err }},
		"compact": {scrollback.Invalid,
			func() error { _, err := v.Compact(ctx, c.ID, engine.CompactRequest{}); return err }},
		"turn":             {scrollback.Invalid, func() error { return run(v, hello) }},
		"turn of nothing":  {scrollback.NotFound, func() error { return run(v, engine.TurnRequest{}) }},
		"export":           {"", func() error { return moves.Export(ctx, v, c.ID, transfer.ExportRequest{}, &file) }},
		"export elsewhere": {scrollback.Invalid, func() error { return moves.Export(ctx, v, c.ID, jsonl, io.Discard) }},
		"import": {scrollback.Invalid, func() error {
			_, err := moves.Import(ctx, v, strings.NewReader(`{"role": "user"}`), transfer.ImportRequest{})
			return err
		}},
		"nobody": {scrollback.Refused, func() error {
			_, _, err := e.As(scrollback.Caller{}).List(ctx, scrollback.ListQuery{})
			return err
		}},
	} {
		if err := do.run(); scrollback.CodeOf(err) != do.code {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := run(v, hello); !errors.Is(err, scrollback.ErrNoModel) {
		t.Errorf("a turn without a model: %v", err)
	}
	if err := e.Close(ctx); err != nil {
		t.Error(err)
	}
}

func run(v *engine.View, r engine.TurnRequest) error {
	_, err := scrollback.ReplyOf(v.Turn(context.Background(), r))
	return err
}
