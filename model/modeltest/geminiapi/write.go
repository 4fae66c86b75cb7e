package geminiapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// frame is one event of a stream.
type frame struct {
	Candidates    []candidate `json:"candidates"`
	UsageMetadata *usage      `json:"usageMetadata,omitempty"`
	ModelVersion  string      `json:"modelVersion"`
	ResponseID    string      `json:"responseId"`
}

type candidate struct {
	Content           content `json:"content"`
	FinishReason      string  `json:"finishReason,omitempty"`
	ContinuationToken string  `json:"continuationToken,omitempty"`
	Index             int     `json:"index"`

	Grounding map[string]any `json:"groundingMetadata,omitempty"`
}

type usage struct {
	PromptTokenCount        int64 `json:"promptTokenCount"`
	CachedContentTokenCount int64 `json:"cachedContentTokenCount,omitempty"`
	CandidatesTokenCount    int64 `json:"candidatesTokenCount,omitempty"`
	ThoughtsTokenCount      int64 `json:"thoughtsTokenCount,omitempty"`
	TotalTokenCount         int64 `json:"totalTokenCount"`
}

// Write streams an answer: each delta a chunk, and at the end a chunk that holds
// what is signed without words.
func (s *server) Write(w http.ResponseWriter, r *http.Request, answer modeltest.Stream) {
	body, rest := s.openBody(r)
	w.Header().Set("Content-Type", "text/event-stream")
	out := frameWriter{w: w, hop: s.o.Hop, body: body, s: s}
	if rest != nil {
		for _, f := range rest.frames {
			out.addFrame(f)
		}
		out.endHop()
		return
	}
	id, _ := parseTarget(r)
	s.mu.Lock()
	n := len(s.answers)
	s.answers = append(s.answers, keptAnswer{model: id})
	s.mu.Unlock()
	said := chunkMaker{s: s, n: n, id: id, usage: usage{PromptTokenCount: int64(len(body))/4 + 1}}
	for d, err := range answer {
		if err != nil {
			out.breakOff(err)
			return
		}
		for _, f := range said.makeFrames(d) {
			out.addFrame(f)
		}
	}
	out.endHop()
}

// openBody returns the body of a request, and the rest of the answer that it goes on with.
func (s *server) openBody(r *http.Request) (string, *remainder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.asked[r]
	delete(s.asked, r)
	if q.ContinuationToken == "" {
		return withoutToken(q), nil
	}
	rest := s.more[q.ContinuationToken]
	return rest.body, &rest
}

// chunkMaker turns the deltas of one answer into chunks.
type chunkMaker struct {
	s      *server
	n      int
	id     string
	usage  usage
	said   bool // some text
	called bool
}

// makeFrames returns the chunks of a delta.
func (sp *chunkMaker) makeFrames(d model.Delta) (out []frame) {
	sp.s.mu.Lock()
	defer sp.s.mu.Unlock()
	a := &sp.s.answers[sp.n]
	add := func(finish string, p part) {
		u := sp.usage
		u.TotalTokenCount = u.PromptTokenCount + u.CandidatesTokenCount + u.ThoughtsTokenCount
		out = append(out, frame{UsageMetadata: &u, ModelVersion: sp.id, ResponseID: fmt.Sprintf("resp-%d", sp.n+1),
			Candidates: []candidate{{Content: content{Role: "model", Parts: []part{p}}, FinishReason: finish}}})
	}
	if d.Reasoning != "" {
		sp.usage.ThoughtsTokenCount++
		a.thoughts += d.Reasoning
		add("", part{Text: &d.Reasoning, Thought: true})
	}
	if d.Text != "" {
		sp.usage.CandidatesTokenCount++
		a.text += d.Text
		p := part{Text: &d.Text}
		if !sp.said && sp.n%2 == 1 && requiresSignature(sp.id) { // what a text begins with is signed
			sp.s.signPart(sp.n, &p)
		}
		sp.said = true
		add("", p)
	}
	if d.Search != nil {
		pages := []any{}
		for _, r := range d.Search.Results {
			pages = append(pages, map[string]any{"web": map[string]string{"uri": r.URL, "title": r.Title}})
		}
		empty := ""
		add("", part{Text: &empty})
		out[len(out)-1].Candidates[0].Grounding = map[string]any{"webSearchQueries": []string{d.Search.Query},
			"groundingChunks": pages, "searchEntryPoint": map[string]string{"renderedContent": "<div>"}}
	}
	if d.Call != nil {
		sp.usage.CandidatesTokenCount++
		p := part{FunctionCall: &function{Name: d.Call.Name, Args: d.Call.Arguments}}
		if !sp.s.o.NoIDs {
			p.FunctionCall.ID = fmt.Sprintf("fn%d", len(sp.s.ids)+1)
			sp.s.ids[p.FunctionCall.ID] = sp.id
		}
		if !sp.called && modelVersion(sp.id) >= 2.5 {
			sp.s.signPart(sp.n, &p)
		}
		sp.called = true
		add("", p)
	}
	if u := d.Usage; u != nil {
		sp.usage.CachedContentTokenCount = u.CachedTokens
		sp.usage.ThoughtsTokenCount = u.ReasoningTokens
		sp.usage.PromptTokenCount = u.InputTokens
		sp.usage.CandidatesTokenCount = u.OutputTokens - u.ReasoningTokens
	}
	if d.Finish != "" {
		empty := ""
		p := part{Text: &empty}
		if !sp.called && sp.n%2 == 0 && requiresSignature(sp.id) {
			sp.s.signPart(sp.n, &p)
		}
		finish := "STOP"
		if d.Finish == scrollback.FinishLength {
			finish = "MAX_TOKENS"
		}
		add(finish, p)
	}
	return out
}

// frameWriter writes frames, as many as one hop has, and keeps the rest.
type frameWriter struct {
	w    http.ResponseWriter
	hop  int
	body string
	s    *server

	sent int
	last *frame // held back, since it may be the last of its hop
	rest []frame
}

func (o *frameWriter) addFrame(f frame) {
	switch {
	case o.hop == 0:
		o.writeFrame(f)
	case o.sent < o.hop:
		if o.last != nil {
			o.writeFrame(*o.last)
		}
		o.last = &f
		o.sent++
	default:
		o.rest = append(o.rest, f)
	}
}

// endHop writes what was held back, with a token for the rest.
func (o *frameWriter) endHop() {
	if o.last == nil {
		return
	}
	f := *o.last
	if len(o.rest) > 0 {
		o.s.mu.Lock()
		token := fmt.Sprintf("Y29udGludWU%04d", len(o.s.more))
		o.s.more[token] = remainder{o.body, o.rest}
		o.s.mu.Unlock()
		c := f.Candidates[0]
		c.FinishReason = "CONTINUATION"
		c.ContinuationToken = token
		f.Candidates = []candidate{c}
	}
	o.writeFrame(f)
}

func (o *frameWriter) writeFrame(f frame) {
	b, err := json.Marshal(f)
	if err != nil {
		return // our own types always encode
	}
	_, _ = fmt.Fprintf(o.w, "data: %s\r\n\r\n", b)
	_ = http.NewResponseController(o.w).Flush() // the client may be gone
}

// breakOff breaks a stream off with an error that does not come as an event.
func (o *frameWriter) breakOff(err error) {
	var body refusal
	body.Error.Code = http.StatusServiceUnavailable
	body.Error.Message = err.Error()
	body.Error.Status = "UNAVAILABLE"
	b, _ := json.MarshalIndent(body, "", "  ") // our own types always encode
	_, _ = io.WriteString(o.w, string(b)+"\n")
}
