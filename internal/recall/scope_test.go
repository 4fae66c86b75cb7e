package recall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// A fork finds what it inherits of a conversation in the trash, or purged, and
// nothing else of that; of one that is there it finds also what was said elsewhere.
func TestSearchInAForkOfTrash(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("fine"))
	id := r.NewConversation()
	for i := range 6 {
		r.Ask(id, fmt.Sprint("heron ", i))
	}
	four := int64(4)
	eight := int64(8)
	f, err := r.Branches().Fork(ctx, id, engine.Point{Seq: &four}, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Branches().Fork(ctx, id, engine.Point{Seq: &eight}, ""); err != nil { // which keeps more
		t.Fatal(err)
	}
	for _, step := range []struct {
		name string
		do   func() error
		want []int64
	}{
		{"living", func() error { return nil }, []int64{11, 9, 7, 5, 3, 1}},
		{"in the trash", func() error { _, err := r.Trash(ctx, id); return err }, []int64{3, 1}},
		{"purged", func() error { _, err := r.Purge(ctx, id); return err }, []int64{3, 1}},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		found, err := r.Search(ctx, scrollback.SearchQuery{Query: "heron", Conversation: f.ID, Limit: 20})
		var seqs []int64
		for _, h := range found.Hits {
			seqs = append(seqs, h.Seq)
		}
		slices.Sort(seqs)
		slices.Reverse(seqs)
		if err != nil || !slices.Equal(seqs, step.want) {
			t.Errorf("%s: found %v, %v, want %v", step.name, seqs, err, step.want)
		}
	}
}

