package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/engine/request"
)

// listKept writes what stands in a conversation, a line each.
func listKept(r *enginetest.Rig, id scrollback.ConversationID) []string {
	r.T.Helper()
	entries, err := r.View.Kept().List(context.Background(), id, false)
	if err != nil {
		r.T.Fatal(err)
	}
	var out []string
	for _, k := range entries {
		out = append(out, fmt.Sprintf("#%d %s %s: %s", k.Seq, k.Kind, k.By, k.Text))
	}
	return out
}

// wantKept compares what stands in a conversation.
func wantKept(r *enginetest.Rig, id scrollback.ConversationID, want ...string) {
	r.T.Helper()
	if diff := cmp.Diff(want, listKept(r, id)); diff != "" {
		r.T.Fatalf("kept differs (-want +got):\n%s", diff)
	}
}

// lastRequest is the text of the request that the model had last.
func lastRequest(r *enginetest.Rig) string {
	all := r.Script.Requests()
	var b strings.Builder
	for _, it := range all[len(all)-1].Items {
		b.WriteString(it.Parts.Text() + "\n")
	}
	return b.String()
}

// What is said is kept at once, along the path: a fork has what it inherits, a rewind takes away what was
// said after it, and to-dos end when the talk says so.
func TestKeptOnPath(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	c := r.NewConversation()
	for _, text := range []string{"Never push to main.", "TODO: water the plants.", "What is the tide?",
		"I watered the plants."} {
		r.Ask(c, text)
	}
	wantKept(r, c, "#1 instruction rule: Never push to main.")
	three := int64(4)
	f, err := r.View.Branches().Fork(ctx, c, engine.Point{Seq: &three}, "")
	if err != nil {
		t.Fatal(err)
	}
	wantKept(r, f.ID, "#3 todo rule: TODO: water the plants.", "#1 instruction rule: Never push to main.")
	r.Ask(f.ID, "Always sign as Ada.")
	wantKept(r, f.ID, "#3 todo rule: TODO: water the plants.", "#1 instruction rule: Never push to main.",
		"#5 instruction rule: Always sign as Ada.")
	if _, err := r.View.Branches().Rewind(ctx, c, engine.Point{Seq: &three}); err != nil {
		t.Fatal(err)
	}
	wantKept(r, c, "#3 todo rule: TODO: water the plants.", "#1 instruction rule: Never push to main.")
}

