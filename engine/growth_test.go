package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// readCounter counts what is read of a log: messages, and kept sentences that are not known.
type readCounter struct {
	driver.Log
	mu                     sync.Mutex
	messages, kept, listed int
}

// ReadMessages implements [driver.Log].
func (c *readCounter) ReadMessages(ctx context.Context, q driver.MessageQuery) ([]scrollback.Message, error) {
	out, err := c.Log.ReadMessages(ctx, q)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.messages += len(out)
	return out, err
}

// ReadKept implements [driver.Log].
func (c *readCounter) ReadKept(ctx context.Context, q driver.KeptQuery) ([]scrollback.Kept, error) {
	out, err := c.Log.ReadKept(ctx, q)
	known := map[scrollback.KeptID]bool{}
	for i := range q.Known {
		known[q.Known[i].ID] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed = max(c.listed, len(out))
	for i := range out {
		if !known[out[i].ID] {
			c.kept++
		}
	}
	return out, err
}

// turnReads are the most that one of several turns read.
type turnReads struct{ messages, kept, listed int }

// measureReads makes a conversation of n messages, each of the person's with sentences that are kept, and returns what
// turns of it read once the first compaction is over.
func measureReads(t *testing.T, n int) (most turnReads) {
	t.Helper()
	d := oracle.New()
	c := &readCounter{Log: d.Log}
	d.Log = c
	r := enginetest.New(t, enginetest.Options{Driver: d}, modeltest.Say("an answer"))
	id := r.NewConversation()
	ctx := context.Background()
	said := func(i int) string {
		return fmt.Sprintf("Never push to branch%d. I am allergic to food%d. TODO: inspect machine%d. What about it?", i, i, i)
	}
	var in []store.IncomingMessage
	for i := range n {
		m := scrollback.Message{Role: scrollback.RoleAssistant, Parts: enginetest.Say(fmt.Sprint("It is ", i, "."))}
		if i%2 == 0 {
			m = scrollback.Message{Role: scrollback.RoleUser, Parts: enginetest.Say(said(i))}
		}
		in = append(in, store.IncomingMessage{Message: m})
	}
	h, err := r.Store.ReadHead(ctx, id)
	if err == nil {
		_, err = r.Store.AppendMessages(ctx, h, in)
	}
	if err != nil {
		t.Fatal(err)
	}
	compacted := 0
	last := int64(0) // message that was
	for i := range 400 {
		c.mu.Lock()
		c.messages = 0
		c.kept = 0
		c.mu.Unlock()
		r.Ask(id, said(n+i)).WantDone(t, scrollback.TurnComplete, "stop")
		r.Engine.Rest()
		newest, err := r.Receipts(ctx, id, 1)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 { // compacts what was there before
			last = newest[0].LastSeq
			continue
		}
		most.messages = max(most.messages, c.messages)
		most.kept = max(most.kept, c.kept)
		most.listed = c.listed
		if newest[0].LastSeq > last {
			last = newest[0].LastSeq
			if compacted++; compacted == 3 {
				return most
			}
		}
	}
	t.Fatalf("of %d messages: too few compactions", n)
	return most
}

// A turn that compacts reads no more of a conversation of 5,000 messages than of one of 500: neither messages nor kept
// sentences, of which it goes through the newest 4,000.
func TestTurnsOfLongConversationsReadNoMore(t *testing.T) {
	t.Parallel()
	short := measureReads(t, 500)
	long := measureReads(t, 5000)
	if long.listed < 2*short.listed {
		t.Fatalf("%d kept sentences of the long conversation, %d of the short one", long.listed, short.listed)
	}
	const spread = 1.5 // compactions fall on other turns
	if float64(long.messages) > spread*float64(short.messages) || float64(long.kept) > spread*float64(short.kept) {
		t.Errorf("a turn reads up to %+v of the long conversation, and %+v of the short one", long, short)
	}
	if short.messages == 0 || short.kept == 0 {
		t.Errorf("nothing is read: %+v", short)
	}
}
