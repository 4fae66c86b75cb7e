package transfer_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/transfer"
)

// What the tool itself was seen to load and to send is what the stand-in does.
func TestStandInOfGeminiCLI(t *testing.T) {
	read := func(name string, into any) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join("../transcript/geminicli/testdata/cases", name))
		if err == nil {
			err = json.Unmarshal(b, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var loads struct {
		Cases []struct {
			ID       string
			Input    struct{ File string }
			Expected *struct {
				SessionID string `json:"sessionId"`
				Summary   any
				Messages  []object
				Count     int `json:"messageCount"`
			}
		}
	}
	read("session_load_semantics.json", &loads)
	for _, c := range loads.Cases {
		s := loadCLI(c.Input.File)
		if (s == nil) != (c.Expected == nil) {
			t.Errorf("%s: loaded %v", c.ID, s)
		}
		if s == nil || c.Expected == nil {
			continue
		}
		if s.header["sessionId"] != c.Expected.SessionID || s.header["summary"] != c.Expected.Summary || len(s.messages) != c.Expected.Count {
			t.Errorf("%s: %v with %d messages", c.ID, s.header, len(s.messages))
		}
		for i, m := range c.Expected.Messages {
			if s.messages[i]["id"] != m["id"] {
				t.Errorf("%s: message %d is %v", c.ID, i, s.messages[i])
			}
		}
	}
	var sends struct {
		Cases []struct {
			ID       string
			Input    []object
			Expected []struct {
				ID      string
				Content struct {
					Role  string
					Parts []any
				}
			}
		}
	}
	read("session_to_client_history.json", &sends)
	for _, c := range sends.Cases {
		got := (&cli{messages: c.Input}).history()
		if len(got) != len(c.Expected) {
			t.Errorf("%s: %+v", c.ID, got)
			continue
		}
		for i, want := range c.Expected {
			if got[i].id != want.ID || got[i].role != want.Content.Role || cmp.Diff(got[i].parts, want.Content.Parts) != "" {
				t.Errorf("%s: turn %d is %+v, want %+v", c.ID, i, got[i], want)
			}
		}
	}
}

// tee is what rapid's and testing's tests have in common.
type tee interface {
	Helper()
	Fatalf(string, ...any)
}

func toGemini(t tee, r *enginetest.Rig, id scrollback.ConversationID) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Export(context.Background(), id, transfer.ExportRequest{Format: "gemini-cli"}, &b); err != nil {
		t.Fatalf("export: %v", err)
	}
	return b.String()
}

// standing is where a conversation stands, and all that is there.
type standing struct {
	Path     string
	Branch   scrollback.BranchID
	Branches int
	Messages int64
}

func stands(t tee, r *enginetest.Rig, id scrollback.ConversationID) (s standing) {
	t.Helper()
	c, err := r.Get(context.Background(), id)
	if err != nil {
		t.Fatalf("%v", err)
	}
	bs, err := r.Branches().List(context.Background(), id)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, b := range bs {
		s.Messages += b.Messages
	}
	s.Path, s.Branch, s.Branches = r.Shape(id), c.Branch, len(bs)
	return s
}

// comesBack imports a file of a conversation that is here, and wants so many messages new,
// of this conversation alone.
func comesBack(t tee, r *enginetest.Rig, id scrollback.ConversationID, file string, want int) {
	t.Helper()
	out, err := r.Load(file)
	if err != nil || len(out.Skipped) > 0 || len(out.Conversations) != 1 || out.Conversations[0].ID != id ||
		out.Conversations[0].Messages != int64(want) || out.Conversations[0].Created {
		t.Fatalf("%+v, %v; want %d new in %s, from\n%s", out, err, want, id, file)
	}
}

// thereAndBack exports a conversation; the tool loads it all, and brings nothing new, and
// then what it said, on the same path.
func thereAndBack(t tee, r *enginetest.Rig, id scrollback.ConversationID) {
	t.Helper()
	file := toGemini(t, r, id)
	s := loadCLI(file)
	if s == nil {
		t.Fatalf("it is not loaded:\n%s", file)
	}
	if fault := s.fault(); fault != "" {
		t.Fatalf("%s, in\n%s", fault, file)
	}
	was := stands(t, r, id)
	comesBack(t, r, id, file, 0)
	s.resume()
	comesBack(t, r, id, s.file.String(), 0)
	if d := cmp.Diff(was, stands(t, r, id)); d != "" {
		t.Fatalf("unchanged it changed (-was +is):\n%s", d)
	}
	said := s.say("继续 one", false)
	comesBack(t, r, id, s.file.String(), said)
	s = loadCLI(s.file.String())
	s.resume()
	more := s.say("two", true)
	s.resume()
	more += s.say("three", false)
	comesBack(t, r, id, s.file.String(), more)
	is := stands(t, r, id)
	if is.Branches != max(was.Branches, 1) || is.Messages != was.Messages+int64(said+more) || !strings.HasPrefix(is.Path, was.Path) ||
		!strings.HasSuffix(is.Path, "a:answer to three\n") {
		t.Fatalf("it was\n%+v\nand is\n%+v", was, is)
	}
	again := toGemini(t, r, id)
	if s = loadCLI(again); s == nil || s.fault() != "" {
		t.Fatalf("the second export: %s, in\n%s", s.fault(), again)
	}
	comesBack(t, r, id, again, 0)
	if d := cmp.Diff(is, stands(t, r, id)); d != "" {
		t.Fatalf("unchanged it changed (-was +is):\n%s", d)
	}
}

