// Package ollama is the face of Ollama's API: enough for its own clients, and for programs that know nothing else.
//
// It decodes what only the API says of a request, and encodes answers. It may not know the engine's turns, nor another
// face.
package ollama

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/faces"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/model"
)

// version is the version of Ollama whose API this is. Clients compare it, so it is a bare number.
const version = "0.12.6"

// Mount mounts the face.
func Mount(mux *http.ServeMux, o faces.Options) {
	mux.HandleFunc("POST /api/chat", func(w http.ResponseWriter, r *http.Request) {
		o.Answer(w, r, threading.Ollama, func(body []byte, to *door.Request) {
			to.Stream = faces.WantsStream(body, true)
		}, func(s *faces.Stream) door.Writer { return &writer{Stream: s} })
	})
	mux.HandleFunc("GET /api/version", func(w http.ResponseWriter, _ *http.Request) {
		s := faces.NewStream(w)
		s.Begin("application/json", "")
		s.WriteJSON(map[string]string{"version": version})
	})
	mux.HandleFunc("GET /api/tags", func(w http.ResponseWriter, r *http.Request) {
		answer(w, func() (any, error) {
			all, err := o.View(r).Models(r.Context())
			list := []entry{}
			for _, m := range all {
				list = append(list, newEntry(m))
			}
			return map[string]any{"models": list}, err
		})
	})
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, r *http.Request) {
		answer(w, func() (any, error) { return show(o, r) })
	})
}

// answer writes a value, or why there is none.
func answer(w http.ResponseWriter, make func() (any, error)) {
	s := faces.NewStream(w)
	v, err := make()
	if err != nil {
		(&writer{Stream: s}).Fail(err)
		return
	}
	s.Begin("application/json", "")
	s.WriteJSON(v)
}

// entry is a model as lists have it.
type entry struct {
	Name     string    `json:"name"`
	Model    string    `json:"model"`
	Modified time.Time `json:"modified_at"`
	Size     int64     `json:"size"`
	Digest   string    `json:"digest"`
	Details  details   `json:"details"`
}

type details struct {
	Format        string   `json:"format"`
	Family        string   `json:"family"`
	Families      []string `json:"families"`
	ParameterSize string   `json:"parameter_size"`
	Quantization  string   `json:"quantization_level"`
}

// architecture is what a model that is asked through this server is called.
const architecture = "scrollback"

func newEntry(m engine.ModelEntry) entry {
	return entry{Name: m.Name, Model: m.Name, Digest: threading.HashOf(m.Name).String(),
		Details: details{Format: "remote", Family: architecture, Families: []string{architecture}}}
}

// shown is what is known about one model.
type shown struct {
	Details      details        `json:"details"`
	Info         map[string]any `json:"model_info"`
	Capabilities []string       `json:"capabilities"`
}

// show describes the model that a request names: the default model for a name that nobody knows.
func show(o faces.Options, r *http.Request) (any, error) {
	body, err := o.ReadBody(r)
	if err != nil {
		return nil, err
	}
	var asked struct{ Model, Name string }
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, scrollback.ParamErrorf("ollama", "body", i18n.BodyCannotBeRead, err)
	}
	if asked.Model == "" {
		asked.Model = asked.Name
	}
	all, err := o.View(r).Models(r.Context())
	if err != nil {
		return nil, err
	}
	of := engine.ModelEntry{Name: asked.Model}
	found, _ := o.Door.FindModel(o.View(r), asked.Model, false)
	for _, m := range all {
		if m.Name == found || m.Default && of.Limit == 0 {
			of = m
		}
	}
	out := shown{Details: newEntry(of).Details, Capabilities: []string{"completion", "tools"},
		Info: map[string]any{"general.architecture": architecture, architecture + ".context_length": of.Limit}}
	if of.Images != nil && *of.Images {
		out.Capabilities = append(out.Capabilities, "vision")
	}
	if len(of.Efforts) > 0 {
		out.Capabilities = append(out.Capabilities, "thinking")
	}
	return out, nil
}

