package openai

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/toolform"
)

// itemList is a page of items.
type itemList struct {
	Object string `json:"object"`
	Data   []any  `json:"data"`
	First  string `json:"first_id"`
	Last   string `json:"last_id"`
	More   bool   `json:"has_more"`
}

// inputItem is an item of a history as it is listed.
type inputItem struct {
	Type      string      `json:"type"`
	ID        string      `json:"id"`
	Status    string      `json:"status"`
	Role      string      `json:"role,omitempty"`
	Content   []inputPart `json:"content,omitempty"`
	CallID    string      `json:"call_id,omitempty"`
	Namespace string      `json:"namespace,omitempty"`
	Name      string      `json:"name,omitempty"`
	Arguments *string     `json:"arguments,omitempty"`
	Input     *string     `json:"input,omitempty"`
	Output    *string     `json:"output,omitempty"`
}

// inputPart is a part of a message as it is listed.
type inputPart struct {
	Type        string `json:"type"`
	Text        string `json:"text,omitempty"`
	ImageURL    string `json:"image_url,omitempty"`
	FileID      string `json:"file_id,omitempty"`
	Detail      string `json:"detail,omitempty"`
	Filename    string `json:"filename,omitempty"`
	Annotations *[]any `json:"annotations,omitempty"`
}

// listInput lists what an answer was given to, newest first unless asked otherwise.
func (f responsesFace) listInput(w http.ResponseWriter, r *http.Request) {
	found := f.find(w, r)
	if found == nil {
		return
	}
	v := f.o.View(r)
	turn, err := found.TurnOf(r.Context(), v)
	if err != nil {
		refuse(w, err)
		return
	}
	answers := func(m scrollback.Message) bool {
		return m.Seq > turn.LastSeq || m.TurnID == turn.ID && m.Role == scrollback.RoleAssistant
	}
	list, err := listItems(r.Context(), v, itemQuery{of: found.Head.Conversation, branch: turn.Branch,
		skip: answers}, r)
	if err != nil {
		refuse(w, err)
		return
	}
	writeObject(w, list)
}

// itemQuery says which items are listed.
type itemQuery struct {
	of     scrollback.ConversationID
	branch scrollback.BranchID
	skip   func(scrollback.Message) bool
}

// maxItems is how many items a page has at most, defaultItems how many unless asked otherwise.
const (
	maxItems     = 100
	defaultItems = 20
)

// listItems returns a page of the items of a path.
func listItems(ctx context.Context, v *engine.View, q itemQuery, r *http.Request) (*itemList, error) {
	p, err := readPaging(r)
	if err != nil {
		return nil, err
	}
	tools, err := readTools(ctx, v, q.of)
	if err != nil {
		return nil, err
	}
	out := &itemList{Object: "list", Data: []any{}}
	for {
		page, err := v.Turns().Page(ctx, q.of, p.query(q.branch))
		if err != nil {
			return nil, err
		}
		messages := page.Messages
		if !p.oldest {
			slices.Reverse(messages)
		}
		for _, m := range messages {
			if q.skip(m) {
				continue
			}
			items := itemsOf(m, tools)
			if !p.oldest {
				slices.Reverse(items)
			}
			for _, it := range items {
				if m.Seq == p.seq && p.passes(it) {
					continue
				}
				if len(out.Data) == p.limit {
					out.More = true
					return out, nil
				}
				out.add(it)
			}
		}
		if len(messages) == 0 {
			return out, nil
		}
		p.move(messages[len(messages)-1].Seq)
	}
}

func (l *itemList) add(it inputItem) {
	if len(l.Data) == 0 {
		l.First = it.ID
	}
	l.Last = it.ID
	l.Data = append(l.Data, it)
}

// paging is where a page begins, and which way it goes.
type paging struct {
	oldest bool // first
	limit  int
	seq    int64 // of the message whose item came last; 0 for none
	part   int
	from   int64 // behind this message, or before it
}

