package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/toolform"
	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// respReader turns the events of a response into deltas. What is to be sent back is
// taken from an item that is done, never from one that was added. Servers leave out events:
// what was not said in one is taken from another, at the latest from the response at the end.
type respReader struct {
	a         *remote.Answer
	tools     []scrollback.Tool
	requestID string
	streamed  map[string]bool // by the type of item: something of the one that is being written
	done      map[string]int  // by their type: items that are done
	open      []*openCall     // calls that are being written
	called    map[string]bool // those that were made
	argued    int             // bytes of arguments so far, of the calls that are open
	calls     int
	begun     int  // items
	late      bool // items are taken from the response at its end
	ended     bool
	found     remote.Finding
}

// openCall is a call of which the item is not done.
type openCall struct {
	at        string // its place in the output, or the id of its item
	item      wire.OutputItem
	arguments []byte
}

func (s *respReader) readAnswer() error {
	s.requestID = s.a.Header("X-Request-Id")
	if !s.a.IsStream() {
		return s.readWhole()
	}
	for ev, err := range s.a.Events() {
		if err != nil {
			return err
		}
		if ev.Data == "[DONE]" {
			if len(s.done) > 0 || len(s.streamed) > 0 || len(s.open) > 0 {
				return s.emitEnd(nil) // it ended, and did not say how
			}
			break
		}
		var e wire.ResponsesEvent
		if json.Unmarshal([]byte(ev.Data), &e) != nil {
			return s.a.UnreadableError([]byte(ev.Data))
		}
		if e.Type == "" {
			e.Type = ev.Type
		}
		if err := s.takeEvent(e, []byte(ev.Data)); err != nil || s.ended {
			return err
		}
	}
	if s.isComplete() {
		return s.emitEnd(nil) // the event that ends it is missing
	}
	return nil
}

// isComplete reports whether an answer that just stops has all that was begun, and has called:
// a text may be cut between two items, and calls can be made again.
func (s *respReader) isComplete() bool {
	ended := 0
	for _, n := range s.done {
		ended += n
	}
	return !s.ended && len(s.open)+len(s.streamed) == 0 && s.begun <= ended && s.calls > 0
}

func (s *respReader) takeEvent(e wire.ResponsesEvent, raw []byte) error {
	switch e.Type {
	case "response.created", "response.in_progress":
		if e.Response != nil && s.requestID == "" {
			s.requestID = e.Response.ID
		}
	case "response.output_item.added":
		return s.beginItem(e, raw)
	case "response.output_text.delta", "response.refusal.delta":
		return s.emitPiece("message", model.Delta{Text: e.Delta})
	case "response.output_text.done", "response.refusal.done":
		if !s.streamed["message"] {
			return s.emitPiece("message", model.Delta{Text: e.Text + e.Refusal})
		}
	case "response.reasoning_summary_part.added":
		if s.streamed["reasoning"] { // one more paragraph
			return s.a.EmitDelta(model.Delta{Reasoning: "\n\n"})
		}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return s.emitPiece("reasoning", model.Delta{Reasoning: e.Delta})
	case "response.reasoning_summary_text.done", "response.reasoning_text.done":
		if !s.streamed["reasoning"] {
			return s.emitPiece("reasoning", model.Delta{Reasoning: e.Text})
		}
	case "response.output_text.annotation.added":
		s.noteCitation(e.Annotation)
	case "response.function_call_arguments.delta":
		c := s.openCallAt(eventPlace(e, raw, ""))
		c.arguments = append(c.arguments, e.Delta...)
		s.argued += len(e.Delta)
		return s.a.CountArguments(len(e.Delta))
	case "response.function_call_arguments.done":
		c := s.openCallAt(eventPlace(e, raw, ""))
		more := max(len(e.Arguments)-len(c.arguments), 0)
		c.arguments = []byte(cmp.Or(string(e.Arguments), string(c.arguments)))
		c.item.Name = cmp.Or(c.item.Name, e.Name)
		s.argued += more
		return s.a.CountArguments(more)
	case "response.output_item.done":
		return s.takeItem(e.Item, eventPlace(e, raw, ""))
	case "response.completed", "response.done", "response.incomplete":
		r := e.Response
		if r == nil {
			r = &wire.ResponsesAnswer{}
		}
		if e.Type == "response.incomplete" && r.Status == "" {
			r.Status = "incomplete"
		}
		return s.emitEnd(r)
	case "response.failed", "error":
		return s.a.ProblemError(raw)
	default:
		if e.Type == "" && isPresent(e.Error) {
			return s.a.ProblemError(raw)
		}
	}
	return nil
}

