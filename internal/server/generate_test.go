package server_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/geminiapi"
)

// generated is an answer as a client of Google's puts it together.
type generated struct {
	parts  []map[string]any
	finish string
	usage  map[string]any
}

type generatedChunk struct {
	Candidates []struct {
		Content struct {
			Role  string           `json:"role"`
			Parts []map[string]any `json:"parts"`
		} `json:"content"`
		Finish string `json:"finishReason"`
	} `json:"candidates"`
	Usage map[string]any `json:"usageMetadata"`
}

func (g *generated) add(t *testing.T, chunk generatedChunk) {
	t.Helper()
	if len(chunk.Candidates) != 1 || g.finish != "" || len(chunk.Candidates[0].Content.Parts) == 0 ||
		chunk.Candidates[0].Content.Role != "model" {
		t.Fatalf("after finish %q: %+v", g.finish, chunk)
	}
	g.parts = append(g.parts, chunk.Candidates[0].Content.Parts...)
	g.finish = chunk.Candidates[0].Finish
	if chunk.Usage != nil {
		g.usage = chunk.Usage
	}
}

// readGenerated reads a stream of events as strictly as a client may: each line is data, or empty.
func readGenerated(t *testing.T, r reply) (out generated) {
	t.Helper()
	if r.status != 200 || !strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("no stream: %d %v %s", r.status, r.header, r.body)
	}
	for line := range strings.Lines(r.body) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		data, ok := strings.CutPrefix(line, "data: ")
		var chunk generatedChunk
		if err := json.Unmarshal([]byte(data), &chunk); err != nil || !ok {
			t.Fatalf("line %q: %v", line, err)
		}
		out.add(t, chunk)
	}
	if out.finish == "" {
		t.Fatalf("no reason: %q", r.body)
	}
	return out
}

// readListed reads a stream that is a list.
func readListed(t *testing.T, r reply) (out generated) {
	t.Helper()
	var chunks []generatedChunk
	if err := json.Unmarshal([]byte(r.body), &chunks); err != nil || r.header.Get("Content-Type") != "application/json" {
		t.Fatalf("%v %q: %v", r.header, r.body, err)
	}
	for _, chunk := range chunks {
		out.add(t, chunk)
	}
	return out
}

// readOneGenerated reads an answer that is not streamed.
func readOneGenerated(t *testing.T, r reply) (out generated) {
	t.Helper()
	var chunk generatedChunk
	if err := json.Unmarshal([]byte(r.body), &chunk); err != nil || r.status != 200 {
		t.Fatalf("%d %q: %v", r.status, r.body, err)
	}
	out.add(t, chunk)
	return out
}

// says lists what an answer says; pieces of one text are one.
func (g generated) says() string {
	out := ""
	last := ""
	for _, p := range g.parts {
		kind := "text"
		switch {
		case p["functionCall"] != nil:
			kind = "call"
		case p["thought"] == true:
			kind = "thought"
		case p["text"] == nil:
			kind = "other"
		case p["text"] == "" && p["thoughtSignature"] == nil:
			continue
		}
		if kind != last || kind == "call" {
			out += "|" + kind + " "
		}
		last = kind
		switch kind {
		case "call":
			c := p["functionCall"].(map[string]any)
			out += fmt.Sprint(c["name"], c["args"])
		case "other":
			out += fmt.Sprint(p)
		default:
			out += p["text"].(string)
		}
		if s := p["thoughtSignature"]; s != nil {
			out += fmt.Sprint("/", s)
		}
	}
	return out
}

func generateBody(contents ...string) string {
	return `{"contents":[` + strings.Join(contents, ",") + `],"tools":[{"functionDeclarations":[{"name":"look","description":` +
		`"Looks.","parametersJsonSchema":{"type":"object","properties":{}}}]}]}`
}

func userSays(text string) string { return `{"role":"user","parts":[{"text":"` + text + `"}]}` }

