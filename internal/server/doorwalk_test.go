package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
)

// toldModel answers what it is told to answer next.
type toldModel struct {
	deltas []model.Delta
	err    error
	calls  int
}

func (*toldModel) Facts() model.Facts {
	return model.Facts{Name: "told", Limit: 1 << 20, APIs: []string{model.APIChat, model.APIMessages}}
}

func (m *toldModel) Stream(context.Context, model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		m.calls++
		for _, d := range m.deltas {
			if !yield(d, nil) {
				return
			}
		}
		if m.err != nil {
			yield(model.Delta{}, m.err)
			return
		}
		yield(model.Delta{Finish: scrollback.FinishStop,
			Usage: &scrollback.Usage{InputTokens: 10, OutputTokens: 5, TotalTokens: 15}}, nil)
	}
}

// heldEntry is something in a client's history: a text, the calls of an answer, or a result.
type heldEntry struct {
	role, text string
	calls      []heldCall
	call       string // of a result
	at         int    // of its first line on the path; -1 for a summary, which is on none
}

type heldCall struct{ id, arguments string }

// heldTalk is what a client without an id has of a conversation, and what is expected to be stored of it.
type heldTalk struct {
	api     string
	history []heldEntry
	path    []string // what was said on the way here, as lines
	summary []string // the path to the summary with which the history begins, if it does
	of      string   // its conversation
	sent    map[string]int
}

// walker plays clients that keep their histories themselves, and knows what should come of it.
type walker struct {
	*testing.T
	*rand.Rand
	rigs  []*clientRig // over one store, each with a door of its own
	told  *toldModel
	texts int
	log   []string
	said  map[string]bool // every line that is stored
}

func (w *walker) word(what string) string {
	w.texts++
	return fmt.Sprintf("%s number %d, and nothing else", what, w.texts)
}

func (w *walker) failf(format string, args ...any) {
	w.Helper()
	w.Fatalf("after\n%s\n"+format, append([]any{strings.Join(w.log[max(0, len(w.log)-30):], "\n")}, args...)...)
}

// say adds something to the history and to what is expected behind a path.
func (k *heldTalk) say(e heldEntry, path []string) {
	e.at = len(path)
	k.path = append(slices.Clone(path), e.lines()...)
	k.history = append(k.history, e)
}

// lines returns what is stored of an entry.
func (e heldEntry) lines() (out []string) {
	if e.text != "" {
		out = append(out, e.role+": "+e.text)
	}
	for _, c := range e.calls {
		out = append(out, "call: "+c.arguments)
	}
	return out
}

// body returns the path and the body of the talk's request.
func (k *heldTalk) body(tools bool) (path, body string) {
	fields := `"stream":false,`
	if tools {
		fields += `"tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object"}}}],`
	}
	if k.api == "messages" { // it has them in turn, each of some blocks
		type message struct {
			Role    string              `json:"role"`
			Content []map[string]string `json:"content"`
		}
		var all []message
		for _, e := range k.history {
			if n := len(all); n == 0 || all[n-1].Role != e.role {
				all = append(all, message{Role: e.role})
			}
			last := &all[len(all)-1]
			last.Content = append(last.Content, map[string]string{"type": "text", "text": e.text})
		}
		b, err := json.Marshal(all)
		if err != nil {
			panic(err)
		}
		if fields = ""; tools {
			fields = `"tools":[{"name":"ls","input_schema":{"type":"object"}}],`
		}
		return "/v1/messages", `{"model":"told","max_tokens":99,` + fields + `"messages":` + string(b) + `}`
	}
	messages := []string{sayAs("system", "You are a client.")}
	for _, e := range k.history {
		m := map[string]any{"role": e.role, "content": e.text}
		var calls []any
		for _, c := range e.calls {
			calls = append(calls, map[string]any{"id": c.id, "type": "function",
				"function": map[string]any{"name": "ls", "arguments": c.arguments}})
		}
		if calls != nil {
			m["tool_calls"] = calls
		}
		if e.call != "" {
			m["tool_call_id"] = e.call
		}
		b, err := json.Marshal(m)
		if err != nil {
			panic(err)
		}
		messages = append(messages, string(b))
	}
	return "/v1/chat/completions", `{"model":"told",` + fields + `"messages":[` + strings.Join(messages, ",") + `]}`
}