// emitPiece emits a piece of an item of a type.
func (s *respReader) emitPiece(kind string, d model.Delta) error {
	if d.Text+d.Reasoning != "" {
		s.noteStreamed(kind, true)
	}
	return s.a.EmitDelta(d)
}

func (s *respReader) noteStreamed(kind string, streamed bool) {
	if s.streamed == nil {
		s.streamed = map[string]bool{}
	}
	if s.streamed[kind] = streamed; !streamed {
		delete(s.streamed, kind)
	}
}

// noteFinished counts an item that is done.
func (s *respReader) noteFinished(kind string) {
	if s.done == nil {
		s.done = map[string]int{}
	}
	s.done[kind]++
	s.noteStreamed(kind, false)
}

// beginItem begins an item. One of the same type that was being written is done, though no event
// said so.
func (s *respReader) beginItem(e wire.ResponsesEvent, raw []byte) error {
	var it wire.OutputItem
	s.begun++
	if json.Unmarshal(e.Item, &it) != nil {
		return s.a.EmitDelta(model.Delta{End: true})
	}
	if s.streamed[it.Type] {
		s.noteFinished(it.Type)
	}
	if it.Type == "function_call" {
		c := s.openCallAt(eventPlace(e, raw, it.ID))
		c.item = it
		c.arguments = append(c.arguments, it.Arguments...)
		s.argued += len(it.Arguments)
		if err := s.a.CountArguments(len(it.Arguments)); err != nil {
			return err
		}
	}
	return s.a.EmitDelta(model.Delta{End: true})
}

// eventPlace returns where an event's item is in the output, or else its id. The place goes first:
// some servers give an item another id in each event.
func eventPlace(e wire.ResponsesEvent, raw []byte, id string) string {
	if bytes.Contains(raw, []byte(`"output_index"`)) {
		return "#" + strconv.FormatInt(int64(e.OutputIndex), 10)
	}
	return cmp.Or(e.ItemID, id)
}

// openCallAt returns the call at a place that is being written, begun if there is none.
func (s *respReader) openCallAt(at string) *openCall {
	for _, c := range s.open {
		if c.at == at {
			return c
		}
	}
	if len(s.open) >= s.a.MaxCalls() { // more than may be made: the bound is named once they are
		return s.open[len(s.open)-1]
	}
	c := &openCall{at: at}
	s.open = append(s.open, c)
	return c
}

// closedCallAt returns the call at a place that is done, with what was said of it, or nil.
func (s *respReader) closedCallAt(at string, it wire.OutputItem) *openCall {
	i := slices.IndexFunc(s.open, func(c *openCall) bool { return c.at == at })
	if i < 0 {
		i = slices.IndexFunc(s.open, func(c *openCall) bool {
			return it.ID != "" && c.item.ID == it.ID || it.CallID != "" && c.item.CallID == it.CallID ||
				c.at != "" && (c.at == it.ID || c.at == it.CallID)
		})
	}
	if i < 0 {
		return nil
	}
	c := s.open[i]
	s.open = slices.Delete(s.open, i, i+1)
	return c
}

