package drivertest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// Old is a driver of a database, and what a test does to the database behind its back.
type Old struct {
	*driver.Driver

	// Join opens the database as another server does.
	Join func() *driver.Driver
	// Forget takes away all hashes, as though none had ever been made.
	Forget func()
	// Beside is how many messages have a hash beside their row.
	Beside func() int64
}

// RunHashes runs the suite. Each call of open returns an empty driver.
//
// The hashes are made in bounded steps, by several servers at once, and whatever ends in the middle
// of a step. The contract offers no way to store a message without its hash, so the caller of the
// suite says how that is done in its database.
func RunHashes(t *testing.T, open func(t *testing.T) Old) {
	for name, test := range map[string]func(*hashesHarness){
		"HashesInSteps": testSteps, "HashesByTwoServers": testTwoServers, "HashesBrokenOff": testBrokenOff,
	} {
		t.Run(name, func(t *testing.T) {
			w := &hashesHarness{Old: open(t), checks: checks{t}}
			defer w.Close()
			w.addUnhashed()
			test(w)
		})
	}
}

const (
	ownMessages = 41 // messages of the test's own
	fillLimit   = 5  // of a step
	hashesMost  = 60 // steps that making all hashes may take: it also looks at each conversation and branch
)

type hashesHarness struct {
	Old
	checks
	n        int
	branches []scrollback.BranchID
}

func (w *hashesHarness) newID() string {
	w.n++
	return fmt.Sprintf("%08x-0000-7000-8000-000000000000", w.n)
}

// addConversation returns a conversation with some messages, behind a message of another, if there is one.
func (w *hashesHarness) addConversation(messages int, of *scrollback.Conversation, seq int64) scrollback.Conversation {
	w.t.Helper()
	c := scrollback.Conversation{ID: scrollback.ConversationID(w.newID()), Project: "p", Version: 1, CreatedAt: 1,
		UpdatedAt: 1}
	b := scrollback.Branch{ID: scrollback.BranchID(w.newID()), Conversation: c.ID, UpdatedAt: 1}
	if of != nil {
		c.Parent = &scrollback.ParentRef{ID: of.ID, Branch: of.Branch, Seq: seq}
		c.Messages = seq
		c.Ancestors = append([]scrollback.ConversationID{of.ID}, of.Ancestors...)
		b.Parent = of.Branch
		b.AtSeq = seq
		b.HeadSeq = seq
	}
	c.Branch = b.ID
	c, _, err := w.Log.CreateConversation(w.t.Context(), c, b)
	w.wantOK(err)
	w.branches = append(w.branches, b.ID)
	var entries []driver.Entry
	for i := range messages {
		entries = append(entries, driver.Entry{Message: scrollback.Message{ID: scrollback.MessageID(w.newID()),
			Role:  scrollback.RoleUser,
			Parts: scrollback.Say(fmt.Sprint("潮 ", i)), Status: scrollback.StatusComplete, CreatedAt: 1}})
	}
	if len(entries) > 0 {
		_, err = w.Log.AppendEntries(w.t.Context(), driver.Append{Conversation: c.ID, Now: 1, IfHead: -1, Entries: entries})
		w.wantOK(err)
	}
	return c
}

// addUnhashed fills the store with messages that have no hash: of conversations that are longer and
// shorter than a step and empty, and of a fork.
func (w *hashesHarness) addUnhashed() {
	w.t.Helper()
	long := w.addConversation(23, nil, 0)
	w.addConversation(0, nil, 0)
	w.addConversation(3, nil, 0)
	w.addConversation(14, &long, 11)
	w.addConversation(1, nil, 0)
	w.Forget()
	if n := w.countUnhashed(); n != ownMessages {
		w.t.Fatalf("%d of %d messages have no hash", n, ownMessages)
	}
}

// countUnhashed returns how many messages have no hash, as the doctor counts them; each has the one that it
// should have, or none.
func (w *hashesHarness) countUnhashed() (n int64) {
	w.t.Helper()
	w.wantOK(w.Admin.WalkRows(w.t.Context(), driver.AuditWalk{
		Total: func(int64) error { return nil }, Conversation: func(scrollback.Conversation) error { return nil },
		Branch: func(scrollback.Branch) error { return nil }, Message: func(scrollback.Message) error { return nil },
		Segment:  func(scrollback.Segment) error { return nil },
		Artifact: func(scrollback.Artifact, int64) error { return nil }, Turn: func(scrollback.Turn) error { return nil },
		Unhashed: func(messages int64) error { n += messages; return nil },
		Flaw:     func(f driver.Flaw) error { w.t.Errorf("a flaw: %+v", f); return nil },
	}))
	return n
}