// The model's server speaks the client's API: parts arrive as they were written, and a history that is sent again, with
// a tool's call and its result, is one conversation.
func TestGenerateForwarded(t *testing.T) {
	script := modeltest.NewScript(model.Facts{}, modeltest.Step{Deltas: []model.Delta{{Reasoning: "Where?"},
		{Call: &scrollback.ToolCall{ID: "c1", Name: "look", Arguments: json.RawMessage(`{"at":1}`)}}}},
		modeltest.Say("It is ", "blue."), modeltest.Say("Bye."))
	stand := geminiapi.New(script, &geminiapi.Options{Key: "k"})
	up := httptest.NewServer(stand)
	defer up.Close()
	c := newClientRig(t, nil, map[string]string{"GEMINI_BASE_URL": up.URL, "GEMINI_API_KEY": "k"}, door.Options{})
	const path = "/v1beta/models/gemini-2.5-flash:streamGenerateContent"
	got := readGenerated(t, c.send("POST", path+"?alt=sse", generateBody(userSays("Colour?"))))
	if !strings.HasPrefix(got.says(), "|thought Where?|call lookmap[at:1]/") || got.finish != "STOP" {
		t.Fatalf("%+v", got)
	}
	var back []any
	for _, p := range got.parts {
		if p["thought"] == nil && p["text"] != "" {
			back = append(back, p)
		}
	}
	said, err := json.Marshal(map[string]any{"role": "model", "parts": back})
	if err != nil {
		t.Fatal(err)
	}
	id, _ := json.Marshal(got.parts[1]["functionCall"].(map[string]any)["id"])
	result := `{"role":"user","parts":[{"functionResponse":{"id":` + string(id) + `,"name":"look","response":{"output":"blue"}}}]}`
	second := readListed(t, c.send("POST", path, generateBody(userSays("Colour?"), string(said), result)))
	if second.says() != "|text It is blue." || second.finish != "STOP" || second.usage == nil {
		t.Errorf("%+v", second)
	}
	readGenerated(t, c.send("POST", strings.Replace(path, "v1beta", "v1", 1)+"?alt=sse", generateBody(userSays("Colour?"),
		string(said), result, `{"role":"model","parts":[{"text":"It is blue."}]}`, userSays("Thanks."))))
	c.holds("user Colour?", `assistant (Where?) look{"at":1}`, `tool -> {"output":"blue"}`, "assistant It is blue.",
		"user Thanks.", "assistant Bye.")
	if r := stand.Refusals(); len(r) > 0 {
		t.Errorf("refused: %v", r)
	}
}

// Another model answers, in the client's dialect: as events, as a list, and as a whole.
func TestGenerateFromAnotherModel(t *testing.T) {
	step := modeltest.Step{Deltas: []model.Delta{{Reasoning: "Hm"}, {Reasoning: "m."}, {Text: "Here "}, {Text: "it <is>."},
		{Opaque: scrollback.Opaque(`{"thoughtSignature":"c2ln","text":true}`)},
		{Opaque: scrollback.Opaque(`{"part":{"executableCode":{"code":"1"}}}`)},
		{Opaque: scrollback.Opaque(`{"signature":"of another"}`)},
		{Call: &scrollback.ToolCall{ID: "x", Name: "look", Arguments: json.RawMessage(`{"at":1}`)}},
		{Usage: &scrollback.Usage{InputTokens: 100, CachedTokens: 60, OutputTokens: 7, ReasoningTokens: 3}}}}
	const want = "|thought Hmm.|text Here it <is>./c2ln|other map[executableCode:map[code:1]]|call lookmap[at:1]"
	c := newClientRig(t, modeltest.NewScript(model.Facts{}, step), nil, door.Options{})
	for name, got := range map[string]generated{
		"events": readGenerated(t, c.send("POST", "/v1beta/models/m:streamGenerateContent?alt=sse", generateBody(userSays("1")))),
		"list":   readListed(t, c.send("POST", "/v1beta/models/m:streamGenerateContent", generateBody(userSays("2")))),
		"whole":  readOneGenerated(t, c.send("POST", "/v1/models/a/b:c:generateContent", generateBody(userSays("3")))),
	} {
		if got.says() != want || got.finish != "STOP" {
			t.Errorf("%s: %s, %s\nwant %s", name, got.says(), got.finish, want)
		}
		if id := got.parts[len(got.parts)-1]["functionCall"]; name == "whole" && id.(map[string]any)["id"] == nil {
			t.Errorf("the call has no id: %v", id)
		}
		if s := fmt.Sprint(got.usage); s != "map[cachedContentTokenCount:60 candidatesTokenCount:4 promptTokenCount:100 "+
			"thoughtsTokenCount:3 totalTokenCount:107]" {
			t.Errorf("%s: %s", name, s)
		}
	}
}

