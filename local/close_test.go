package local_test

import (
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/local"
)

// Artifacts that a stored conversation names are never kept in memory only.
func TestObjectsOutliveTheProgram(t *testing.T) {
	_, err := local.Open(t.Context(), t.TempDir(), &local.Options{Objects: "memory:"})
	if scrollback.CodeOf(err) != scrollback.Invalid {
		t.Errorf("opened a database with objects in memory: %v", err)
	}
	sb, err := local.Open(t.Context(), t.TempDir(), &local.Options{Database: "memory:", Objects: "memory:"})
	if err != nil {
		t.Fatal(err)
	}
	if err := sb.Close(); err != nil {
		t.Error(err)
	}
}

// Times that are not positive are the defaults.
func TestNegativeTimes(t *testing.T) {
	ctx := t.Context()
	sb, err := local.Open(ctx, t.TempDir(), &local.Options{Database: "memory:", Engine: engine.Options{SaveEvery: -1, HoldEvents: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer sb.Close()
	c, _, err := sb.Create(ctx, scrollback.Conversation{})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range sb.Turn(ctx, engine.TurnRequest{Conversation: c.ID, Message: scrollback.Say("Hello.")}) {
		if err != nil {
			t.Fatal(err)
		}
	}
}