func pngBytes() string {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// Conversations of every kind load in Gemini CLI, and come back as what they are.
func TestGeminiThereAndBack(t *testing.T) {
	ctx := context.Background()
	long := strings.Repeat("行 of a long output\n", 4000)
	turn := func(r *enginetest.Rig, id scrollback.ConversationID, text string) {
		r.Ask(id, text).Done(t, scrollback.TurnComplete, "stop")
	}
	opened := func(r *enginetest.Rig, id scrollback.ConversationID) {
		r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("几点?"), Tools: enginetest.ClockTool}).
			Done(t, scrollback.TurnWaiting, "tool_calls")
	}
	twoCalls := modeltest.Call(enginetest.Call("c1", "clock", `{"z":1.0,"a":"\u00e9\/<x>","n":12345678901234567890}`),
		enginetest.Call("c2", "clock", `{ }`))
	for name, c := range map[string]struct {
		steps []modeltest.Step
		do    func(*enginetest.Rig, scrollback.ConversationID) scrollback.ConversationID
	}{
		"talk": {nil, func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
			for _, text := range []string{"你好，备用钥匙在哪里？", "/help me", "?", "<session_context> x", "two\nlines \u2028"} {
				turn(r, id, text)
			}
			return id
		}},
		"empty": {nil, func(_ *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID { return id }},
		"tools": {[]modeltest.Step{twoCalls, modeltest.Say("noon")}, func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
			opened(r, id)
			r.Run(engine.TurnRequest{Conversation: id, ToolResults: []engine.ToolResult{{CallID: "c2", Text: long},
				{CallID: "c1", Text: "no", IsError: true}}}).Done(t, scrollback.TurnComplete, "stop")
			return id
		}},
		"waiting": {[]modeltest.Step{twoCalls}, func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
			opened(r, id)
			return id
		}},
		"left open": {[]modeltest.Step{twoCalls, modeltest.Say("well")}, func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
			opened(r, id)
			turn(r, id, "never mind")
			return id
		}},
		"thoughts, and look-ups": {[]modeltest.Step{{Deltas: []model.Delta{{Reasoning: "Plan\nlook it up"}, {Text: "Let me see."},
			{Call: &scrollback.ToolCall{ID: "r1", Name: "context_search", Arguments: json.RawMessage(`{"query":"钥匙"}`)}}}}, modeltest.Say("found")},
			func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
				turn(r, id, "钥匙?")
				return id
			}},
		"failed and cut off": {[]modeltest.Step{{Err: scrollback.Errorf(scrollback.Unavailable, "x", "down")},
			{Deltas: []model.Delta{{Text: "half a"}}, Err: scrollback.Errorf(scrollback.Unavailable, "x", "down")}, modeltest.Say("now")},
			func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
				r.Ask(id, "one")
				r.Ask(id, "two")
				turn(r, id, "three")
				return id
			}},
		"pictures": {nil, func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
			r.Run(engine.TurnRequest{Conversation: id, Message: scrollback.Parts{r.Picture(id, 7), r.Picture(id, 8)}})
			r.Run(engine.TurnRequest{Conversation: id, Message: scrollback.Parts{scrollback.Text{Text: "/this"}, r.Picture(id, 9)}})
			return id
		}},
		"a long paste": {nil, func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
			turn(r, id, long)
			return id
		}},
		"compacted": {[]modeltest.Step{enginetest.Chatter()}, func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
			for i := range 12 {
				turn(r, id, fmt.Sprint("question ", i))
			}
			if _, err := r.Compact(ctx, id, engine.CompactRequest{Force: true}); err != nil {
				t.Fatal(err)
			}
			return id
		}},
		"rewound": {nil, func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
			for i := range 3 {
				turn(r, id, fmt.Sprint("question ", i))
			}
			at := int64(4)
			if _, err := r.Branches().Rewind(ctx, id, engine.Point{Seq: &at}); err != nil {
				t.Fatal(err)
			}
			return id
		}},
		"gone on after a rewind": {nil, func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
			turn(r, id, "one")
			turn(r, id, "two")
			at := int64(2)
			if _, err := r.Branches().Rewind(ctx, id, engine.Point{Seq: &at}); err != nil {
				t.Fatal(err)
			}
			turn(r, id, "another two")
			return id
		}},
		"a fork": {nil, func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
			turn(r, id, "one")
			c, err := r.Branches().Fork(ctx, id, engine.Point{}, "")
			if err != nil {
				t.Fatal(err)
			}
			turn(r, id, "elsewhere")
			turn(r, c.ID, "here")
			return c.ID
		}},
		"a fork of a session": {nil, func(r *enginetest.Rig, _ scrollback.ConversationID) scrollback.ConversationID {
			s := loadCLI(`{"sessionId":"s-1","projectHash":"p"}` + "\n")
			s.say("mine", true)
			out, err := r.Load(s.file.String())
			if err != nil {
				t.Fatal(err)
			}
			c, err := r.Branches().Fork(ctx, out.Conversations[0].ID, engine.Point{}, "")
			if err != nil {
				t.Fatal(err)
			}
			return c.ID
		}},
		"a session, gone on here": {nil, func(r *enginetest.Rig, _ scrollback.ConversationID) scrollback.ConversationID {
			s := loadCLI(`{"sessionId":"s-1","projectHash":""}` + "\n" + `{"sessionId":"s-1","projectHash":"p"}` + "\n")
			s.say("mine", true)
			out, err := r.Load(s.file.String())
			if err != nil {
				t.Fatal(err)
			}
			turn(r, out.Conversations[0].ID, "/and then?")
			return out.Conversations[0].ID
		}},
	} {
		t.Run(name, func(t *testing.T) {
			steps := c.steps
			if steps == nil {
				steps = []modeltest.Step{modeltest.Say("答复 of some length")}
			}
			r := enginetest.New(t, enginetest.Options{}, steps...)
			thereAndBack(t, r, c.do(r, r.NewConversation()))
		})
	}
}

