package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/recall"
)

var clock = []scrollback.Tool{{Name: "clock", Description: "Tells the time.", Parameters: json.RawMessage(`{"type":"object"}`)}}

func call(id, name, args string) scrollback.ToolCall {
	return scrollback.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
}

func TestClientTools(t *testing.T) {
	r := newRig(t, rigOptions{}, modeltest.Call(call("c1", "clock", `{}`), call("c2", "clock", `{"zone":"UTC"}`)), modeltest.Say("noon"))
	id := r.conversation()
	results := func(ids ...string) engine.TurnRequest {
		req := engine.TurnRequest{Conversation: id}
		for _, c := range ids {
			req.ToolResults = append(req.ToolResults, engine.ToolResult{CallID: c, Text: "12:00"})
		}
		return req
	}
	wantCode(t, r.turn(results("c1")).err, scrollback.Invalid, "no call waits")
	r.turn(engine.TurnRequest{Conversation: id, Message: say("time?"), Tools: clock}).done(t, scrollback.TurnWaiting, "tool_calls")
	for _, bad := range [][]string{{"c1"}, {"c1", "c3"}, {"c1", "c1"}, {"c1", "c2", "c3"}} {
		wantCode(t, r.turn(results(bad...)).err, scrollback.Invalid, "open")
	}
	wantCode(t, r.turn(engine.TurnRequest{Conversation: id}).err, scrollback.Invalid, "waits for the results")
	r.turn(results("c2", "c1")).done(t, scrollback.TurnComplete, "stop")
	r.wantShape(id, "u:time?", "a:→c1→c2", "t:←c1←c2", "a:noon")
	wantCode(t, r.turn(results("c1", "c2")).err, scrollback.Invalid, "no call waits")
	if name := r.log(id)[2].Parts.Results()[0].Name; name != "clock" {
		t.Errorf("a result's tool is %q", name)
	}
}

// Where a conversation is gone back to, or forked, it goes on as it did there: calls
// take their results, and what is answered needs a message.
func TestGoingOnWhereItWasCutOff(t *testing.T) {
	ctx := context.Background()
	r := newRig(t, rigOptions{}, modeltest.Call(call("a", "clock", `{}`), call("b", "context_list", `{}`)), modeltest.Say("noon"),
		modeltest.Say("noon again"))
	id := r.conversation()
	result := []engine.ToolResult{{CallID: "a", Text: "12:00"}}
	r.turn(engine.TurnRequest{Conversation: id, Message: say("time?"), Tools: clock}).done(t, scrollback.TurnWaiting, "tool_calls")
	r.turn(engine.TurnRequest{Conversation: id, ToolResults: result}).done(t, scrollback.TurnComplete, "stop")
	r.ask(id, "thanks")
	fork := func(seq int64) scrollback.ConversationID {
		t.Helper()
		c, err := r.Fork(ctx, id, engine.Point{Seq: &seq}, "")
		if err != nil {
			t.Fatal(err)
		}
		return c.ID
	}
	for _, seq := range []int64{2, 3} { // behind the calls, and behind what was looked up
		f := fork(seq)
		wantCode(t, r.turn(engine.TurnRequest{Conversation: f}).err, scrollback.Invalid, "waits for the results of a (clock)")
		wantCode(t, r.turn(engine.TurnRequest{Conversation: f, ToolResults: []engine.ToolResult{{CallID: "b", Text: "x"}}}).err,
			scrollback.Invalid, "answers no open call")
		r.turn(engine.TurnRequest{Conversation: f, ToolResults: result}).done(t, scrollback.TurnComplete, "stop")
		if m := r.log(f); m[len(m)-2].Parts.Results()[0].Name != "clock" {
			t.Errorf("the result is %+v", m[len(m)-2].Parts)
		}
	}
	r.turn(engine.TurnRequest{Conversation: fork(4)}).done(t, scrollback.TurnComplete, "stop")
	answered := fork(5)
	wantCode(t, r.turn(engine.TurnRequest{Conversation: answered}).err, scrollback.Invalid, "answered already")
	wantCode(t, r.turn(engine.TurnRequest{Conversation: answered, ToolResults: result}).err, scrollback.Invalid, "no call waits")
}

// A new message instead of the results leaves the calls repaired, in the window
// and not in the log.
func TestUnansweredCalls(t *testing.T) {
	r := newRig(t, rigOptions{}, modeltest.Call(call("c1", "clock", `{}`)), modeltest.Say("never mind"))
	id := r.conversation()
	r.turn(engine.TurnRequest{Conversation: id, Message: say("time?"), Tools: clock}).done(t, scrollback.TurnWaiting, "tool_calls")
	r.ask(id, "forget it").done(t, scrollback.TurnComplete, "stop")
	r.wantShape(id, "u:time?", "a:→c1", "u:forget it", "a:never mind")
	items := r.script.Requests()[1].Items
	repaired := items[len(items)-2]
	if repaired.Kind != scrollback.KindRepair || !repaired.Parts.Results()[0].IsError {
		t.Errorf("the open call is answered by %+v", repaired)
	}
}

