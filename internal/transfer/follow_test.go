package transfer_test

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/internal/workspace"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/transcript"
)

// path returns messages in short: "u:text", "a:text", "s:text".
func path(all ...string) iter.Seq2[transcript.Entry, error] {
	roles := map[byte]scrollback.Role{'u': scrollback.RoleUser, 'a': scrollback.RoleAssistant, 's': scrollback.RoleSystem}
	return func(yield func(transcript.Entry, error) bool) {
		for _, m := range all {
			if !yield(transcript.Entry{Message: scrollback.Message{Role: roles[m[0]], Parts: scrollback.Say(m[2:])}}, nil) {
				return
			}
		}
	}
}

// followed follows a path, and wants these numbers of old and of new messages.
func followed(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID, same, written int64,
	all ...string) transfer.Followed {
	t.Helper()
	is, err := follow(r, id, all...)
	if err != nil || is.Same != same || is.Written != written || is.Seq != int64(len(all)) ||
		is.Conversation.Messages != int64(len(all)) ||
		is.Behind != 0 || !is.Entire {
		t.Fatalf("%q: %d were there, %d are new, up to #%d of %d (%v)", all, is.Same, is.Written, is.Seq,
			is.Conversation.Messages, err)
	}
	return is
}

// look follows a path without writing anything.
func look(r *enginetest.Rig, id scrollback.ConversationID,
	entries iter.Seq2[transcript.Entry, error]) (transfer.Followed, error) {
	return r.Transfer.FollowPath(context.Background(), r.View,
		transfer.FollowRequest{Conversation: id, Entries: entries, Look: true})
}

// follow follows a path that may not be what the conversation says.
func follow(r *enginetest.Rig, id scrollback.ConversationID, all ...string) (transfer.Followed, error) {
	return r.Transfer.FollowPath(context.Background(), r.View,
		transfer.FollowRequest{Conversation: id, Entries: path(all...)})
}

