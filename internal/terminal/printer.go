package terminal

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
)

// Printer shows the events of turns. Answer takes the model's words; Notes, one
// quiet line each, takes calls, compactions and faults; Faults, or Notes if it is nil, takes
// references that were not read; Reasoning, unless nil, what the model thinks. With JSON set, AnswerWriter takes every
// event as a line of JSON and the others nothing.
type Printer struct {
	Answer, Reasoning, Notes, Faults io.Writer
	JSON                             bool
	Texts                            words.Texts
	Again                            string                 // what to type to have a question answered again
	Ways                             words.Ways             // out of a refusal that comes again
	Saw                              func(scrollback.Event) // called after each event is shown; may be nil

	open     io.Writer // the one that took the last words; nil when they are over
	inLine   bool      // its line is unfinished
	failed   *scrollback.Failure
	done     scrollback.DoneEvent
	searches []scrollback.Search
	thought  string // the reasoning of the newest step, and whether anything else was said
	said     bool
	first    bool // the conversation's first turn, before anything was said about the window
	referred bool // what the prompt's references came to was shown
}

// RunTurn runs a turn to its end and shows it. When ctx ends the turn is stopped,
// what was written is saved, and the error is canceled. If the turn fails, the error
// is the one in its events.
func (p *Printer) RunTurn(ctx context.Context, v *engine.View, r engine.TurnRequest) error {
	p.failed = nil
	p.done = scrollback.DoneEvent{}
	p.searches = nil
	p.referred = false
	p.thought = ""
	p.said = false
	whole := context.WithoutCancel(ctx)
	turn, events, err := v.Begin(whole, r)
	if err != nil {
		return err
	}
	if r.WebSearch {
		p.PrintNote("%s", p.Texts.Say(i18n.WebSearching))
	}
	refused := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { refused <- v.Turns().Cancel(whole, r.Conversation, turn) })
	defer stop()
	var unread error
	for n, err := range events {
		if err != nil {
			return scrollback.Wrap(scrollback.Canceled, "terminal.Turn", err)
		}
		if unread == nil {
			if unread = p.showEvent(n.Event); unread != nil {
				_ = v.Turns().Cancel(whole, r.Conversation, turn) // fails only if the turn has just ended
			}
		}
		if p.Saw != nil {
			p.Saw(n.Event)
		}
	}
	if unread != nil { // the reply is saved as far as it came
		return scrollback.Wrap(scrollback.Canceled, "terminal.Turn", unread)
	}
	p.endLine()
	if p.thought != "" && !p.said && p.failed == nil && p.Reasoning == nil && !p.JSON { // what was thought is all there is
		p.PrintNote("%s", p.Texts.Say(i18n.ChatOnlyThought))
		if err := p.writeText(p.Answer, p.thought); err != nil {
			return scrollback.Wrap(scrollback.Canceled, "terminal.Turn", err)
		}
		p.endLine()
	}
	p.listSources()
	if reason := p.Texts.Finish(p.done.FinishReason); reason != "" && p.failed == nil {
		p.PrintNote("%s", reason)
	}
	switch {
	case p.failed != nil:
		if p.JSON {
			return scrollback.Errorf(p.failed.Code, "terminal.Turn", "%s", p.failed.Message)
		}
		return scrollback.Errorf(p.failed.Code, "terminal.Turn", "%s",
			strings.Join(p.Texts.Failure(*p.failed, p.Again, p.Ways), "\n  "))
	case p.done.Status == scrollback.TurnInterrupted:
		return scrollback.Errorf(scrollback.Canceled, "terminal.Turn", i18n.ChatInterrupted)
	}
	select {
	case err := <-refused: // it had just ended by itself
		return err
	default:
		return nil
	}
}

func (p *Printer) showEvent(ev scrollback.Event) error {
	switch ev := ev.(type) {
	case scrollback.ErrorEvent:
		p.failed = &ev.Failure
	case scrollback.DoneEvent:
		p.done = ev
	}
	if p.JSON {
		b, err := scrollback.EncodeEvent(ev)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.Answer, "%s\n", b)
		return err
	}
	switch ev := ev.(type) {
	case scrollback.DeltaEvent:
		p.said = true
		return p.writeText(p.Answer, ev.Content)
	case scrollback.ReasoningEvent:
		p.thought += ev.Content
		if p.Reasoning != nil {
			return p.writeText(p.Reasoning, ev.Content)
		}
	case scrollback.ToolCallEvent:
		p.thought = ""
		p.PrintNote("→ %s %s", columns.StripControls(ev.Name),
			columns.ClipText(string(plainjson.Unescape(ev.Arguments)), noteWidth))
	case scrollback.ToolResultEvent:
		if ev.Conversation != "" { // of a sub-agent
			p.PrintNote("← %s %s", columns.StripControls(ev.Name), ev.Conversation)
		}
	case scrollback.SearchEvent:
		p.noteSearch(ev.Search)
	case scrollback.TurnEvent:
		p.first = ev.Seq == 1
	case scrollback.MetaEvent:
		if p.first && ev.LimitFrom == scrollback.LimitAssumed {
			p.PrintNote("%s", p.Texts.Say(i18n.ChatAssumed, columns.StripControls(ev.Model), columns.FormatThousands(ev.Limit)))
		}
		p.first = false
		p.noteReferences(ev.References)
	case scrollback.CompactingEvent:
		p.PrintNote("%s", p.Texts.Say(i18n.ChatCompacting))
	case scrollback.CompactionEvent:
		if ev.Result == scrollback.ResultCompacted {
			p.PrintNote("%s", p.Texts.Say(i18n.ChatCompacted, ev.FirstSeq, ev.LastSeq, columns.FormatThousands(ev.TokensBefore),
				columns.FormatThousands(ev.TokensAfter)))
			if why := p.Texts.Extracted(ev.Receipt); why != "" {
				p.PrintNote("%s", why)
			}
		}
	}
	return nil
}