func TestToolNames(t *testing.T) {
	r := newRig(t, rigOptions{}, modeltest.Say("x"))
	id := r.conversation()
	for _, name := range []string{"context_grep", "context_mine", "", strings.Repeat("n", 65), "my tool", "weather.now", "2fast", "天气"} {
		err := r.turn(engine.TurnRequest{Conversation: id, Message: say("q"), Tools: []scrollback.Tool{{Name: name}}}).err
		wantCode(t, err, scrollback.Invalid, "tool")
	}
	if got := r.shape(id); got != "" {
		t.Fatalf("a refused request left %q", got)
	}
}

// The model looks things up for ever: after eight steps it is told to answer.
func TestRecallEnds(t *testing.T) {
	n := 0
	endless := modeltest.Step{Reply: func(model.Request) []model.Delta {
		n++
		c := call(fmt.Sprint("r", n), "context_search", `{"query":"needle"}`)
		return []model.Delta{{Call: &c}}
	}}
	r := newRig(t, rigOptions{}, endless)
	id := r.conversation()
	r.ask(id, "find the needle").done(t, scrollback.TurnComplete, scrollback.FinishMaxSteps)
	reqs := r.script.Requests()
	if len(reqs) != 10 || !reqs[9].AnswerOnly || reqs[8].AnswerOnly {
		t.Errorf("%d steps, the last may only answer: %v", len(reqs), reqs[len(reqs)-1].AnswerOnly)
	}
	errs := 0
	for _, m := range r.log(id) {
		for _, res := range m.Parts.Results() {
			if res.IsError {
				errs++
			}
			if !res.Recall {
				t.Errorf("%s is not marked as recall", res.CallID)
			}
		}
	}
	if errs != 2 {
		t.Errorf("%d look-ups were refused, want 2", errs)
	}
}

func TestRecallAnswersAreBounded(t *testing.T) {
	long := strings.Repeat(strings.Repeat("the needle lies in line after line of hay and hay 针 ", 12)+"\n", 40)
	steps := []modeltest.Step{modeltest.Say("ok"), modeltest.Say("ok"), modeltest.Say("ok")}
	for _, c := range []scrollback.ToolCall{
		call("r1", "context_search", `{"query":"needle","limit":20,"around":5}`),
		call("r2", "context_grep", `{"pattern":"needle","max_results":200,"context_lines":20}`),
		call("r3", "context_list", `{}`),
		call("r4", "context_search", `{"query":"needle","bogus":1}`),
		call("r5", "context_read", `{"ref":"history:00000000-0000-7000-8000-000000000000"}`),
		call("r6", "nonsense", `{}`),
	} {
		steps = append(steps, modeltest.Call(c))
	}
	r := newRig(t, rigOptions{}, append(steps, modeltest.Say("done"))...)
	id := r.conversation()
	for range 3 {
		r.ask(id, strings.ToValidUTF8(long[:4000], "")).done(t, scrollback.TurnComplete, "stop")
	}
	r.ask(id, "look it up").done(t, scrollback.TurnComplete, "stop")
	failed := map[string]bool{}
	for _, m := range r.log(id) {
		for _, res := range m.Parts.Results() {
			failed[res.CallID] = res.IsError
			if w := r.store.Weigh(scrollback.Parts{res}); len(res.Text) > 16<<10 || w.Tokens > 6000*15/100+40 {
				t.Errorf("%s is %d bytes and %d tokens", res.CallID, len(res.Text), w.Tokens)
			}
			if !res.IsError && !json.Valid([]byte(res.Text)) {
				t.Errorf("%s is no JSON: %.80s", res.CallID, res.Text)
			}
		}
	}
	for id, want := range map[string]bool{"r1": false, "r2": false, "r3": false, "r4": true, "r5": true, "r6": true} {
		if failed[id] != want {
			t.Errorf("%s failed: %v, want %v", id, failed[id], want)
		}
	}
}

