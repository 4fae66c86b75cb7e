// Package shown is what is said as people are shown it: messages, and the answer
// of a running turn, with their text as HTML beside it.
//
// Words it adds: drawn (a text that has its HTML beside it).
//
// Invariants: the text is always there, and HTML only for clients that asked for it;
// blocks of an answer join up from its beginning, and each is sent behind the
// event that closed it; how much is drawn for one page is bounded. What a person
// wrote keeps its line breaks. Texts of tools, and those that were read for a
// prompt, have no HTML.
//
// It knows events, messages and Markdown, and nothing of HTTP.
package shown

import (
	"iter"
	"strconv"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/server/markdown"
)

// maxPage is how many characters are drawn of one page of messages; those behind them
// come as text alone.
const maxPage = 2_000_000

// MessagePage is a page of messages as the root has it, with the HTML of those that have it.
type MessagePage struct {
	Messages []ShownMessage                            `json:"messages"`
	Next     *int64                                    `json:"next"`
	Turns    []scrollback.TurnEntry                    `json:"turns"`
	Running  *scrollback.TurnID                        `json:"running,omitempty"`
	Meta     map[scrollback.TurnID]scrollback.TurnMeta `json:"meta,omitempty"`
	Without  []int64                                   `json:"without,omitempty"`
}

// ShownMessage is a message. HTML has one entry for each of its parts: that of a text, or null.
type ShownMessage struct {
	scrollback.Message
	HTML []*string `json:"html,omitempty"`
}

// PlainPage returns a page without HTML.
func PlainPage(p scrollback.MessagePage) MessagePage {
	out := MessagePage{Messages: make([]ShownMessage, len(p.Messages)), Next: p.Next, Turns: p.Turns, Running: p.Running,
		Meta: p.Meta, Without: p.Without}
	for i, m := range p.Messages {
		out.Messages[i].Message = m
	}
	return out
}

// DrawnPage returns a page with HTML; head is the largest number that a mention may lead to.
func DrawnPage(r *markdown.Renderer, p scrollback.MessagePage, head int64) MessagePage {
	out := PlainPage(p)
	left := maxPage
	light := markdown.PageLight()
	for i := range out.Messages {
		m := &out.Messages[i]
		if m.Role != scrollback.RoleUser && m.Role != scrollback.RoleAssistant {
			continue
		}
		htmls := make([]*string, len(m.Parts))
		some := false
		for n, part := range m.Parts {
			text, ok := part.(scrollback.Text)
			if !ok || text.Reference != nil {
				continue
			}
			if left -= utf8.RuneCountInString(text.Text); left < 0 {
				break
			}
			html := r.RenderHTML(text.Text, markdown.Options{Conversation: string(m.ConversationID), Head: head,
				Breaks: m.Role == scrollback.RoleUser,
				Prefix: strconv.FormatInt(m.Seq, 10) + "p" + strconv.Itoa(n), Light: light})
			htmls[n] = &html
			some = true
		}
		if some {
			m.HTML = htmls
		}
	}
	return out
}

// BlockEvent is a closed block of the answer that is being written: characters At to before
// End of the step's content. Index counts them within the step. What follows the last block is open.
// It is sent without a number of its own.
type BlockEvent struct {
	Index int    `json:"index"`
	At    int    `json:"at"`
	End   int    `json:"end"`
	HTML  string `json:"html"`
}

// Frame is a block as it is sent.
type Frame struct {
	Type string `json:"type"`
	BlockEvent
}

// AnswerDrawer draws the answer of a turn, step by step, from its events.
type AnswerDrawer struct {
	r    *markdown.Renderer
	o    markdown.Options
	text *markdown.Stream
	sent []Frame // of this step
	gap  bool    // a piece is missing: nothing is drawn until the step is known from its beginning
}

// NewAnswerDrawer begins before the first event of a turn.
func NewAnswerDrawer(r *markdown.Renderer, id scrollback.ConversationID) *AnswerDrawer {
	a := &AnswerDrawer{r: r, o: markdown.Options{Conversation: string(id), Prefix: "live"}}
	a.beginStep()
	return a
}

func (a *AnswerDrawer) beginStep() {
	a.text = a.r.NewStream(a.o)
	a.sent = nil
	a.gap = false
}

// ClosedBlocks returns the closed blocks of the step.
func (a *AnswerDrawer) ClosedBlocks() []Frame { return a.sent }

// CatchUp takes the events of a turn until number n, which the client has seen already: blocks join
// up from the beginning of the step.
func (a *AnswerDrawer) CatchUp(events iter.Seq2[engine.SequencedEvent, error], n int) {
	if n <= 0 {
		return
	}
	for ev, err := range events {
		if _, whole := ev.Event.(scrollback.SnapshotEvent); err != nil || whole || ev.N > n {
			return // an error will be met again, and a snapshot sent again
		}
		a.TakeEvent(ev.Event)
		if ev.N == n {
			return // the next one may be long in coming
		}
	}
}

// TakeEvent takes the next event, and returns the blocks that it closes.
func (a *AnswerDrawer) TakeEvent(ev scrollback.Event) []Frame {
	switch ev := ev.(type) {
	case scrollback.TurnEvent:
		a.o.Head = ev.Seq
		a.beginStep()
	case scrollback.MessageEvent: // the step is stored
		a.o.Head = ev.Seq
		a.beginStep()
	case scrollback.SnapshotEvent:
		a.beginStep()
		return a.addText(ev.Content)
	case scrollback.DeltaEvent:
		if ev.At == 0 {
			a.beginStep()
		}
		if a.gap = a.gap || ev.At != a.text.CharCount(); !a.gap {
			return a.addText(ev.Content)
		}
	}
	return nil
}

func (a *AnswerDrawer) addText(piece string) []Frame {
	before := len(a.sent)
	for _, b := range a.text.AddText(piece) {
		a.sent = append(a.sent, Frame{"block", BlockEvent{Index: b.Index, At: b.At, End: b.End, HTML: b.HTML}})
	}
	return a.sent[before:]
}
