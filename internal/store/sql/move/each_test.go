package move_test

import (
	"context"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/sql/move"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// Whatever changes by itself after it was copied is copied again, and nothing else is written.
func TestEachChange(t *testing.T) {
	t.Parallel()
	const id = "ffffffff-odd"
	for _, way := range testPairs[testlength.Choose(2, 1, 1):3] {
		t.Run(way.name, func(t *testing.T) {
			from := way.from(t)
			to := way.to(t)
			d := from.store(t)
			fillStore(t, d, 15)
			moveAll(t, from, to, move.Options{})
			if r := moveAll(t, from, to, move.Options{}); r.Rows+r.Messages != 0 {
				t.Errorf("with nothing to copy it wrote %+v", r.Progress)
			}
			target := to.store(t)
			for name, change := range map[string]func(ctx context.Context) error{
				"save": func(ctx context.Context) error {
					_, err := d.Turns.SaveDraft(ctx, driver.SavedDraft{Turn: "open", Owner: "o", LeaseUntil: 1 << 50,
						Draft: scrollback.Draft{Content: oddTexts[2], Model: "m"}})
					return err
				},
				"stop": func(ctx context.Context) error { return d.Turns.Stop(ctx, "open") },
				"origin": func(ctx context.Context) error {
					return d.Log.PutOrigin(ctx, scrollback.Origin{Tool: "u", ID: "1", Conversation: id}, "")
				},
				"artifact": func(ctx context.Context) error {
					return d.Log.PutArtifact(ctx, scrollback.Artifact{ID: "0a", Size: 1, CreatedAt: 1}, id)
				},
				"patch": func(ctx context.Context) error {
					_, err := d.Log.PatchConversation(ctx, id, 50,
						func(c *scrollback.Conversation) error { c.Title = "patched"; return nil })
					return err
				},
				"project": func(ctx context.Context) error {
					_, err := d.Access.PutProject(ctx, "odd", 8, func(p *scrollback.Project) error { p.Title = "put"; return nil })
					return err
				},
				"delete": func(ctx context.Context) error {
					return d.Access.DeleteProject(ctx, "odd", 9, func(scrollback.Project) error { return nil })
				},
				"use": func(ctx context.Context) error { return d.Access.UseKey(ctx, "key", 1<<40, 1) },
				"teach": func(ctx context.Context) error {
					return d.Turns.UpdateLearned(ctx, "m", func(l *scrollback.Learned) { l.Limit = 12345 })
				},
				"title": func(ctx context.Context) error {
					_, err := d.Log.ChangeTitle(ctx, driver.TitleChange{Conversation: id, Now: 60, From: "", To: "",
						Usage: []scrollback.UsageRecord{
							{Conversation: id, Model: "m", At: 60, Usage: scrollback.Usage{InputTokens: 7, Currency: "USD"}}}})
					return err
				},
			} {
				mustSucceed(t, change(t.Context()))
				if r := moveAll(t, from, to, move.Options{}); r.Rows == 0 {
					t.Errorf("%s: nothing was written", name)
				}
				wantEqual(t, d, target)
			}
		})
	}
}
