package transfer_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/doctor"
	"github.com/scrollback-ai/scrollback/internal/ids"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// messageIDs returns what each message of a conversation says, by its id, and the branches that have messages of their
// own.
func messageIDs(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID) (said map[scrollback.MessageID]string,
	branches []scrollback.BranchID) {
	t.Helper()
	ctx := context.Background()
	all, err := r.Branches().List(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	said = map[scrollback.MessageID]string{}
	for _, b := range all {
		if b.Messages > 0 {
			branches = append(branches, b.ID)
		}
		for m, err := range r.Store.WalkMessages(ctx, b.ID, 1, b.HeadSeq) {
			if err != nil {
				t.Fatal(err)
			}
			said[m.ID] = fmt.Sprint(m.Parts.Text(), " ", m.TurnID)
		}
	}
	slices.Sort(branches)
	return said, branches
}

// Whatever way a talk grew, into whichever project, its messages have the ids that they have where it came
// whole, and so have its conversation and those of its sub-agents; in a straight line its branch has too.
func TestIDsWhileItGrows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		whole := drawTalk(rt, "a", nil)
		sub := drawTalk(rt, "agent", nil)
		sub.Call = "call"
		whole.Agents = []talk{sub}
		isLine := rapid.Bool().Draw(rt, "a line")
		if isLine {
			for i := range whole.Nodes[1:] {
				whole.Nodes[i+1].Parent = whole.Nodes[i].ID
			}
			whole.Leaf = whole.Nodes[len(whole.Nodes)-1].ID
		}
		here := newHome(t)
		here.bring(files{"s": {whole}}, "s")
		there := newHome(t)
		for n := 1; n <= len(whole.Nodes); n++ {
			if n < len(whole.Nodes) && rapid.Bool().Draw(rt, "skipped") {
				continue
			}
			q := transfer.ImportRequest{Project: fmt.Sprint("p", rapid.IntRange(0, 2).Draw(rt, "project"))}
			if _, err := there.try(files{"s": {whole.first(n)}}, "s", q); err != nil {
				rt.Fatal(err)
			}
		}
		for _, id := range []string{"a", "agent"} {
			if here.of(id).Conversation != there.of(id).Conversation {
				rt.Fatalf("%s is %s here and %s there", id, here.of(id).Conversation, there.of(id).Conversation)
			}
			said, branches := messageIDs(t, here.Rig, here.of(id).Conversation)
			other, otherBranches := messageIDs(t, there.Rig, there.of(id).Conversation)
			if d := cmp.Diff(said, other); d != "" {
				rt.Fatalf("messages of %s (-whole +grown):\n%s", id, d)
			}
			if isLine && id == "a" && !slices.Equal(branches, otherBranches) {
				rt.Fatalf("branches of %s: %v, grown %v", id, branches, otherBranches)
			}
		}
	})
}

// A session that went back has the same branches wherever it is imported, also where somebody had gone back to the same
// place here.
func TestIDsOfBranches(t *testing.T) {
	ctx := context.Background()
	talk := line("a", "one", "two", "three")
	forked := talk
	forked.Nodes = append(slices.Clone(talk.Nodes), node{ID: "x", Parent: talk.Nodes[1].ID, Text: "other"})
	forked.Leaf = "x"
	var want []scrollback.BranchID
	for i, bring := range []func(h *home){
		func(h *home) { h.bring(files{"s": {forked}}, "s") },
		func(h *home) { h.bring(files{"s": {talk}}, "s"); h.bring(files{"s": {forked}}, "s") },
		func(h *home) {
			h.bring(files{"s": {talk}}, "s")
			if _, err := h.Branches().Rewind(ctx, h.of("a").Conversation, engine.Point{Seq: new(int64(2))}); err != nil {
				t.Fatal(err)
			}
			h.bring(files{"s": {forked}}, "s")
		},
	} {
		h := newHome(t)
		bring(h)
		h.has(forked)
		_, branches := messageIDs(t, h.Rig, h.of("a").Conversation)
		if i == 0 {
			want = branches
		}
		if !slices.Equal(branches, want) || len(branches) != 2 || branches[0] != ids.RootBranch(h.of("a").Conversation) {
			t.Errorf("%d: %v, want %v", i, branches, want)
		}
	}
}

