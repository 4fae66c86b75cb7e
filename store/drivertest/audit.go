package drivertest

import (
	"cmp"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// audited is what an audit walked.
type audited struct {
	total         int64
	conversations []scrollback.Conversation
	branches      []scrollback.Branch
	messages      []scrollback.Message
	indexed       map[scrollback.MessageID]bool
	segments      []scrollback.Segment
	artifacts     map[scrollback.ArtifactID]int64
	turns         []scrollback.Turn
	flaws         []driver.Flaw
}

// audit walks everything; after each message it asks the driver something, which a
// walk may do.
func (w *bench) audit() audited {
	w.t.Helper()
	a := audited{artifacts: map[scrollback.ArtifactID]int64{}, indexed: map[scrollback.MessageID]bool{}}
	w.ok(w.Audit(w.ctx, driver.AuditWalk{
		Total: func(n int64) error { a.total = n; return nil },
		Conversation: func(c scrollback.Conversation) error {
			a.conversations = append(a.conversations, c)
			return nil
		},
		Branch: func(b scrollback.Branch) error {
			if c := a.conversations[len(a.conversations)-1]; b.Conversation != c.ID {
				w.t.Errorf("branch %s of %s came behind conversation %s", b.ID, b.Conversation, c.ID)
			}
			a.branches = append(a.branches, b)
			return nil
		},
		Message: func(m scrollback.Message, indexed bool) error {
			if b := a.branches[len(a.branches)-1]; m.Branch != b.ID {
				w.t.Errorf("message %s of %s came behind branch %s", m.ID, m.Branch, b.ID)
			}
			a.indexed[m.ID] = indexed
			a.messages = append(a.messages, m)
			_, err := w.Branch(w.ctx, m.Branch)
			return err
		},
		Segment:  func(s scrollback.Segment) error { a.segments = append(a.segments, s); return nil },
		Artifact: func(t scrollback.Artifact, mentions int64) error { a.artifacts[t.ID] = mentions; return nil },
		Turn:     func(t scrollback.Turn) error { a.turns = append(a.turns, t); return nil },
		Flaw:     func(f driver.Flaw) error { a.flaws = append(a.flaws, f); return nil },
	}))
	return a
}

// testAudit: everything comes, each thing once and in order, and nothing changes.
func testAudit(w *bench) {
	main := w.populate()
	many := w.conversation()
	said := w.say(many.ID, 600) // more than a page
	silent := w.entry(scrollback.RoleTool, "not to be found")
	silent.Terms = ""
	found := w.entry(scrollback.RoleUser, "to be found")
	w.append(many.ID, silent, found)
	w.ok(w.PutArtifact(w.ctx, w.artifact("nobody's", w.tick()), ""))
	before := readAll(w.t, w.Driver)
	a := w.audit()
	same(w.t, "after the audit", before, readAll(w.t, w.Driver))
	if len(a.flaws) > 0 {
		w.t.Errorf("flaws of a sound database: %v", a.flaws)
	}
	if a.total != int64(len(a.messages)) {
		w.t.Errorf("%d messages of %d came", len(a.messages), a.total)
	}
	if !slices.IsSortedFunc(a.conversations, func(x, y scrollback.Conversation) int { return cmp.Compare(x.ID, y.ID) }) || len(a.conversations) != 4 {
		w.t.Errorf("the conversations came as %v", a.conversations)
	}
	var own []scrollback.Message
	for _, m := range a.messages {
		if m.Branch == many.Branch {
			own = append(own, m)
		}
	}
	same(w.t, "messages of a branch", said, own[:600])
	if a.indexed[silent.ID] || !a.indexed[found.ID] {
		w.t.Errorf("without terms: indexed %v; with: %v", a.indexed[silent.ID], a.indexed[found.ID])
	}
	if len(a.segments) != 2 || a.segments[0].ID >= a.segments[1].ID {
		w.t.Errorf("the segments came as %v", a.segments)
	}
	for _, s := range a.segments {
		if s.Branch != main.Branch || s.Hash == "" {
			w.t.Errorf("a segment came as %+v", s)
		}
	}
	for name, mentions := range map[string]int64{"nobody's": 0, "upload": 1, "log": 1} {
		if got, known := a.artifacts[artifactID(name)]; !known || got != mentions {
			w.t.Errorf("artifact %s came with %d mentions (%v), want %d", name, got, known, mentions)
		}
	}
	if len(a.turns) != 1 || a.turns[0].State != scrollback.TurnOpen {
		w.t.Errorf("the open turns came as %v", a.turns)
	}
}

// testAuditStops: an error of the walk ends it, and comes back as it is.
func testAuditStops(w *bench) {
	c := w.conversation()
	w.say(c.ID, 3)
	enough := errors.New("enough")
	seen := 0
	keep := func() error { return nil }
	err := w.Audit(w.ctx, driver.AuditWalk{
		Total:        func(int64) error { return keep() },
		Conversation: func(scrollback.Conversation) error { return keep() },
		Branch:       func(scrollback.Branch) error { return keep() },
		Message: func(scrollback.Message, bool) error {
			if seen++; seen == 2 {
				return enough
			}
			return nil
		},
		Flaw: func(f driver.Flaw) error { w.t.Errorf("a flaw: %v", f); return nil },
	})
	if !errors.Is(err, enough) || seen != 2 {
		w.t.Errorf("after %d messages the walk ended with %v", seen, err)
	}
}
