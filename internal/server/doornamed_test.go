package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
)

const conversationHeader = "X-Scrollback-Conversation"

// sayHere says something in a conversation as the page does, or begins one.
func (d *doorRig) sayHere(id scrollback.ConversationID, text string) scrollback.ConversationID {
	d.t.Helper()
	v := d.sb.Engine.As(scrollback.Operator())
	if id == "" {
		c, _, err := v.Create(d.t.Context(), scrollback.Conversation{Project: "garden", Model: "openai/gpt-5",
			Instructions: "Speak of plants."})
		if err != nil {
			d.t.Fatal(err)
		}
		id = c.ID
	}
	resp, answer := d.post("/api/conversations/"+string(id)+"/chat", `{"message":"`+text+`"}`)
	if resp.StatusCode != http.StatusOK {
		d.t.Fatalf("%d %s", resp.StatusCode, answer)
	}
	return id
}

// TestDoorNamedByID goes on with a conversation that the page began behind its newest message, in its own project and
// with its instructions; what the client sends of the history is recognised, and what it changes of it is a branch.
func TestDoorNamedByID(t *testing.T) {
	d := newDoorRig(t, door.Options{})
	id := d.sayHere("", "The rose is red.")
	ask := func(want string, messages ...string) {
		t.Helper()
		resp, answer := d.post("/v1/chat/completions", chatBody("", messages...), conversationHeader,
			strings.ToUpper(string(id)))
		if got := resp.Header.Get(conversationHeader); resp.StatusCode != http.StatusOK || got != string(id) {
			t.Fatalf("%d in %s: %s", resp.StatusCode, got, answer)
		}
		all := d.conversations()
		if got := strings.Join(all[0], " / "); len(all) != 1 || got != want {
			t.Errorf("%q\nstored is %q\nwant      %q", messages, all, want)
		}
	}
	rose := "user: The rose is red. / assistant: You said The rose is red."
	lily := rose + " / user: The lily is white. / assistant: You said The lily is white."
	ask(lily, sayAs("user", "The lily is white."))
	sent := d.up.sent()
	if s := sent[len(sent)-1]; !strings.Contains(s, "The rose is red.") || !strings.Contains(s, "Speak of plants.") {
		t.Errorf("the model was not sent what was said before: %s", s)
	}
	d.sayHere(id, "The page again.")
	page := lily + " / user: The page again. / assistant: You said The page again."
	history := []string{sayAs("user", "The rose is red."), sayAs("assistant", "You said The rose is red."),
		sayAs("user", "The lily is white."), sayAs("assistant", "You said The lily is white."),
		sayAs("user", "The page again."), sayAs("assistant", "You said The page again.")}
	ask(page+" / user: And now? / assistant: You said And now?", append(history, sayAs("user", "And now?"))...)
	ask(rose+" / user: The iris is blue. / assistant: You said The iris is blue.",
		append(history[:2:2], sayAs("user", "The iris is blue."))...)
	c, err := d.sb.Engine.As(scrollback.Operator()).Get(t.Context(), id)
	if err != nil || c.Project != "garden" || c.Instructions != "Speak of plants." {
		t.Errorf("the conversation is %+v, %v", c, err)
	}
}

// TestDoorNamedNew makes a conversation with the id that a client names, once.
func TestDoorNamedNew(t *testing.T) {
	d := newDoorRig(t, door.Options{})
	const id = "0193a0de-0000-7000-8000-00000000abcd"
	for _, text := range []string{"One", "Two"} {
		resp, answer := d.post("/v1/chat/completions", chatBody("", sayAs("user", text)), conversationHeader, id)
		if got := resp.Header.Get(conversationHeader); got != id {
			t.Errorf("%d in %s: %s", resp.StatusCode, got, answer)
		}
	}
	d.wantTalk("user: One", "assistant: You said One", "user: Two", "assistant: You said Two")
	// A history that was said under no name is forked by one that is new, with its id.
	d = newDoorRig(t, door.Options{})
	d.post("/v1/chat/completions", chatBody("", sayAs("user", "One")))
	resp, _ := d.post("/v1/chat/completions", chatBody("", sayAs("user", "One"), sayAs("assistant", "You said One"),
		sayAs("user", "Two")), conversationHeader, id)
	if got := resp.Header.Get(conversationHeader); got != id {
		t.Errorf("the fork is %s", got)
	}
}

// TestDoorNamedOfOthers hides what is not a key's own, and makes no second conversation of that id.
func TestDoorNamedOfOthers(t *testing.T) {
	d := newDoorRig(t, door.Options{})
	id := d.sayHere("", "A secret.")
	add := d.needKeys(door.Options{})
	other := append(add(scrollback.Key{Name: "other", Projects: []string{"desert"}}), conversationHeader, string(id))
	own := append(add(scrollback.Key{Name: "own", Projects: []string{"desert", "garden"}}), conversationHeader, string(id))
	resp, answer := d.post("/v1/chat/completions", chatBody("", sayAs("user", "Tell me.")), other...)
	if resp.StatusCode != http.StatusNotFound || strings.Contains(answer, "secret") {
		t.Errorf("another key's: %d %s", resp.StatusCode, answer)
	}
	d.wantTalk("user: A secret.", "assistant: You said A secret.")
	resp, answer = d.post("/v1/chat/completions", chatBody("", sayAs("user", "Tell me.")), own...)
	if resp.StatusCode != http.StatusOK || resp.Header.Get(conversationHeader) != string(id) {
		t.Errorf("a key that sees it: %d %s", resp.StatusCode, answer)
	}
}

// TestDoorNameInvalid refuses what cannot be a name, and says which header has it.
func TestDoorNameInvalid(t *testing.T) {
	d := newDoorRig(t, door.Options{})
	for name, status := range map[string]int{strings.Repeat("名", 200): 200, strings.Repeat("x", 201): 400, "a\tb": 400,
		"\xff": 400} {
		resp, answer := d.post("/v1/chat/completions", chatBody("", sayAs("user", "Hello")), conversationHeader, name)
		if resp.StatusCode != status || status == 400 && !strings.Contains(answer, conversationHeader) {
			t.Errorf("%q: %d %s", name, resp.StatusCode, answer)
		}
	}
}