// What was imported when ids followed from the project is known again, by its origin and without one.
func TestIDsOfBefore(t *testing.T) {
	ctx := context.Background()
	f := files{"s": {line("a", "one", "two", "three")}}
	for _, c := range []struct {
		project, now string
		origin       bool
	}{{"", "", false}, {"p", "p", false}, {"p", "q", true}, {"", "q", false}} {
		h := newHome(t)
		was, _, err := h.Create(ctx, scrollback.Conversation{ID: ids.ConversationBefore("talks", "a", c.project),
			Project: c.project})
		if err != nil {
			t.Fatal(err)
		}
		if c.origin {
			if err := h.Store.Origins.Put(ctx, scrollback.Origin{Tool: "talks", ID: "a", Conversation: was.ID}, ""); err != nil {
				t.Fatal(err)
			}
		}
		head, err := h.Bulk().Head(ctx, was.ID, scrollback.AccessWrite)
		if err != nil {
			t.Fatal(err)
		}
		before, err := h.Store.AppendMessages(ctx, head, []store.IncomingMessage{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := h.try(f, "s", transfer.ImportRequest{Project: c.now})
		if err != nil || len(out.Conversations) != 1 || out.Conversations[0].ID != was.ID || out.Conversations[0].Created {
			t.Errorf("%+v: %+v, %v", c, out, err)
		}
		if again := h.bring(f, "s"); again.Conversations[0].Messages != 0 {
			t.Errorf("%+v again: %+v", c, again)
		}
		_, branches := messageIDs(t, h.Rig, was.ID)
		if len(branches) != 1 || branches[0] != before.Head.Branch.ID {
			t.Errorf("%+v: branches %v, want %s", c, branches, before.Head.Branch.ID)
		}
	}
}

// A file of a format goes into one conversation whatever project is asked for; callers who do not see each other have
// one each, and each its own for good.
func TestIDsOfFiles(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	text := func(n int) *strings.Reader {
		out := `{"conversation":{"id":"one"}}` + "\n"
		for i := range n {
			out += fmt.Sprintf(`{"role":"user","content":"m%d","id":"f%d"}`+"\n", i, i)
		}
		return strings.NewReader(out)
	}
	bring := func(v *engine.View, project string, n int) transfer.Imported {
		t.Helper()
		out, err := r.Transfer.Import(ctx, v, text(n), transfer.ImportRequest{Project: project})
		if err != nil {
			t.Fatal(err)
		}
		return out.Conversations[0]
	}
	first := bring(r.View, "", 2)
	if first.ID != ids.Conversation("jsonl", "one") || !first.Created {
		t.Errorf("%+v", first)
	}
	if again := bring(r.View, "p", 3); again.ID != first.ID || again.Messages != 1 {
		t.Errorf("into another project: %+v", again)
	}
	theirs := r.Engine.As(scrollback.Caller{Access: scrollback.AccessWrite, Projects: []string{"theirs"}})
	own := bring(theirs, "", 2)
	if own.ID == first.ID || !own.Created || own.Messages != 2 {
		t.Errorf("of a caller who does not see it: %+v", own)
	}
	if _, err := r.Purge(ctx, first.ID); err != nil {
		t.Fatal(err)
	}
	if again := bring(theirs, "", 3); again.ID != own.ID || again.Messages != 1 {
		t.Errorf("once the other is gone: %+v", again)
	}
	said, _ := messageIDs(t, r, own.ID)
	if len(said) != 3 {
		t.Errorf("%v", said)
	}
	if _, err := r.Transfer.Import(ctx, r.View, text(2), transfer.ImportRequest{}); scrollback.CodeOf(err) !=
		scrollback.Conflict {
		t.Errorf("what was purged comes back: %v", err)
	}
	back, err := r.Transfer.Import(ctx, r.View, text(2), transfer.ImportRequest{Again: true})
	if err != nil || back.Conversations[0].ID != stamp.AgainID(first.ID) {
		t.Errorf("brought back: %+v, %v", back, err)
	}
}

// Imports of one session at once, by several programs, make one conversation, in which nothing is twice; none fails.
func TestSessionsAtOnce(t *testing.T) {
	db := oracle.New()
	var texts []string
	for i := range 1200 {
		texts = append(texts, fmt.Sprint("text ", i))
	}
	f := files{"s": {line("a", texts...)}}
	var rigs []*home
	for range 3 {
		rigs = append(rigs, &home{enginetest.New(t, enginetest.Options{Driver: db, NoFolds: true, NoTitleCalls: true},
			modeltest.Say("x")), newHome(t).place})
	}
	var wg sync.WaitGroup
	for _, h := range rigs {
		wg.Go(func() {
			if _, err := h.try(f, "s", transfer.ImportRequest{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	h := rigs[0]
	said, branches := messageIDs(t, h.Rig, h.of("a").Conversation)
	if len(said) != len(texts) || len(branches) != 1 {
		t.Errorf("%d messages on %d branches", len(said), len(branches))
	}
	h.has(f["s"][0])
}

// Masked and not, a message is two branches, and the doctor says so.
func TestIDsMasked(t *testing.T) {
	ctx := context.Background()
	h := newHome(t)
	secret := "the key is sk-ant-api03-" + strings.Repeat("aB3dE6gH9j", 9)
	f := files{"s": {line("a", "one", secret, "three")}}
	h.bring(f, "s")
	found, err := doctor.Check(ctx, h.Store, h.Archive, nil)
	if err != nil || !found.OK || len(found.Notes) > 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	out, err := h.try(f, "s", transfer.ImportRequest{Mask: true})
	if err != nil || out.Conversations[0].Messages != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	_, branches := messageIDs(t, h.Rig, h.of("a").Conversation)
	found, err = doctor.Check(ctx, h.Store, h.Archive, nil)
	if err != nil || !found.OK || len(branches) != 2 || len(found.Notes) != 1 || found.Notes[0].Kind != "branch" ||
		!strings.Contains(found.Notes[0].Detail, "with masks and without") {
		t.Errorf("%d branches, %+v, %v", len(branches), found, err)
	}
}

// Segments that were made without a model have the same ids wherever they say the same; after an undoing they come
// again.
func TestIDsOfSegments(t *testing.T) {
	ctx := context.Background()
	var texts []string
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("step %d: the harbour has %d berths %s", i, i*i, strings.Repeat("and boats ", 20)))
	}
	f := files{"s": {line("a", texts...)}}
	fold := func(h *home) map[scrollback.SegmentID]string {
		t.Helper()
		id := h.of("a").Conversation
		if _, err := h.Compact(ctx, id, engine.CompactRequest{Clear: true}); err != nil {
			t.Fatal(err)
		}
		out := map[scrollback.SegmentID]string{}
		c, err := h.Bulk().Head(ctx, id, scrollback.AccessRead)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range c.Branch.View.Segments {
			s, err := h.Store.ReadSegments(ctx, []scrollback.SegmentID{v.ID})
			if err != nil {
				t.Fatal(err)
			}
			out[v.ID] = fmt.Sprint(s[0])
			if !strings.Contains(s[0].Placeholder, "history:"+string(v.ID)) || s[0].CreatedAt < s[0].From ||
				s[0].CreatedAt > s[0].To ||
				s[0].TokensAfter == 0 {
				t.Errorf("%+v", s[0])
			}
		}
		if len(out) == 0 {
			t.Error("nothing was folded")
		}
		return out
	}
	here := newHome(t)
	here.bring(f, "s")
	want := fold(here)
	there := newHome(t)
	there.Clock.Add(99_000)
	if _, err := there.try(files{"s": {f["s"][0].first(7)}}, "s", transfer.ImportRequest{Project: "p"}); err != nil {
		t.Fatal(err)
	}
	there.bring(f, "s")
	if d := cmp.Diff(want, fold(there)); d != "" {
		t.Errorf("segments (-here +there):\n%s", d)
	}
	if _, err := here.Uncompact(ctx, here.of("a").Conversation, ""); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, fold(here)); d != "" {
		t.Errorf("segments (-before +again):\n%s", d)
	}
	for id := range maps.Keys(want) {
		var text strings.Builder
		if err := here.Archive.WriteSegment(ctx, &text, id); err != nil || !strings.Contains(text.String(), "step 3") {
			t.Errorf("%s: %v", id, err)
		}
	}
	found, err := doctor.Check(ctx, here.Store, here.Archive, nil)
	if err != nil || !found.OK {
		t.Errorf("%+v, %v", found, err)
	}
}