// The address says which model is asked, and how the answer is wanted: the same body at another is another request.
func TestGenerateAddresses(t *testing.T) {
	c := newClientRig(t, modeltest.NewScript(model.Facts{}, modeltest.Say("Yes.")), nil, door.Options{})
	body := generateBody(userSays("Same"))
	readOneGenerated(t, c.send("POST", "/v1beta/models/m:generateContent", body))
	readGenerated(t, c.send("POST", "/v1beta/models/m:streamGenerateContent?alt=sse", body))
	for _, path := range []string{"/v1beta/models/m:embedContent", "/v1beta/models/m", "/v1/models/:generateContent"} {
		r := c.send("POST", path, body)
		if r.status != 404 || !strings.HasPrefix(r.body, `{"error":{"code":404,"message":"there is no POST `) ||
			!strings.HasSuffix(r.body, `"status":"NOT_FOUND"}}`) {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
}

// What fails before an answer has begun has a status; a stream that has begun ends with a reason.
func TestGenerateFails(t *testing.T) {
	limited := scrollback.Errorf(scrollback.RateLimited, "model.Stream", "slower")
	broken := scrollback.Errorf(scrollback.Unavailable, "model.Stream", "broke").WithReason(scrollback.ErrUpstream)
	half := modeltest.Step{Deltas: []model.Delta{{Text: "Half"}}, Err: broken}
	c := newClientRig(t, modeltest.NewScript(model.Facts{}, modeltest.Step{Err: limited}, half, half, half), nil,
		door.Options{})
	const path = "/v1beta/models/m:"
	r := c.send("POST", path+"streamGenerateContent", generateBody(userSays("one")))
	if r.status != 429 || r.header.Get("Retry-After") == "" || !strings.HasPrefix(r.body, `{"error":{"code":429,"message":`) ||
		!strings.HasSuffix(r.body, `"status":"RESOURCE_EXHAUSTED"}}`) {
		t.Errorf("%d %v %s", r.status, r.header, r.body)
	}
	got := readGenerated(t, c.send("POST", path+"streamGenerateContent?alt=sse", generateBody(userSays("two"))))
	if got.says() != "|text Half" || got.finish != "OTHER" {
		t.Errorf("%+v", got)
	}
	got = readListed(t, c.send("POST", path+"streamGenerateContent", generateBody(userSays("three"))))
	if got.says() != "|text Half" || got.finish != "OTHER" {
		t.Errorf("%+v", got)
	}
	r = c.send("POST", path+"generateContent", generateBody(userSays("four")))
	if r.status != 502 || !strings.HasSuffix(r.body, `"status":"UNAVAILABLE"}}`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := c.send("POST", path+"generateContent", `[]`); r.status != 400 || !strings.Contains(r.body, "INVALID_ARGUMENT") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// A stream of the model's server that is cut has a reason to end, and none of its comments reaches the client; a list
// is a list all the same.
func TestGenerateCut(t *testing.T) {
	const chunk = "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Half\"}]}}]}\r\n\r\n"
	up := newUpstream(t, cutAfter("text/event-stream", ": hello\r\n\r\n"+chunk+"data: {\"candi"),
		answerWith(200, "text/event-stream", ": hello\n"+chunk+": x\n\n"),
		cutAfter("text/event-stream", ": hello\n"+chunk+"data: {\"candi"),
		answerWith(400, "application/json", "{\n \"error\": {\"code\": 400, \"message\": \"bad\", \"status\": \"INVALID_ARGUMENT\"}}"))
	c := newClientRig(t, nil, map[string]string{"GEMINI_BASE_URL": up.URL, "GEMINI_API_KEY": "k"}, door.Options{})
	const path = "/v1beta/models/gemini-x:streamGenerateContent"
	for _, ask := range []string{"one", "two"} {
		got := readGenerated(t, c.send("POST", path+"?alt=sse", generateBody(userSays(ask))))
		if got.says() != "|text Half" || got.finish != "OTHER" {
			t.Errorf("%s: %+v", ask, got)
		}
	}
	got := readListed(t, c.send("POST", path, generateBody(userSays("three"))))
	if got.says() != "|text Half" || got.finish != "OTHER" {
		t.Errorf("%+v", got)
	}
	if r := c.send("POST", path, generateBody(userSays("four"))); r.status != 400 || !strings.Contains(r.body, `"bad"`) {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// The tokens of a request are counted by the model's server, which is told of the model that is asked there, or here.
func TestGenerateCounted(t *testing.T) {
	up := newUpstream(t, answerWith(200, "application/json", `{"totalTokens": 4711}`), answerWith(503, "text/html", `<p>`))
	c := newClientRig(t, nil, map[string]string{"GEMINI_BASE_URL": up.URL, "GEMINI_API_KEY": "k"},
		door.Options{Models: map[string]string{"alias": "gemini/gemini-x"}})
	body := `{"generateContentRequest":{"model":"models/alias","contents":[` + userSays("one two three") + `]}}`
	if r := c.send("POST", "/v1beta/models/alias:countTokens", body); r.body != `{"totalTokens": 4711}` {
		t.Errorf("%d %s", r.status, r.body)
	}
	bodies, paths := up.asked()
	if paths[0] != "/v1beta/models/gemini-x:countTokens" || bodies[0] != strings.Replace(body, "/alias", "/gemini-x", 1) {
		t.Errorf("asked %v %v", paths, bodies)
	}
	var here struct {
		Tokens int `json:"totalTokens"`
	}
	r := c.send("POST", "/v1beta/models/alias:countTokens", body)
	if err := json.Unmarshal([]byte(r.body), &here); err != nil || here.Tokens < 3 || here.Tokens > 40 {
		t.Errorf("%d %s", r.status, r.body)
	}
	if list, _, err := c.sb.List(t.Context(), scrollback.ListQuery{}); len(list) > 0 || err != nil {
		t.Errorf("stored: %v %v", list, err)
	}
}
