package engine_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// namer returns a model that chats, and answers requests for a title with what it is given.
func namer(name string, titles ...modeltest.Step) *naming {
	return &naming{Script: modeltest.NewScript(model.Facts{Name: name, Limit: 16000, MaxOutput: 2000},
		modeltest.Say("An answer.")),
		titles: modeltest.NewScript(model.Facts{Name: name}, titles...), asked: make(chan struct{}, 100)}
}

type naming struct {
	*modeltest.Script
	titles *modeltest.Script
	asked  chan struct{} // of each request for a title
}

// Stream implements [model.Model].
func (n *naming) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	if len(r.Items) > 0 && strings.Contains(r.Items[0].Parts.Text(), "You name conversations") {
		n.asked <- struct{}{}
		return n.titles.Stream(ctx, r)
	}
	return n.Script.Stream(ctx, r)
}

// among makes models known by their names.
func among(models ...model.Model) func(string) (model.Model, error) {
	return func(name string) (model.Model, error) {
		for _, m := range models {
			if m.Facts().Name == name || name == "script" && m == models[0] {
				return m, nil
			}
		}
		return nil, scrollback.ParamErrorf("test", "model", "unknown model %q", name)
	}
}

// settled returns a conversation once it has a title.
func settled(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID, want string) scrollback.Conversation {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		c, err := r.Get(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		if c.Title == want {
			return c
		}
		if time.Now().After(end) {
			t.Fatalf("the title is %q, want %q", c.Title, want)
		}
		runtime.Gosched()
	}
}

// titleCalls returns what calls for titles and for answers have cost, in calls.
func titleCalls(t *testing.T, r *enginetest.Rig) int64 {
	t.Helper()
	sums, err := r.Usage(context.Background(), scrollback.UsageQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var n int64
	for _, s := range sums {
		n += s.Calls
	}
	return n
}

// A model gives the title after the first answer: with one call, which is in the books, and
// the conversation changes as by a commit.
func TestTitleByTheModel(t *testing.T) {
	gate := make(chan struct{})
	said := modeltest.Say("\"潮汐", "与港口。\"\n")
	said.Gate = gate
	n := namer("m", said)
	r := enginetest.New(t, enginetest.Options{NoFolds: true, Titles: engine.TitlesModel, Models: among(n)})
	id := r.NewConversation()
	// the title is not waited for
	r.Ask(id, "```\ncode\n```\n港口的潮汐是怎样的？").WantDone(t, scrollback.TurnComplete, scrollback.FinishStop)
	if err := r.Engine.Settle(context.Background()); err != nil {
		t.Fatal(err)
	}
	before := settled(t, r, id, "港口的潮汐是怎样的？")
	close(gate)
	after := settled(t, r, id, "潮汐与港口")
	if after.Version != before.Version+1 || titleCalls(t, r) != 2 {
		t.Errorf("version %d after %d, %d calls in the books", after.Version, before.Version, titleCalls(t, r))
	}
	for range 3 {
		r.Ask(id, "and then?")
	}
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	asked := n.titles.Requests()
	if len(asked) != 1 || titleCalls(t, r) != 5 {
		t.Fatalf("%d requests for a title, %d calls", len(asked), titleCalls(t, r))
	}
	if text := asked[0].Items[1].Parts.Text(); !strings.Contains(text, "港口的潮汐是怎样的") || len(asked[0].Tools) != 0 {
		t.Errorf("the request is %s", text)
	}
}

// Without need or leave no model is asked.
func TestNoTitleCall(t *testing.T) {
	ctx := context.Background()
	offline := modeltest.NewScript(model.Facts{Name: "m", Limit: 16000, NoSummaries: true}, modeltest.Say("An answer."))
	for name, c := range map[string]struct {
		o     enginetest.Options
		given scrollback.Conversation
		want  string
	}{
		"prompt":      {enginetest.Options{Titles: engine.TitlesPrompt}, scrollback.Conversation{}, "hello there"},
		"by default":  {enginetest.Options{}, scrollback.Conversation{}, "hello there"},
		"off":         {enginetest.Options{Titles: engine.TitlesOff}, scrollback.Conversation{}, ""},
		"a given one": {enginetest.Options{Titles: engine.TitlesModel}, scrollback.Conversation{Title: "Mine"}, "Mine"},
		"later": {enginetest.Options{Titles: engine.TitlesModel, NoTitleCalls: true}, scrollback.Conversation{},
			"hello there"},
		"offline": {enginetest.Options{Titles: engine.TitlesModel, Models: among(offline)}, scrollback.Conversation{},
			"hello there"},
		"offline, although another could": {enginetest.Options{Titles: engine.TitlesModel, TitleModel: "n",
			Models: among(offline, namer("n", modeltest.Say("Leak")))}, scrollback.Conversation{}, "hello there"},
	} {
		n := namer("m", modeltest.Say("From a model"))
		if c.o.Models == nil {
			c.o.Models = among(n)
		}
		c.o.NoFolds = true
		r := enginetest.New(t, c.o)
		made, _, err := r.Create(ctx, c.given)
		if err != nil {
			t.Fatal(err)
		}
		r.Ask(made.ID, "hello there")
		r.Ask(made.ID, "and again")
		if err := r.Close(ctx); err != nil {
			t.Fatal(err)
		}
		got, err := r.Get(ctx, made.ID)
		if err != nil || got.Title != c.want || len(n.titles.Requests()) > 0 || titleCalls(t, r) != 2 {
			t.Errorf("%s: the title is %q after %d requests for one, %v", name, got.Title, len(n.titles.Requests()), err)
		}
	}
}

// A person's title that comes while a model is asked stays.
func TestAPersonsTitleStays(t *testing.T) {
	gate := make(chan struct{})
	slow := modeltest.Say("From a model")
	slow.Gate = gate
	n := namer("m", slow)
	r := enginetest.New(t, enginetest.Options{NoFolds: true, Titles: engine.TitlesModel, Models: among(n)})
	id := r.NewConversation()
	r.Ask(id, "hello there")
	gate <- struct{}{} // the model has been asked
	if _, err := r.Patch(context.Background(), id, 0,
		func(c *scrollback.Conversation) error { c.Title = "Mine"; return nil }); err != nil {
		t.Fatal(err)
	}
	close(gate)
	for titleCalls(t, r) < 2 {
		runtime.Gosched()
	}
	settled(t, r, id, "Mine")
}

// A bad answer leaves the prompt's title, costs what it costs, and is not asked for again;
// nor is a call that fails or that closing breaks off.
func TestABadTitleIsRefused(t *testing.T) {
	hang := modeltest.Say("never")
	hang.Gate = make(chan struct{})
	for name, step := range map[string]modeltest.Step{
		"refusal": modeltest.Say("I'm sorry, I can't help with that."),
		"empty":   modeltest.Say(""),
		"long":    modeltest.Say(strings.Repeat("words ", 1000)),
		"fails":   {Err: errors.New("down")},
		"closed":  hang,
	} {
		d := oracle.New()
		n := namer("m", step)
		var id scrollback.ConversationID
		for round := range 2 { // the second is another process
			r := enginetest.New(t, enginetest.Options{Driver: d, NoFolds: true, Titles: engine.TitlesModel, Models: among(n)})
			if round == 0 {
				id = r.NewConversation()
			}
			r.Ask(id, "hello there")
			if round == 0 {
				<-n.asked
			}
			if err := r.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			c, err := r.Get(context.Background(), id)
			if err != nil || c.Title != "hello there" {
				t.Errorf("%s: the title is %q, %v", name, c.Title, err)
			}
		}
		if got := len(n.titles.Requests()); got != 1 {
			t.Errorf("%s: %d requests for a title", name, got)
		}
	}
}

// Processes that answer at once in one conversation ask once.
func TestOneTitleCallAcrossProcesses(t *testing.T) {
	d := oracle.New()
	n := namer("m", modeltest.Say("Once"))
	later := enginetest.New(t, enginetest.Options{Driver: d, NoFolds: true, Titles: engine.TitlesModel, NoTitleCalls: true,
		Models: among(n)})
	id := later.NewConversation()
	later.Ask(id, "hello there") // as run does it: the next one asks
	var rigs []*enginetest.Rig
	for range 4 {
		rigs = append(rigs, enginetest.New(t, enginetest.Options{Driver: d, NoFolds: true, Titles: engine.TitlesModel,
			Models: among(n)}))
	}
	var all sync.WaitGroup
	for _, r := range rigs {
		all.Go(func() {
			for range 5 {
				r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("more")}) // most are told that one is open
			}
		})
	}
	all.Wait()
	settled(t, rigs[0], id, "Once")
	for _, r := range rigs {
		if err := r.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(n.titles.Requests()); got != 1 {
		t.Errorf("%d requests for a title", got)
	}
}

