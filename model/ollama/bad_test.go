package ollama_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/modeltest/ollamaapi"
)

// What is wrong is told in words of ours, that say what to do.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		code   scrollback.Code
		words  string // within ours
		tries  int
	}{
		"no model": {404, `{"error":"model 'qwen3:8b' not found"}`, scrollback.Invalid, `run "ollama pull qwen3:8b"`, 1},
		"older words": {404, `{"error":"model \"qwen3:8b\" not found, try pulling it first"}`, scrollback.Invalid,
			`run "ollama pull qwen3:8b"`,
			1},
		"no API": {404, `404 page not found`, scrollback.Unavailable, "OLLAMA_BASE_URL", 1},
		"signed out": {401, `{"error":"unauthorized","signin_url":"https://ollama.com/connect?key=x"}`, scrollback.Refused,
			`"ollama signin"`,
			1},
		"no tools": {400, `{"error":"registry.ollama.ai/library/qwen3:8b does not support tools"}`, scrollback.Invalid,
			"cannot call tools",
			1},
		"neither": {400, `{"error":"registry.ollama.ai/library/qwen3:8b does not support tools\nthinking"}`,
			scrollback.Invalid,
			"cannot call tools", 1},
		"no chat": {400, `{"error":"\"qwen3:8b\" does not support chat"}`, scrollback.Invalid, "cannot chat", 1},
		"one image": {500, `{"error":"this model only supports one image while more than one image requested"}`,
			scrollback.Unavailable,
			"only supports one image", 1},
		"memory": {500, `{"error":"model requires more system memory (41.9 GiB) than is available (30.9 GiB)"}`,
			scrollback.Unavailable,
			"too little memory", 1},
		"busy": {503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, scrollback.RateLimited,
			"asks to wait", 4},
		"fault": {500, `{"error":"llama runner process has terminated"}`, scrollback.Unavailable, "a fault of its own", 4},
		"option": {500, `{"error":"option \"num_ctx\" must be of type integer"}`, scrollback.Unavailable,
			"a fault of its own", 4},
		"web page": {200, "<html><body>Sign in</body></html>", scrollback.Unavailable, "a web page", 1},
		"gateway":  {502, "<html>Bad gateway</html>", scrollback.Unavailable, "a web page", 4},
		"no JSON":  {200, "Ollama is running", scrollback.Unavailable, "cannot be read", 4},
		"a list":   {200, "[1,2]", scrollback.Unavailable, "cannot be read", 4},
		"nothing":  {200, "", scrollback.Unavailable, "ended its response before it began", 4},
		"money":    {402, `{"error":"insufficient credits"}`, scrollback.Refused, "no money", 1},
		"hourly": {429, `{"error":"you've reached your hourly usage limit, please upgrade to continue"}`,
			scrollback.RateLimited,
			"asks to wait", 4},
		"error, 200": {200, `{"error":"unauthorized"}`, scrollback.Unavailable, "", 4},
		"too long":   {400, `{"error":"the input length exceeds the context length"}`, scrollback.OverBudget, "too long", 1},
		"too long, new": {400,
			`{"error":"the prompt is longer than the context length currently available to the model; shorten the ` +
				`prompt, adjust the context length in settings, or use a model with a longer context length"}`,
			scrollback.OverBudget, "too long", 1},
		"too long, llama": {400,
			`{"error":"{\"error\":{\"code\":400,\"message\":\"request (5120 tokens) exceeds the available context size ` +
				`(4096 tokens), try increasing it\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":5120,\"n_ctx\":4096}}"}`,
			scrollback.OverBudget, "too long", 1},
	} {
		tries := 0
		m := serve(t, "qwen3:8b", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			tries++
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		}))
		_, err := modeltest.Read(m.Stream(t.Context(), ask("q")))
		if scrollback.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.words) || tries != c.tries {
			t.Errorf("%s: %s, %v, after %d tries; want %s, %q, %d", name, scrollback.CodeOf(err), err, tries, c.code, c.words,
				c.tries)
		}
		if l := model.LessonOf(err); c.code == scrollback.OverBudget && (l == nil || !l.TooLong) ||
			strings.Contains(name, "llama") && (l.Limit != 4096 || l.Requested != 5120) {
			t.Errorf("%s taught %+v", name, l)
		}
	}
}

// A refused key, and one that was never set.
func TestKeys(t *testing.T) {
	script := modeltest.NewScript(model.Facts{}, modeltest.Say("a"))
	server := ollamaapi.New(script, &ollamaapi.Options{Key: "right"})
	for key, words := range map[string]string{"": "ollama signin", "wrong": "refuses the key (OLLAMA_API_KEY)",
		"right": ""} {
		_, err := modeltest.Read(keyed(t, server, key).Stream(t.Context(), ask("q")))
		if words == "" && err != nil || words != "" && (err == nil || !strings.Contains(err.Error(), words) ||
			scrollback.CodeOf(err) != scrollback.Refused) {
			t.Errorf("with the key %q: %v", key, err)
		}
	}
}

// Nothing is sent when there is nothing to say: Ollama would load the model, and
// call that an answer.
func TestNothingToSay(t *testing.T) {
	asked := false
	m := serve(t, "qwen3:8b", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	r := model.Request{Items: []scrollback.Item{
		{Kind: scrollback.KindTools, Role: scrollback.RoleSystem},
		{Role: scrollback.RoleAssistant, Model: "other/m",
			Parts: scrollback.Parts{scrollback.Reasoning{Text: "hm"}, scrollback.Text{}}},
	}}
	if _, err := modeltest.Read(m.Stream(t.Context(), r)); scrollback.CodeOf(err) != scrollback.Invalid || asked {
		t.Errorf("%v, asked: %v", err, asked)
	}
}
