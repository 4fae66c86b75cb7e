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
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// What the tool itself was seen to load and to send is what the stand-in does.
func TestStandInOfGeminiCLI(t *testing.T) {
	read := func(name string, into any) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join("../../transcript/geminicli/testdata/cases", name))
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
		if s.header["sessionId"] != c.Expected.SessionID || s.header["summary"] != c.Expected.Summary ||
			len(s.messages) != c.Expected.Count {
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
	s.Path = r.LogOutline(id)
	s.Branch = c.Branch
	s.Branches = len(bs)
	return s
}

// comesBack imports a file of a conversation that is here, and wants this number of new messages,
// of this conversation alone.
func comesBack(t tee, r *enginetest.Rig, id scrollback.ConversationID, file string, want int) {
	t.Helper()
	out, err := r.ImportText(file)
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
	if is.Branches != max(was.Branches, 1) || is.Messages != was.Messages+int64(said+more) ||
		!strings.HasPrefix(is.Path, was.Path) ||
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
		r.Ask(id, text).WantDone(t, scrollback.TurnComplete, "stop")
	}
	opened := func(r *enginetest.Rig, id scrollback.ConversationID) {
		r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("几点?"), Tools: enginetest.ClockTool}).
			WantDone(t, scrollback.TurnWaiting, "tool_calls")
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
		"tools": {[]modeltest.Step{twoCalls, modeltest.Say("noon")},
			func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
				opened(r, id)
				r.Run(engine.TurnRequest{Conversation: id, ToolResults: []engine.ToolResult{{CallID: "c2", Text: long},
					{CallID: "c1", Text: "no", IsError: true}}}).WantDone(t, scrollback.TurnComplete, "stop")
				return id
			}},
		"waiting": {[]modeltest.Step{twoCalls},
			func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
				opened(r, id)
				return id
			}},
		"left open": {[]modeltest.Step{twoCalls, modeltest.Say("well")},
			func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
				opened(r, id)
				turn(r, id, "never mind")
				return id
			}},
		"thoughts, and look-ups": {[]modeltest.Step{{Deltas: []model.Delta{{Reasoning: "Plan\nlook it up"},
			{Text: "Let me see."},
			{Call: &scrollback.ToolCall{ID: "r1", Name: "context_search", Arguments: json.RawMessage(`{"query":"钥匙"}`)}}}},
			modeltest.Say("found")},
			func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
				turn(r, id, "钥匙?")
				return id
			}},
		"failed and cut off": {[]modeltest.Step{{Err: scrollback.Errorf(scrollback.Unavailable, "x", "down")},
			{Deltas: []model.Delta{{Text: "half a"}}, Err: scrollback.Errorf(scrollback.Unavailable, "x", "down")},
			modeltest.Say("now")},
			func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
				r.Ask(id, "one")
				r.Ask(id, "two")
				turn(r, id, "three")
				return id
			}},
		"pictures": {nil, func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
			r.Run(engine.TurnRequest{Conversation: id, Message: scrollback.Parts{r.UploadImage(id, 7), r.UploadImage(id, 8)}})
			r.Run(engine.TurnRequest{Conversation: id,
				Message: scrollback.Parts{scrollback.Text{Text: "/this"}, r.UploadImage(id, 9)}})
			return id
		}},
		"a long paste": {nil, func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
			turn(r, id, long)
			return id
		}},
		"compacted": {[]modeltest.Step{enginetest.ChattyStep()},
			func(r *enginetest.Rig, id scrollback.ConversationID) scrollback.ConversationID {
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
			out, err := r.ImportText(s.file.String())
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
			out, err := r.ImportText(s.file.String())
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

// anyTalk returns a conversation that makes no sense, in lines of our own format.
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
	words := []string{"hello", "你好", "/help", "?", " ", "<hook_context>", "two\nlines", "**S** d", "{\"b\":1.0,\"a\":1e3}",
		"x < y & z", "\u2028"}
	for i := range rapid.IntRange(1, 10).Draw(t, "messages") {
		role := pick("role", "user", "user", "assistant", "assistant", "assistant", "tool", "tool", "system")
		m := object{"role": role, "created_at": 1_767_225_600_000 + 1000*i,
			"status": pick("status", "complete", "complete", "complete", "interrupted", "failed")}
		if role == "assistant" {
			m["model"] = pick("model", "", "gemini/gemini-2.5-pro", "deepseek/x", "offline")
		}
		var content []any
		says := false
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			id := pick("id", "c1", "c2", "call_0", "call_0", "")
			tool := pick("tool", "f", "g", "two words")
			p := object{"type": "text", "text": pick("text", words...)}
			switch kind := rapid.IntRange(0, 9).Draw(t, "part"); {
			case role == "tool" && kind < 8:
				p = object{"type": "tool_result", "call_id": id, "name": tool, "text": pick("output", words...),
					"is_error": kind == 0}
			case role == "assistant" && kind < 2:
				p = object{"type": "reasoning", "text": pick("thought", words...)}
			case role == "assistant" && kind < 6:
				p = object{"type": "tool_call", "id": id, "name": tool, "arguments": json.RawMessage(pick("args", `{}`,
					`{"z":1.0,"a":1e3,"n":12345678901234567890}`, `{"s":"\u00e9\/<"}`, `[1]`, `"x"`, `null`,
					`{"b":{"y":1,"x":2},"10":1,"9":2}`))}
			case kind == 9:
				p = object{"type": "image", "data": pngBytes(), "media_type": "image/png"}
			}
			if kind := p["type"]; role != "tool" && kind != "image" && rapid.IntRange(0, 4).Draw(t, "payload") == 0 {
				p["opaque"] = json.RawMessage(pick("opaque", `"c2ln"`, `{"sig":"x"}`))
			}
			content = append(content, p)
			text, _ := p["text"].(string)
			says = says || strings.TrimSpace(text) != "" || p["type"] != "text" && p["type"] != "reasoning"
		}
		if !says { // a message of spaces alone is none
			content = append(content, object{"type": "text", "text": "said"})
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
		out, err := r.ImportText(anyTalk(t, fmt.Sprint("talk-", n)))
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

// talked returns a conversation of n turns, and the session that was made of it.
func talked(t *testing.T, r *enginetest.Rig, n int) (scrollback.ConversationID, *cli) {
	t.Helper()
	id := r.NewConversation()
	for i := range n {
		r.Ask(id, fmt.Sprint("q", i+1)).WantDone(t, scrollback.TurnComplete, "stop")
	}
	return id, loadCLI(toGemini(t, r, id))
}

// What became of a conversation since it was exported, here or there, is kept; a source
// that grew extends, and one that changed its past leaves it on an earlier branch.
func TestGeminiGrownApart(t *testing.T) {
	ctx := context.Background()
	rewind := func(r *enginetest.Rig, id scrollback.ConversationID, seq int64) {
		if _, err := r.Branches().Rewind(ctx, id, engine.Point{Seq: &seq}); err != nil {
			t.Fatal(err)
		}
	}
	record := func(id, kind, words string) object {
		return object{"id": id, "timestamp": "2026-12-02T00:00:00.000Z", "type": kind,
			"content": []any{object{"text": words}}}
	}
	for name, c := range map[string]struct {
		do       func(*enginetest.Rig, scrollback.ConversationID, *cli)
		grown    int
		path     string
		branches int
	}{
		"unchanged after a rewind": {func(r *enginetest.Rig, id scrollback.ConversationID, _ *cli) { rewind(r, id, 2) }, 0,
			"q1 a", 2},
		"grown after a rewind": {func(r *enginetest.Rig, id scrollback.ConversationID, s *cli) {
			rewind(r, id, 2)
			s.say("new", false)
		}, 2, "q1 a q2 a new +", 1},
		"grown here": {func(r *enginetest.Rig, id scrollback.ConversationID, _ *cli) { r.Ask(id, "here") }, 0,
			"q1 a q2 a here a", 1},
		"grown on both sides": {func(r *enginetest.Rig, id scrollback.ConversationID, s *cli) {
			r.Ask(id, "here")
			s.say("there", false)
		}, 2, "q1 a q2 a here a", 2},
		"grown there, after another path was taken here": {func(r *enginetest.Rig, id scrollback.ConversationID, s *cli) {
			rewind(r, id, 2)
			r.Ask(id, "here")
			s.say("there", false)
		}, 2, "q1 a here a", 2},
		"gone back there": {func(_ *enginetest.Rig, _ scrollback.ConversationID, s *cli) {
			to := s.messages[2]["id"]
			s.write(object{"$rewindTo": to})
			s.messages = s.messages[:2]
			s.say("instead", false)
		}, 2, "q1 a instead +", 2},
		"gone back there, and no more": {func(_ *enginetest.Rig, _ scrollback.ConversationID, s *cli) {
			s.write(object{"$rewindTo": s.messages[2]["id"]})
		}, 0, "q1 a q2 a", 1},
		"compressed there": {func(_ *enginetest.Rig, _ scrollback.ConversationID, s *cli) {
			s.resume()
			now := []object{record("x", "user", "<state_snapshot>all"), record("y", "gemini", "Got it.")}
			s.messages = now
			s.write(object{"$set": object{"messages": now}})
			s.say("go on", false)
		}, 4, "<state_snapshot>all Got it. go on +", 2},
		"of the older form": {func(_ *enginetest.Rig, _ scrollback.ConversationID, s *cli) {
			whole := object{"messages": s.messages}
			for key, value := range s.header {
				whole[key] = value
			}
			b, err := json.MarshalIndent(whole, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			*s = *loadCLI(string(b))
			s.resume()
			s.say("new", true)
		}, 4, "q1 a q2 a new   +", 1},
		"the last line is torn": {func(_ *enginetest.Rig, _ scrollback.ConversationID, s *cli) {
			s.say("new", false)
			s.file.WriteString(`{"id":"torn","type":"user","cont`)
		}, 2, "q1 a q2 a new +", 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := enginetest.New(t, enginetest.Options{}, modeltest.Say("a"))
			id, s := talked(t, r, 2)
			c.do(r, id, s)
			for _, want := range []int{c.grown, 0} { // the second time it says nothing new
				out, err := r.ImportText(s.file.String())
				if err != nil || len(out.Conversations) != 1 || out.Conversations[0].ID != id ||
					out.Conversations[0].Messages != int64(want) {
					t.Fatalf("%+v, %v; want %d new", out, err, want)
				}
				var path []string
				for _, m := range r.Log(id) {
					words := m.Parts.Text()
					if strings.HasPrefix(words, "answer to") {
						words = "+"
					}
					path = append(path, words)
				}
				if is := stands(t, r, id); strings.Join(path, " ") != c.path || is.Branches != c.branches {
					t.Errorf("%q on %d branches, want %q on %d", path, is.Branches, c.path, c.branches)
				}
			}
		})
	}
}

// A conversation that goes to another store, on in Gemini CLI, and back, is one here again.
func TestGeminiOverAnotherStore(t *testing.T) {
	here := enginetest.New(t, enginetest.Options{}, modeltest.Say("a"))
	there := enginetest.New(t, enginetest.Options{}, modeltest.Say("b"))
	id, s := talked(t, here, 2)
	out, err := there.ImportText(s.file.String())
	if err != nil || out.Conversations[0].ID == id || out.Conversations[0].Messages != 4 {
		t.Fatalf("%+v, %v", out, err)
	}
	copied := out.Conversations[0].ID
	there.Ask(copied, "q3").WantDone(t, scrollback.TurnComplete, "stop")
	s = loadCLI(toGemini(t, there, copied))
	s.resume()
	comesBack(t, there, copied, s.file.String(), 0)
	said := s.say("q4", true)
	comesBack(t, there, copied, s.file.String(), said)
	comesBack(t, here, id, s.file.String(), 2+said)
	if a, b := here.LogOutline(id), there.LogOutline(copied); a != b {
		t.Errorf("here\n%s\nthere\n%s", a, b)
	}
}

// A session of the tool's own, read as it grows and is resumed, brings each turn once; and
// what it is written as has its lines, byte for byte.
func TestGeminiSessionGrows(t *testing.T) {
	lines := []string{
		`{"id":"i0","timestamp":"2026-01-01T00:00:00.000Z","type":"info","content":"begin","unknown":{"x":[1,2.50]}}`,
		`{"id":"a","timestamp":"2026-01-01T00:00:00.000Z","type":"user","content":[{"text":"q"},{"strange":true}],"displayContent":"q!"}`,
		`{"id":"g","timestamp":"2026-01-01T00:00:01.500Z","type":"gemini","content":"","thoughts":[{"subject":"S","description":"D",` +
			`"timestamp":"2026-01-01T00:00:01.000Z"},{"subject":"","description":"more"}],"tokens":{"input":9,"output":3,"cached":1,"thoughts":2,` +
			`"tool":4,"total":18},"model":"gemini-x","toolCalls":[{"id":"c","name":"f","args":{"z":1.0,"a":"\u00e9\/<é>",` +
			`"n":12345678901234567890,"e":1e3,"b":{"y":[],"x":{}}},"result":"plain","status":"success","timestamp":"2026-01-01T00:00:02.000Z",` +
			`"agentId":"z","resultDisplay":{"k":[]}},{"id":"c","name":"g","args":{},"result":[{"functionResponse":{"id":"c","name":"g",` +
			`"response":{"z":1.0,"a":[2e3]}}}],"status":"error","timestamp":"2026-01-01T00:00:03.000Z"}]}`,
		`{"id":"w","type":"warning","content":"careful"}`,
		`{"id":"h","timestamp":"2026-01-01T00:00:04.000Z","type":"gemini","content":[{"text":"and"},{"functionCall":{"id":"c","name":"f",` +
			`"args":{"b":1,"a":2}},"thoughtSignature":"c2ln"}],"toolCalls":[{"id":"c","name":"f","args":{"b":1,"a":2},"status":"success",` +
			`"timestamp":"2026-01-01T00:00:05.000Z","result":[{"functionResponse":{"id":"c","name":"f","response":{"output":` +
			`"second \u0026 <third>"}}},{"text":"extra"}]}]}`,
		`{"id":"g2","timestamp":"2026-01-01T00:00:06.000Z","type":"gemini","content":[{"text":"end","thoughtSignature":"s"}],` +
			`"tokens":null,"thoughts":[]}`,
		`{"id":"z","type":"user","content":"/quit"}`,
	}
	head := `{"sessionId":"s-1","projectHash":"p","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"2026-01-01T00:00:00.000Z"}` + "\n"
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("x"))
	file := head + strings.Join(lines, "\n") + "\n"
	out, err := r.ImportText(head + strings.Join(lines[:2], "\n") + "\n")
	if err != nil {
		t.Fatal(err)
	}
	id := out.Conversations[0].ID
	comesBack(t, r, id, file, 5)
	want := []string{"u:q", "a:→c→c", "t:←c←c", "a:and→c", "t:←c", "a:end"}
	r.WantOutline(id, want...)
	for _, at := range []struct {
		seq, part int
		text      string
	}{{2, 0, "plain"}, {2, 1, `{"z":1.0,"a":[2e3]}`}, {4, 0, "second & <third>\nextra"}} {
		if got := r.Log(id)[at.seq].Parts.Results()[at.part]; got.Text != at.text ||
			at.part == 1 && (got.Name != "g" || !got.IsError) {
			t.Errorf("result %d of message %d is %+v", at.part, at.seq, got)
		}
	}
	written := toGemini(t, r, id)
	if _, got, _ := strings.Cut(written, "\n"); got != strings.Join(lines, "\n")+"\n" {
		t.Errorf("it is written as\n%s\nnot\n%s", got, strings.Join(lines, "\n"))
	}
	comesBack(t, r, id, written, 0)
	s := loadCLI(file)
	for i := range 3 {
		s.resume()
		comesBack(t, r, id, s.file.String(), 0)
		comesBack(t, r, id, s.file.String()+"", 0)
		said := s.say(fmt.Sprint("more ", i), i == 1)
		comesBack(t, r, id, s.file.String(), said)
	}
	if is := stands(t, r, id); is.Branches != 1 || is.Messages != 6+8 {
		t.Errorf("it is %+v", is)
	}
}

// Where one id names two tools, each call has its own result: in the window, in the
// segment's file, and in the export.
func TestOneIDNamesTwoTools(t *testing.T) {
	ctx := context.Background()
	var sent []scrollback.Item
	r := enginetest.New(t, enginetest.Options{}, modeltest.Step{Reply: func(q model.Request) []model.Delta {
		sent = q.Items
		return []model.Delta{{Text: "done"}}
	}})
	var file strings.Builder
	file.WriteString(`{"conversation":{"id":"x"}}` + "\n")
	for i := range 2 {
		fmt.Fprintf(&file, `{"role":"user","content":"q%d"}
{"role":"assistant","content":[{"type":"tool_call","id":"call_0","name":"alpha","arguments":{}},{"type":"tool_call","id":"call_0","name":"beta","arguments":{}}]}
{"role":"tool","content":[{"type":"tool_result","call_id":"call_0","name":"beta","text":"beta of %d"}]}
{"role":"tool","content":[{"type":"tool_result","call_id":"call_0","name":"alpha","text":"alpha of %d"}]}
`, i, i, i)
	}
	out, err := r.ImportText(file.String())
	if err != nil {
		t.Fatal(err)
	}
	id := out.Conversations[0].ID
	r.Ask(id, "and?").WantDone(t, scrollback.TurnComplete, "stop")
	names := map[string]string{}
	n := 0
	for _, it := range sent {
		for _, c := range it.Parts.Calls() {
			names[c.ID] = c.Name
		}
		for _, res := range it.Parts.Results() {
			if n++; !strings.HasPrefix(res.Text, names[res.CallID]+" of ") {
				t.Errorf("in the window %q has %q", names[res.CallID], res.Text)
			}
		}
	}
	if n != 4 {
		t.Errorf("%d results in the window", n)
	}
	s := loadCLI(toGemini(t, r, id))
	for _, m := range s.messages {
		for _, c := range items(m["toolCalls"]) {
			call := c.(object)
			res := items(call["result"])[0].(object)["functionResponse"].(object)
			if !strings.HasPrefix(text(res["response"].(object)["output"]), text(call["name"])) || res["id"] != call["id"] {
				t.Errorf("in the export %v", call)
			}
		}
	}
	rec, err := r.Compact(ctx, id, engine.CompactRequest{Clear: true})
	if err != nil || len(rec.Refs) == 0 {
		t.Fatalf("%+v, %v", rec, err)
	}
	segment := r.ReadAll(id, rec.Refs[0])
	at := 0
	for i := range 2 {
		for _, line := range []string{"**Tool call** alpha", "**Tool call** beta", "**Tool result** beta",
			fmt.Sprint("beta of ", i),
			"**Tool result** alpha", fmt.Sprint("alpha of ", i)} {
			k := strings.Index(segment[at:], line)
			if k < 0 {
				t.Fatalf("in the segment %q is missing, or out of order:\n%s", line, segment)
			}
			at += k
		}
	}
	thereAndBack(t, r, id)
}

// However often a session is resumed, goes on and is read in between, each turn comes in
// once, on the current path.
func TestAnySessionGrows(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{NoFolds: true}, modeltest.Say("native answer"))
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		var id scrollback.ConversationID
		s := loadCLI(fmt.Sprintf(`{"sessionId":"any-%d","projectHash":"p"}`+"\n", n))
		if rapid.Bool().Draw(t, "ours") {
			out, err := r.ImportText(anyTalk(t, fmt.Sprint("session-", n)))
			if err != nil {
				t.Fatalf("%v", err)
			}
			id = out.Conversations[0].ID
			s = loadCLI(toGemini(t, r, id))
		} else {
			s.say("first", rapid.Bool().Draw(t, "tools"))
			out, err := r.ImportText(s.file.String())
			if err != nil {
				t.Fatalf("%v", err)
			}
			id = out.Conversations[0].ID
		}
		was := stands(t, r, id)
		pending := 0
		said := 0
		ops := rapid.SampledFrom([]string{"resume", "say", "tools", "import", "export"})
		for i, op := range rapid.SliceOfN(ops, 1, 12).Draw(t, "operations") {
			switch op {
			case "resume":
				s = loadCLI(s.file.String())
				s.resume()
			case "say", "tools":
				k := s.say(fmt.Sprint("turn ", i), op == "tools")
				pending += k
				said += k
			case "import":
				comesBack(t, r, id, s.file.String(), pending)
				pending = 0
			case "export":
				if pending == 0 {
					s = loadCLI(toGemini(t, r, id))
				}
			}
		}
		comesBack(t, r, id, s.file.String(), pending)
		if is := stands(t, r, id); is.Branch != was.Branch || is.Branches != was.Branches ||
			is.Messages != was.Messages+int64(said) ||
			!strings.HasPrefix(is.Path, was.Path) {
			t.Fatalf("it was\n%+v\nand after %d more is\n%+v", was, said, is)
		}
	})
}
