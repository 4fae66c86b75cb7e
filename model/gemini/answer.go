package gemini

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// answerReader is one answer while it is read, over all its hops.
type answerReader struct {
	transcript
	known scrollback.Learned // what the last request was written with

	tally  remote.Tally
	found  remote.Finding
	open   bool // a text or thought is being written
	called bool
	named  int             // calls that have an id of ours
	taken  map[string]bool // ids of calls

	spent     scrollback.Usage // by what was asked before this hop
	doubted   bool             // some figure of any hop cannot be
	requestID string
	malformed int
	hops      int
	token     json.RawMessage // this hop goes on from
	hop       requestHop
}

// requestHop is what one request has yielded so far.
type requestHop struct {
	usage   *scrollback.Usage
	finish  string
	token   json.RawMessage
	blocked bool // nothing came, since the prompt is not allowed
	came    bool // a candidate did
}

func newAnswer(t transcript) *answerReader {
	a := &answerReader{transcript: t, taken: map[string]bool{}}
	for _, it := range t.r.Items {
		for _, c := range it.Parts.Calls() {
			a.taken[c.ID] = true
		}
	}
	return a
}

// nextHop moves on to another hop.
func (a *answerReader) nextHop() {
	a.hops += 1
	a.token = a.hop.token
}

// startHop forgets what the last request said, except what it cost.
func (a *answerReader) startHop() {
	if a.hop.usage != nil {
		a.spent = a.spent.Add(*a.hop.usage)
	}
	a.hop = requestHop{}
	if a.token == nil { // from the beginning
		a.requestID = ""
	}
}

// pullLines makes the lines of an answer available on request.
func pullLines(of *remote.Answer) (func() ([]byte, error, bool), func()) {
	return iter.Pull2(of.Lines())
}

// streamChunk is one piece of a stream.
type streamChunk struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content *struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		FinishReason      string          `json:"finishReason"`
		ContinuationToken json.RawMessage `json:"continuationToken"`
		Grounding         *grounding      `json:"groundingMetadata"`
	} `json:"candidates"`
	PromptFeedback *struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	UsageMetadata json.RawMessage `json:"usageMetadata"`
	ResponseID    string          `json:"responseId"`
	Error         json.RawMessage `json:"error"`
}

func (a *answerReader) takeChunk(of *remote.Answer, raw json.RawMessage) error {
	var c streamChunk
	if json.Unmarshal(raw, &c) != nil {
		return of.UnreadableError(raw)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return of.ProblemErrorAs(readStatus(c.Error), raw)
	}
	if u := readUsage(c.UsageMetadata); u != nil {
		a.hop.usage = u
		a.doubted = a.doubted || u.TotalTokens < 0
	}
	if c.ResponseID != "" && a.requestID == "" {
		a.requestID = c.ResponseID
	}
	if c.PromptFeedback != nil && c.PromptFeedback.BlockReason != "" {
		a.hop.blocked = true
	}
	for _, one := range c.Candidates {
		if one.Index != 0 {
			continue
		}
		a.hop.came = true
		if err := a.takeGrounding(of, one.Grounding); err != nil {
			return err
		}
		if one.Content != nil {
			for _, p := range one.Content.Parts {
				if err := a.takePart(of, p); err != nil {
					return err
				}
			}
		}
		if one.FinishReason != "" && one.FinishReason != "FINISH_REASON_UNSPECIFIED" {
			a.hop.finish = one.FinishReason
		}
		if t := validSignature(one.ContinuationToken); t != nil {
			a.hop.token = t
		}
	}
	return nil
}

// grounding is what the server searched for on the web, and the pages it found.
type grounding struct {
	Queries []string `json:"webSearchQueries"`
	Chunks  []struct {
		Web *struct {
			URI   string `json:"uri"`
			Title string `json:"title"`
		} `json:"web"`
	} `json:"groundingChunks"`
}

func (a *answerReader) takeGrounding(of *remote.Answer, g *grounding) error {
	if g == nil {
		return nil
	}
	if len(g.Queries) > 0 {
		if err := a.found.BeginSearch(of, strings.Join(g.Queries, " · ")); err != nil {
			return err
		}
	}
	for _, c := range g.Chunks {
		if c.Web != nil {
			a.found.AddPage(scrollback.Source{Title: c.Web.Title, URL: c.Web.URI})
		}
	}
	return a.found.EmitSearch(of)
}

// takePart emits a part as it came: a signed one by itself, unsigned pieces of a text
// for the reader to join.
func (a *answerReader) takePart(of *remote.Answer, raw json.RawMessage) error {
	var p struct {
		Text         *string         `json:"text"`
		Thought      bool            `json:"thought"`
		Signature    json.RawMessage `json:"thoughtSignature"`
		FunctionCall *functionCall   `json:"functionCall"`
	}
	if json.Unmarshal(raw, &p) != nil {
		return of.UnreadableError(raw)
	}
	sig := validSignature(p.Signature)
	switch {
	case p.FunctionCall != nil:
		return a.emitCall(of, *p.FunctionCall, sig)
	case p.Text == nil && onlySigned(raw):
		p.Text = new(string)
	case p.Text == nil:
		if string(raw) == "{}" || string(raw) == "null" {
			return nil
		}
		return a.emitApart(of, model.Delta{Opaque: partPayload{Part: raw}.toOpaque()})
	}
	d := model.Delta{Text: *p.Text}
	if p.Thought {
		d = model.Delta{Reasoning: *p.Text}
	}
	switch {
	case sig != nil:
		d.Opaque = partPayload{Signature: sig, Text: !p.Thought && *p.Text == ""}.toOpaque()
		return a.emitApart(of, d)
	case *p.Text == "":
		return nil
	}
	a.open = true
	return of.EmitDelta(d)
}

// onlySigned reports whether a part holds nothing but its signature: the server leaves out
// an empty text if it can.
func onlySigned(raw json.RawMessage) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || validSignature(fields["thoughtSignature"]) == nil {
		return false
	}
	delete(fields, "thoughtSignature")
	delete(fields, "thought")
	return len(fields) == 0
}

// emitApart emits a part that is not joined with what was being written.
func (a *answerReader) emitApart(of *remote.Answer, d model.Delta) error {
	if a.open {
		if err := of.EmitDelta(model.Delta{End: true}); err != nil {
			return err
		}
	}
	a.open = false
	return of.EmitDelta(d)
}

func (a *answerReader) emitCall(of *remote.Answer, c functionCall, sig json.RawMessage) error {
	if err := of.CountArguments(len(c.Args)); err != nil {
		return err
	}
	args := string(c.Args)
	if args == "null" {
		args = ""
	}
	call := scrollback.ToolCall{ID: a.uniqueID(c.ID), Name: c.Name, Arguments: model.ParseArguments(args)}
	a.open = false
	a.called = true
	return of.EmitDelta(model.Delta{Call: &call, Opaque: partPayload{Signature: sig, ID: c.ID}.toOpaque()})
}

// uniqueID returns the id of a call among ours: the server's, if it gave one that no
// other call has.
func (a *answerReader) uniqueID(id string) string {
	for fresh := id; ; fresh = fmt.Sprintf("call_%s_%d", a.requestID, a.named) {
		if fresh != "" && !a.taken[fresh] {
			a.taken[fresh] = true
			return fresh
		}
		a.named++
	}
}
