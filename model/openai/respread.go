package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
	"github.com/scrollback-ai/scrollback/wire"
)

// respReader turns the events of a response into deltas. What is to be sent back is
// taken from an item that is done, never from one that was added.
type respReader struct {
	a         *remote.Answer
	requestID string
	streamed  bool // something of the item that is being written
	argued    int  // bytes of its arguments so far
	items     int
	calls     int
	ended     bool
	found     remote.Finding
}

func (s *respReader) read() error {
	s.requestID = s.a.Header("X-Request-Id")
	if !s.a.Streams() {
		return s.readWhole()
	}
	for ev, err := range s.a.Events() {
		if err != nil {
			return err
		}
		if ev.Data == "[DONE]" {
			break
		}
		var e wire.ResponsesEvent
		if json.Unmarshal([]byte(ev.Data), &e) != nil {
			return s.a.Unreadable([]byte(ev.Data))
		}
		if e.Type == "" {
			e.Type = ev.Type
		}
		if err := s.event(e, []byte(ev.Data)); err != nil || s.ended {
			return err
		}
	}
	return nil
}

func (s *respReader) event(e wire.ResponsesEvent, raw []byte) error {
	switch e.Type {
	case "response.created", "response.in_progress":
		if e.Response != nil && s.requestID == "" {
			s.requestID = e.Response.ID
		}
	case "response.output_item.added":
		s.streamed, s.argued = false, 0
		return s.a.Emit(model.Delta{End: true})
	case "response.output_text.delta", "response.refusal.delta":
		s.streamed = s.streamed || e.Delta != ""
		return s.a.Emit(model.Delta{Text: e.Delta})
	case "response.reasoning_summary_part.added":
		if s.streamed { // one more paragraph
			return s.a.Emit(model.Delta{Reasoning: "\n\n"})
		}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		s.streamed = s.streamed || e.Delta != ""
		return s.a.Emit(model.Delta{Reasoning: e.Delta})
	case "response.output_text.annotation.added":
		s.cite(e.Annotation)
	case "response.function_call_arguments.delta":
		s.argued += len(e.Delta)
		return s.a.Argue(len(e.Delta))
	case "response.output_item.done":
		return s.item(e.Item)
	case "response.completed", "response.incomplete":
		return s.end(e.Response)
	case "response.failed", "error":
		return s.a.Problem(raw)
	default:
		if e.Type == "" && failed(e.Error) {
			return s.a.Problem(raw)
		}
	}
	return nil
}

// item takes an item that is done: its payload, and what was not streamed of it.
func (s *respReader) item(raw json.RawMessage) error {
	var it wire.OutputItem
	if json.Unmarshal(raw, &it) != nil {
		return s.a.Unreadable(raw)
	}
	text := func(list []wire.OutputContent, between string) string {
		var out []string
		for _, c := range list {
			if c.Text+c.Refusal != "" {
				out = append(out, c.Text+c.Refusal)
			}
		}
		return strings.Join(out, between)
	}
	d := model.Delta{}
	s.items++
	switch it.Type {
	case "reasoning":
		if !s.streamed {
			d.Reasoning = text(it.Summary, "\n\n")
		}
		d.Opaque = payload{Item: raw}.opaque()
	case "web_search_call":
		if a := it.Action; a != nil && a.Type == "search" {
			return s.found.Query(s.a, cmp.Or(a.Query, strings.Join(a.Queries, " · ")))
		}
		return nil
	case "message":
		for _, c := range it.Content {
			for i := range c.Annotations {
				s.cite(&c.Annotations[i])
			}
		}
		if err := s.found.Emit(s.a); err != nil {
			return err
		}
		if !s.streamed {
			d.Text = text(it.Content, "")
		}
		if it.Phase != "" && (d.Text != "" || s.streamed) {
			d.Opaque = payload{Phase: it.Phase}.opaque()
		} else {
			d.End = true
		}
	case "function_call":
		if it.Status == "incomplete" {
			return nil // half a call
		}
		if err := s.a.Argue(max(len(it.Arguments)-s.argued, 0)); err != nil {
			return err
		}
		s.calls++
		d.Call = &scrollback.ToolCall{ID: it.CallID, Name: it.Name, Arguments: model.Arguments(string(it.Arguments))}
		if d.Call.ID == "" {
			d.Call.ID = it.ID
		}
		if it.ID != "" {
			d.Opaque = payload{ID: it.ID}.opaque()
		}
	}
	s.streamed, s.argued = false, 0
	return s.a.Emit(d)
}

// cite notes a page that the answer cites.
func (s *respReader) cite(a *wire.Annotation) {
	if a != nil && a.Type == "url_citation" {
		s.found.Page(scrollback.Source{Title: a.Title, URL: a.URL})
	}
}

// readWhole reads the answer of a server that does not stream.
func (s *respReader) readWhole() error {
	raw, err := s.a.Whole()
	if err != nil {
		return err
	}
	var r wire.ResponsesAnswer
	switch bad := json.Unmarshal(raw, &r) != nil; {
	case !bad && failed(r.Error):
		return s.a.Problem(raw)
	case bad || r.Status == "":
		return s.a.Unreadable(raw)
	}
	return s.end(&r)
}

// end emits how the answer ended, and what it used.
func (s *respReader) end(r *wire.ResponsesAnswer) error {
	s.ended = true
	last := model.Delta{Finish: scrollback.FinishStop}
	if r != nil {
		if failed(r.Error) || r.Status == "failed" {
			return s.a.Problem(r.Error)
		}
		if s.requestID == "" {
			s.requestID = r.ID
		}
		if s.items == 0 && !s.streamed { // it was not streamed
			for _, it := range r.Output {
				if err := s.item(it); err != nil {
					return err
				}
			}
		}
		if u := r.Usage; u != nil {
			last.Usage = usageOf(wire.Usage{PromptTokens: u.InputTokens, PromptTokensDetails: u.InputTokensDetails,
				CompletionTokens: u.OutputTokens, CompletionTokensDetails: u.OutputTokensDetails, TotalTokens: u.TotalTokens})
		}
		switch {
		case r.Status == "cancelled":
			return s.a.Failed(r.Status)
		case r.Status == "incomplete" && r.IncompleteDetails != nil && r.IncompleteDetails.Reason != "":
			last.Finish = finishOf(r.IncompleteDetails.Reason, false)
		case r.Status == "incomplete":
			last.Finish = scrollback.FinishLength
		}
	}
	last.RequestID = s.requestID
	if s.calls > 0 && last.Finish == scrollback.FinishStop {
		last.Finish = scrollback.FinishToolCalls
	}
	return s.a.Emit(last)
}