// A model that reads a big original gets pages within its room, whatever it asks for,
// and by their offsets they join to the exact bytes; so does the end of it. Eight
// look-ups are no more than it may make: the turn ends as any other.
func TestRecallPagesJoin(t *testing.T) {
	whole := strings.Repeat("行 line of output, \"quoted\" & <marked>\n", 400)
	var ref scrollback.Ref
	var pages []scrollback.Page
	var tail scrollback.Tail
	step := modeltest.Step{Reply: func(r model.Request) []model.Delta {
		last := r.Items[len(r.Items)-1]
		ask := func(name, args string) []model.Delta {
			c := call(fmt.Sprint("r", len(pages)), name, args)
			return []model.Delta{{Call: &c}}
		}
		if res := last.Parts.Results(); len(res) == 1 && res[0].Name == "context_read" {
			var p scrollback.Page
			if err := json.Unmarshal([]byte(res[0].Text), &p); err != nil || res[0].IsError {
				t.Errorf("a page is %s (%v)", res[0].Text, err)
				return []model.Delta{{Text: "no page"}}
			}
			if pages = append(pages, p); len(pages) == 7 || p.Done {
				return ask("context_tail", fmt.Sprintf(`{"ref":%q,"lines":2000}`, ref))
			}
			return ask("context_read", fmt.Sprintf(`{"ref":%q,"offset":%d,"limit":65536}`, ref, p.NextOffset))
		} else if len(res) == 1 && res[0].Name == "context_tail" {
			if err := json.Unmarshal([]byte(res[0].Text), &tail); err != nil {
				t.Errorf("the end is %s", res[0].Text)
			}
			return []model.Delta{{Text: "read"}}
		}
		return ask("context_read", fmt.Sprintf(`{"ref":%q,"limit":65536}`, ref))
	}}
	r := newRig(t, rigOptions{}, step)
	id := r.conversation()
	a, err := r.Upload(context.Background(), id, strings.NewReader(whole), "out.txt")
	if err != nil {
		t.Fatal(err)
	}
	ref = scrollback.ArtifactRef(a.ID)
	r.ask(id, "read it all").done(t, scrollback.TurnComplete, "stop")
	joined := ""
	for _, p := range pages {
		joined += p.Content
	}
	if len(pages) != 7 || !strings.HasPrefix(whole, joined) || len(joined) < 7*500 || pages[6].NextOffset != int64(len(joined)) {
		t.Errorf("%d pages of %d bytes do not begin the original", len(pages), len(joined))
	}
	if tail.Content == "" || !strings.HasSuffix(whole, tail.Content) || strings.Count(tail.Content, "\n") != tail.Lines {
		t.Errorf("the end has %d lines, %d bytes", tail.Lines, len(tail.Content))
	}
	for _, m := range r.log(id) {
		for _, res := range m.Parts.Results() {
			if w := r.store.Weigh(scrollback.Parts{res}); len(res.Text) > 16<<10 || w.Tokens > 6000*15/100+40 || !res.Recall {
				t.Errorf("a look-up's answer has %d bytes and %d tokens", len(res.Text), w.Tokens)
			}
		}
	}
}

func TestBigOutputsBecomeArtifacts(t *testing.T) {
	big := strings.Repeat("行 line of output\n", 2000)
	r := newRig(t, rigOptions{}, modeltest.Call(call("c1", "clock", `{}`)), modeltest.Say("read"))
	id := r.conversation()
	r.turn(engine.TurnRequest{Conversation: id, Message: say("run"), Tools: clock}).done(t, scrollback.TurnWaiting, "tool_calls")
	r.turn(engine.TurnRequest{Conversation: id, ToolResults: []engine.ToolResult{{CallID: "c1", Text: big}}}).done(t, scrollback.TurnComplete,
		"stop")
	res := r.log(id)[2].Parts.Results()[0]
	if res.Artifact == "" || len(res.Text) > 4<<10 || !strings.HasPrefix(big, res.Text[:2000]) ||
		!strings.Contains(res.Text, string(scrollback.ArtifactRef(res.Artifact))) {
		t.Fatalf("stored inline: %d bytes, artifact %q", len(res.Text), res.Artifact)
	}
	if got := r.readAll(id, scrollback.ArtifactRef(res.Artifact)); got != big {
		t.Errorf("the artifact has %d bytes, the output had %d", len(got), len(big))
	}
	_, err := r.Read(context.Background(), r.conversation(), scrollback.ArtifactRef(res.Artifact), 0, 0)
	wantCode(t, err, scrollback.NotFound, "mentions no")
	found, err := r.Grep(context.Background(), id, scrollback.GrepQuery{Pattern: "line of output"})
	if err != nil || found.Total != 2000 || found.Matches[0].Ref == nil {
		t.Errorf("grep finds %d lines in the artifact (%v)", found.Total, err)
	}
}