// The model for titles is asked in place of the one that answered, also where a turn only
// succeeds the second time.
func TestTitleModel(t *testing.T) {
	n := namer("m", modeltest.Say("From the wrong one"))
	other := namer("n", modeltest.Say("From the other"))
	failing := modeltest.NewScript(model.Facts{Name: "bad", Limit: 16000}, modeltest.Step{Err: errors.New("down")})
	r := enginetest.New(t, enginetest.Options{NoFolds: true, Titles: engine.TitlesModel, TitleModel: "n",
		Models: among(n, other, failing)})
	id := r.NewConversation()
	r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("hello there"),
		Overrides: engine.Overrides{Model: "bad"}})
	if c := settled(t, r, id, "hello there"); c.Messages == 0 {
		t.Fatal("nothing was said")
	}
	r.Run(engine.TurnRequest{Conversation: id})
	settled(t, r, id, "From the other")
	if len(n.titles.Requests()) != 0 || len(other.titles.Requests()) != 1 {
		t.Errorf("asked %d and %d times", len(n.titles.Requests()), len(other.titles.Requests()))
	}
}

// A call for a title is entered under the key of the caller of the answer, also when
// another model gives it.
func TestTitleIsPaidByTheKey(t *testing.T) {
	for _, titleModel := range []string{"", "n"} {
		r := enginetest.New(t, enginetest.Options{NoFolds: true, Titles: engine.TitlesModel, TitleModel: titleModel,
			Models: among(namer("m", modeltest.Say("From a model")), namer("n", modeltest.Say("From a model")))})
		id := r.NewConversation()
		ann := r.Engine.As(scrollback.Caller{Key: "ann", Access: scrollback.AccessWrite, AllProjects: true})
		if err := begin(ann, engine.TurnRequest{Conversation: id, Message: scrollback.Say("hello there")}); err != nil {
			t.Fatal(err)
		}
		settled(t, r, id, "From a model")
		sums, err := r.Usage(context.Background(), scrollback.UsageQuery{ByKey: true})
		calls := int64(0)
		for _, s := range sums {
			if s.Key == "ann" {
				calls += s.Calls
			}
		}
		if err != nil || calls != 2 || titleCalls(t, r) != 2 {
			t.Errorf("asking %q: %d calls of the key, %v: %+v", titleModel, calls, err, sums)
		}
	}
}
