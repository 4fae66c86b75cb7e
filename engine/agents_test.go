package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/engine/request"
	"github.com/scrollback-ai/scrollback/internal/doctor"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/internal/workspace"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// office is a rig whose conversations may start sub-agents: the script is the model of those
// that nobody started, and worker that of sub-agents that name it.
type office struct {
	*enginetest.Rig
	worker *modeltest.Script
}

func newOffice(t *testing.T, o enginetest.Options, worker modeltest.Step, steps ...modeltest.Step) *office {
	t.Helper()
	f := &office{worker: modeltest.NewScript(model.Facts{Name: "worker", Limit: 16000, MaxOutput: 2000}, worker)}
	o.Agents.Allowed = true
	o.Models = func(name string) (model.Model, error) {
		switch name {
		case "script":
			return f.Script, nil
		case "worker":
			return f.worker, nil
		}
		return nil, scrollback.ParamErrorf("test", "model", "unknown model %q", name)
	}
	f.Rig = enginetest.New(t, o, steps...)
	return f
}

// boss makes a conversation whose model may start sub-agents.
func (f *office) boss(roots ...string) scrollback.ConversationID {
	f.T.Helper()
	c, _, err := f.Create(context.Background(),
		scrollback.Conversation{Settings: scrollback.Settings{Agents: true}, Roots: roots})
	if err != nil {
		f.T.Fatal(err)
	}
	return c.ID
}

