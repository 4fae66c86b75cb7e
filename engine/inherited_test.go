package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/token"
)

// askIn asks in a new conversation of a project as somebody does, and returns it.
func askIn(t *testing.T, v *engine.View, c scrollback.Conversation, texts ...string) scrollback.ConversationID {
	t.Helper()
	made, _, err := v.Create(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		r := engine.TurnRequest{Conversation: made.ID, Message: enginetest.Say(text)}
		for _, err := range v.Turn(context.Background(), r) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return made.ID
}

// inheritedLines are the sentences of other conversations in the newest request.
func inheritedLines(r *enginetest.Rig) []string {
	_, rest, _ := strings.Cut(lastRequest(r), "<kept_sentences>\n")
	block, _, _ := strings.Cut(rest, "</kept_sentences>")
	var out []string
	for line := range strings.SplitSeq(block, "\n") {
		if strings.HasPrefix(line, "- ") {
			out = append(out, line)
		}
	}
	return out
}

// With keep = "project", a new conversation begins with what its caller said in others of its project and what
// stands: not with what somebody else said, was taken back, dropped, is to be done, or stands in another project.
func TestNewConversationInheritsKept(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true, Limit: 32000}, enginetest.ChattyStep())
	put(t, r, "harbour", func(p *scrollback.Project) { p.Settings.Keep = scrollback.ScopeProject })
	in := func(project string) scrollback.Conversation { return scrollback.Conversation{Project: project} }
	both := []string{"harbour", "elsewhere"}
	ann := r.Engine.As(scrollback.Caller{Name: "ann", Key: "ann", Access: scrollback.AccessWrite, Projects: both})
	bob := r.Engine.As(scrollback.Caller{Name: "bob", Key: "bob", Access: scrollback.AccessWrite, Projects: both})
	first := askIn(t, ann, in("harbour"), "I don't eat meat.", "Never push to main.", "TODO: water the plants.",
		"Always answer in English.")
	askIn(t, ann, in("elsewhere"), "I can't stand cinnamon.")
	askIn(t, bob, in("harbour"), "I'm allergic to peanuts.")
	askIn(t, ann, in("harbour"), "Actually, from now on answer in Spanish instead.", "I only take the train.")

	askIn(t, ann, in("harbour"), "Hello.")
	wantLines := func(why string, want ...string) {
		t.Helper()
		got := inheritedLines(r)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: begins with\n%s, want\n%s", why, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	got := inheritedLines(r)
	all := strings.Join(got, "\n")
	if len(got) != 4 || got[0] != fmt.Sprintf("- I don't eat meat. (%s#1)", first) ||
		!strings.Contains(all, "answer in Spanish instead.") || strings.Contains(all, "English") {
		t.Errorf("ann's begins with %q", got)
	}
	entries, err := ann.Kept().List(ctx, first, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Text == "I don't eat meat." {
			if _, err := ann.Kept().SetState(ctx, first, e.ID, scrollback.KeptDropped); err != nil {
				t.Fatal(err)
			}
		}
	}
	askIn(t, ann, in("harbour"), "Hello.")
	if got := inheritedLines(r); len(got) != 3 || strings.Contains(got[0], "meat") {
		t.Errorf("with one dropped it begins with %q", got)
	}
	askIn(t, r.View, in("harbour"), "Hello.")
	wantLines("nobody with a key spoke for the operator")
	alone := in("harbour")
	alone.Settings.Keep = scrollback.ScopeConversation
	askIn(t, ann, alone, "Hello.")
	wantLines("a conversation may leave it out")
	askIn(t, ann, in("elsewhere"), "Hello.")
	wantLines("another project keeps to conversations")
	_, _, err = ann.Create(ctx, scrollback.Conversation{Settings: scrollback.Settings{Keep: "everywhere"}})
	enginetest.WantCode(t, err, scrollback.Invalid, "keep is conversation or project")
}

// What a conversation began with stays as it was while others go on, does not travel in a bundle, and its refs
// are read by its model, which reaches no other message there.
func TestInheritedKeptStays(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true, Limit: 32000}, enginetest.ChattyStep())
	put(t, r, "harbour", func(p *scrollback.Project) { p.Settings.Keep = scrollback.ScopeProject })
	first := askIn(t, r.View, scrollback.Conversation{Project: "harbour"}, "I don't eat meat.", "What is the tide?")
	next := askIn(t, r.View, scrollback.Conversation{Project: "harbour"}, "Hello.")
	before := lastRequest(r)
	r.Ask(first, "I can't stand cinnamon.")
	r.Ask(next, "And now?")
	if got := lastRequest(r); !strings.HasPrefix(got, strings.TrimSuffix(before, "Hello.\n")) {
		t.Errorf("the request no longer begins as it did:\n%s\nwas\n%s", got, before)
	}
	read := func(ref scrollback.Ref) (string, error) {
		args, err := json.Marshal(map[string]any{"ref": ref})
		if err != nil {
			t.Fatal(err)
		}
		return r.View.Recall().RunTool(ctx, next, "context_read", args, recall.Room{Bytes: 4000, Tokens: 1000})
	}
	if got, err := read(scrollback.MessageRef(first, 1)); err != nil || !strings.Contains(got, "I don't eat meat.") {
		t.Errorf("its source reads %s (%v)", got, err)
	}
	_, err := read(scrollback.MessageRef(first, 3))
	enginetest.WantCode(t, err, scrollback.Refused, "only itself")
	put(t, r, "harbour", func(p *scrollback.Project) { p.Settings.RecallScope = scrollback.ScopeProject })
	if got, err := read(scrollback.MessageRef(first, 3)); err != nil || !strings.Contains(got, "What is the tide?") {
		t.Errorf("with a project's scope, #3 there reads %s (%v)", got, err)
	}
	_, err = read(scrollback.MessageRef("0000", 3))
	enginetest.WantCode(t, err, scrollback.NotFound, "")
	if file := string(r.Pack(next, transfer.ExportRequest{})); strings.Contains(file, "meat") {
		t.Errorf("the bundle has what was said elsewhere")
	}
}

// A project with much in it takes a twentieth of the budget at most, of each kind the newest.
func TestInheritedKeptHasBound(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{NoFolds: true, Limit: 8192}, enginetest.ChattyStep())
	put(t, r, "p", func(p *scrollback.Project) { p.Settings.Keep = scrollback.ScopeProject })
	for i := range 30 {
		askIn(t, r.View, scrollback.Conversation{Project: "p"},
			fmt.Sprintf("I never buy the blue boxes of shelf %d.", i), fmt.Sprintf("Never write to table_%d.", i))
	}
	askIn(t, r.View, scrollback.Conversation{Project: "p"}, "Hello.")
	lines := inheritedLines(r)
	text := strings.Join(lines, "\n")
	if n := token.Count(text); n > 8192/20 || len(lines) < 4 {
		t.Errorf("%d lines of %d tokens", len(lines), n)
	}
	if !strings.Contains(text, "shelf 29.") || !strings.Contains(text, "table_29.") || strings.Contains(text, "shelf 0.") {
		t.Errorf("not the newest of each kind:\n%s", text)
	}
}