// send sends the history, from any process to any server, and has it answered.
func (w *walker) send(k *heldTalk, tools bool, err error, deltas ...model.Delta) (reply, []heldCall) {
	w.Helper()
	w.told.deltas = deltas
	w.told.err = err
	path, body := k.body(tools)
	r := w.rigs[w.IntN(len(w.rigs))].send("POST", path, body, fmt.Sprintf("User-Agent: client/%d", w.IntN(3)))
	if (r.status == 200) != (err == nil) && len(deltas) == 0 || err == nil && r.status != 200 {
		w.failf("%d %s", r.status, r.body)
	}
	var answer struct {
		Choices []struct {
			Message struct {
				Calls []struct {
					ID       string
					Function struct{ Arguments string }
				} `json:"tool_calls"`
			}
		}
	}
	_ = json.Unmarshal([]byte(r.body), &answer) // other APIs have no choices
	var calls []heldCall
	for _, choice := range answer.Choices {
		for _, c := range choice.Message.Calls {
			calls = append(calls, heldCall{c.ID, c.Function.Arguments})
		}
	}
	return r, calls
}

// stored returns the path of a conversation as lines, without the client's summaries.
func (w *walker) stored(of string) (out []string) {
	w.Helper()
	v := w.rigs[0].sb.Engine.As(scrollback.Operator())
	for m, err := range v.Recall().AllMessages(w.Context(), scrollback.ConversationID(of)) {
		if err != nil {
			w.failf("%v", err)
		}
		out = append(out, linesOf(m)...)
	}
	return out
}

const summarised = "What came before was compacted: "

func linesOf(m scrollback.Message) (out []string) {
	for _, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			if !strings.HasPrefix(p.Text, summarised) && p.Text != "" && m.Role != scrollback.RoleSystem {
				out = append(out, fmt.Sprint(m.Role, ": ", p.Text))
			}
		case scrollback.ToolCall:
			out = append(out, "call: "+string(p.Arguments))
		case scrollback.ToolResult:
			out = append(out, "tool: "+p.Text)
		default:
			out = append(out, fmt.Sprintf("%T", p))
		}
	}
	return out
}

// check compares what is stored with what is expected.
func (w *walker) check(k *heldTalk, r reply, begins bool) {
	w.Helper()
	of := r.header.Get("X-Scrollback-Conversation")
	switch {
	case of == "":
		w.failf("it is in no conversation: %d %s", r.status, r.body)
	case begins && of == k.of:
		w.failf("it is in the old conversation")
	case !begins && of != k.of:
		w.failf("it is in %s, and not in %s", of, k.of)
	}
	k.of = of
	path := w.stored(of)
	if !slices.Equal(path, k.path) {
		same := 0
		for same < min(len(path), len(k.path)) && path[same] == k.path[same] {
			same++
		}
		w.failf("behind %d lines the path is\n%s\nwanted\n%s", same, strings.Join(path[max(0, same-2):], "\n"),
			strings.Join(k.path[max(0, same-2):], "\n"))
	}
	for i, line := range path {
		w.said[line] = true
		if slices.Contains(path[:i], line) {
			w.failf("%q is on the path twice", line)
		}
	}
}

// answer has the newest request answered: whole, with calls, cut off, or not at all and then after a retry.
func (w *walker) answer(k *heldTalk, begins, sure bool) {
	w.Helper()
	words := w.word("An answer")
	broken := scrollback.Errorf(scrollback.Unavailable, "test", "it broke").WithReason(scrollback.ErrUpstream)
	switch at := w.IntN(12); {
	case at < 3 && !sure && k.api == "chat":
		w.useTools(k, words, begins)
		return
	case at == 3 && !sure: // cut off; the client forgets the piece, or shows the beginning of it
		r, _ := w.send(k, true, broken, model.Delta{Text: words})
		k.path = append(slices.Clone(k.path), "assistant: "+words)
		w.check(k, r, begins)
		if w.IntN(2) == 0 {
			k.history = append(k.history, heldEntry{role: "assistant", text: words[:12+w.IntN(8)], at: len(k.path) - 1})
		}
		return
	case at < 6 && !sure: // fails, and the same is sent again
		r, _ := w.send(k, true, broken)
		w.check(k, r, begins)
		begins = false
	}
	r, _ := w.send(k, true, nil, model.Delta{Text: words})
	k.say(heldEntry{role: "assistant", text: words}, k.path)
	w.check(k, r, begins)
}