// A person drops, keeps and ticks off; a fork has what was said of it before, and each goes on by itself.
func TestKeptByHand(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	c := r.NewConversation()
	r.Ask(c, "Never push to main. The gate code is 4711, by the way.")
	r.Ask(c, "TODO: water the plants.")
	v := r.View.Kept()
	added, err := v.Keep(ctx, c, 1, "The gate code is 4711, by the way.", "")
	if err != nil || added.By != scrollback.KeptByPerson {
		t.Fatalf("%+v, %v", added, err)
	}
	wantKept(r, c, "#3 todo rule: TODO: water the plants.", "#1 instruction rule: Never push to main.",
		"#1 instruction person: The gate code is 4711, by the way.")
	entries, err := v.List(ctx, c, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.SetState(ctx, c, entries[0].ID, scrollback.KeptDone); err != nil {
		t.Fatal(err)
	}
	if _, err := v.SetState(ctx, c, entries[1].ID, scrollback.KeptDropped); err != nil {
		t.Fatal(err)
	}
	wantKept(r, c, "#1 instruction person: The gate code is 4711, by the way.")
	f, err := r.View.Branches().Fork(ctx, c, engine.Point{}, "")
	if err != nil {
		t.Fatal(err)
	}
	r.Clock.Add(10)
	if _, err := v.SetState(ctx, c, entries[1].ID, scrollback.KeptOpen); err != nil {
		t.Fatal(err)
	}
	wantKept(r, f.ID, "#1 instruction person: The gate code is 4711, by the way.")
	wantKept(r, c, "#1 instruction rule: Never push to main.", "#1 instruction person: The gate code is 4711, by the way.")
	all, err := v.List(ctx, f.ID, true)
	if err != nil || len(all) != 3 {
		t.Errorf("all is %+v (%v)", all, err)
	}
	for name, bad := range map[string]func() error{
		"a text that is not there":    func() error { _, err := v.Keep(ctx, c, 1, "The gate is open.", ""); return err },
		"a message that is not there": func() error { _, err := v.Keep(ctx, c, 99, "x", ""); return err },
		"no kind":                     func() error { _, err := v.Keep(ctx, c, 1, "The gate code", "thing"); return err },
		"an unknown id":               func() error { _, err := v.SetState(ctx, c, "k_none", scrollback.KeptOpen); return err },
		"an instruction that is done": func() error {
			_, err := v.SetState(ctx, c, entries[1].ID, scrollback.KeptDone)
			return err
		},
		"a state of nothing": func() error { _, err := v.SetState(ctx, c, entries[1].ID, "gone"); return err },
	} {
		if err := bad(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// What a person asked for is in the next request word for word after many small folds, under each
// policy, and with models that fail.
func TestKeptThroughFolds(t *testing.T) {
	for _, policy := range []string{"segments", "rolling", "snapshot"} {
		t.Run(policy, func(t *testing.T) {
			r := enginetest.New(t, enginetest.Options{Policy: policy, Limit: 4000, Folding: map[string]float64{
				"trigger_messages": 8, "keep_messages": 2, "new_messages": 2}}, enginetest.ChattyStep())
			c := r.NewConversation()
			r.Ask(c, "Never delete the backups.")
			for i := range 60 {
				r.Ask(c, fmt.Sprintf("What is the tide on day %d, and who is on the pier?", i))
			}
			if v := view(r, c); v.Boundary < 20 {
				t.Fatalf("it was folded up to #%d only", v.Boundary)
			}
			if sent := lastRequest(r); !strings.Contains(sent, "Never delete the backups.") {
				t.Errorf("it is not in the request:\n%s", sent)
			}
		})
	}
}

// Who starts afresh keeps what was asked for, and nothing else.
func TestKeptThroughClear(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{Limit: 6000}, enginetest.ChattyStep())
	c := r.NewConversation()
	r.Ask(c, "Never delete the backups.")
	r.Ask(c, "What is the tide today?")
	if receipt, err := r.Compact(context.Background(), c, engine.CompactRequest{Clear: true}); err != nil ||
		receipt.Result != scrollback.ResultCompacted {
		t.Fatalf("%+v, %v", receipt, err)
	}
	r.Ask(c, "And now?")
	sent := lastRequest(r)
	if !strings.Contains(sent, "#1 user: Never delete the backups.") || strings.Contains(sent, "Said last") {
		t.Errorf("the request is\n%s", sent)
	}
}

// What a person drops, ticks off or keeps counts in the next request, whether or not a fold comes
// before it; and what was sent before can be seen again, byte by byte.
func TestKeptCorrectsTheBlock(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{Policy: "segments", Limit: 6000}, enginetest.ChattyStep())
	c := r.NewConversation()
	r.Ask(c, "Never delete the backups.")
	r.Ask(c, "TODO: water the plants.")
	r.Ask(c, "By the way, the gate code is 4711.")
	for i := range 10 {
		r.Ask(c, fmt.Sprintf("What is the tide on day %d, and who is on the pier?", i))
	}
	if receipt, err := r.Compact(ctx, c, engine.CompactRequest{Force: true}); err != nil ||
		receipt.Result != scrollback.ResultCompacted {
		t.Fatalf("%+v, %v", receipt, err)
	}
	holds := func(when string, want map[string]bool) {
		t.Helper()
		told := r.Ask(c, "And now?")
		sent := lastRequest(r)
		for text, is := range want {
			if strings.Contains(sent, "user: "+text) != is {
				t.Errorf("%s: %q is in the request: %v\n%s", when, text, !is, sent)
			}
		}
		turn, _ := enginetest.Last[scrollback.TurnEvent](told)
		again, err := r.Turns().Context(ctx, c, turn.TurnID, request.PastRequest{Content: true})
		if err != nil || again.Steps[0].Partial {
			t.Errorf("%s: what was sent cannot be seen again (%v)", when, err)
		}
	}
	holds("before", map[string]bool{"Never delete the backups.": true, "TODO: water the plants.": true})
	v := r.View.Kept()
	entries, err := v.List(ctx, c, false)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%+v, %v", entries, err)
	}
	if _, err := v.SetState(ctx, c, entries[0].ID, scrollback.KeptDone); err != nil {
		t.Fatal(err)
	}
	if _, err := v.SetState(ctx, c, entries[1].ID, scrollback.KeptDropped); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Keep(ctx, c, 5, "the gate code is 4711", ""); err != nil {
		t.Fatal(err)
	}
	now := map[string]bool{"Never delete the backups.": false, "TODO: water the plants.": false, "the gate code is 4711": true}
	holds("changed", now)
	if _, err := r.Compact(ctx, c, engine.CompactRequest{Force: true}); err != nil {
		t.Fatal(err)
	}
	holds("folded again", now)
	if _, err := v.SetState(ctx, c, entries[1].ID, scrollback.KeptOpen); err != nil {
		t.Fatal(err)
	}
	now["Never delete the backups."] = true
	holds("kept again", now)
}

// What finds no room in the block is behind a ref that the block and the manifest name.
func TestManifestNamesKeptApart(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true, Limit: 4000}, enginetest.ChattyStep())
	c := r.NewConversation()
	const said = 60
	for i := range said {
		r.Ask(c, fmt.Sprintf("Never write to the table of harbour number %d.", i))
	}
	if _, err := r.View.Compact(ctx, c, engine.CompactRequest{}); err != nil {
		t.Fatal(err)
	}
	m, err := r.View.Context(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	r.Ask(c, "And now?")
	sent := lastRequest(r)
	if len(m.KeptApart) != 1 || !strings.Contains(sent, string(m.KeptApart[0].Ref)) {
		t.Fatalf("the manifest names %+v, and the request is\n%s", m.KeptApart, sent)
	}
	apart := r.ReadAll(c, m.KeptApart[0].Ref)
	for i := range said {
		line := fmt.Sprintf("Never write to the table of harbour number %d.", i)
		if !strings.Contains(sent, line) && !strings.Contains(apart, line) {
			t.Errorf("%s is nowhere", line)
		}
	}
	if n := strings.Count(apart, "harbour number"); n != m.KeptApart[0].Sentences {
		t.Errorf("%d sentences are counted, and %d are there", m.KeptApart[0].Sentences, n)
	}
}