// The look-ups of a model reach no further than its conversation's setting: itself,
// its project, or everything; and what they find can be read behind its ref.
func TestRecallScope(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	begun := func(project, scope, says string) scrollback.ConversationID {
		t.Helper()
		c, _, err := r.Create(ctx, scrollback.Conversation{Project: project,
			Settings: scrollback.Settings{RecallScope: scope}},
			scrollback.Message{Role: scrollback.RoleUser, Parts: enginetest.Say(says)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Compact(ctx, c.ID, engine.CompactRequest{Clear: true}); err != nil {
			t.Fatal(err)
		}
		return c.ID
	}
	const word = "zanzibar"
	said := map[string]scrollback.ConversationID{"ours": begun("a", "", word+" ours"),
		"theirs": begun("b", "", word+" theirs"),
		"gone":   begun("a", "", word+" gone")}
	if _, err := r.Trash(ctx, said["gone"]); err != nil {
		t.Fatal(err)
	}
	refs := map[string]scrollback.Ref{}
	for name, id := range said {
		if name == "gone" {
			continue
		}
		list, _, err := r.Refs(ctx, id, scrollback.RefQuery{})
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		refs[name] = list[0].Ref
	}
	for _, c := range []struct {
		setting, scope string
		code           scrollback.Code
		finds          int // others' messages
		reads          map[string]bool
	}{
		{"", "", "", 0, map[string]bool{}},
		{"conversation", "conversation", "", 0, map[string]bool{}},
		{"", "project", scrollback.Refused, 0, map[string]bool{}},
		{"project", "project", "", 1, map[string]bool{"ours": true}},
		{"project", "", "", 0, map[string]bool{"ours": true}},
		{"project", "all", scrollback.Refused, 0, map[string]bool{"ours": true}},
		{"all", "project", "", 1, map[string]bool{"ours": true, "theirs": true}},
		{"all", "all", "", 2, map[string]bool{"ours": true, "theirs": true}},
		{"all", "galaxy", scrollback.Invalid, 0, map[string]bool{"ours": true, "theirs": true}},
	} {
		id := begun("a", c.setting, "nothing of it")
		args := fmt.Sprintf(`{"query":%q,"scope":%q,"limit":20}`, word, c.scope)
		text, err := r.RunTool(ctx, id, "context_search", json.RawMessage(args), recall.RoomMax)
		var found struct {
			Hits []struct {
				Conversation scrollback.ConversationID `json:"conversation_id"`
				Content      string
				Ref          scrollback.Ref
			}
		}
		if err == nil {
			err = json.Unmarshal([]byte(text), &found)
		}
		if scrollback.CodeOf(err) != c.code || len(found.Hits) != c.finds {
			t.Errorf("%+v: finds %s, %v", c, text, err)
		}
		for _, h := range found.Hits {
			if h.Conversation == "" || h.Conversation == said["gone"] || h.Ref == "" {
				t.Errorf("%+v: hit %+v", c, h)
			}
		}
		for name, ref := range refs {
			for _, tool := range []string{"context_read", "context_tail"} {
				_, err := r.RunTool(ctx, id, tool, json.RawMessage(fmt.Sprintf(`{"ref":%q}`, ref)), recall.RoomMax)
				if c.reads[name] != (err == nil) || err != nil && scrollback.CodeOf(err) != scrollback.NotFound {
					t.Errorf("%+v: %s of %s: %v", c, tool, name, err)
				}
			}
			_, err := r.RunTool(ctx, id, "context_grep", json.RawMessage(fmt.Sprintf(`{"ref":%q,"pattern":"zanz"}`, ref)),
				recall.RoomMax)
			if c.reads[name] != (err == nil) {
				t.Errorf("%+v: grep of %s: %v", c, name, err)
			}
		}
	}
	_, _, err := r.Create(ctx, scrollback.Conversation{Settings: scrollback.Settings{RecallScope: "galaxy"}})
	enginetest.WantCode(t, err, scrollback.Invalid, "recall_scope")
}

// A model that searches does not find the question it was just asked, nor what it said
// when it looked things up, not even as neighbours; what was said before it does. When
// the turn is over they are found like everything else, and people find them at once.
func TestSearchLeavesOutTheQuestion(t *testing.T) {
	var asked []string
	search := func(id string) modeltest.Step {
		return modeltest.Step{Reply: func(r model.Request) []model.Delta {
			for _, it := range r.Items {
				for _, res := range it.Parts.Results() {
					asked = append(asked, res.Text)
				}
			}
			c := enginetest.Call(id, "context_search", `{"query":"heron lagoon","limit":20,"around":5}`)
			return []model.Delta{{Text: "I search for the heron " + id + "."}, {Call: &c}}
		}}
	}
	var r *enginetest.Rig
	var id scrollback.ConversationID
	last := modeltest.Step{Reply: func(req model.Request) []model.Delta {
		search("").Reply(req)
		found, err := r.Search(t.Context(), scrollback.SearchQuery{Query: "nested", Conversation: id})
		if err != nil || len(found.Hits) == 0 || found.Hits[0].Seq != 3 {
			t.Errorf("meanwhile a person finds %+v, %v", found.Hits, err)
		}
		return []model.Delta{{Text: "By the lagoon."}}
	}}
	r = enginetest.New(t, enginetest.Options{}, modeltest.Say("The heron is by the lagoon."), search("r1"), search("r2"),
		last)
	id = r.NewConversation()
	r.Ask(id, "Is the heron there?").WantDone(t, scrollback.TurnComplete, "stop")
	r.Ask(id, "Where has the heron nested at the lagoon?").WantDone(t, scrollback.TurnComplete, "stop")
	if len(asked) != 3 { // the first result is in two windows
		t.Fatalf("%d results", len(asked))
	}
	for _, text := range asked {
		if strings.Contains(text, "nested") || strings.Contains(text, "I search") ||
			!strings.Contains(text, "by the lagoon") {
			t.Errorf("a search in the turn found %s", text)
		}
	}
	text, err := r.RunTool(t.Context(), id, "context_search", json.RawMessage(`{"query":"heron lagoon","limit":20}`),
		recall.RoomMax)
	if err != nil || !strings.Contains(text, "nested") || !strings.Contains(text, "I search for the heron r1") {
		t.Errorf("after the turn it finds %s, %v", text, err)
	}
}

// A hit says what stands for it in the window, and whether the window carries it all the same.
func TestSearchSaysWhatStandsForIt(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("fine"))
	id := r.NewConversation()
	for i := range 4 {
		r.Ask(id, fmt.Sprint("heron ", i))
	}
	pin := func(c *scrollback.Conversation) error { c.PinnedSeqs = []int64{3}; return nil }
	if _, err := r.Patch(ctx, id, 0, pin); err != nil {
		t.Fatal(err)
	}
	receipt, err := r.Compact(ctx, id, engine.CompactRequest{Clear: true})
	if err != nil {
		t.Fatal(err)
	}
	r.Ask(id, "heron 4")
	found, err := r.Search(ctx, scrollback.SearchQuery{Query: "heron", Role: scrollback.RoleUser, Limit: 20})
	if err != nil || len(found.Hits) != 5 || found.Total != 5 || found.Conversations != 1 || found.Next != nil {
		t.Fatalf("%+v, %v", found, err)
	}
	for _, h := range found.Hits {
		live := h.Seq > receipt.LastSeq
		if card := h.Card; (card == nil) != live ||
			card != nil && (card.FirstSeq != 1 || card.LastSeq != receipt.LastSeq || card.Since == 0) ||
			h.Pinned != (h.Seq == 3) || (h.Ref == nil) != live {
			t.Errorf("#%d: %+v", h.Seq, h)
		}
	}
}