func branches(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID) int {
	t.Helper()
	list, err := r.Branches().List(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// A conversation goes along what is there, back where the path ends earlier, and off where it
// differs; coming back to a path writes nothing.
func TestFollow(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("A"), modeltest.Say("B"), modeltest.Say("C"))
	id := r.NewConversation()
	r.Ask(id, "a")
	r.Ask(id, "b")
	before := followed(t, r, id, 4, 0, "u:a", "a:A", "u:b", "a:B")
	if again := followed(t, r, id, 4, 0, "u:a", "a:A", "u:b", "a:B"); again.Version != before.Version {
		t.Errorf("the same path has written: version %d, then %d", before.Version, again.Version)
	}
	followed(t, r, id, 2, 0, "u:a", "a:A")
	r.Ask(id, "c")
	r.WantOutline(id, "u:a", "a:A", "u:c", "a:C")
	if n := branches(t, r, id); n != 2 {
		t.Errorf("%d branches after a turn in the middle", n)
	}
	followed(t, r, id, 4, 0, "u:a", "a:A", "u:b", "a:B")
	followed(t, r, id, 1, 3, "u:a", "a:another answer", "u:b", "a:B")
	followed(t, r, id, 4, 2, "u:a", "a:another answer", "u:b", "a:B", "u:d", "a:D")
	followed(t, r, id, 4, 0, "u:a", "a:A", "u:c", "a:C")
	followed(t, r, id, 6, 0, "u:a", "a:another answer", "u:b", "a:B", "u:d", "a:D")
	followed(t, r, id, 0, 2, "s:be brief", "u:a")
	followed(t, r, id, 0, 0)
	if n := branches(t, r, id); n != 5 {
		t.Errorf("%d branches in the end", n)
	}
}

// Looking says how far a path goes and what is behind it, and changes nothing.
func TestFollowLooks(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("A"), modeltest.Say("B"))
	id := r.NewConversation()
	r.Ask(id, "a")
	r.Ask(id, "b")
	version := func() int64 {
		c, err := r.Get(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		return c.Version
	}
	before := version()
	for _, c := range []struct {
		path         []string
		same, behind int64
		entire       bool
	}{
		{nil, 0, 4, true},
		{[]string{"u:a", "a:A"}, 2, 2, true},
		{[]string{"u:a", "a:A", "u:b", "a:B"}, 4, 0, true},
		{[]string{"u:a", "a:A", "u:b", "a:B", "u:c"}, 4, 0, false},
		{[]string{"u:a", "a:X"}, 1, 3, false},
		{[]string{"u:x"}, 0, 4, false},
	} {
		is, err := look(r, id, path(c.path...))
		if err != nil || is.Same != c.same || is.Behind != c.behind || is.Entire != c.entire {
			t.Errorf("%q: %+v, %v", c.path, is, err)
		}
	}
	followed(t, r, id, 1, 1, "u:a", "a:X")
	is, err := look(r, id, path("u:a", "a:A", "u:b"))
	if err != nil || is.Behind != -1 || !is.Entire {
		t.Errorf("a path that is not the current one: %+v, %v", is, err)
	}
	if after := version(); after == before {
		t.Error("the version does not tell writing from looking")
	}
}

// What is only written in another way is the same: ids of calls, reasoning, models, long
// results and long texts behind artifacts.
func TestFollowLikeness(t *testing.T) {
	long := strings.Repeat("a long question ", 3000)
	big := strings.Repeat("a line of output\n", 4000)
	r := enginetest.New(t, enginetest.Options{}, modeltest.Call(enginetest.Call("1", "f", `{"a": 1, "b": "x"}`)),
		modeltest.Say("done"))
	id := r.NewConversation()
	tools := []scrollback.Tool{{Name: "f", Parameters: json.RawMessage(`{"type":"object"}`)}}
	r.Run(engine.TurnRequest{Conversation: id, Message: scrollback.Say(long), Tools: tools}).WantDone(t,
		scrollback.TurnWaiting, "tool_calls")
	results := []engine.ToolResult{{CallID: "1", Text: big}}
	r.Run(engine.TurnRequest{Conversation: id, ToolResults: results}).WantDone(t, scrollback.TurnComplete, "stop")
	entries := func(args, result string) iter.Seq2[transcript.Entry, error] {
		all := []scrollback.Message{
			{Role: scrollback.RoleUser, Parts: scrollback.Say(long)},
			{Role: scrollback.RoleAssistant, Model: "acme/9", Parts: scrollback.Parts{scrollback.Reasoning{Text: "hm"},
				scrollback.ToolCall{ID: "call_9", Name: "f", Arguments: json.RawMessage(args)}}},
			{Role: scrollback.RoleTool, Parts: scrollback.Parts{scrollback.ToolResult{CallID: "call_9", Text: result}}},
			{Role: scrollback.RoleAssistant, Parts: scrollback.Say("done ")},
		}
		return func(yield func(transcript.Entry, error) bool) {
			for _, m := range all {
				if !yield(transcript.Entry{Message: m}, nil) {
					return
				}
			}
		}
	}
	for _, c := range []struct {
		args, result string
		same         int64
	}{{`{"b":"x","a":1.0}`, big, 4}, {`{"a":2,"b":"x"}`, big, 1}, {`{"a":1,"b":"x"}`, big + "more", 2}} {
		is, err := look(r, id, entries(c.args, c.result))
		if err != nil || is.Same != c.same {
			t.Errorf("%s: %d are the same (%v), want %d", c.args, is.Same, err, c.same)
		}
	}
}

// An image of a cell must be in the stored message, which may show others besides.
func TestFollowImages(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("A"))
	id := r.NewConversation()
	one := r.UploadImage(id, 1)
	two := r.UploadImage(id, 2)
	ask := engine.TurnRequest{Conversation: id, Message: scrollback.Parts{scrollback.Text{Text: "see"}, one, two}}
	r.Run(ask).WantDone(t, scrollback.TurnComplete, "stop")
	bytesOf := map[int][]byte{}
	for e, err := range r.Transfer.EntriesSince(ctx, r.View, id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range e.Bytes {
			bytesOf[i] = b
		}
	}
	shows := func(b ...[]byte) int64 {
		e := transcript.Entry{Message: scrollback.Message{Role: scrollback.RoleUser, Parts: scrollback.Say("see")},
			Bytes: map[int][]byte{}}
		for _, image := range b {
			e.Bytes[len(e.Message.Parts)] = image
			e.Message.Parts = append(e.Message.Parts, scrollback.Image{})
		}
		is, err := look(r, id, func(yield func(transcript.Entry, error) bool) { yield(e, nil) })
		if err != nil {
			t.Fatal(err)
		}
		return is.Same
	}
	if shows() != 1 || shows(bytesOf[2]) != 1 || shows(bytesOf[1], bytesOf[2]) != 1 || shows([]byte("another")) != 0 {
		t.Error("images are not compared as they should be")
	}
}

