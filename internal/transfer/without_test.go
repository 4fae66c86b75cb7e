package transfer_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// noting returns a model that notes the texts it is sent.
func noting(sent *[]string) modeltest.Step {
	return modeltest.Step{Reply: func(r model.Request) []model.Delta {
		*sent = nil
		for _, item := range r.Items {
			*sent = append(*sent, fmt.Sprint(item.Role, item.Parts.Text()))
		}
		return []model.Delta{{Text: "noted"}}
	}}
}

// lists returns what the branches of a conversation leave out, by the last message of each.
func lists(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID) string {
	t.Helper()
	branches, err := r.Branches().List(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, b := range branches {
		out = append(out, fmt.Sprint(b.HeadSeq, b.Current, b.Without))
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// A full copy brings, on every branch, what requests leave out: the next one is the same as it
// was there. What a person changed here since then stays, when it is imported again.
func TestArchiveKeepsWhatIsLeftOut(t *testing.T) {
	ctx := context.Background()
	var said, sent []string
	there := enginetest.New(t, enginetest.Options{NoFolds: true}, noting(&said))
	id := there.NewConversation()
	ask := func(r *enginetest.Rig, id scrollback.ConversationID, text string, without *[]int64) {
		t.Helper()
		r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say(text), Without: without}).WantDone(t,
			scrollback.TurnComplete, "stop")
	}
	for _, text := range []string{"the herons nest here", "the tide turns at four", "the mole is closed"} {
		ask(there, id, text, nil)
	}
	ask(there, id, "go on", &[]int64{1, 5}) // messages 1 to 8
	first, err := there.Get(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := there.Branches().Rewind(ctx, id, engine.Point{Seq: new(int64(4))}); err != nil {
		t.Fatal(err)
	}
	ask(there, id, "otherwise", &[]int64{3})
	ask(there, id, "and on", nil)
	want := lists(t, there, id)
	if !strings.Contains(want, "8 false [1 5]") || !strings.Contains(want, "8 true [3]") {
		t.Fatalf("the branches leave out %s", want)
	}
	_, file := copyOf(t, there, id)
	here := enginetest.New(t, enginetest.Options{NoFolds: true}, noting(&sent))
	var to scrollback.ConversationID
	for i, messages := range []int64{12, 0} {
		out, err := here.ImportText(file)
		if err != nil || len(out.Skipped) > 0 || len(out.Conversations) != 1 || out.Conversations[0].Messages != messages {
			t.Fatalf("import %d: %+v, %v", i, out, err)
		}
		to = out.Conversations[0].ID
		if got := lists(t, here, to); got != want {
			t.Errorf("import %d: the branches leave out %s, not %s", i, got, want)
		}
	}
	ask(there, id, "what now", nil)
	ask(here, to, "what now", nil)
	if said[0], sent[0] = "", ""; !slices.Equal(said, sent) { // what a model is told first has ids
		t.Errorf("it is sent\n%s\nnot\n%s", strings.Join(sent, "\n"), strings.Join(said, "\n"))
	}

	ask(here, to, "take it back", &[]int64{})
	decided := lists(t, here, to)
	if out, err := here.ImportText(file); err != nil || out.Conversations[0].Messages != 0 ||
		lists(t, here, to) != decided {
		t.Errorf("%+v, %v: the branches leave out %s, not %s", out, err, lists(t, here, to), decided)
	}

	if _, err := there.Branches().Rewind(ctx, id, engine.Point{Branch: first.Branch, Seq: new(int64(2))}); err != nil {
		t.Fatal(err)
	}
	_, file = copyOf(t, there, id) // it stands at a point where nothing was said yet
	elsewhere := enginetest.New(t, enginetest.Options{NoFolds: true}, noting(&sent))
	out, err := elsewhere.ImportText(file)
	if err != nil {
		t.Fatal(err)
	}
	page, err := elsewhere.Turns().Page(ctx, out.Conversations[0].ID, scrollback.PageQuery{})
	if err != nil || !slices.Equal(page.Without, []int64{1}) || len(page.Messages) != 2 {
		t.Errorf("%d messages, leaving out %v, %v", len(page.Messages), page.Without, err)
	}
}

// What is folded while a full copy is imported does not hold what requests leave out.
func TestArchiveFoldsWithoutWhatIsLeftOut(t *testing.T) {
	var sent []string
	there := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	id := there.NewConversation()
	there.Ask(id, "the herons nest at grid reference 4711").WantDone(t, scrollback.TurnComplete, "stop")
	there.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("go on"), Without: &[]int64{1}}).WantDone(t,
		scrollback.TurnComplete, "stop")
	there.AppendTurns(id, 60, strings.Repeat("the tide turns at four. ", 20))
	_, file := copyOf(t, there, id)
	here := enginetest.New(t, enginetest.Options{Limit: 4000}, noting(&sent))
	out, err := here.ImportText(file)
	if err != nil {
		t.Fatal(err)
	}
	to := out.Conversations[0].ID
	here.Ask(to, "what now").WantDone(t, scrollback.TurnComplete, "stop")
	head, err := here.Get(context.Background(), to)
	if err != nil || len(sent) == 0 || int64(len(sent)) >= head.Messages {
		t.Fatalf("nothing was folded: %d of %d messages, %v", len(sent), head.Messages, err)
	}
	if all := strings.Join(sent, "\n"); strings.Contains(all, "herons") {
		t.Errorf("it is sent %s", all)
	}
}