// useTools has the model call tools, and the client send what they said.
func (w *walker) useTools(k *heldTalk, words string, begins bool) {
	w.Helper()
	deltas := []model.Delta{{Text: words}}
	for range 1 + w.IntN(3) {
		w.texts++
		deltas = append(deltas, model.Delta{Call: &scrollback.ToolCall{ID: fmt.Sprint("own", w.IntN(3)), Name: "ls",
			Arguments: json.RawMessage(fmt.Sprintf(`{"path":"%d"}`, w.texts))}})
	}
	r, calls := w.send(k, true, nil, deltas...)
	if len(calls) != len(deltas)-1 {
		w.failf("%d calls came of %d\n%s", len(calls), len(deltas)-1, r.body)
	}
	k.say(heldEntry{role: "assistant", text: words, calls: slices.Clone(calls)}, k.path)
	w.check(k, r, begins)
	w.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
	for _, c := range calls {
		k.say(heldEntry{role: "tool", text: w.word("A result"), call: c.id}, k.path)
	}
	w.answer(k, false, w.IntN(2) == 0)
}

// turns returns the places of user texts in a history, but for a summary.
func (k *heldTalk) turns() (out []int) {
	for i, e := range k.history {
		if e.role == "user" && e.at >= 0 {
			out = append(out, i)
		}
	}
	return out
}

// step does one thing with a talk, and returns a new one if that is a fork.
func (w *walker) step(k *heldTalk) *heldTalk {
	note := func(what string) { w.log = append(w.log, fmt.Sprintf("%s (%s) %s", k.of, k.api, what)) }
	turns := k.turns()
	newest := turns[len(turns)-1]
	switch at := w.IntN(20); {
	case at < 8:
		note("say")
		k.say(heldEntry{role: "user", text: w.word("A prompt")}, k.path)
		w.answer(k, false, false)
	case at < 11:
		i := turns[w.IntN(len(turns))]
		note(fmt.Sprint("edit ", i))
		path := k.path[:k.history[i].at]
		if i == 1 && k.summary != nil {
			path = k.summary
		}
		k.history = slices.Clone(k.history[:i])
		k.say(heldEntry{role: "user", text: w.word("An edited prompt")}, path)
		w.answer(k, i == 0, i == 0)
	case at < 13:
		if last := len(k.history) - 1; newest == last || len(k.history[newest+1].calls) > 0 ||
			k.history[newest].at+1 != k.history[newest+1].at || k.sent[k.history[newest].text] > 4 {
			return nil
		}
		note("regenerate")
		k.sent[k.history[newest].text]++
		k.path = slices.Clone(k.path[:k.history[newest].at+1])
		k.history = slices.Clone(k.history[:newest+1])
		w.answer(k, newest == 0, true)
	case at < 15:
		note("go on from an earlier answer, as two")
		fork := &heldTalk{api: k.api, history: slices.Clone(k.history), path: slices.Clone(k.path), summary: k.summary,
			of: k.of, sent: map[string]int{}}
		for _, of := range []*heldTalk{fork, k} {
			of.say(heldEntry{role: "user", text: w.word("A prompt of one of two")}, of.path)
			w.answer(of, false, true)
		}
		return fork
	case at < 17:
		if len(k.history) >= 4 {
			note("compact")
			w.compact(k)
		}
	case at < 18:
		note("forget tools")
		k.history = slices.DeleteFunc(k.history, func(e heldEntry) bool { return e.call != "" })
		for i := range k.history {
			k.history[i].calls = nil
		}
		k.say(heldEntry{role: "user", text: w.word("A prompt without tools")}, k.path)
		w.answer(k, false, false)
	default:
		i := turns[w.IntN(len(turns))]
		if i == 0 || k.history[i-1].role != "assistant" || len(k.history[i-1].calls) > 0 || i == 1 && k.summary != nil {
			return nil
		}
		note(fmt.Sprint("truncate at ", i))
		before := k.history[i-1]
		end := before.at + len(before.lines())
		if end > len(k.path) || !strings.HasSuffix(k.path[end-1], before.text) {
			return nil // the beginning of an answer: what it goes on from is not told by it alone
		}
		k.path = slices.Clone(k.path[:end])
		k.history = slices.Clone(k.history[:i])
		k.say(heldEntry{role: "user", text: w.word("A prompt further up")}, k.path)
		w.answer(k, false, false)
	}
	return nil
}