func (r *rig) readAll(id scrollback.ConversationID, ref scrollback.Ref) string {
	r.t.Helper()
	var b strings.Builder
	for offset := int64(0); ; {
		p, err := r.Read(context.Background(), id, ref, offset, 1000)
		if err != nil {
			r.t.Fatal(err)
		}
		b.WriteString(p.Content)
		if p.Done {
			return b.String()
		}
		offset = p.NextOffset
	}
}

// A message far over half the window is kept whole behind a ref, and the turn
// still fits.
func TestHugeMessage(t *testing.T) {
	r := newRig(t, rigOptions{}, modeltest.Say("read"))
	id := r.conversation()
	huge := strings.Repeat("长文本 with words, ", 12_000)
	r.ask(id, huge).done(t, scrollback.TurnComplete, "stop")
	parts := r.log(id)[0].Parts
	f, ok := parts[0].(scrollback.File)
	if !ok || r.readAll(id, scrollback.ArtifactRef(f.Artifact)) != huge {
		t.Fatalf("parts %T: the message is not kept whole", parts[0])
	}
}

func TestOverBudget(t *testing.T) {
	r := newRig(t, rigOptions{}, modeltest.Say("x"))
	c, _, err := r.Create(context.Background(), scrollback.Conversation{Instructions: strings.Repeat("be kind and brief. ", 2000)})
	if err != nil {
		t.Fatal(err)
	}
	e := r.ask(c.ID, "q")
	e.done(t, scrollback.TurnOverBudget, "")
	f, _ := last[scrollback.ErrorEvent](e)
	if f.Code != scrollback.OverBudget || !strings.Contains(f.Message, "6000 tokens") {
		t.Errorf("told %+v: the figures are missing", f)
	}
	if len(r.script.Requests()) != 0 {
		t.Error("a request over budget was sent")
	}
	r.wantShape(c.ID, "u:q")
}

// A model gets hits in few tokens: no message twice, the stretch of a long one that
// matches, and more of it the fewer it asks for.
func TestRecallSearchIsBrief(t *testing.T) {
	long := strings.Repeat("hay and hay and hay. ", 150) + "The needle is under the blue mat. " + strings.Repeat("More hay. ", 150)
	r := newRig(t, rigOptions{}, modeltest.Say("The needle it is."), modeltest.Say("A needle again."), modeltest.Say("ok"))
	id := r.conversation()
	for _, text := range []string{"a needle", long, "straw"} {
		r.ask(id, text).done(t, scrollback.TurnComplete, "stop")
	}
	search := func(args string) (out struct {
		Hits []struct {
			Seq           int64
			Role          scrollback.Role
			Date, Content string
			Before, After []struct {
				Seq     int64
				Content string
			}
			MessageID string `json:"message_id"`
		}
	}) {
		t.Helper()
		text, err := r.Call(context.Background(), id, "context_search", json.RawMessage(args), recall.RoomMax)
		if err == nil {
			err = json.Unmarshal([]byte(text), &out)
		}
		if err != nil {
			t.Fatalf("%s: %v in %s", args, err, text)
		}
		return out
	}
	seen := map[int64]int{}
	for _, h := range search(`{"query":"needle"}`).Hits {
		if seen[h.Seq]++; h.Date == "" || h.MessageID != "" || len([]rune(h.Content)) > 801 {
			t.Errorf("a hit is %+v", h)
		}
		if h.Seq == 3 && !strings.Contains(h.Content, "under the blue mat") {
			t.Errorf("of a long message there is %q", h.Content)
		}
		for _, n := range append(h.Before, h.After...) {
			seen[n.Seq]++
		}
	}
	for seq := int64(1); seq <= 5; seq++ {
		if seen[seq] != 1 {
			t.Errorf("message %d is told %d times", seq, seen[seq])
		}
	}
	if one := search(`{"query":"\"blue mat\"","limit":1,"around":0}`).Hits; len(one) != 1 || len([]rune(one[0].Content)) < 3000 {
		t.Errorf("of the only one that is asked for there is %+v", one)
	}
	var seqs []int64
	for _, h := range search(`{"query":"needle","order":"time","around":0}`).Hits {
		seqs = append(seqs, h.Seq)
	}
	if !slices.IsSorted(seqs) || len(seqs) != 4 {
		t.Errorf("in order of time: %v", seqs)
	}
	_, err := r.Call(context.Background(), id, "context_search", json.RawMessage(`{"query":"needle","order":"size"}`), recall.RoomMax)
	wantCode(t, err, scrollback.Invalid, "order must be")
	_, err = r.Call(context.Background(), id, "context_search", json.RawMessage(`{"query":"needle after:2026-02-31"}`), recall.RoomMax)
	wantCode(t, err, scrollback.Invalid, "names no day")
}