// Reports of a changed environment are passed over, and made again where they are needed.
func TestFollowPassesOverTheEnvironment(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{Place: &workspace.Place{Now: time.Unix(0, 0).UTC()}}, modeltest.Say("A"))
	id := r.NewConversation()
	r.Ask(id, "a")
	r.Clock.Add((48 * time.Hour).Milliseconds())
	r.Ask(id, "b")
	if log := r.Log(id); len(log) != 5 || log[2].Name != scrollback.EnvironmentName {
		t.Fatalf("the log has %d messages", len(log))
	}
	is, err := follow(r, id, "u:a", "a:A", "u:b", "a:A")
	if err != nil || is.Same != 4 || is.Written != 0 || is.Seq != 5 {
		t.Fatalf("%+v, %v", is, err)
	}
	followed(t, r, id, 2, 0, "u:a", "a:A")
	r.Ask(id, "b")
	is, err = follow(r, id, "u:a", "a:A", "u:b", "a:A", "u:c")
	if err != nil || is.Same != 4 || is.Written != 1 || is.Seq != 6 {
		t.Fatalf("with two reports on two branches: %+v, %v", is, err)
	}
	var said []string
	for e, err := range r.Transfer.EntriesSince(context.Background(), r.View, id, 2) {
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, e.Message.Parts.Text())
	}
	if !slices.Equal(said, []string{"b", "A", "c"}) {
		t.Errorf("since the second message: %q", said)
	}
}

// What a process that is gone had written is a message before anything else happens; while a
// turn runs nothing does.
func TestFollowAfterACrash(t *testing.T) {
	ctx := context.Background()
	r, id := cutOff(t)
	var drafts int
	for e, err := range r.Transfer.EntriesSince(ctx, r.View, id, 3) {
		if err != nil || e.Message.Parts.Text() != "half an ans" || e.Message.Status != scrollback.StatusInterrupted {
			t.Errorf("after the question: %+v, %v", e.Message, err)
		}
		drafts++
	}
	if drafts != 1 {
		t.Errorf("%d messages after the question", drafts)
	}
	followed(t, r, id, 4, 0, "u:first", "a:one", "u:second", "a:half an ans")
	r.WantOutline(id, "u:first", "a:one", "u:second", "a(interrupted):half an ans")

	if _, err := r.Store.Turns.Begin(ctx, store.BeginRequest{Conversation: id, Owner: "other",
		Messages: []store.IncomingMessage{{Message: scrollback.Message{Role: scrollback.RoleUser,
			Parts: scrollback.Say("third")}}}}); err != nil {
		t.Fatal(err)
	}
	_, err := r.Transfer.FollowPath(ctx, r.View, transfer.FollowRequest{Conversation: id, Entries: path("u:first")})
	enginetest.WantCode(t, err, scrollback.Conflict, "being answered")
}

// A path that cannot be stored is refused, with what is wrong with it.
func TestFollowRefuses(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("A"))
	id := r.NewConversation()
	bad := func(yield func(transcript.Entry, error) bool) {
		yield(transcript.Entry{Message: scrollback.Message{Role: scrollback.RoleUser, Parts: scrollback.Parts{
			scrollback.Image{Artifact: scrollback.ArtifactID(strings.Repeat("0", 64))}}}}, nil)
	}
	_, err := r.Transfer.FollowPath(context.Background(), r.View, transfer.FollowRequest{Conversation: id, Entries: bad})
	enginetest.WantCode(t, err, scrollback.NotFound, "artifact")
	if log := r.Log(id); len(log) > 0 {
		t.Errorf("%d messages were written", len(log))
	}
}
