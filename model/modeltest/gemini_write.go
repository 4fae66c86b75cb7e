package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// geminiFrame is one event of a stream.
type geminiFrame struct {
	Candidates    []geminiCandidate `json:"candidates"`
	UsageMetadata *geminiUsage      `json:"usageMetadata,omitempty"`
	ModelVersion  string            `json:"modelVersion"`
	ResponseID    string            `json:"responseId"`
}

type geminiCandidate struct {
	Content           geminiContent `json:"content"`
	FinishReason      string        `json:"finishReason,omitempty"`
	ContinuationToken string        `json:"continuationToken,omitempty"`
	Index             int           `json:"index"`
}

type geminiUsage struct {
	PromptTokenCount        int64 `json:"promptTokenCount"`
	CachedContentTokenCount int64 `json:"cachedContentTokenCount,omitempty"`
	CandidatesTokenCount    int64 `json:"candidatesTokenCount,omitempty"`
	ThoughtsTokenCount      int64 `json:"thoughtsTokenCount,omitempty"`
	TotalTokenCount         int64 `json:"totalTokenCount"`
}

// write streams an answer: each delta a chunk, and at the end a chunk that holds
// what is signed without words.
func (g *gemini) write(w http.ResponseWriter, r *http.Request, answer Stream) {
	body, rest := g.open(r)
	w.Header().Set("Content-Type", "text/event-stream")
	out := geminiWriter{w: w, hop: g.o.Hop, body: body, g: g}
	if rest != nil {
		for _, f := range rest.frames {
			out.frame(f)
		}
		out.end()
		return
	}
	id, _ := geminiModel(r)
	g.mu.Lock()
	n := len(g.answers)
	g.answers = append(g.answers, geminiAnswer{model: id})
	g.mu.Unlock()
	s := geminiSpeech{g: g, n: n, id: id, usage: geminiUsage{PromptTokenCount: int64(len(body))/4 + 1}}
	for d, err := range answer {
		if err != nil {
			out.fail(err)
			return
		}
		for _, f := range s.frames(d) {
			out.frame(f)
		}
	}
	out.end()
}

// open is the body of a request, and the rest of the answer that it goes on with.
func (g *gemini) open(r *http.Request) (string, *geminiRest) {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := g.asked[r]
	delete(g.asked, r)
	if q.ContinuationToken == "" {
		return geminiBody(q), nil
	}
	rest := g.more[q.ContinuationToken]
	return rest.body, &rest
}

// geminiSpeech turns the deltas of one answer into chunks.
type geminiSpeech struct {
	g      *gemini
	n      int
	id     string
	usage  geminiUsage
	said   bool // some text
	called bool
}

// frames are the chunks of a delta.
func (s *geminiSpeech) frames(d model.Delta) (out []geminiFrame) {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	a := &s.g.answers[s.n]
	add := func(finish string, p geminiPartial) {
		u := s.usage
		u.TotalTokenCount = u.PromptTokenCount + u.CandidatesTokenCount + u.ThoughtsTokenCount
		out = append(out, geminiFrame{UsageMetadata: &u, ModelVersion: s.id, ResponseID: fmt.Sprintf("resp-%d", s.n+1),
			Candidates: []geminiCandidate{{Content: geminiContent{Role: "model", Parts: []geminiPartial{p}}, FinishReason: finish}}})
	}
	if d.Reasoning != "" {
		s.usage.ThoughtsTokenCount++
		a.thoughts += d.Reasoning
		add("", geminiPartial{Text: &d.Reasoning, Thought: true})
	}
	if d.Text != "" {
		s.usage.CandidatesTokenCount++
		a.text += d.Text
		p := geminiPartial{Text: &d.Text}
		if !s.said && s.n%2 == 1 && geminiSigns(s.id) { // what a text begins with is signed
			s.g.sign(s.n, &p)
		}
		s.said = true
		add("", p)
	}
	if d.Call != nil {
		s.usage.CandidatesTokenCount++
		p := geminiPartial{FunctionCall: &geminiFunction{Name: d.Call.Name, Args: d.Call.Arguments}}
		if !s.g.o.NoIDs {
			p.FunctionCall.ID = fmt.Sprintf("fn%d", len(s.g.ids)+1)
			s.g.ids[p.FunctionCall.ID] = s.id
		}
		if !s.called && geminiVersion(s.id) >= 2.5 {
			s.g.sign(s.n, &p)
		}
		s.called = true
		add("", p)
	}
	if u := d.Usage; u != nil {
		s.usage.CachedContentTokenCount, s.usage.ThoughtsTokenCount = u.CachedTokens, u.ReasoningTokens
		s.usage.PromptTokenCount, s.usage.CandidatesTokenCount = u.InputTokens, u.OutputTokens-u.ReasoningTokens
	}
	if d.Finish != "" {
		empty := ""
		p := geminiPartial{Text: &empty}
		if !s.called && s.n%2 == 0 && geminiSigns(s.id) {
			s.g.sign(s.n, &p)
		}
		finish := "STOP"
		if d.Finish == scrollback.FinishLength {
			finish = "MAX_TOKENS"
		}
		add(finish, p)
	}
	return out
}

// geminiWriter writes frames, as many as one hop has, and keeps the rest.
type geminiWriter struct {
	w    http.ResponseWriter
	hop  int
	body string
	g    *gemini

	sent int
	last *geminiFrame // held back, since it may be the last of its hop
	rest []geminiFrame
}

func (o *geminiWriter) frame(f geminiFrame) {
	switch {
	case o.hop == 0:
		o.put(f)
	case o.sent < o.hop:
		if o.last != nil {
			o.put(*o.last)
		}
		o.last = &f
		o.sent++
	default:
		o.rest = append(o.rest, f)
	}
}

// end writes what was held back, with a token for the rest.
func (o *geminiWriter) end() {
	if o.last == nil {
		return
	}
	f := *o.last
	if len(o.rest) > 0 {
		o.g.mu.Lock()
		token := fmt.Sprintf("Y29udGludWU%04d", len(o.g.more))
		o.g.more[token] = geminiRest{o.body, o.rest}
		o.g.mu.Unlock()
		c := f.Candidates[0]
		c.FinishReason, c.ContinuationToken = "CONTINUATION", token
		f.Candidates = []geminiCandidate{c}
	}
	o.put(f)
}

func (o *geminiWriter) put(f geminiFrame) {
	b, err := json.Marshal(f)
	if err != nil {
		return // our own types always encode
	}
	_, _ = fmt.Fprintf(o.w, "data: %s\r\n\r\n", b)
	_ = http.NewResponseController(o.w).Flush() // the client may be gone
}

// fail breaks a stream off with an error that does not come as an event.
func (o *geminiWriter) fail(err error) {
	var body geminiError
	body.Error.Code, body.Error.Message, body.Error.Status = http.StatusServiceUnavailable, err.Error(), "UNAVAILABLE"
	b, _ := json.MarshalIndent(body, "", "  ") // our own types always encode
	_, _ = io.WriteString(o.w, string(b)+"\n")
}