// writer writes an answer as Ollama does: a JSON value a line, or one.
type writer struct {
	*faces.Stream
	head  door.Head
	begun time.Time
	all   message // of an answer that is not streamed

	last   []byte // line of what is forwarded
	failed bool   // the model's server has said in its stream that it failed
}

type line struct {
	Model      string  `json:"model"`
	CreatedAt  string  `json:"created_at"`
	Message    message `json:"message"`
	Done       bool    `json:"done"`
	DoneReason string  `json:"done_reason,omitempty"`

	Total      int64 `json:"total_duration,omitempty"` // ns
	Prompt     int64 `json:"prompt_eval_count,omitempty"`
	Completion int64 `json:"eval_count,omitempty"`
}

type message struct {
	Role     string `json:"role"`
	Content  string `json:"content"`
	Thinking string `json:"thinking,omitempty"`
	Calls    []call `json:"tool_calls,omitempty"`
}

type call struct {
	ID       string   `json:"id,omitempty"`
	Function function `json:"function"`
}

type function struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Frame implements [door.Writer]. The line that says that nothing comes any more is held back until the answer is
// stored: clients go on as soon as they have it.
func (o *writer) Frame(b []byte) {
	if bytes.Contains(b, []byte(`"done":true`)) || bytes.Contains(b, []byte(`"done": true`)) {
		o.last = b
		return
	}
	o.failed = o.failed || bytes.HasPrefix(b, []byte(`{"error":`))
	o.Write(b)
}

// EndForward implements [door.Writer].
func (o *writer) EndForward() { o.Write(o.last) }

// Begin implements [door.Writer].
func (o *writer) Begin(h door.Head) {
	o.head = h
	o.begun = time.Now()
	o.all.Role = "assistant"
	if o.IsStreamed() {
		o.Stream.Begin("application/x-ndjson", h.Conversation)
	}
}

func (o *writer) newLine(m message) line {
	return line{Model: o.head.Model, CreatedAt: time.Now().UTC().Format(time.RFC3339Nano), Message: m}
}

// Piece implements [door.Writer].
func (o *writer) Piece(d model.Delta) {
	m := message{Role: "assistant", Content: d.Text, Thinking: d.Reasoning}
	if d.Call != nil {
		m.Calls = []call{{ID: d.Call.ID, Function: function{d.Call.Name, d.Call.Arguments}}}
	}
	switch {
	case m.Content == "" && m.Thinking == "" && len(m.Calls) == 0:
	case o.IsStreamed():
		o.writeLine(o.newLine(m))
	default:
		o.all.Content += m.Content
		o.all.Thinking += m.Thinking
		o.all.Calls = append(o.all.Calls, m.Calls...)
	}
}

func (o *writer) writeLine(l line) {
	b, err := json.Marshal(l)
	if err != nil {
		return // our own values are always JSON: not reached
	}
	o.Write(append(b, '\n'))
}

// End implements [door.Writer].
func (o *writer) End(e door.End) {
	last := o.newLine(o.all)
	last.Message.Role = "assistant"
	last.Done = true
	last.DoneReason = "stop"
	if e.Finish == scrollback.FinishLength {
		last.DoneReason = e.Finish
	}
	last.Total = time.Since(o.begun).Nanoseconds()
	last.Prompt = e.Usage.InputTokens
	last.Completion = e.Usage.OutputTokens
	o.Stream.Begin("application/json", o.head.Conversation)
	o.writeLine(last)
}

// Fail implements [door.Writer]. Ollama's clients read an error in any line.
func (o *writer) Fail(err error) {
	fault := o.FaultOf(err)
	says := map[string]string{"error": fault.Message}
	if !o.HasBegun() {
		o.Refuse(fault.Status, says)
		return
	}
	if b, err := json.Marshal(says); err == nil && o.IsStreamed() && !o.failed {
		o.Write(append(b, '\n'))
	}
}