// wantAllHashed checks that each message has a hash, once, and that readers find it.
func (w *hashesHarness) wantAllHashed() {
	w.t.Helper()
	if without, beside := w.countUnhashed(), w.Beside(); without != 0 || beside != ownMessages {
		w.t.Errorf("%d of %d have a hash beside them, and %d none", beside, ownMessages, without)
	}
	for _, b := range w.branches {
		v, err := w.Admin.VerifyHashes(w.t.Context(), driver.MessageQuery{Branch: b, From: 1, To: 1000})
		if w.wantOK(err); v.Without != 0 || len(v.Damaged) > 0 {
			w.t.Errorf("branch %s: %+v", b, v)
		}
	}
	step, err := w.Admin.FillHashes(w.t.Context(), fillLimit)
	if w.wantOK(err); !step.Done || step.Made != 0 {
		w.t.Errorf("behind the end %+v were made", step)
	}
}

// testSteps: a step makes no more than it may, the doctor says how many are left after each, and the
// next one goes on from there in another process.
func testSteps(w *hashesHarness) {
	var made int64
	for steps, done := 0, false; !done; steps++ {
		d := w.Join()
		step, err := d.Admin.FillHashes(w.t.Context(), fillLimit)
		w.wantOK(errors.Join(err, d.Close()))
		if step.Made > fillLimit || steps > hashesMost {
			w.t.Fatalf("step %d: %+v", steps, step)
		}
		made += step.Made
		done = step.Done
		if n := w.countUnhashed(); n != ownMessages-made {
			w.t.Errorf("%d have no hash after %d were made", n, made)
		}
	}
	if made != ownMessages {
		w.t.Errorf("%d hashes were made of %d messages", made, ownMessages)
	}
	w.wantAllHashed()
}

// testTwoServers: of two that make hashes at once, neither fails, and each message gets one hash.
func testTwoServers(w *hashesHarness) {
	other := w.Join()
	defer other.Close()
	for round := range 5 {
		w.Forget()
		type result struct {
			made int64
			err  error
		}
		results := make(chan result)
		begin := make(chan struct{})
		for _, d := range []*driver.Driver{w.Driver, other} {
			go func() {
				<-begin
				var r result
				for range 2 * hashesMost {
					step, err := d.Admin.FillHashes(w.t.Context(), fillLimit)
					r.made += step.Made
					r.err = err
					if err != nil || step.Done {
						results <- r
						return
					}
				}
				r.err = errors.New("it does not end")
				results <- r
			}()
		}
		close(begin)
		a := <-results
		b := <-results
		w.wantOK(errors.Join(a.err, b.err))
		if a.made+b.made != ownMessages {
			w.t.Errorf("round %d: %d and %d hashes were made of %d messages", round, a.made, b.made, ownMessages)
		}
		w.wantAllHashed()
	}
}

// testBrokenOff: wherever a step is broken off, it is whole or was never there, and the one after it
// goes on.
func testBrokenOff(w *hashesHarness) {
	broken := 0
	for looks := int64(1); ; looks++ {
		if looks > 5000 {
			w.t.Fatal("a step looks at its context again and again")
		}
		before := w.Beside()
		if before == ownMessages {
			w.Forget()
			before = 0
		}
		ctx, end := newFragileContext(w.t.Context(), looks)
		step, err := w.Admin.FillHashes(ctx, fillLimit)
		survived := context.Cause(ctx) == nil
		end()
		if survived {
			w.wantOK(err)
			break
		}
		broken++
		made := w.Beside() - before
		if made < 0 || made > fillLimit || err == nil && made != step.Made || w.countUnhashed() != ownMessages-before-made {
			w.t.Fatalf("broken off at look %d: %+v, %v; %d of %d have a hash, after %d", looks, step, err, w.Beside(), ownMessages,
				before)
		}
	}
	if broken < 3 {
		w.t.Errorf("a step was broken off at %d places only", broken)
	}
	for range hashesMost {
		step, err := w.Admin.FillHashes(w.t.Context(), fillLimit)
		if w.wantOK(err); step.Done {
			break
		}
	}
	w.wantAllHashed()
}

// fragileContext is a context that ends when somebody looks at it for the nth time.
type fragileContext struct {
	context.Context
	end  context.CancelFunc
	left atomic.Int64
}

func newFragileContext(of context.Context, looks int64) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancel(of)
	b := &fragileContext{Context: ctx, end: end}
	b.left.Store(looks)
	return b, end
}

func (b *fragileContext) countLook() {
	if b.left.Add(-1) == 0 {
		b.end()
	}
}

// Done implements [context.Context].
func (b *fragileContext) Done() <-chan struct{} { b.countLook(); return b.Context.Done() }

// Err implements [context.Context].
func (b *fragileContext) Err() error { b.countLook(); return b.Context.Err() }