// staff returns the sub-agents of a conversation, the first one first.
func (f *office) staff(id scrollback.ConversationID) []scrollback.Conversation {
	f.T.Helper()
	out, _, err := f.List(context.Background(), scrollback.ListQuery{AgentOf: []scrollback.ConversationID{id}})
	if err != nil {
		f.T.Fatal(err)
	}
	slices.SortFunc(out, func(a, b scrollback.Conversation) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out
}

// results returns what the tools of a conversation returned, in order.
func (f *office) results(id scrollback.ConversationID) []scrollback.ToolResult {
	f.T.Helper()
	var out []scrollback.ToolResult
	for _, m := range f.Log(id) {
		out = append(out, m.Parts.Results()...)
	}
	return out
}

// hire returns a call that gives the worker a task.
func hire(id, task string) scrollback.ToolCall {
	return enginetest.Call(id, request.AgentToolName, fmt.Sprintf(`{"task":%q,"model":"worker"}`, task))
}

// echoes answers each task with "did <task>".
func echoes() modeltest.Step {
	return modeltest.Step{Reply: func(r model.Request) []model.Delta {
		for _, it := range slices.Backward(r.Items) {
			if it.Role == scrollback.RoleUser && it.Kind == scrollback.KindMessage {
				return []model.Delta{{Text: "did " + it.Parts.Text()}}
			}
		}
		return []model.Delta{{Text: "nothing to do"}}
	}}
}

// A sub-agent works in a conversation of its own, and its last answer is the result of the
// call; all it did can be read, and found by words, from the conversation that it works for.
func TestSubAgent(t *testing.T) {
	ctx := context.Background()
	f := newOffice(t, enginetest.Options{}, echoes(), modeltest.Call(hire("c1", "count the zebras in the barn")),
		modeltest.Say("They were counted."))
	id := f.boss()
	out := f.Ask(id, "How many?")
	out.WantDone(t, scrollback.TurnComplete, "stop")
	f.WantOutline(id, "u:How many?", "a:→c1", "t:←c1", "a:They were counted.")
	staff := f.staff(id)
	if len(staff) != 1 || staff[0].AgentOf.ID != id || staff[0].AgentOf.CallID != "c1" ||
		staff[0].Title != "count the zebras in the barn" || staff[0].Model != "worker" {
		t.Fatalf("the sub-agents are %+v", staff)
	}
	child := staff[0].ID
	f.WantOutline(child, "u:count the zebras in the barn", "a:did count the zebras in the barn")
	if !strings.Contains(staff[0].Instructions, "sub-agent") || !staff[0].Settings.Agents {
		t.Errorf("it is told %q, and may start others: %v", staff[0].Instructions, staff[0].Settings.Agents)
	}
	ev, _ := enginetest.Last[scrollback.ToolResultEvent](out)
	res := f.results(id)[0]
	if ev.Conversation != child || ev.Ref != scrollback.ArtifactRef(res.Artifact) || res.IsError || res.Recall ||
		!strings.HasPrefix(res.Text, "did count the zebras in the barn\n\n[Sub-agent "+string(child)) ||
		!strings.Contains(res.Text, string(ev.Ref)) {
		t.Fatalf("the result is %+v, the event %+v", res, ev)
	}
	for _, look := range []struct{ name, args, want string }{
		{"context_list", `{"kind":"artifact"}`, "sub-agent: count the zebras"},
		{"context_read", fmt.Sprintf(`{"ref":%q}`, ev.Ref), "## #1 user"},
		{"context_tail", fmt.Sprintf(`{"ref":%q}`, ev.Ref), "did count the zebras"},
		{"context_grep", fmt.Sprintf(`{"ref":%q,"pattern":"zeb.as"}`, ev.Ref), "did count the zebras in the barn"},
		{"context_grep", `{"pattern":"works for: "}`, string(id)},
		{"context_search", `{"query":"zebras barn","role":"user"}`, string(child)},
	} {
		text, err := f.Reader.RunTool(ctx, id, look.name, []byte(look.args), recall.RoomMax)
		if err != nil || !strings.Contains(text, look.want) {
			t.Errorf("%s %s returns %s, %v", look.name, look.args, text, err)
		}
	}
	if list, _, err := f.List(ctx, scrollback.ListQuery{}); err != nil || len(list) != 1 || list[0].ID != id {
		t.Errorf("the list shows %+v, %v", list, err)
	}
}

// Sub-agents of one step work at the same time: each waits for the others to have begun.
func TestSubAgentsInParallel(t *testing.T) {
	var all sync.WaitGroup
	all.Add(engine.ParallelAgents)
	worker := modeltest.Step{Reply: func(r model.Request) []model.Delta {
		all.Done()
		all.Wait()
		return echoes().Reply(r)
	}}
	var calls []scrollback.ToolCall
	for i := range engine.ParallelAgents {
		calls = append(calls, hire(fmt.Sprint("c", i), fmt.Sprint("task ", i)))
	}
	calls = append(calls, enginetest.Call("look", "context_list", `{}`))
	f := newOffice(t, enginetest.Options{}, worker, modeltest.Call(calls...), modeltest.Say("all done"))
	id := f.boss()
	f.Ask(id, "go").WantDone(t, scrollback.TurnComplete, "stop")
	for i, res := range f.results(id) {
		if want := fmt.Sprint("did task ", i); i < engine.ParallelAgents &&
			(!strings.HasPrefix(res.Text, want) || res.CallID != fmt.Sprint("c", i)) {
			t.Errorf("result %d is %+v", i, res)
		}
	}
	if n := len(f.staff(id)); n != engine.ParallelAgents {
		t.Errorf("%d sub-agents", n)
	}
}

// What exceeds a bound is an error that the model is told of, and the turn goes on.
func TestSubAgentBounds(t *testing.T) {
	deep := modeltest.Step{Reply: func(r model.Request) []model.Delta { // each starts another while it can
		if last := r.Items[len(r.Items)-1]; last.Role == scrollback.RoleTool {
			return []model.Delta{{Text: last.Parts.Results()[0].Text}}
		}
		c := hire("deeper", "go deeper")
		return []model.Delta{{Call: &c}}
	}}
	looking := modeltest.Step{Reply: func(model.Request) []model.Delta {
		c := enginetest.Call("again", "context_list", `{}`)
		return []model.Delta{{Text: "still looking"}, {Call: &c}}
	}}
	dead := scrollback.Errorf(scrollback.Unavailable, "test", "the line is dead").WithReason(scrollback.ErrUpstream)
	three := modeltest.Call(hire("a", "one"), hire("b", "two"), hire("c", "three"))
	for name, c := range map[string]struct {
		o      engine.AgentOptions
		worker modeltest.Step
		asks   int
		step   modeltest.Step
		want   string // in some result
		good   int    // results without an error
		staff  int
	}{
		"depth":    {engine.AgentOptions{}, deep, 1, modeltest.Call(hire("a", "go deep")), "There is no tool named agent.", 1, 1},
		"per turn": {engine.AgentOptions{PerTurn: 2}, echoes(), 1, three, "at most 2 sub-agents can be started in one turn", 2, 2},
		"per tree": {engine.AgentOptions{PerTree: 4}, echoes(), 2, three, "4 sub-agents already, and at most 4", 4, 4},
		"tokens":   {engine.AgentOptions{Tokens: 10}, looking, 1, three, "have used the 10 tokens", 0, 3},
		"no task":  {engine.AgentOptions{}, echoes(), 1, modeltest.Call(hire("a", " ")), "the task is empty", 0, 0},
		"argument": {engine.AgentOptions{}, echoes(), 1, modeltest.Call(enginetest.Call("a", "agent", `{"task":"x","tsk":1}`)),
			"tsk", 0, 0},
		"model": {engine.AgentOptions{}, echoes(), 1, modeltest.Call(enginetest.Call("a", "agent", `{"task":"x","model":"nope"}`)),
			`unknown model "nope"`, 0, 0},
		"limit": {engine.AgentOptions{}, echoes(), 1, modeltest.Call(enginetest.Call("a", "agent", `{"task":"x","limit":7}`)),
			"too small", 0, 0},
		"no limit": {engine.AgentOptions{}, echoes(), 1, modeltest.Call(enginetest.Call("a", "agent", `{"task":"x","limit":-7}`)),
			"a limit is a number", 0, 0},
		"steps": {engine.AgentOptions{Steps: 5}, looking, 1, modeltest.Call(hire("a", "never end")),
			"it had not answered after 5 steps\n\nIts last words were:\nstill looking", 0, 1},
		"failure": {engine.AgentOptions{}, modeltest.Step{Deltas: []model.Delta{{Text: "I beg"}}, Err: dead}, 1,
			modeltest.Call(hire("a", "try")), "The sub-agent did not finish: the line is dead", 0, 1},
		"empty": {engine.AgentOptions{}, modeltest.Step{Reply: func(model.Request) []model.Delta { return nil }}, 1,
			modeltest.Call(hire("a", "try")), "empty", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var steps []modeltest.Step
			for range c.asks {
				steps = append(steps, c.step, modeltest.Say("I see."))
			}
			f := newOffice(t, enginetest.Options{Agents: c.o}, c.worker, steps...)
			id := f.boss()
			for range c.asks {
				f.Ask(id, "go").WantDone(t, scrollback.TurnComplete, "stop")
			}
			good := 0
			said := []string{}
			for _, r := range f.results(id) {
				if !r.IsError {
					good++
				}
				said = append(said, r.Text)
			}
			if !strings.Contains(strings.Join(said, "\n"), c.want) || good != c.good {
				t.Errorf("%d results are good, all are %q", good, said)
			}
			if c.staff == 0 && strings.Contains(said[0], "did not finish") {
				t.Errorf("a sub-agent that was never there is said to be: %q", said)
			}
			if got := len(f.staff(id)); name != "tokens" && got != c.staff || got > c.staff {
				t.Errorf("%d sub-agents", got)
			}
			if name == "steps" && len(f.worker.Requests()) != 5 {
				t.Errorf("the model of the sub-agent was asked %d times", len(f.worker.Requests()))
			}
		})
	}
}

