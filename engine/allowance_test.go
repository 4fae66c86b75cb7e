package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// costs returns an answer that its provider counts as 100 tokens, for half a dollar.
func costs(deltas ...model.Delta) modeltest.Step {
	return modeltest.Step{Deltas: append(deltas, model.Delta{Finish: scrollback.FinishStop,
		Usage: &scrollback.Usage{InputTokens: 90, OutputTokens: 10, TotalTokens: 100, Cost: 0.5, Currency: "USD"}})}
}

// begin runs a turn of a caller to its end.
func begin(v *engine.View, r engine.TurnRequest) error {
	for _, err := range v.Turn(context.Background(), r) {
		if err != nil {
			return err
		}
	}
	return nil
}

// A turn that begins when a key or its project has used up its day is over budget, which
// says whose budget it is, and of what; the next day it may begin. What others use does
// not count, and a request that is sent again gets its turn.
func TestDailyBudgets(t *testing.T) {
	ctx := context.Background()
	steps := []modeltest.Step{}
	for range 12 {
		steps = append(steps, costs(model.Delta{Text: "an answer"}))
	}
	r := enginetest.New(t, enginetest.Options{Budgets: map[string]scrollback.SpendLimit{"house": {Tokens: 300}}}, steps...)
	admin, err := r.Admin()
	if err != nil {
		t.Fatal(err)
	}
	ann := r.Engine.As(scrollback.Caller{Key: "ann", Access: scrollback.AccessWrite, AllProjects: true})
	bob := r.Engine.As(scrollback.Caller{Key: "bob", Access: scrollback.AccessWrite, AllProjects: true})
	c, _, err := r.Create(ctx, scrollback.Conversation{Project: "house"})
	if err != nil {
		t.Fatal(err)
	}
	free := r.NewConversation()
	say := func(id scrollback.ConversationID, key string) engine.TurnRequest {
		return engine.TurnRequest{Conversation: id, Message: scrollback.Say("a question"), Key: key}
	}
	over := func(err error, setting string, words ...string) {
		t.Helper()
		f := scrollback.FailureOf(err)
		if f.Code != scrollback.OverBudget || f.Setting != setting || f.Advice != scrollback.AdviceWait {
			t.Errorf("%v: %+v", err, f)
		}
		for _, w := range words {
			if err != nil && !strings.Contains(f.Message, w) {
				t.Errorf("%q does not say %q", f.Message, w)
			}
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(admin.SetKeyLimits(ctx, "ann", scrollback.KeyLimits{SpendLimit: scrollback.SpendLimit{Money: 1}}))
	must(begin(ann, say(free, "first")))
	must(begin(ann, say(free, "")))
	over(begin(ann, say(free, "")), "scrollback keys limit ann", "key ann", "1.00 USD", "2026-01-06 00:00 UTC")
	over(begin(ann, say(free, "another")), "scrollback keys limit ann")
	must(begin(ann, say(free, "first"))) // a replay
	_, err = ann.Compact(ctx, free, engine.CompactRequest{Force: true})
	over(err, "scrollback keys limit ann")
	must(begin(bob, say(free, "")))
	for range 3 {
		must(begin(bob, say(c.ID, "")))
	}
	over(begin(bob, say(c.ID, "")), "projects.house", "project house", "300 tokens")
	over(begin(r.View, say(c.ID, "")), "projects.house")
	sums, err := r.Usage(ctx, scrollback.UsageQuery{ByKey: true, ByConversation: true})
	got := ""
	for _, s := range sums {
		got += fmt.Sprintf("%s %v %d, ", s.Key, s.Conversation == c.ID, s.Calls)
	}
	if err != nil || got != "ann false 2, bob false 1, bob true 3, " && got != "bob true 3, ann false 2, bob false 1, " {
		t.Errorf("usage by key and conversation is %s (%v)", got, err)
	}
	r.Clock.Add(scrollback.DayMS)
	must(begin(ann, say(free, "")))
	must(begin(bob, say(c.ID, "")))
}

// What is stored of a project takes the place of what the configuration says it may use, and
// no longer does once nothing is stored; a stored project without a budget leaves it alone.
func TestStoredBudget(t *testing.T) {
	ctx := context.Background()
	steps := []modeltest.Step{}
	for range 5 {
		steps = append(steps, costs(model.Delta{Text: "an answer"}))
	}
	r := enginetest.New(t, enginetest.Options{Budgets: map[string]scrollback.SpendLimit{"house": {Tokens: 300}}}, steps...)
	c, _, err := r.Create(ctx, scrollback.Conversation{Project: "house"})
	if err != nil {
		t.Fatal(err)
	}
	say := func(key string) error {
		return begin(r.View, engine.TurnRequest{Conversation: c.ID, Message: scrollback.Say("a question"), Key: key})
	}
	want := func(err error, setting string) {
		t.Helper()
		got := scrollback.Failure{}
		if err != nil {
			got = *scrollback.FailureOf(err)
		}
		if got.Setting != setting || setting != "" && got.Code != scrollback.OverBudget {
			t.Fatalf("%v, want what %q says", err, setting)
		}
	}
	budget := func(b *scrollback.DailyBudget) { put(t, r, "house", func(p *scrollback.Project) { p.Budget = b }) }

	want(say("first"), "")
	budget(&scrollback.DailyBudget{TokensPerDay: 200})
	want(say(""), "")
	want(say(""), "scrollback projects set house")
	want(say("first"), "") // a replay
	budget(&scrollback.DailyBudget{MoneyPerDay: 1, Currency: "USD"})
	want(say(""), "scrollback projects set house")
	budget(&scrollback.DailyBudget{MoneyPerDay: 1, Currency: "EUR"}) // in which nothing was paid
	want(say(""), "")
	budget(nil)
	want(say(""), "projects.house")
	budget(&scrollback.DailyBudget{TokensPerDay: 301})
	want(say(""), "")
	if err := r.Projects().Delete(ctx, "house", 0); err != nil {
		t.Fatal(err)
	}
	want(say(""), "projects.house")
}

// A turn that began within its budget is finished, also with more calls of the model.
func TestBudgetLetsATurnFinish(t *testing.T) {
	ctx := context.Background()
	look := model.Delta{Call: &scrollback.ToolCall{ID: "1", Name: "context_list", Arguments: []byte(`{}`)}}
	r := enginetest.New(t, enginetest.Options{}, costs(look), costs(model.Delta{Text: "done"}))
	admin, err := r.Admin()
	if err == nil {
		err = admin.SetKeyLimits(ctx, "ann", scrollback.KeyLimits{SpendLimit: scrollback.SpendLimit{Tokens: 50}})
	}
	if err != nil {
		t.Fatal(err)
	}
	ann := r.Engine.As(scrollback.Caller{Key: "ann", Access: scrollback.AccessWrite, AllProjects: true})
	id := r.NewConversation()
	reply, err := scrollback.ReplyOf(ann.Turn(ctx,
		engine.TurnRequest{Conversation: id, Message: scrollback.Say("a question")}))
	if err != nil || reply != "done" {
		t.Errorf("%q, %v", reply, err)
	}
	sums, err := r.Usage(ctx, scrollback.UsageQuery{ByKey: true})
	if err != nil || len(sums) != 1 || sums[0].Calls != 2 || sums[0].Key != "ann" {
		t.Errorf("%+v, %v", sums, err)
	}
}

// What begins is counted, up to what may begin in a window; what is refused or replayed is
// not, and neither is clearing. A key's own rate takes the place of the server's.
func TestQuota(t *testing.T) {
	ctx := context.Background()
	steps := []modeltest.Step{}
	for range 9 {
		steps = append(steps, modeltest.Say("an answer"))
	}
	r := enginetest.New(t, enginetest.Options{}, steps...)
	id := r.NewConversation()
	const minute = 60_000
	quota := func() *scrollback.Quota {
		return &scrollback.Quota{Actor: "peer a", Rate: scrollback.Rate{Chats: 2, PerMS: minute}}
	}
	ask := func(v *engine.View, q *scrollback.Quota, key, text string) error {
		return begin(v, engine.TurnRequest{Conversation: id, Message: scrollback.Say(text), Key: key, Quota: q})
	}
	want := func(q *scrollback.Quota, err error, code scrollback.Code, used int64) {
		t.Helper()
		if scrollback.CodeOf(err) != code || q.Used != used || q.LeftMS <= 0 || q.LeftMS > minute {
			t.Errorf("%v; the quota is %+v", err, *q)
		}
	}
	q := quota()
	want(q, ask(r.View, q, "k", "one"), "", 1)
	q = quota()
	want(q, ask(r.View, q, "k", "one"), "", 1)
	q = quota()
	want(q, ask(r.View, q, "k", "another"), scrollback.Conflict, 1)
	q = quota()
	_, err := r.Compact(ctx, id, engine.CompactRequest{Force: true, Quota: q})
	want(q, err, "", 2)
	for _, key := range []string{"", "l"} {
		q = quota()
		want(q, ask(r.View, q, key, "three"), scrollback.RateLimited, 2)
	}
	q = quota()
	want(q, ask(r.View, q, "k", "one"), "", 2)
	q = quota()
	_, err = r.Compact(ctx, id, engine.CompactRequest{Force: true, Quota: q})
	want(q, err, scrollback.RateLimited, 2)
	if _, err := r.Compact(ctx, id, engine.CompactRequest{Clear: true, Quota: quota()}); err != nil {
		t.Error(err)
	}
	r.Clock.Add(minute)
	q = quota()
	want(q, ask(r.View, q, "", "four"), "", 1)

	admin, err := r.Admin()
	if err == nil {
		err = admin.SetKeyLimits(ctx, "ann", scrollback.KeyLimits{Rate: scrollback.Rate{Chats: 1, PerMS: minute}})
	}
	if err == nil {
		err = admin.SetKeyLimits(ctx, "bob", scrollback.KeyLimits{Rate: scrollback.Rate{Chats: scrollback.Unlimited}})
	}
	if err != nil {
		t.Fatal(err)
	}
	key := func(id scrollback.KeyID) *engine.View {
		return r.Engine.As(scrollback.Caller{Key: id, Access: scrollback.AccessWrite, AllProjects: true})
	}
	q = &scrollback.Quota{Actor: "key ann"} // where the server has no limit
	want(q, ask(key("ann"), q, "", "five"), "", 1)
	want(q, ask(key("ann"), q, "", "six"), scrollback.RateLimited, 1)
	for range 3 {
		if err := ask(key("bob"), &scrollback.Quota{Actor: "peer a", Rate: scrollback.Rate{Chats: 1, PerMS: minute}}, "",
			"seven"); err != nil {
			t.Error(err)
		}
	}
}