// takeItem takes an item that is done: its payload, and what was not streamed of it. At is its
// place.
func (s *respReader) takeItem(raw json.RawMessage, at string) error {
	var it wire.OutputItem
	if json.Unmarshal(raw, &it) != nil {
		return s.a.UnreadableError(raw)
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
	streamed := s.streamed[it.Type]
	s.noteFinished(it.Type)
	switch it.Type {
	case "reasoning":
		if !streamed {
			d.Reasoning = text(it.Summary, "\n\n")
		}
		d.Opaque = partPayload{Item: raw}.toOpaque()
		if s.late { // behind a text, whose payload it is not
			if err := s.a.EmitDelta(model.Delta{End: true}); err != nil {
				return err
			}
		}
	case "web_search_call":
		if a := it.Action; a != nil && a.Type == "search" {
			return s.found.BeginSearch(s.a, cmp.Or(a.Query, strings.Join(a.Queries, " · ")))
		}
		return nil
	case "message":
		for _, c := range it.Content {
			for i := range c.Annotations {
				s.noteCitation(&c.Annotations[i])
			}
		}
		if err := s.found.EmitSearch(s.a); err != nil {
			return err
		}
		if !streamed {
			d.Text = text(it.Content, "")
		}
		if it.Phase != "" && (d.Text != "" || streamed) && !(s.late && streamed) {
			d.Opaque = partPayload{Phase: it.Phase}.toOpaque()
		} else {
			d.End = true
		}
	case "function_call":
		return s.emitCall(it, at)
	case "custom_tool_call": // of a tool that a client offers in a request that goes on as it stands
		if it.Status == "incomplete" {
			return nil
		}
		it.Arguments = wire.Inner(toolform.Arguments(it.Input))
		return s.emitCall(it, at)
	}
	return s.a.EmitDelta(d)
}

// emitCall makes a call whose item is done, unless it is half of one or was made.
func (s *respReader) emitCall(it wire.OutputItem, at string) error {
	written := 0
	if c := s.closedCallAt(at, it); c != nil {
		written = len(c.arguments)
		if it.Arguments == "" {
			it.Arguments = wire.Inner(c.arguments)
		}
		it.Namespace = cmp.Or(it.Namespace, c.item.Namespace)
		it.Name = cmp.Or(it.Name, c.item.Name)
		it.CallID = cmp.Or(it.CallID, c.item.CallID)
		it.ID = cmp.Or(it.ID, c.item.ID)
	}
	if it.Status == "incomplete" {
		return nil // half a call
	}
	if err := s.a.CountArguments(max(len(it.Arguments)-written, 0)); err != nil {
		return err
	}
	if it.Name == "" {
		it.Name = cmp.Or(model.MatchUnnamedTool(s.tools, it.ID, json.RawMessage(it.Arguments)), model.Unnamed)
	}
	if it.CallID != "" {
		same := it.CallID + "\x00" + it.Name + "\x00" + string(it.Arguments)
		if s.called[same] {
			return nil // told once more
		}
		if s.called == nil {
			s.called = map[string]bool{}
		}
		s.called[same] = true
	}
	s.calls++
	d := model.Delta{Call: &scrollback.ToolCall{ID: cmp.Or(it.CallID, it.ID),
		Name:      toolform.Name(it.Namespace, it.Name),
		Arguments: model.ParseArguments(string(it.Arguments))}}
	if it.ID != "" {
		d.Opaque = partPayload{ID: it.ID}.toOpaque()
	}
	return s.a.EmitDelta(d)
}

// takeRest takes what no event said: the items of the response at its end that were not done
// before, and calls that were written whole.
func (s *respReader) takeRest(output []json.RawMessage, whole bool) error {
	before := maps.Clone(s.done)
	named := false // the calls are all there
	s.late = len(s.done) > 0 || len(s.streamed) > 0
	for _, raw := range output {
		var it wire.OutputItem
		bad := json.Unmarshal(raw, &it) != nil
		named = named || it.Type == "function_call" || it.Type == "custom_tool_call"
		if !bad && before[it.Type] > 0 {
			before[it.Type]--
			continue
		}
		if err := s.takeItem(raw, it.ID); err != nil {
			return err
		}
	}
	if named {
		return nil
	}
	for _, c := range slices.Clone(s.open) {
		if c.item.Status != "incomplete" && (json.Valid(c.arguments) || whole && len(c.arguments) == 0 && c.item.Name != "") {
			c.item.Status = ""
			if err := s.emitCall(c.item, c.at); err != nil {
				return err
			}
		}
	}
	return nil
}

// noteCitation notes a page that the answer cites.
func (s *respReader) noteCitation(a *wire.Annotation) {
	if a != nil && a.Type == "url_citation" {
		s.found.AddPage(scrollback.Source{Title: a.Title, URL: a.URL})
	}
}

// readWhole reads the answer of a server that does not stream.
func (s *respReader) readWhole() error {
	raw, err := s.a.ReadWhole()
	if err != nil {
		return err
	}
	var r wire.ResponsesAnswer
	switch bad := json.Unmarshal(raw, &r) != nil; {
	case !bad && isPresent(r.Error):
		return s.a.ProblemError(raw)
	case bad || r.Status == "":
		return s.a.UnreadableError(raw)
	}
	return s.emitEnd(&r)
}

// emitEnd emits how the answer ended, and what it used.
func (s *respReader) emitEnd(r *wire.ResponsesAnswer) error {
	s.ended = true
	last := model.Delta{Finish: scrollback.FinishStop}
	if r == nil {
		if err := s.takeRest(nil, false); err != nil {
			return err
		}
	} else {
		if isPresent(r.Error) || r.Status == "failed" {
			return s.a.ProblemError(r.Error)
		}
		if s.requestID == "" {
			s.requestID = r.ID
		}
		if err := s.takeRest(r.Output, r.Status != "incomplete"); err != nil {
			return err
		}
		if u := r.Usage; u != nil {
			last.Usage = readUsage(wire.Usage{PromptTokens: u.InputTokens, PromptTokensDetails: u.InputTokensDetails,
				CompletionTokens: u.OutputTokens, CompletionTokensDetails: u.OutputTokensDetails, TotalTokens: u.TotalTokens})
		}
		switch {
		case r.Status == "cancelled":
			return s.a.BrokenOffError(r.Status)
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
	return s.a.EmitDelta(last)
}
