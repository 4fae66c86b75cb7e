package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// put stores a project.
func put(t *testing.T, r *enginetest.Rig, name string, edit func(p *scrollback.Project)) scrollback.Project {
	t.Helper()
	p, err := r.Projects().Put(context.Background(), name, 0, func(p *scrollback.Project) error { edit(p); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// instructed returns the text of the instructions in the newest request to the model.
func instructed(r *enginetest.Rig) string {
	rs := r.Script.Requests()
	for _, it := range rs[len(rs)-1].Items {
		if it.Kind == scrollback.KindInstructions {
			return it.Parts.Text()
		}
	}
	return ""
}

// What is stored of a project holds for its conversations' next request, before their own
// words and behind their own settings; the manifest says what it is.
func TestProjectIsInherited(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true, Limit: 32000,
		Projects: map[string]engine.PolicySettings{"p": {Policy: compact.Snapshot,
			Numbers: map[string]float64{"keep_messages": 3}}}},
		enginetest.ChattyStep())
	mk := func(c scrollback.Conversation) scrollback.ConversationID {
		made, _, err := r.Create(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		return made.ID
	}
	plain := mk(scrollback.Conversation{Project: "p"})
	own := mk(scrollback.Conversation{Project: "p", Instructions: "Own words.", Policy: compact.Segments, Limit: 16000,
		Settings: scrollback.Settings{Compaction: map[string]float64{"keep_share": 0.2}, ReasoningEffort: "low"}})
	other := mk(scrollback.Conversation{Project: "q"})
	r.Ask(plain, "hello")
	if got := instructed(r); got != "" {
		t.Errorf("nothing is stored, and the instructions are %q", got)
	}
	manifest := func(id scrollback.ConversationID) scrollback.Manifest {
		m, err := r.Context(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if m := manifest(plain); m.Inherited != nil || m.Policy != compact.Snapshot {
		t.Errorf("nothing is stored, and the manifest says %+v, %s", m.Inherited, m.Policy)
	}

	put(t, r, "p", func(p *scrollback.Project) {
		p.Instructions = "Theirs."
		p.Policy = compact.Rolling
		p.Limit = 24000
		p.Settings = scrollback.Settings{RecallScope: scrollback.ScopeProject, ReasoningEffort: "high",
			Compaction: map[string]float64{"keep_share": 0.3, "keep_messages": 4}}
	})
	for _, c := range []struct {
		id               scrollback.ConversationID
		says, policy     string
		limit            int64
		from             scrollback.LimitFrom
		effort, settings string
	}{
		{plain, "Theirs.", compact.Rolling, 24000, scrollback.LimitProject, "high",
			"policy limit compaction.keep_messages compaction.keep_share recall_scope reasoning_effort"},
		{own, "Theirs.\n\nOwn words.", compact.Segments, 16000, scrollback.LimitConversation, "low",
			"compaction.keep_messages recall_scope"},
	} {
		r.Ask(c.id, "again")
		rs := r.Script.Requests()
		m := manifest(c.id)
		if got := instructed(r); got != c.says || rs[len(rs)-1].Thinking.Effort != c.effort {
			t.Errorf("the instructions are %q, the effort is %q; want %q, %q", got, rs[len(rs)-1].Thinking.Effort, c.says,
				c.effort)
		}
		if m.Policy != c.policy || m.Limit != c.limit || m.LimitFrom != c.from {
			t.Errorf("it uses %s, %d from %s; want %s, %d from %s", m.Policy, m.Limit, m.LimitFrom, c.policy, c.limit, c.from)
		}
		if len(m.Inherited) != 1 || m.Inherited[0].From != "project p" || m.Inherited[0].Tokens == 0 ||
			strings.Join(m.Inherited[0].Settings, " ") != c.settings {
			t.Errorf("it inherits %+v, want %s", m.Inherited, c.settings)
		}
	}
	// A request's own words come before all others.
	r.Run(engine.TurnRequest{Conversation: plain, Message: enginetest.Say("once"),
		Overrides: engine.Overrides{Limit: 9000, Thinking: scrollback.Thinking{Effort: "none"}}})
	if rs := r.Script.Requests(); rs[len(rs)-1].Limit != 9000 || rs[len(rs)-1].Thinking.Effort != "none" {
		t.Errorf("a request with settings of its own was sent with %+v", rs[len(rs)-1].Thinking)
	}
	r.Ask(other, "hello")
	if got := instructed(r); got != "" || manifest(other).Inherited != nil {
		t.Errorf("a conversation of another project inherits %q", got)
	}
	// Moved there, it does; once the project is deleted, nobody does.
	if _, err := r.Patch(ctx, other, 0,
		func(c *scrollback.Conversation) error { c.Project = "p"; return nil }); err != nil {
		t.Fatal(err)
	}
	r.Ask(other, "hello")
	if got := instructed(r); got != "Theirs." {
		t.Errorf("moved into the project, its instructions are %q", got)
	}
	before, err := r.Get(ctx, own)
	if err == nil {
		err = r.Projects().Delete(ctx, "p", 0)
	}
	after, getErr := r.Get(ctx, own)
	if err != nil || getErr != nil || before.Version != after.Version || after.Project != "p" ||
		manifest(own).Inherited != nil {
		t.Errorf("deleting the project left %+v, %v", after, err)
	}
	r.Ask(plain, "and now")
	if got := instructed(r); got != "" {
		t.Errorf("the project is deleted, and its instructions are %q", got)
	}
}

// A fork and an export carry what is a conversation's own; a fork stays in the project.
func TestForksAndBundlesCarryTheirOwn(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	put(t, r, "p", func(p *scrollback.Project) {
		p.Instructions = "Theirs, secret."
		p.Policy = compact.Rolling
	})
	c, _, err := r.Create(ctx, scrollback.Conversation{Project: "p", Instructions: "Own."})
	if err != nil {
		t.Fatal(err)
	}
	r.Ask(c.ID, "hello")
	fork, err := r.Branches().Fork(ctx, c.ID, engine.Point{}, "")
	if err != nil || fork.Instructions != "Own." || fork.Policy != "" {
		t.Fatalf("the fork has %q, %q, %v", fork.Instructions, fork.Policy, err)
	}
	r.Ask(fork.ID, "on")
	if got := instructed(r); got != "Theirs, secret.\n\nOwn." {
		t.Errorf("the fork's instructions are %q", got)
	}
	elsewhere := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	out, err := elsewhere.Unpack(r.Pack(c.ID, transfer.ExportRequest{}), transfer.ImportRequest{})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere.Ask(out.Conversations[0].ID, "on")
	if got := instructed(elsewhere); got != "Own." {
		t.Errorf("elsewhere the instructions are %q", got)
	}
}

// Instructions of a project take room: what comes in beside them is cut accordingly, and
// a window with them fits.
func TestProjectsInstructionsTakeRoom(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{NoFolds: true, Limit: 8000}, enginetest.ChattyStep())
	put(t, r, scrollback.DefaultProject, func(p *scrollback.Project) {
		p.Instructions = strings.Repeat("Mind the tides. ", 700)
	})
	id := r.NewConversation()
	r.Ask(id, strings.Repeat("a long question about tides ", 1500)).WantDone(t, scrollback.TurnComplete,
		scrollback.FinishStop)
	m, err := r.Context(context.Background(), id)
	if err != nil || m.Tokens > m.Budget || m.Inherited[0].Tokens < 2000 {
		t.Errorf("the window weighs %d of %d, %+v, %v", m.Tokens, m.Budget, m.Inherited, err)
	}
}

// Each request begins with the same bytes until the instructions of the project change.
func TestCacheAfterAChangeOfTheProject(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{NoFolds: true, Limit: 32000}, enginetest.ChattyStep())
	write := func(text string) {
		put(t, r, scrollback.DefaultProject, func(p *scrollback.Project) { p.Instructions = text })
	}
	write("One.")
	id := r.NewConversation()
	reuse := func() float64 {
		meta, _ := enginetest.Last[scrollback.MetaEvent](r.Ask(id, "hello"))
		return meta.CacheReuse
	}
	reuse()
	if got := reuse(); got < 0.3 {
		t.Errorf("the second request uses %v of the cache", got)
	}
	put(t, r, scrollback.DefaultProject, func(p *scrollback.Project) { p.Title = "A title changes nothing" })
	if got := reuse(); got < 0.3 {
		t.Errorf("after a new title the request uses %v of the cache", got)
	}
	write("Two.")
	if got := reuse(); got != 0 {
		t.Errorf("after other instructions the request uses %v of the cache", got)
	}
}

// Without admin access a caller cannot change a project, and it reads only its own.
func TestWhoMayChangeAProject(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	put(t, r, "p", func(p *scrollback.Project) {
		p.Title = "Port"
		p.Budget = &scrollback.DailyBudget{TokensPerDay: 100}
	})
	as := func(a scrollback.Access, projects ...string) engine.Projects {
		return r.Engine.As(scrollback.Caller{Access: a, Projects: projects}).Projects()
	}
	more := func(p *scrollback.Project) error { p.Budget = nil; return nil }
	for _, a := range []scrollback.Access{scrollback.AccessRead, scrollback.AccessWrite} {
		_, err := as(a, "p").Put(ctx, "p", 0, more)
		enginetest.WantCode(t, err, scrollback.Refused, "admin")
		enginetest.WantCode(t, as(a, "p").Delete(ctx, "p", 0), scrollback.Refused, "admin")
	}
	_, err := as(scrollback.AccessAdmin, "q").Put(ctx, "p", 0, more)
	enginetest.WantCode(t, err, scrollback.NotFound, "p")
	if of, err := as(scrollback.AccessRead, "p").Get(ctx, "p"); err != nil || of.Budget == nil ||
		of.Budget.TokensPerDay != 100 {
		t.Errorf("the project is %+v, %v", of, err)
	}
	if list, err := as(scrollback.AccessRead, "q").List(ctx); err != nil || len(list) != 0 {
		t.Errorf("a caller who does not see it lists %+v, %v", list, err)
	}
	_, err = as(scrollback.AccessAdmin, "p").Put(ctx, "p", 0,
		func(p *scrollback.Project) error { p.Title = "Harbour"; return nil })
	if err != nil {
		t.Errorf("the admin of the project may not change it: %v", err)
	}
}

// What cannot be used is refused with the name of what is wrong, and an old version too.
func TestBadProjects(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	stored := put(t, r, "p", func(p *scrollback.Project) { p.Title = "first" })
	for param, edit := range map[string]func(p *scrollback.Project){
		"title":        func(p *scrollback.Project) { p.Title = strings.Repeat("x", 501) },
		"instructions": func(p *scrollback.Project) { p.Instructions = strings.Repeat("x", 200_001) },
		"model":        func(p *scrollback.Project) { p.Model = "nobody/knows" },
		"policy":       func(p *scrollback.Project) { p.Policy = "nonsense" },
		"limit":        func(p *scrollback.Project) { p.Limit = 10 },
		"compaction":   func(p *scrollback.Project) { p.Settings.Compaction = map[string]float64{"keep_shore": 1} },
		"recall_scope": func(p *scrollback.Project) { p.Settings.RecallScope = "everywhere" },
		"settings":     func(p *scrollback.Project) { p.Settings.Pinned = true },
		"door":         func(p *scrollback.Project) { p.Settings.Door = "ajar" },
		"tokens_per_day": func(p *scrollback.Project) {
			p.Budget = &scrollback.DailyBudget{TokensPerDay: -1}
		},
		"currency": func(p *scrollback.Project) { p.Budget = &scrollback.DailyBudget{MoneyPerDay: 1} },
	} {
		_, err := r.Projects().Put(ctx, "p", 0, func(p *scrollback.Project) error { edit(p); return nil })
		var known *scrollback.Error
		if scrollback.CodeOf(err) != scrollback.Invalid || !errors.As(err, &known) || known.Param != param {
			t.Errorf("a bad %s: %v", param, err)
		}
	}
	for _, name := range []string{"", " ", "a\nb", strings.Repeat("x", 101)} {
		_, err := r.Projects().Put(ctx, name, 0, func(*scrollback.Project) error { return nil })
		if scrollback.CodeOf(err) != scrollback.Invalid {
			t.Errorf("a project named %q: %v", name, err)
		}
	}
	_, err := r.Projects().Put(ctx, "p", stored.Version+1, func(*scrollback.Project) error { return nil })
	if !errors.Is(err, scrollback.ErrPrecondition) ||
		!errors.Is(r.Projects().Delete(ctx, "p", 9), scrollback.ErrPrecondition) {
		t.Errorf("an old version: %v", err)
	}
	if got, err := r.Projects().Get(ctx, "p"); err != nil || got.Title != "first" || got.Version != stored.Version {
		t.Errorf("what was refused left %+v, %v", got, err)
	}
	_, err = r.Projects().Get(ctx, "nobody's")
	enginetest.WantCode(t, err, scrollback.NotFound, "nobody's")
	enginetest.WantCode(t, r.Projects().Delete(ctx, "nobody's", 0), scrollback.NotFound, "nobody's")
}

// A project lets the models of its conversations look through all of it, unless one says
// otherwise.
func TestProjectsRecallScope(t *testing.T) {
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, enginetest.ChattyStep())
	mk := func(s scrollback.Settings) scrollback.ConversationID {
		c, _, err := r.Create(ctx, scrollback.Conversation{Project: "p", Settings: s})
		if err != nil {
			t.Fatal(err)
		}
		return c.ID
	}
	r.Ask(mk(scrollback.Settings{}), "the secret word is zanzibar")
	open := mk(scrollback.Settings{})
	shut := mk(scrollback.Settings{RecallScope: scrollback.ScopeConversation})
	look := func(id scrollback.ConversationID) error {
		_, err := r.Recall().RunTool(ctx, id, "context_search", json.RawMessage(`{"query":"zanzibar","scope":"project"}`),
			recall.RoomMax)
		return err
	}
	enginetest.WantCode(t, look(open), scrollback.Refused, "only itself")
	put(t, r, "p", func(p *scrollback.Project) { p.Settings.RecallScope = scrollback.ScopeProject })
	if err := look(open); err != nil {
		t.Errorf("the project allows it: %v", err)
	}
	enginetest.WantCode(t, look(shut), scrollback.Refused, "only itself")
}

// A conversation whose project names a model that is gone can still be looked at.
func TestProjectWithAModelThatIsGone(t *testing.T) {
	ctx := context.Background()
	known := []string{"script", "other"}
	r := enginetest.New(t, enginetest.Options{NoFolds: true, Models: func(name string) (model.Model, error) {
		if !slices.Contains(known, name) {
			return nil, scrollback.ParamErrorf("test", "model", "unknown model %q", name)
		}
		return modeltest.NewScript(model.Facts{Name: name, Limit: 8000, NoSummaries: true}, modeltest.Say("hi")), nil
	}})
	put(t, r, scrollback.DefaultProject, func(p *scrollback.Project) {
		p.Model = "other"
		p.Instructions = "Theirs."
	})
	id := r.NewConversation()
	r.Ask(id, "hello").WantDone(t, scrollback.TurnComplete, scrollback.FinishStop)
	if m, err := r.Context(ctx, id); err != nil || m.Model != "other" ||
		!slices.Contains(m.Inherited[0].Settings, "model") {
		t.Errorf("the manifest names %s, %+v, %v", m.Model, m.Inherited, err)
	}
	known = known[:1]
	if m, err := r.Context(ctx, id); err != nil || m.Model != "other" {
		t.Errorf("the manifest names %s, %v", m.Model, err)
	}
	enginetest.WantCode(t, r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("on")}).Err,
		scrollback.Invalid, "other")
}