func readPaging(r *http.Request) (paging, error) {
	q := r.URL.Query()
	p := paging{oldest: q.Get("order") == "asc", limit: defaultItems}
	if s := q.Get("limit"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > maxItems {
			return p, scrollback.ParamErrorf("openai", "limit", i18n.FieldOutOfRange, "limit")
		}
		p.limit = n
	}
	s := q.Get("after")
	if s == "" {
		return p, nil
	}
	parts := strings.Split(s, "_")
	if len(parts) == 4 {
		seq, err := strconv.ParseInt(parts[2], 10, 64)
		part, err2 := strconv.Atoi(parts[3])
		if err == nil && err2 == nil && seq > 0 {
			p.seq = seq
			p.part = part
			p.from = seq - 1
			if !p.oldest {
				p.from = seq + 1
			}
			return p, nil
		}
	}
	return p, scrollback.ParamErrorf("openai", "after", i18n.FieldOutOfRange, "after")
}

// query returns the next page of messages.
func (p *paging) query(b scrollback.BranchID) scrollback.PageQuery {
	q := scrollback.PageQuery{Branch: b, Limit: maxItems}
	if p.oldest {
		q.After = &p.from
	} else {
		q.Before = p.from
	}
	return q
}

func (p *paging) move(seq int64) { p.from = seq }

// passes reports whether an item of the message that the page begins in is none of it.
func (p *paging) passes(it inputItem) bool {
	n, err := strconv.Atoi(it.ID[strings.LastIndex(it.ID, "_")+1:])
	return err == nil && (p.oldest && n <= p.part || !p.oldest && n >= p.part)
}

// itemsOf returns a message as items: its text and files together, each call and each result alone. Calls have the form
// that the client's tools have.
func itemsOf(m scrollback.Message, tools []scrollback.Tool) []inputItem {
	var out []inputItem
	id := func(begins string) string {
		return fmt.Sprintf("%s_%s_%d_%d", begins, strings.ReplaceAll(string(m.ID), "-", ""), m.Seq, len(out))
	}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.ToolCall:
			name, form := findForm(tools, p.Name)
			it := inputItem{Type: "function_call", ID: id("fc"), Status: itemDone, CallID: p.ID,
				Namespace: form.Namespace, Name: name}
			if form.Text {
				text := toolform.Text(p.Arguments)
				it.Type = "custom_tool_call"
				it.ID = id("ctc")
				it.Input = &text
			} else {
				arguments := string(p.Arguments)
				it.Arguments = &arguments
			}
			out = append(out, it)
			continue
		case scrollback.ToolResult:
			text := p.Text
			it := inputItem{Type: "function_call_output", ID: id("fco"), Status: itemDone, CallID: p.CallID, Output: &text}
			if _, form := findForm(tools, p.Name); form.Text {
				it.Type = "custom_tool_call_output"
				it.ID = id("ctco")
			}
			out = append(out, it)
			continue
		default:
		}
		part, ok := partOf(m.Role, p)
		if !ok {
			continue
		}
		last := len(out) - 1
		if last < 0 || out[last].Type != "message" {
			out = append(out, inputItem{Type: "message", ID: id("msg"), Status: itemDone, Role: string(m.Role)})
			last++
		}
		out[last].Content = append(out[last].Content, part)
	}
	return out
}

// partOf returns a part of a message as it is listed, and whether it is.
func partOf(role scrollback.Role, p scrollback.Part) (inputPart, bool) {
	switch p := p.(type) {
	case scrollback.Text:
		if role == scrollback.RoleAssistant {
			return inputPart{Type: "output_text", Text: p.Text, Annotations: &[]any{}}, true
		}
		return inputPart{Type: "input_text", Text: p.Text}, true
	case scrollback.Image:
		return inputPart{Type: "input_image", ImageURL: p.URL, FileID: string(p.Artifact), Detail: "auto"}, true
	case scrollback.File:
		return inputPart{Type: "input_file", FileID: string(p.Artifact), Filename: p.Name}, true
	default:
		return inputPart{}, false
	}
}
