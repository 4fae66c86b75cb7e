package transfer_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// cutOff returns a conversation whose second answer was cut off: the process that wrote it is
// gone.
func cutOff(t *testing.T) (*enginetest.Rig, scrollback.ConversationID) {
	t.Helper()
	ctx := context.Background()
	refused := modeltest.Step{Err: scrollback.Errorf(scrollback.Refused, "test", "acme refuses the key")}
	r := enginetest.New(t, enginetest.Options{}, refused, modeltest.Say("one"), modeltest.Say("again"))
	id := r.NewConversation()
	r.Ask(id, "first").WantDone(t, scrollback.TurnFailed, "")
	r.Run(engine.TurnRequest{Conversation: id}).WantDone(t, scrollback.TurnComplete, "stop")
	begun, err := r.Store.Turns.Begin(ctx, store.BeginRequest{Conversation: id, Owner: "gone",
		Messages: []store.IncomingMessage{{Message: scrollback.Message{Role: scrollback.RoleUser,
			Parts: enginetest.Say("second")}}}})
	if err == nil {
		_, err = r.Store.Turns.SaveDraft(ctx, begun.Turn, scrollback.Draft{Content: "half an ans", Model: "acme/1"})
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Clock.Add(time.Minute.Milliseconds())
	return r, id
}

// left returns the turns at the end of a conversation that have no stored answer.
func left(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID) []scrollback.TurnEntry {
	t.Helper()
	page, err := r.Turns().Page(context.Background(), id, scrollback.PageQuery{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	return page.Turns
}

// A transcript holds what was cut off as an interrupted message, and names failures.
func TestTranscriptOfACutOffAnswer(t *testing.T) {
	r, id := cutOff(t)
	var file bytes.Buffer
	if err := r.Export(context.Background(), id, transfer.ExportRequest{Format: "jsonl"}, &file); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(file.String()), "\n")
	if len(lines) != 5 || !strings.Contains(lines[1], `"turns":[{`) ||
		!strings.Contains(lines[1], "acme refuses the key") ||
		!strings.Contains(lines[4], `"half an ans"`) || !strings.Contains(lines[4], `"status":"interrupted"`) {
		t.Fatalf("the file is\n%s", file.String())
	}
	other := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	out, err := other.ImportText(file.String())
	if err != nil || len(out.Skipped) > 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	other.WantOutline(out.Conversations[0].ID, "u:first", "a:one", "u:second", "a(interrupted):half an ans")
}

// What was cut off is exported as a message, and is no second one when the file comes back:
// neither before somebody goes on nor afterwards.
func TestTranscriptOfACutOffAnswerComesBack(t *testing.T) {
	ctx := context.Background()
	for _, format := range []string{"jsonl", "gemini-cli"} {
		for _, closed := range []bool{false, true} {
			r, id := cutOff(t)
			var file bytes.Buffer
			if err := r.Export(ctx, id, transfer.ExportRequest{Format: format}, &file); err != nil {
				t.Fatal(err)
			}
			if closed {
				r.Run(engine.TurnRequest{Conversation: id}).WantDone(t, scrollback.TurnComplete, "stop")
			}
			was := r.LogOutline(id)
			before := left(t, r, id)
			comesBack(t, r, id, file.String(), 0)
			if got := r.LogOutline(id); got != was || len(left(t, r, id)) != len(before) {
				t.Errorf("%s, closed %v: the conversation is\n%s\nand was\n%s", format, closed, got, was)
			}
		}
	}
}

// What the other tool adds behind a draft follows the message that the draft becomes.
func TestTranscriptGoesOnBehindADraft(t *testing.T) {
	r, id := cutOff(t)
	var file bytes.Buffer
	if err := r.Export(context.Background(), id, transfer.ExportRequest{Format: "jsonl"}, &file); err != nil {
		t.Fatal(err)
	}
	grown := file.String() + `{"role":"user","content":"third","id":"x1"}` + "\n"
	comesBack(t, r, id, grown, 1)
	comesBack(t, r, id, grown, 0)
	r.WantOutline(id, "u:first", "a:one", "u:second", "a(interrupted):half an ans", "u:third")
}

// A bundle carries the draft beside its log: it is shown where it arrives, nothing is
// continued there by that, and what the answer becomes at home still extends the copy.
func TestBundleOfACutOffAnswer(t *testing.T) {
	ctx := context.Background()
	r, id := cutOff(t)
	file := r.Pack(id, transfer.ExportRequest{})
	if !bytes.Equal(file, r.Pack(id, transfer.ExportRequest{})) {
		t.Error("two bundles of the same differ")
	}
	other := enginetest.New(t, enginetest.Options{}, modeltest.Say("well"))
	for _, want := range []string{transfer.ResultCreated, transfer.ResultUnchanged} {
		out, err := other.Unpack(file, transfer.ImportRequest{})
		if err != nil || out.Conversations[0].Result != want || out.Conversations[0].Total != 3 {
			t.Fatalf("%+v, %v, want %s", out, err, want)
		}
		got := left(t, other, id)
		if len(got) != 1 || got[0].State != scrollback.TurnInterrupted || got[0].Content != "half an ans" ||
			got[0].AfterSeq != 3 ||
			!got[0].Retry {
			t.Fatalf("what was cut off is shown as %+v", got)
		}
	}
	if !bytes.Equal(file, other.Pack(id, transfer.ExportRequest{})) {
		t.Error("the bundle that is made of it there is another one")
	}
	copied, err := other.Unpack(file, transfer.ImportRequest{AsCopy: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := left(t, other, copied.Conversations[0].ID); len(got) != 1 || got[0].Content != "half an ans" ||
		got[0].TurnID == left(t, other, id)[0].TurnID {
		t.Errorf("in a copy it is %+v", got)
	}
	r.Run(engine.TurnRequest{Conversation: id}).WantDone(t, scrollback.TurnComplete, "stop")
	out, err := other.Unpack(r.Pack(id, transfer.ExportRequest{}), transfer.ImportRequest{})
	if err != nil || out.Conversations[0].Result != transfer.ResultExtended {
		t.Fatalf("%+v, %v", out, err)
	}
	other.WantOutline(id, "u:first", "a:one", "u:second", "a(interrupted):half an ans", "a:again")
	page, err := other.Turns().Page(ctx, id, scrollback.PageQuery{})
	if err != nil || len(page.Turns) != 0 {
		t.Errorf("now that it is a message: %+v, %v", page.Turns, err)
	}
	third := enginetest.New(t, enginetest.Options{}, modeltest.Say("well"))
	if _, err := third.Unpack(file, transfer.ImportRequest{}); err != nil {
		t.Fatal(err)
	}
	third.Run(engine.TurnRequest{Conversation: id}).WantDone(t, scrollback.TurnComplete, "stop")
	third.WantOutline(id, "u:first", "a:one", "u:second", "a:well")
}
