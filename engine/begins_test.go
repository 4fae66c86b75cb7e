package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// adopts does something before each batch of a history is stored.
type adopts struct {
	driver.Log
	before func(driver.Adoption) error
}

func (a *adopts) AdoptHistory(ctx context.Context, one driver.Adoption) error {
	if err := a.before(one); err != nil {
		return err
	}
	return a.Log.AdoptHistory(ctx, one)
}

// past returns a history of n messages.
func past(n int) (out []scrollback.Message) {
	for i := range n {
		role := []scrollback.Role{scrollback.RoleUser, scrollback.RoleAssistant}[i%2]
		out = append(out, scrollback.Message{Role: role, Parts: enginetest.Say(fmt.Sprint("said ", i+1))})
	}
	return out
}

// beginsRig returns a rig whose batches can be watched.
func beginsRig(t *testing.T) (*enginetest.Rig, *adopts) {
	d := oracle.New()
	a := &adopts{Log: d.Log, before: func(driver.Adoption) error { return nil }}
	d.Log = a
	return enginetest.New(t, enginetest.Options{Driver: d}, modeltest.Say("a")), a
}

// A long history is stored in batches, between which others write, and nobody sees the
// conversation before it is complete.
func TestHistoryInBatches(t *testing.T) {
	ctx := context.Background()
	r, a := beginsRig(t)
	other := r.NewConversation()
	id := scrollback.ConversationID(uuid.NewString())
	batches := 0
	a.before = func(one driver.Adoption) error {
		batches++
		if n := len(one.Branches[0].Entries); n > 100 {
			t.Errorf("a batch of %d", n)
		}
		if _, err := r.Get(ctx, id); scrollback.CodeOf(err) != scrollback.NotFound {
			t.Errorf("seen before batch %d: %v", batches, err)
		}
		if all, _, err := r.List(ctx, scrollback.ListQuery{}); err != nil || len(all) != 1 {
			t.Errorf("listed before batch %d: %d conversations, %v", batches, len(all), err)
		}
		if found, err := r.Reader.Search(ctx, scrollback.SearchQuery{Query: "said"}); err != nil || len(found.Hits) != 0 {
			t.Errorf("found before batch %d: %d hits, %v", batches, len(found.Hits), err)
		}
		r.AppendTurns(other, 1, "meanwhile")
		return nil
	}
	c, created, err := r.Create(ctx, scrollback.Conversation{ID: id}, past(1000)...)
	if err != nil || !created || c.ID != id || c.Messages != 1000 || c.Title != "said 1" || batches < 10 {
		t.Fatalf("%+v %v after %d batches: %v", c, created, batches, err)
	}
	if log := r.Log(id); len(log) != 1000 || log[999].Parts.Text() != "said 1000" || log[999].Seq != 1000 {
		t.Errorf("%d messages", len(log))
	}
	batches = 0
	again, created, err := r.Create(ctx, scrollback.Conversation{ID: id}, past(1000)...)
	if err != nil || created || again.Version != c.Version || batches > 0 {
		t.Errorf("the same again: %+v %v %v", again, created, err)
	}
	r.Ask(id, "and?").WantDone(t, scrollback.TurnComplete, "stop")
}

// A history that was cut off leaves nothing that anybody sees, and the same request again
// makes the whole of it.
func TestHistoryCutOff(t *testing.T) {
	ctx := context.Background()
	for _, crash := range []bool{true, false} {
		r, a := beginsRig(t)
		id := scrollback.ConversationID(uuid.NewString())
		creating, die := context.WithCancel(ctx)
		n := 0
		a.before = func(driver.Adoption) error {
			if n++; n < 4 {
				return nil
			}
			if crash { // nothing more reaches the database, not even what clears up
				die()
				return scrollback.Errorf(scrollback.Conflict, "test", "it is gone")
			}
			return scrollback.Wrap(scrollback.Unavailable, "test", errors.New("no space"))
		}
		if _, _, err := r.Create(creating, scrollback.Conversation{ID: id}, past(500)...); err == nil {
			t.Fatal("created")
		}
		die()
		left, err := r.Driver.Log.ListBranches(ctx, id)
		if err != nil || (len(left) > 0) != crash {
			t.Errorf("a crash (%v) left %d branches, %v", crash, len(left), err)
		}
		if _, err := r.Get(ctx, id); scrollback.CodeOf(err) != scrollback.NotFound {
			t.Errorf("after a crash (%v) it is seen: %v", crash, err)
		}
		a.before = func(driver.Adoption) error { return nil }
		c, created, err := r.Create(ctx, scrollback.Conversation{ID: id}, past(500)...)
		if err != nil || !created || c.Messages != 500 || len(r.Log(id)) != 500 {
			t.Errorf("again after a crash (%v): %+v %v %v", crash, c, created, err)
		}
	}
}

// Requests at once for one conversation make it once, whole.
func TestHistoryAtOnce(t *testing.T) {
	ctx := context.Background()
	r, _ := beginsRig(t)
	id := scrollback.ConversationID(uuid.NewString())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			c, _, err := r.Create(ctx, scrollback.Conversation{ID: id}, past(300)...)
			if code := scrollback.CodeOf(err); err != nil && code != scrollback.Conflict || err == nil && c.Messages != 300 {
				t.Errorf("%+v %v", c, err)
			}
		})
	}
	wg.Wait()
	c, _, err := r.Create(ctx, scrollback.Conversation{ID: id}, past(300)...)
	branches, listErr := r.Branches().List(ctx, id)
	if err != nil || listErr != nil || c.Messages != 300 || len(branches) != 1 || len(r.Log(id)) != 300 {
		t.Errorf("%+v %v, %d branches", c, err, len(branches))
	}
}

// The id of a conversation that was purged and has heirs is not free.
func TestHistoryUnderAPurgedID(t *testing.T) {
	ctx := context.Background()
	r, _ := beginsRig(t)
	id := r.NewConversation()
	r.AppendTurns(id, 4, "before")
	fork, err := r.Branches().Fork(ctx, id, engine.Point{}, "fork")
	if err != nil {
		t.Fatal(err)
	}
	path := r.LogOutline(fork.ID)
	if _, err := r.Purge(ctx, id); err != nil {
		t.Fatal(err)
	}
	_, _, err = r.Create(ctx, scrollback.Conversation{ID: id}, past(3)...)
	enginetest.WantCode(t, err, scrollback.Conflict, "was purged")
	if r.LogOutline(fork.ID) != path {
		t.Error("its heir has lost something")
	}
}