// compact asks for a summary, and puts it in the place of the history but for its end.
func (w *walker) compact(k *heldTalk) {
	w.Helper()
	asking := &heldTalk{api: k.api, history: append(slices.Clone(k.history),
		heldEntry{role: "user", text: "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary."})}
	summary := w.word("A summary of it all")
	r, _ := w.send(asking, false, nil, model.Delta{Text: summary})
	if of := r.header.Get("X-Scrollback-Conversation"); of != "" {
		w.failf("the summary came to %s", of)
	}
	var kept []heldEntry
	if turns := k.turns(); w.IntN(2) == 0 {
		kept = k.history[turns[w.IntN(len(turns))]:]
	}
	k.history = append([]heldEntry{{role: "user", text: summarised + summary, at: -1}}, slices.Clone(kept)...)
	k.summary = k.path
	k.say(heldEntry{role: "user", text: w.word("A prompt after compacting")}, k.path)
	w.answer(k, false, true)
}

// TestStatelessWalk has clients without ids do what they do at random, with more than one server over one store: the
// path of the newest turn is what the client was told, nothing is stored twice, and nothing is lost.
func TestStatelessWalk(t *testing.T) {
	for seed := range testlength.Choose(uint64(1), 2, 100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { walkStateless(t, seed, testlength.Choose(50, 200, 400)) })
	}
}

func walkStateless(t *testing.T, seed uint64, steps int) {
	w := &walker{T: t, Rand: rand.New(rand.NewPCG(seed, 32)), told: &toldModel{}, said: map[string]bool{},
		log: []string{fmt.Sprint("seed ", seed)}}
	sb, err := local.Open(t.Context(), t.TempDir(), &local.Options{Database: "memory:", Model: "told",
		Models: map[string]model.Model{"told": w.told}, Engine: engine.Options{NoTitleCalls: true}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		srv := httptest.NewServer(server.Handler(sb.Engine, sb.Transfer, server.Options{Version: "test",
			Log: slog.New(slog.DiscardHandler), Door: door.New(door.Options{}), DoorBytes: 8 << 20}, true))
		t.Cleanup(srv.Close)
		w.rigs = append(w.rigs, &clientRig{T: t, sb: sb, url: srv.URL})
	}
	defer func() {
		if err := sb.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	var talks []*heldTalk
	for range steps {
		if len(talks) < 2 || w.IntN(30) == 0 {
			k := &heldTalk{api: []string{"chat", "chat", "messages"}[w.IntN(3)], sent: map[string]int{}}
			w.log = append(w.log, "begin "+k.api)
			k.say(heldEntry{role: "user", text: w.word("A first prompt")}, nil)
			w.answer(k, true, true)
			talks = append(talks, k)
		}
		if fork := w.step(talks[w.IntN(len(talks))]); fork != nil {
			talks = append(talks, fork)
		}
	}
	w.checkAll()
}

// checkAll reads everything that is stored, on whatever branch: each line that was ever on a path is there,
// once in its conversation.
func (w *walker) checkAll() {
	w.Helper()
	sb := w.rigs[0].sb
	v := sb.Engine.As(scrollback.Operator())
	lost := maps.Clone(w.said)
	q := scrollback.ListQuery{Limit: scrollback.ListMax}
	for {
		page, next, err := v.List(w.Context(), q)
		if err != nil {
			w.failf("%v", err)
		}
		for _, c := range page {
			ids := map[string]map[scrollback.MessageID]bool{} // a first prompt that is sent again begins another one
			branches, err := v.Branches().List(w.Context(), c.ID)
			if err != nil {
				w.failf("%v", err)
			}
			for _, b := range branches {
				ms, err := sb.Store.ReadMessages(w.Context(), b.ID, 1, b.HeadSeq)
				if err != nil {
					w.failf("%v", err)
				}
				for _, m := range ms {
					for _, line := range linesOf(m) {
						if ids[line] == nil {
							ids[line] = map[scrollback.MessageID]bool{}
						}
						ids[line][m.ID] = true
						delete(lost, line)
					}
				}
			}
			for line, all := range ids {
				if len(all) != 1 {
					w.failf("%q is stored %d times in %s", line, len(all), c.ID)
				}
			}
		}
		if q.Cursor = next; next == "" {
			break
		}
	}
	if len(lost) > 0 {
		w.failf("lost are %q", slices.Collect(maps.Keys(lost)))
	}
}
