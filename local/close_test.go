package local_test

import (
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/local"
)

// Closing again, also at the same time, is no error.
func TestCloseTwiceReturnsTheSame(t *testing.T) {
	sb, err := local.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var closing sync.WaitGroup
	for range 3 {
		closing.Go(func() {
			if err := sb.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	closing.Wait()
}

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
	sb, err := local.Open(ctx, t.TempDir(),
		&local.Options{Database: "memory:", Engine: engine.Options{SaveEvery: -1, HoldEvents: -1}})
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