// anyTalk is a conversation that makes no sense, in lines of our own format.
func anyTalk(t *rapid.T, name string) string {
	pick := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
	var b strings.Builder
	line := func(v object) {
		j, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(j, '\n'))
	}
	line(object{"conversation": object{"id": name}})
	words := []string{"hello", "你好", "/help", "?", " ", "<hook_context>", "two\nlines", "**S** d", "{\"b\":1.0,\"a\":1e3}", "x < y & z", "\u2028"}
	for i := range rapid.IntRange(1, 10).Draw(t, "messages") {
		role := pick("role", "user", "user", "assistant", "assistant", "assistant", "tool", "tool", "system")
		m := object{"role": role, "created_at": 1_767_225_600_000 + 1000*i,
			"status": pick("status", "complete", "complete", "complete", "interrupted", "failed")}
		if role == "assistant" {
			m["model"] = pick("model", "", "gemini/gemini-2.5-pro", "deepseek/x", "offline")
		}
		var content []any
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			id, tool := pick("id", "c1", "c2", "call_0", "call_0", ""), pick("tool", "f", "g", "two words")
			p := object{"type": "text", "text": pick("text", words...)}
			switch kind := rapid.IntRange(0, 9).Draw(t, "part"); {
			case role == "tool" && kind < 8:
				p = object{"type": "tool_result", "call_id": id, "name": tool, "text": pick("output", words...), "is_error": kind == 0}
			case role == "assistant" && kind < 2:
				p = object{"type": "reasoning", "text": pick("thought", words...)}
			case role == "assistant" && kind < 6:
				p = object{"type": "tool_call", "id": id, "name": tool, "arguments": json.RawMessage(pick("args", `{}`,
					`{"z":1.0,"a":1e3,"n":12345678901234567890}`, `{"s":"\u00e9\/<"}`, `[1]`, `"x"`, `null`, `{"b":{"y":1,"x":2},"10":1,"9":2}`))}
			case kind == 9:
				p = object{"type": "image", "data": pngBytes(), "media_type": "image/png"}
			}
			if kind := p["type"]; role != "tool" && kind != "image" && rapid.IntRange(0, 4).Draw(t, "payload") == 0 {
				p["opaque"] = json.RawMessage(pick("opaque", `"c2ln"`, `{"sig":"x"}`))
			}
			content = append(content, p)
		}
		m["content"] = content
		line(m)
	}
	return b.String()
}

// Whatever was said, it loads, and comes back with what was added and nothing else.
func TestAnyTalkThereAndBack(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, modeltest.Say("native answer"))
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		out, err := r.Load(anyTalk(t, fmt.Sprint("talk-", n)))
		if err != nil || len(out.Skipped) > 0 {
			t.Fatalf("%+v, %v", out, err)
		}
		id := out.Conversations[0].ID
		if rapid.Bool().Draw(t, "native") {
			r.Ask(id, "a turn of ours")
		}
		thereAndBack(t, r, id)
	})
}