// A sub-agent gets the folders of the conversation that it works for, or some of them; no
// others are given, by the model or later by a request.
func TestSubAgentRoots(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string {
		dir := filepath.Join(base, name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	granted := []string{at("mine"), at("mine/part"), at("other")}
	with := func(id, roots string) scrollback.ToolCall {
		return enginetest.Call(id, "agent", fmt.Sprintf(`{"task":"look","model":"worker","roots":%s}`, roots))
	}
	f := newOffice(t, enginetest.Options{Place: &workspace.Place{Roots: granted}}, echoes(),
		modeltest.Call(hire("all", "look"), with("part", fmt.Sprintf("[%q]", granted[1])), with("none", "[]"),
			with("other", fmt.Sprintf("[%q]", granted[2])), with("up", fmt.Sprintf("[%q]", granted[0]+"/..")),
			with("relative", `["mine"]`)),
		modeltest.Say("done"))
	id := f.boss(granted[0])
	f.Ask(id, "go").WantDone(t, scrollback.TurnComplete, "stop")
	for i, r := range f.results(id) {
		if wrong := i >= 3; r.IsError != wrong {
			t.Errorf("call %s returns %q", r.CallID, r.Text)
		}
	}
	want := map[string][]string{"all": {granted[0]}, "part": {granted[1]}, "none": {}}
	staff := f.staff(id)
	for _, c := range staff {
		if !slices.Equal(c.Roots, want[c.AgentOf.CallID]) {
			t.Errorf("sub-agent %s works in %q", c.AgentOf.CallID, c.Roots)
		}
	}
	if len(staff) != 3 {
		t.Fatalf("%d sub-agents", len(staff))
	}
	set := func(edit func(c *scrollback.Conversation)) error {
		_, err := f.Patch(context.Background(), staff[0].ID, 0,
			func(c *scrollback.Conversation) error { edit(c); return nil })
		return err
	}
	enginetest.WantCode(t, set(func(c *scrollback.Conversation) { c.Roots = []string{granted[0], granted[2]} }),
		scrollback.Refused, "")
	enginetest.WantCode(t, set(func(c *scrollback.Conversation) { c.Project = "elsewhere" }), scrollback.Invalid,
		"stays in the project")
	enginetest.WantCode(t, set(func(c *scrollback.Conversation) { c.Roots = nil; c.Title = "fewer" }), "", "")
}

// A sub-agent whose first turn is refused leaves no conversation behind.
func TestSubAgentThatCannotBegin(t *testing.T) {
	budget := map[string]scrollback.SpendLimit{scrollback.DefaultProject: {Tokens: 1}}
	f := newOffice(t, enginetest.Options{Budgets: budget}, echoes(), modeltest.Call(hire("a", "first")),
		modeltest.Call(hire("b", "second")),
		modeltest.Say("well"))
	id := f.boss()
	f.Ask(id, "go").WantDone(t, scrollback.TurnComplete, "stop")
	got := f.results(id)
	if len(got) != 2 || got[0].IsError || !got[1].IsError || strings.Contains(got[1].Text, "did not finish") {
		t.Errorf("the results are %.500v", got)
	}
	if left := f.staff(id); len(left) != 1 {
		t.Errorf("%d conversations are there", len(left))
	}
}

// Where sub-agents are not allowed nobody may ask for them, and a conversation that did
// where they were is not offered the tool.
func TestSubAgentsNotAllowed(t *testing.T) {
	ctx := context.Background()
	mem := oracle.New()
	f := newOffice(t, enginetest.Options{Driver: mem}, echoes(), modeltest.Say("hello"))
	id := f.boss()
	f.Ask(id, "hi").WantDone(t, scrollback.TurnComplete, "stop")
	r := enginetest.New(t, enginetest.Options{Driver: mem, Clock: f.Clock, Archive: f.Archive},
		modeltest.Call(hire("c", "try")), modeltest.Say("well"))
	on := scrollback.Settings{Agents: true}
	_, _, err := r.Create(ctx, scrollback.Conversation{Settings: on})
	enginetest.WantCode(t, err, scrollback.Refused, "--agents")
	plain := r.NewConversation()
	_, err = r.Patch(ctx, plain, 0, func(c *scrollback.Conversation) error { c.Settings.Agents = true; return nil })
	enginetest.WantCode(t, err, scrollback.Refused, "--agents")
	_, err = r.Patch(ctx, id, 0, func(c *scrollback.Conversation) error { c.Title = "t"; return nil })
	enginetest.WantCode(t, err, "", "")
	r.Ask(id, "again").WantDone(t, scrollback.TurnComplete, "stop")
	r.WantOutline(id, "u:hi", "a:hello", "u:again", "a:→c", "t:←c", "a:well")
	names := func(rs []model.Request) (out []string) {
		for _, tool := range rs[0].Tools {
			out = append(out, tool.Name)
		}
		return out
	}
	recalls := []string{"context_list", "context_read", "context_tail", "context_grep", "context_kept",
		"context_search"}
	if got := names(f.Script.Requests()); !slices.Equal(got, append(recalls[:6:6], "agent")) {
		t.Errorf("where they are allowed the tools are %v", got)
	}
	if got := names(r.Script.Requests()); !slices.Equal(got, recalls) {
		t.Errorf("where they are not allowed the tools are %v", got)
	}
}

// When the turn that started it ends early, so does the turn of a sub-agent: somebody stops
// it, or the program ends.
func TestSubAgentStopsWithItsTurn(t *testing.T) {
	for _, how := range []string{"cancel", "close"} {
		t.Run(how, func(t *testing.T) {
			ctx := context.Background()
			gate := make(chan struct{})
			begun := make(chan struct{})
			defer close(gate)
			worker := modeltest.Step{Gate: gate, Reply: func(model.Request) []model.Delta {
				close(begun)
				return []model.Delta{{Text: "never said"}}
			}}
			f := newOffice(t, enginetest.Options{}, worker, modeltest.Call(hire("c", "wait")), modeltest.Say("no"))
			id := f.boss()
			turn, events, err := f.Begin(ctx, engine.TurnRequest{Conversation: id, Message: scrollback.Say("go")})
			if err != nil {
				t.Fatal(err)
			}
			<-begun
			if how == "cancel" {
				err = f.Turns().Cancel(ctx, id, turn)
			} else {
				err = f.Close(ctx)
			}
			if err != nil {
				t.Fatal(err)
			}
			var last scrollback.Event
			for n := range events {
				last = n.Event
			}
			if d, ok := last.(scrollback.DoneEvent); !ok || d.Status != scrollback.TurnInterrupted {
				t.Errorf("the turn ended %+v", last)
			}
			child := f.staff(id)[0].ID
			ended, err := f.Store.Turns.GetLast(ctx, child)
			if err != nil || ended.State != scrollback.TurnInterrupted {
				t.Errorf("the turn of the sub-agent is %+v, %v", ended.State, err)
			}
		})
	}
}

// When the process that runs a turn is gone, the turn of its sub-agent is left to its lease,
// and the conversation goes on without the result.
func TestSubAgentOfACrash(t *testing.T) {
	ctx := context.Background()
	mem := oracle.New()
	gate := make(chan struct{})
	begun := make(chan struct{})
	defer close(gate)
	worker := modeltest.Step{Gate: gate,
		Reply: func(model.Request) []model.Delta { close(begun); return []model.Delta{{Text: "late"}} }}
	f := newOffice(t, enginetest.Options{Driver: mem}, worker, modeltest.Call(hire("c", "wait")))
	id := f.boss()
	if _, _, err := f.Begin(ctx, engine.TurnRequest{Conversation: id, Message: scrollback.Say("go")}); err != nil {
		t.Fatal(err)
	}
	<-begun
	f.Clock.Add(10 * 60_000)
	after := newOffice(t, enginetest.Options{Driver: mem, Clock: f.Clock, Archive: f.Archive}, echoes(),
		modeltest.Say("I go on"))
	child := after.staff(id)[0].ID
	if turn, err := after.Turns().Running(ctx, child); err != nil || turn != nil {
		t.Errorf("the sub-agent still runs: %+v, %v", turn, err)
	}
	after.Ask(id, "and?").WantDone(t, scrollback.TurnComplete, "stop")
	after.Ask(child, "you too?").WantDone(t, scrollback.TurnComplete, "stop")
	if found, err := doctor.Check(ctx, after.Store, after.Archive, nil); err != nil || !found.OK {
		t.Errorf("the check finds %+v, %v", found.Problems, err)
	}
}

// A long result is shortened to the room that a result has; the whole stays behind its ref.
func TestSubAgentLongResult(t *testing.T) {
	long := "first words " + strings.Repeat("and more of it ", 3000) + "last words"
	f := newOffice(t, enginetest.Options{}, modeltest.Say(long), modeltest.Call(hire("c", "write")),
		modeltest.Say("thanks"))
	id := f.boss()
	f.Ask(id, "go").WantDone(t, scrollback.TurnComplete, "stop")
	res := f.results(id)[0]
	if len(res.Text) > 8000 || !strings.HasPrefix(res.Text, "first words") ||
		!strings.Contains(res.Text, "last words\n\n[Sub-agent") {
		t.Errorf("the result has %d bytes: %.80s", len(res.Text), res.Text)
	}
	if whole := f.ReadAll(id, scrollback.ArtifactRef(res.Artifact)); !strings.Contains(whole, long) {
		t.Errorf("the whole is %.200s", whole)
	}
}

// Requests of a turn that starts sub-agents begin the same from step to step, and from turn
// to turn.
func TestSubAgentWindowsBeginTheSame(t *testing.T) {
	f := newOffice(t, enginetest.Options{Limit: 30000}, echoes(),
		modeltest.Call(hire("a", "one"), hire("b", "two")), modeltest.Say("first"),
		modeltest.Call(hire("c", "three")), modeltest.Say("second"))
	id := f.boss()
	f.Ask(id, "go").WantDone(t, scrollback.TurnComplete, "stop")
	f.Ask(id, "on").WantDone(t, scrollback.TurnComplete, "stop")
	rs := f.Script.Requests()
	for i := 1; i < len(rs); i++ {
		if fmt.Sprint(rs[i].Tools) != fmt.Sprint(rs[0].Tools) {
			t.Errorf("the tools of request %d differ", i)
		}
		for k, it := range rs[i-1].Items {
			if fmt.Sprintf("%+v", rs[i].Items[k].Parts) != fmt.Sprintf("%+v", it.Parts) || rs[i].Items[k].Role != it.Role {
				t.Errorf("request %d does not begin as the one before: item %d is %+v", i, k, rs[i].Items[k])
			}
		}
	}
}

// Sub-agents go to the trash, out of it and away with the conversation that they work for;
// and with it to another project. What was in the trash before stays there.
func TestSubAgentsGoAlong(t *testing.T) {
	ctx := context.Background()
	f := newOffice(t, enginetest.Options{}, echoes(), modeltest.Call(hire("a", "one"), hire("b", "two")),
		modeltest.Say("done"))
	id := f.boss()
	f.Ask(id, "go").WantDone(t, scrollback.TurnComplete, "stop")
	staff := f.staff(id)
	a := staff[0].ID
	b := staff[1].ID
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	trashed := func(want ...scrollback.ConversationID) {
		t.Helper()
		list, _, err := f.List(ctx, scrollback.ListQuery{Trash: true})
		var got []scrollback.ConversationID
		for _, c := range list {
			got = append(got, c.ID)
		}
		slices.Sort(got)
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("in the trash are %v, want %v (%v)", got, want, err)
		}
	}
	must(f.Patch(ctx, id, 0, func(c *scrollback.Conversation) error { c.Project = "moved"; return nil }))
	for _, c := range f.staff(id) {
		if c.Project != "moved" {
			t.Errorf("sub-agent %s is in %s", c.ID, c.Project)
		}
	}
	must(f.Trash(ctx, a))
	f.Clock.Add(1000)
	must(f.Trash(ctx, id))
	trashed(id, a, b)
	_, err := f.Restore(ctx, b)
	enginetest.WantCode(t, err, scrollback.Conflict, "restore "+string(id))
	must(f.Restore(ctx, id))
	trashed(a)
	must(f.Restore(ctx, a))
	trashed()
	fork, err := f.Branches().Fork(ctx, id, engine.Point{}, "")
	if err != nil || fork.AgentOf != nil || len(f.staff(fork.ID)) != 0 {
		t.Errorf("the fork is %+v, %v", fork, err)
	}
	of, err := f.Branches().Fork(ctx, a, engine.Point{}, "")
	if err != nil || of.AgentOf != nil {
		t.Errorf("the fork of a sub-agent is %+v, %v", of, err)
	}
	must(f.Purge(ctx, of.ID))
	must(f.Purge(ctx, fork.ID))
	must(f.Trash(ctx, id))
	f.Clock.Add(1000)
	admin, err := f.Admin()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := admin.PurgeTrash(ctx, 500); err != nil || n != 1 {
		t.Errorf("%d conversations were purged, %v", n, err)
	}
	for _, gone := range []scrollback.ConversationID{id, a, b} {
		_, err := f.Get(ctx, gone)
		enginetest.WantCode(t, err, scrollback.NotFound, "")
	}
	trashed()
}

// A bundle of a conversation brings neither its sub-agents nor the permission to start any;
// what they did is in it.
func TestSubAgentsInABundle(t *testing.T) {
	f := newOffice(t, enginetest.Options{}, echoes(), modeltest.Call(hire("a", "one")), modeltest.Say("done"))
	id := f.boss()
	f.Ask(id, "go").WantDone(t, scrollback.TurnComplete, "stop")
	child := f.staff(id)[0].ID
	there := newOffice(t, enginetest.Options{}, echoes())
	for _, one := range []scrollback.ConversationID{id, child} {
		if _, err := there.Unpack(f.Pack(one, transfer.ExportRequest{}), transfer.ImportRequest{}); err != nil {
			t.Fatal(err)
		}
		c, err := there.Get(context.Background(), one)
		if err != nil || c.AgentOf != nil || c.Settings.Agents {
			t.Errorf("it arrives as %+v, %v", c, err)
		}
	}
	ref := scrollback.ArtifactRef(f.results(id)[0].Artifact)
	if whole := there.ReadAll(id, ref); !strings.Contains(whole, "did one") {
		t.Errorf("behind the ref is %q", whole)
	}
}

// What a sub-agent uses counts for the caller: against the budget of the project, and as
// the key's; it is not a turn of a client, so a rate does not count it.
func TestSubAgentsAreBooked(t *testing.T) {
	ctx := context.Background()
	f := newOffice(t, enginetest.Options{Budgets: map[string]scrollback.SpendLimit{"tight": {Tokens: 1}}}, echoes(),
		modeltest.Call(hire("a", "one")), modeltest.Call(hire("b", "two")), modeltest.Say("done"))
	v := f.Engine.As(scrollback.Caller{Key: "k1", Projects: []string{"tight"}, Access: scrollback.AccessWrite})
	c, _, err := v.Create(ctx, scrollback.Conversation{Settings: scrollback.Settings{Agents: true}})
	if err != nil {
		t.Fatal(err)
	}
	out := enginetest.Outcome{}
	quota := &scrollback.Quota{Actor: "k1", Rate: scrollback.Rate{Chats: 1, PerMS: 60_000}}
	for ev, err := range v.Turn(ctx, engine.TurnRequest{Conversation: c.ID, Message: scrollback.Say("go"), Quota: quota}) {
		if err != nil {
			t.Fatal(err)
		}
		out.Events = append(out.Events, ev)
	}
	out.WantDone(t, scrollback.TurnComplete, "stop")
	results := f.results(c.ID)
	if results[0].IsError || !results[1].IsError || !strings.Contains(results[1].Text, "budget is 1 a day") {
		t.Errorf("the results are %+v", results)
	}
	all, err := f.Store.Books.SumSpending(ctx, "k1", "", "USD")
	own, _ := enginetest.Last[scrollback.UsageEvent](out)
	if err != nil || all.TotalTokens <= own.TotalTokens {
		t.Errorf("the key has used %d tokens, the turn by itself %d (%v)", all.TotalTokens, own.TotalTokens, err)
	}
}

// Each call of the database fails once while sub-agents work, before it did anything and
// after: what is stored is sound, and the conversation goes on.
func TestSubAgentFaults(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, lost := range []bool{false, true} {
		for i := int64(0); ; i++ {
			if i > 300 {
				t.Fatal("it does not end")
			}
			mem := oracle.New()
			s := newOffice(t, enginetest.Options{Driver: mem}, echoes(), modeltest.Say("ready"))
			id := s.boss()
			faulty := &drivertest.Faulty{At: i, Lost: lost}
			f := newOffice(t, enginetest.Options{Driver: faulty.Wrap(mem), Clock: s.Clock, Archive: s.Archive, NoFolds: true},
				echoes(),
				modeltest.Call(hire("a", "one")), modeltest.Say("done"))
			out := f.Ask(id, "go")
			for _, do := range []func(context.Context, scrollback.ConversationID) (scrollback.Conversation, error){f.Trash,
				f.Restore} {
				if out.Err == nil {
					_, out.Err = do(ctx, id)
				}
			}
			hit := faulty.Calls() > i
			if !hit {
				out.WantDone(t, scrollback.TurnComplete, "stop")
			}
			if found, err := doctor.Check(ctx, s.Store, s.Archive, nil); err != nil || !found.OK {
				t.Fatalf("call %d (lost %v): the check finds %+v, %v", i, lost, found.Problems, err)
			}
			s.Clock.Add(120_000)
			for _, do := range []func(context.Context, scrollback.ConversationID) (scrollback.Conversation, error){s.Trash,
				s.Restore} {
				if _, err := do(ctx, id); err != nil {
					t.Fatalf("call %d (lost %v): %v", i, lost, err)
				}
			}
			s.Ask(id, "on").WantDone(t, scrollback.TurnComplete, "stop")
			if all, err := s.Store.Agents.ListBelow(ctx, id, true); err != nil || len(all) > 1 || len(all) != len(s.staff(id)) {
				t.Fatalf("call %d (lost %v): the sub-agents are %+v, %v", i, lost, all, err)
			}
			if _, err := s.Purge(ctx, id); err != nil {
				t.Fatalf("call %d (lost %v): %v", i, lost, err)
			}
			if !hit {
				break
			}
		}
	}
}

// Real clients and strict servers: what is sent of a turn with sub-agents is taken, of the
// turn and of theirs, and of the turn after it.
func TestSubAgentsOfProviders(t *testing.T) {
	for _, preset := range []string{"anthropic", "openai", "gemini", "ollama", "custom"} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{}
			s := serve(t, preset, 1<<20, env)
			r := enginetest.New(
				t,
				enginetest.Options{Models: finds(env), NoFolds: true, Agents: engine.AgentOptions{Allowed: true}},
			)
			c, _, err := r.Create(context.Background(), scrollback.Conversation{Model: s.name, Limit: 50000,
				Settings: scrollback.Settings{Agents: true}})
			if err != nil {
				t.Fatal(err)
			}
			for _, say := range []string{"Send two. [hire]", "And what came of it?", "Again. [hire]"} {
				r.Ask(c.ID, say).WantDone(t, scrollback.TurnComplete, "stop")
			}
			results := (&office{Rig: r}).results(c.ID)
			for _, res := range results {
				if res.IsError || !strings.Contains(res.Text, "It is 回答") {
					t.Errorf("a result is %q", res.Text)
				}
			}
			if len(results) != 4 || len(s.server.Refusals()) > 0 {
				t.Errorf("%d results; the server refused %+v", len(results), s.server.Refusals())
			}
		})
	}
}
