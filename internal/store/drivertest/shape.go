package drivertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// RunShape runs the suite. Each call of open returns an empty driver.
//
// It counts the bins once more from the messages themselves, over paths of one branch and of several,
// for every number of bins, so that a driver that counts in its database cannot drift from what
// reading would find.
func RunShape(t *testing.T, open func(t *testing.T) *driver.Driver) {
	t.Run("Shape", func(t *testing.T) {
		d := open(t)
		defer d.Close()
		testShape(&shapeHarness{driverHarness: newDriverHarness(t, d, 1_000_000)})
	})
}

type shapeHarness struct {
	driverHarness
}

// addConversation returns a conversation with its first branch; behind a message of another, if there is one.
func (w *shapeHarness) addConversation(of *scrollback.Conversation, seq int64) scrollback.Conversation {
	w.t.Helper()
	w.now += 10
	c := scrollback.Conversation{ID: scrollback.ConversationID(w.newID("conversation")),
		Project: "p", Version: 1, CreatedAt: w.now,
		UpdatedAt: w.now}
	b := scrollback.Branch{ID: scrollback.BranchID(w.newID("branch")), Conversation: c.ID, UpdatedAt: w.now}
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
	return c
}

// appendMessages appends messages of different roles, sizes and times; the times do not always grow.
func (w *shapeHarness) appendMessages(id scrollback.ConversationID, n int) {
	w.t.Helper()
	var entries []driver.Entry
	for i := range n {
		w.now += int64(7 - 3*(i%4))
		role := []scrollback.Role{scrollback.RoleUser, scrollback.RoleAssistant, scrollback.RoleTool,
			scrollback.RoleAssistant}[i%4]
		text := strings.Repeat("潮 ", i%5+1)
		entries = append(entries, driver.Entry{Message: scrollback.Message{ID: scrollback.MessageID(w.newID("message")),
			Role:  role,
			Parts: scrollback.Say(text), Status: scrollback.StatusComplete, CreatedAt: w.now,
			Weight: scrollback.Weight{Tokens: int64(i), Bytes: int64(len(text))}}})
	}
	_, err := w.Log.AppendEntries(w.t.Context(), driver.Append{Conversation: id, Now: w.now, IfHead: -1, Entries: entries})
	w.wantOK(err)
}

// testShape: bins are what counting the messages of the path gives, whichever branches they
// are of, and nothing beyond the head or of another conversation counts.
func testShape(w *shapeHarness) {
	first := w.addConversation(nil, 0)
	w.appendMessages(first.ID, 13)
	fork := w.addConversation(&first, 9)
	w.appendMessages(fork.ID, 8)
	again := w.addConversation(&fork, 12)
	w.appendMessages(again.ID, 5)
	for _, path := range []struct {
		branch scrollback.BranchID
		head   int64
	}{{first.Branch, 13}, {first.Branch, 6}, {fork.Branch, 17}, {again.Branch, 17}, {again.Branch, 1}} {
		ms, err := w.Log.ReadMessages(w.t.Context(), driver.MessageQuery{Branch: path.branch, From: 1, To: path.head})
		if err != nil || int64(len(ms)) != path.head {
			w.t.Fatalf("%d messages, %v", len(ms), err)
		}
		w.checkWanted(path.branch, ms)
		for bins := int64(1); bins <= path.head; bins++ {
			got, err := w.Log.ReadShape(w.t.Context(), driver.ShapeQuery{Branch: path.branch, Head: path.head, Bins: bins})
			if err != nil {
				w.t.Fatal(err)
			}
			if d := cmp.Diff(countShape(ms, path.head, bins), got); d != "" || int64(len(got)) != bins {
				w.t.Fatalf("%d bins of %d messages (-want +got):\n%s", bins, path.head, d)
			}
		}
	}
	none, err := w.Log.ReadShape(w.t.Context(), driver.ShapeQuery{Branch: "none", Head: 9, Bins: 3})
	if err != nil || len(none) != 0 {
		w.t.Errorf("of no branch %+v, %v", none, err)
	}
}

// checkWanted checks that each message of a path is asked about once, by its parts, and left out
// unless it is wanted.
func (w *shapeHarness) checkWanted(branch scrollback.BranchID, path []scrollback.Message) {
	w.t.Helper()
	for _, text := range []string{"潮 潮 潮", "潮", "heron"} {
		var asked, parts []string
		var want []scrollback.Message
		for _, m := range path {
			b, err := m.Parts.MarshalJSON()
			if err != nil {
				w.t.Fatal(err)
			}
			if parts = append(parts, string(b)); strings.Contains(string(b), text) {
				want = append(want, m)
			}
		}
		got, err := w.Log.ReadMessages(w.t.Context(),
			driver.MessageQuery{Branch: branch, From: 1, To: int64(len(path)), Wanted: func(b []byte) bool {
				asked = append(asked, string(b))
				return strings.Contains(string(b), text)
			}})
		slices.Sort(asked)
		slices.Sort(parts)
		if d := cmp.Diff(want, append(want[:0:0], got...)) + cmp.Diff(parts, asked); d != "" || err != nil {
			w.t.Fatalf("those with %q (-want +got), %v:\n%s", text, err, d)
		}
	}
}

func countShape(ms []scrollback.Message, head, bins int64) []scrollback.ShapeBin {
	out := make([]scrollback.ShapeBin, bins)
	for _, m := range ms {
		b := &out[(m.Seq-1)*bins/head]
		if b.FirstSeq == 0 {
			b.FirstSeq = m.Seq
			b.At = m.CreatedAt
		}
		b.LastSeq = m.Seq
		b.Bytes += m.Weight.Bytes
		if m.Role == scrollback.RoleUser {
			b.User++
		}
		if m.Role == scrollback.RoleAssistant {
			b.Assistant++
		}
	}
	return out
}