// noteWidth is how much of a call's arguments is shown, in columns.
const noteWidth = 160

// writeText adds a piece of running text; text of another kind starts a new line.
func (p *Printer) writeText(w io.Writer, text string) error {
	if text = columns.StripControls(text); text == "" {
		return nil
	}
	if p.open != w {
		p.endLine()
	}
	_, err := io.WriteString(w, text)
	p.open = w
	p.inLine = !strings.HasSuffix(text, "\n")
	return err
}

// textEnder is a writer that wants to know when a text is over.
type textEnder interface{ End() }

// endLine ends the running text.
func (p *Printer) endLine() {
	if e, ok := p.open.(textEnder); ok {
		e.End()
	} else if p.open != nil && p.inLine {
		fmt.Fprintln(p.open)
	}
	p.open = nil
}

// PrintNote writes one quiet line beside the answer.
func (p *Printer) PrintNote(format string, args ...any) {
	if !p.JSON {
		p.endLine()
		fmt.Fprintf(p.Notes, format+"\n", args...)
	}
}

// noteReferences notes each reference of the prompt that was not simply read.
func (p *Printer) noteReferences(all []scrollback.Reference) {
	if p.referred || len(all) == 0 || p.JSON {
		return
	}
	p.referred = true
	for _, r := range all {
		mark := "@[" + columns.ClipText(r.Mark, markWidth) + "]"
		if r.Kind == scrollback.ReferenceImage && strings.HasPrefix(r.Mark, "![") {
			mark = columns.ClipText(r.Mark, markWidth)
		}
		switch t := p.Texts; {
		case r.Error != "":
			p.endLine()
			w := p.Faults
			if w == nil {
				w = p.Notes
			}
			fmt.Fprintln(w, t.Say(i18n.ReferenceLine, mark, columns.ClipText(t.Reference(r.Error), noteWidth)))
		case r.SameAs > 0:
			p.PrintNote("%s", t.Say(i18n.ReferenceLine, mark, t.Say(i18n.ReferenceUnchanged, r.Version, r.SameAs)))
		case r.Note != "":
			p.PrintNote("%s", t.Say(i18n.ReferenceLine, mark, columns.ClipText(t.Reference(r.Note), noteWidth)))
		}
	}
}

// markWidth is how much of a reference is shown, in columns.
const markWidth = 80

// noteSearch notes a search of the web, and keeps its pages to be listed under the answer.
func (p *Printer) noteSearch(s scrollback.Search) {
	known := false
	for i := range p.searches {
		if p.searches[i].Query == s.Query {
			p.searches[i] = s
			known = true
		}
	}
	if !known {
		p.searches = append(p.searches, s)
	}
	switch t := p.Texts; {
	case s.Error != "":
		p.PrintNote("%s", t.Say(i18n.WebFailed, columns.StripControls(s.Error)))
	case !known && s.Query != "":
		p.PrintNote("%s", t.Say(i18n.WebSearched, columns.ClipText(s.Query, noteWidth)))
	}
}

// listSources lists the pages that the turn's searches found.
func (p *Printer) listSources() {
	n := 0
	seen := map[string]bool{}
	for _, s := range p.searches {
		for _, r := range s.Results {
			if seen[r.URL] {
				continue
			}
			seen[r.URL] = true
			if n++; n == 1 {
				p.PrintNote("%s", p.Texts.Say(i18n.WebSources))
			}
			p.PrintNote("%3s %s", strconv.Itoa(n)+".", columns.ClipText(r.Title, sourceWidth))
			p.PrintNote("    %s", columns.StripControls(r.URL))
		}
		if len(s.Results) == 0 && s.Error == "" {
			p.PrintNote("%s", p.Texts.Say(i18n.WebNothing))
		}
	}
}

// sourceWidth is how much of a title is shown, in columns.
const sourceWidth = 100
