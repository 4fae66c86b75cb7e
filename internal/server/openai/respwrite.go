package openai

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/faces"
	"github.com/scrollback-ai/scrollback/internal/toolform"
	"github.com/scrollback-ai/scrollback/model"
)

// responseSink is where the events of an answer go: a stream of HTTP, a connection, or nowhere.
type responseSink interface {
	// begin is called before the first event.
	begin(of scrollback.ConversationID)
	// event sends an event.
	event(name string, data []byte)
	// whole sends an answer that is not a stream.
	whole(of scrollback.ConversationID, body []byte)
	// pass passes on a response of a model's server that has no events.
	pass(h model.ResponseHead, of scrollback.ConversationID, body []byte)
	// forward passes on the head of a stream.
	forward(h model.ResponseHead, of scrollback.ConversationID)
	// refuse sends an error instead of an answer.
	refuse(f faces.Fault)
	// fault returns an error as a client is told it.
	fault(err error) faces.Fault
	// endsOnce says that a failure is one event.
	endsOnce() bool
}

// responseWriter writes an answer as responses have it. Whatever becomes of it, a stream ends with an event that says
// so, and the ids of its items are the same from the first event to the last, and when it is read again.
type responseWriter struct {
	to       responseSink
	ask      *responseAsk
	streamed bool
	after    int  // events up to this number are left out, for who has them
	jumps    bool // and the first event has the next number

	head   door.Head
	began  bool // something was sent
	ended  bool // the last event was
	number int
	out    response
	open   *openItem

	compaction strings.Builder

	passed *passedResponse
	// done is called with each item that is complete.
	done func(item json.RawMessage)
}

// responseEvent is an event of a stream.
type responseEvent struct {
	Type     string    `json:"type"`
	Number   int       `json:"sequence_number"`
	Response *response `json:"response,omitempty"`
	ItemID   string    `json:"item_id,omitempty"`
	Output   *int      `json:"output_index,omitempty"`
	Content  *int      `json:"content_index,omitempty"`
	Summary  *int      `json:"summary_index,omitempty"`
	Item     any       `json:"item,omitempty"`
	Part     any       `json:"part,omitempty"`
	Delta    *string   `json:"delta,omitempty"`
	Text     *string   `json:"text,omitempty"`
	Name     string    `json:"name,omitempty"`
	Args     *string   `json:"arguments,omitempty"`
	Input    *string   `json:"input,omitempty"`
	Logprobs *[]any    `json:"logprobs,omitempty"`
}

// The items of an answer.
type (
	messageItem struct {
		Type    string     `json:"type"`
		ID      string     `json:"id"`
		Status  string     `json:"status"`
		Role    string     `json:"role"`
		Phase   string     `json:"phase,omitempty"`
		Content []textPart `json:"content"`
	}
	textPart struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Annotations []any  `json:"annotations"`
		Logprobs    []any  `json:"logprobs"`
	}
	reasoningItem struct {
		Type      string        `json:"type"`
		ID        string        `json:"id"`
		Status    string        `json:"status"`
		Summary   []summaryPart `json:"summary"`
		Encrypted *string       `json:"encrypted_content,omitempty"`
	}
	summaryPart struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	callItem struct {
		Type      string `json:"type"`
		ID        string `json:"id"`
		Status    string `json:"status"`
		CallID    string `json:"call_id"`
		Namespace string `json:"namespace,omitempty"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	textCallItem struct {
		Type      string `json:"type"`
		ID        string `json:"id"`
		Status    string `json:"status"`
		CallID    string `json:"call_id"`
		Namespace string `json:"namespace,omitempty"`
		Name      string `json:"name"`
		Input     string `json:"input"`
	}
	compactionItem struct {
		Type      string `json:"type"`
		ID        string `json:"id"`
		Encrypted string `json:"encrypted_content"`
	}
)

// openItem is the text or the reasoning that is being written.
type openItem struct {
	reasoning bool
	id        string
	index     int
	text      strings.Builder
	parted    bool   // its part has begun
	phase     string // of a text
	encrypted *string
}

const (
	itemRuns = "in_progress"
	itemDone = "completed"
)

func newTextPart(text string) textPart {
	return textPart{Type: "output_text", Text: text, Annotations: []any{}, Logprobs: []any{}}
}

func (o *openItem) item(status string) any {
	if o.reasoning {
		item := reasoningItem{Type: "reasoning", ID: o.id, Status: status, Summary: []summaryPart{}, Encrypted: o.encrypted}
		if status == itemDone && o.parted {
			item.Summary = append(item.Summary, summaryPart{"summary_text", o.text.String()})
		}
		return item
	}
	item := messageItem{Type: "message", ID: o.id, Status: status, Role: "assistant", Phase: o.phase,
		Content: []textPart{}}
	if status == itemDone {
		item.Content = append(item.Content, newTextPart(o.text.String()))
	}
	return item
}

// emit sends an event of ours.
func (w *responseWriter) emit(e responseEvent) {
	e.Number = w.number
	w.number++
	if !w.streamed || e.Number <= w.after {
		return
	}
	data, err := json.Marshal(e)
	if err != nil {
		return // our own values are always JSON: not reached
	}
	w.to.event(e.Type, data)
}

// Begin implements [door.Writer].
func (w *responseWriter) Begin(h door.Head) {
	w.start(h)
	if !w.streamed {
		return
	}
	w.began = true
	w.to.begin(h.Conversation)
	if w.jumps {
		w.number = w.after + 1
	}
	now := w.out
	w.emit(responseEvent{Type: "response.created", Response: &now})
	w.emit(responseEvent{Type: "response.in_progress", Response: &now})
}

// start fills in the answer.
func (w *responseWriter) start(h door.Head) {
	w.head = h
	w.out = response{ID: h.ID, Object: "response", CreatedAt: h.Created.Unix(), Status: itemRuns, Model: h.Model,
		Output: []json.RawMessage{}, Conversation: w.ask.named, responseEcho: w.ask.echo}
}

// itemID returns the id of the item that comes next.
func (w *responseWriter) itemID(begins string) string {
	_, id, _ := strings.Cut(w.head.ID, "_")
	return begins + id + "_" + strconv.Itoa(len(w.out.Output))
}

// opened returns the item that is being written, of a kind; what else was being written is closed.
func (w *responseWriter) opened(reasoning bool) *openItem {
	if w.open != nil && w.open.reasoning == reasoning {
		return w.open
	}
	w.close()
	begins := "msg_"
	if reasoning {
		begins = "rs_"
	}
	w.open = &openItem{reasoning: reasoning, id: w.itemID(begins), index: len(w.out.Output)}
	w.emit(responseEvent{Type: "response.output_item.added", Output: &w.open.index, Item: w.open.item(itemRuns)})
	return w.open
}

var zeroIndex = new(int)

// addText adds to the text or the reasoning that is being written.
func (w *responseWriter) addText(reasoning bool, text string) {
	o := w.opened(reasoning)
	if !o.parted {
		o.parted = true
		if reasoning {
			w.emit(responseEvent{Type: "response.reasoning_summary_part.added", ItemID: o.id, Output: &o.index,
				Summary: zeroIndex, Part: summaryPart{"summary_text", ""}})
		} else {
			w.emit(responseEvent{Type: "response.content_part.added", ItemID: o.id, Output: &o.index, Content: zeroIndex,
				Part: newTextPart("")})
		}
	}
	o.text.WriteString(text)
	if reasoning {
		w.emit(responseEvent{Type: "response.reasoning_summary_text.delta", ItemID: o.id, Output: &o.index,
			Summary: zeroIndex, Delta: &text})
		return
	}
	w.emit(responseEvent{Type: "response.output_text.delta", ItemID: o.id, Output: &o.index, Content: zeroIndex,
		Delta: &text, Logprobs: &[]any{}})
}

// close ends the item that is being written.
func (w *responseWriter) close() {
	o := w.open
	w.open = nil
	if o == nil {
		return
	}
	text := o.text.String()
	switch {
	case !o.parted:
	case o.reasoning:
		w.emit(responseEvent{Type: "response.reasoning_summary_text.done", ItemID: o.id, Output: &o.index,
			Summary: zeroIndex, Text: &text})
		w.emit(responseEvent{Type: "response.reasoning_summary_part.done", ItemID: o.id, Output: &o.index,
			Summary: zeroIndex, Part: summaryPart{"summary_text", text}})
	default:
		w.emit(responseEvent{Type: "response.output_text.done", ItemID: o.id, Output: &o.index, Content: zeroIndex,
			Text: &text, Logprobs: &[]any{}})
		w.emit(responseEvent{Type: "response.content_part.done", ItemID: o.id, Output: &o.index, Content: zeroIndex,
			Part: newTextPart(text)})
	}
	w.finishItem(o.index, o.item(itemDone))
}

// finishItem ends an item.
func (w *responseWriter) finishItem(index int, item any) {
	raw, err := json.Marshal(item)
	if err != nil {
		return // our own values are always JSON: not reached
	}
	w.out.Output = append(w.out.Output, raw)
	w.emit(responseEvent{Type: "response.output_item.done", Output: &index, Item: json.RawMessage(raw)})
	if w.done != nil {
		w.done(raw)
	}
}

// payload is what a provider of responses gave with a part, as far as its clients see it.
type payload struct {
	Item struct {
		Encrypted string `json:"encrypted_content"`
	} `json:"item"`
	Phase string `json:"phase"`
}

// Piece implements [door.Writer].
func (w *responseWriter) Piece(d model.Delta) {
	if w.ask.compacts {
		w.compaction.WriteString(d.Text)
		return
	}
	if d.Reasoning != "" {
		w.addText(true, d.Reasoning)
	}
	if d.Text != "" {
		w.addText(false, d.Text)
	}
	if len(d.Opaque) > 0 && d.Call == nil {
		w.addPayload(d.Opaque)
	}
	if d.End {
		w.close()
	}
	if d.Call != nil {
		w.addCall(d.Call)
	}
}

// addPayload adds what belongs to the part that was written last, and ends it. Payloads of other APIs are not shown.
func (w *responseWriter) addPayload(o scrollback.Opaque) {
	var p payload
	if json.Unmarshal(o, &p) != nil {
		return
	}
	switch {
	case p.Phase != "" && w.open != nil && !w.open.reasoning:
		w.open.phase = p.Phase
		w.close()
	case p.Item.Encrypted != "" && w.ask.encrypted:
		w.opened(true).encrypted = &p.Item.Encrypted
		w.close()
	case w.open != nil && w.open.reasoning:
		w.close()
	}
}

// addCall adds a call, which is whole.
func (w *responseWriter) addCall(c *scrollback.ToolCall) {
	w.close()
	index := len(w.out.Output)
	name, form := findForm(w.head.Tools, c.Name)
	if form.Text {
		w.addTextCall(c, name, form)
		return
	}
	item := callItem{Type: "function_call", ID: w.itemID("fc_"), Status: itemRuns, CallID: c.ID,
		Namespace: form.Namespace, Name: name}
	w.emit(responseEvent{Type: "response.output_item.added", Output: &index, Item: item})
	item.Arguments = string(c.Arguments)
	w.emit(responseEvent{Type: "response.function_call_arguments.delta", ItemID: item.ID, Output: &index,
		Delta: &item.Arguments})
	w.emit(responseEvent{Type: "response.function_call_arguments.done", ItemID: item.ID, Output: &index, Name: name,
		Args: &item.Arguments})
	item.Status = itemDone
	w.finishItem(index, item)
}

// addTextCall adds a call of a tool that takes a text in place of arguments.
func (w *responseWriter) addTextCall(c *scrollback.ToolCall, name string, form scrollback.ToolForm) {
	index := len(w.out.Output)
	input := toolform.Text(c.Arguments)
	item := textCallItem{Type: "custom_tool_call", ID: w.itemID("ctc_"), Status: itemRuns, CallID: c.ID,
		Namespace: form.Namespace, Name: name}
	w.emit(responseEvent{Type: "response.output_item.added", Output: &index, Item: item})
	item.Input = input
	w.emit(responseEvent{Type: "response.custom_tool_call_input.delta", ItemID: item.ID, Output: &index, Delta: &input})
	w.emit(responseEvent{Type: "response.custom_tool_call_input.done", ItemID: item.ID, Output: &index, Input: &input})
	item.Status = itemDone
	w.finishItem(index, item)
}

// End implements [door.Writer]. An answer that was cut short says so, in an event that every client takes as the end.
func (w *responseWriter) End(e door.End) {
	if w.ask.compacts {
		w.addCompaction()
	}
	w.close()
	w.out.Status = itemDone
	switch e.Finish {
	case scrollback.FinishLength:
		w.out.Status = "incomplete"
		w.out.Incomplete = &responseCut{"max_output_tokens"}
	case "content_filter":
		w.out.Status = "incomplete"
		w.out.Incomplete = &responseCut{e.Finish}
	case door.FinishInterrupted:
		w.out.Status = "cancelled"
	default:
		now := time.Now().Unix()
		w.out.CompletedAt = &now
	}
	w.out.Usage = newResponseUsage(e.Usage)
	w.ended = true
	if w.streamed {
		w.emit(responseEvent{Type: "response.completed", Response: &w.out})
		return
	}
	w.writeWhole()
}

// addCompaction adds the item that stands for the history.
func (w *responseWriter) addCompaction() {
	index := len(w.out.Output)
	item := compactionItem{"compaction", w.itemID("cmp_"), door.SealSummary(w.compaction.String())}
	w.emit(responseEvent{Type: "response.output_item.added", Output: &index, Item: item})
	w.finishItem(index, item)
}

// writeWhole writes the answer as the whole response.
func (w *responseWriter) writeWhole() {
	body, err := json.Marshal(w.out)
	if err != nil {
		return // our own values are always JSON: not reached
	}
	w.began = true
	w.to.whole(w.head.Conversation, body)
}

// Fail implements [door.Writer].
func (w *responseWriter) Fail(err error) {
	fault := w.to.fault(err)
	switch {
	case w.ended:
		return
	case w.passed != nil && w.passed.last != nil && w.passed.last.name != "response.completed":
		w.endPassed()
		return
	case w.passed != nil && w.passed.last != nil:
		w.number-- // of the event that is not sent
	case !w.began:
		w.began = true
		w.ended = true
		w.passed = nil
		w.to.refuse(fault)
		return
	}
	w.ended = true
	w.out.Status = "failed"
	if scrollback.CodeOf(err) == scrollback.Canceled {
		w.out.Status = "cancelled"
	}
	w.out.Error = &responseFault{failureCode(fault), fault.Message}
	if w.streamed && !w.to.endsOnce() {
		w.emitError(fault)
	}
	if w.passed != nil && w.passed.created != nil {
		w.failPassed()
		return
	}
	w.emit(responseEvent{Type: "response.failed", Response: &w.out})
}

// errorEvent is an error in a stream.
type errorEvent struct {
	Type    string  `json:"type"`
	Number  int     `json:"sequence_number"`
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Param   *string `json:"param"`
}

func (w *responseWriter) emitError(f faces.Fault) {
	e := errorEvent{Type: "error", Number: w.number, Code: failureCode(f), Message: f.Message}
	w.number++
	if f.Param != "" {
		e.Param = &f.Param
	}
	if data, err := json.Marshal(e); err == nil {
		w.to.event(e.Type, data)
	}
}

// failureCode returns the code of a failure in the words of the API.
func failureCode(f faces.Fault) string {
	switch {
	case f.Code == string(scrollback.OverBudget):
		return "context_length_exceeded"
	case f.Status == http.StatusTooManyRequests:
		return "rate_limit_exceeded"
	}
	return "server_error"
}

// finish ends what nothing has ended: a response of a model's server that is no stream, or a stream without its end.
func (w *responseWriter) finish() {
	p := w.passed
	if p == nil || w.ended {
		return
	}
	if p.last != nil {
		w.endPassed()
		return
	}
	if !p.streamed {
		w.ended = true
		w.to.pass(p.head, p.of, p.body)
		return
	}
	w.Fail(scrollback.Errorf(scrollback.Unavailable, "openai", i18n.StreamWasCut).WithReason(scrollback.ErrUpstream))
}
