package terminal

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/markdown"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
)

// Pages writes messages as they are stored.
type Pages struct {
	Texts    words.Texts
	Again    string                               // what to type to have a question answered again
	Ways     words.Ways                           // out of a refusal that comes again
	Look     markdown.Look                        // of answers; a width of 0 leaves them as they were written
	Whole    bool                                 // reasoning and results are not cut
	Artifact func(scrollback.Ref) (string, error) // the whole of a long result, where that is wanted
	Excluded []scrollback.Excluded                // runs of messages that the next request does not hold as they are
	Zone     *time.Location                       // of the times; nil for that of the machine
}

// maxClipped is how much of reasoning and of results is shown unless all is, in columns.
const maxClipped = 200

// WritePage writes a page of messages with the turns between them.
func (p Pages) WritePage(w io.Writer, page scrollback.MessagePage) error {
	for _, m := range page.Messages {
		for _, x := range p.Excluded {
			if x.FirstSeq == m.Seq && x.Ref != nil {
				fmt.Fprintf(w, "── %s · %s · %s\n\n", formatSpan(x.FirstSeq, x.LastSeq), p.Texts.Named("window-reason", x.Reason),
					*x.Ref)
			}
		}
		if err := p.writeMessage(w, m); err != nil {
			return err
		}
		for _, e := range page.TurnsAfter(m.Seq) {
			if err := p.writeUnanswered(w, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeMessage writes a message with all its parts.
func (p Pages) writeMessage(w io.Writer, m scrollback.Message) error {
	status := ""
	if m.Status != scrollback.StatusComplete {
		status = " · " + p.Texts.Named("message-status", string(m.Status))
	}
	fmt.Fprintf(w, "#%d %s · %s%s\n", m.Seq, p.Texts.Named("role", string(m.Role)),
		columns.FormatTime(m.CreatedAt, p.Zone), status)
	for _, part := range m.Parts {
		switch t := part.(type) {
		case scrollback.Text:
			p.writeText(w, t.Text, m.Role == scrollback.RoleAssistant)
		case scrollback.Reasoning:
			fmt.Fprintln(w, p.Texts.Say(i18n.PageReasoning, p.cutText(t.Text)))
		case scrollback.ToolCall:
			fmt.Fprintf(w, "→ %s %s\n", columns.StripControls(t.Name),
				columns.StripControls(string(plainjson.Unescape(t.Arguments))))
		case scrollback.ToolResult:
			p.writeResult(w, t)
		case scrollback.Image:
			fmt.Fprintln(w, p.Texts.Say(i18n.PageImage, columns.StripControls(t.Name), columns.StripControls(t.Location())))
		case scrollback.File:
			fmt.Fprintln(w, p.Texts.Say(i18n.PageFile, columns.StripControls(t.Name), scrollback.ArtifactRef(t.Artifact)))
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// writeText writes what was said; answers are Markdown.
func (p Pages) writeText(w io.Writer, text string, answer bool) {
	if !answer || p.Look.Width == 0 {
		fmt.Fprintln(w, columns.StripControls(text))
		return
	}
	fmt.Fprintln(w, strings.Join(p.Look.RenderRows(text), "\n"))
}

func (p Pages) cutText(text string) string {
	if p.Whole {
		return columns.StripControls(text)
	}
	return columns.ClipText(text, maxClipped)
}

// writeResult writes what a tool said. What is kept beside the message is read if all is wanted.
func (p Pages) writeResult(w io.Writer, t scrollback.ToolResult) {
	text := t.Text
	beside := ""
	if t.Artifact != "" {
		ref := scrollback.ArtifactRef(t.Artifact)
		beside = string(ref)
		if p.Whole && p.Artifact != nil {
			if whole, err := p.Artifact(ref); err == nil { // what cannot be read stays as it is, with its ref
				text = whole
				beside = ""
			}
		}
	}
	fmt.Fprintf(w, "← %s %s\n", columns.StripControls(t.Name), p.cutText(text))
	if beside != "" {
		fmt.Fprintln(w, "  "+p.Texts.Say(i18n.PageWhole, beside))
	}
}

// writeUnanswered writes a turn without a stored answer, as messages are written.
func (p Pages) writeUnanswered(w io.Writer, e scrollback.TurnEntry) error {
	state := p.Texts.State(e.State)
	fmt.Fprintf(w, "– %s · %s · %s\n", p.Texts.Named("role", string(scrollback.RoleAssistant)),
		columns.FormatTime(cmp.Or(e.EndedAt, e.StartedAt), p.Zone),
		state)
	if e.Reasoning != "" {
		fmt.Fprintln(w, p.Texts.Say(i18n.PageReasoning, p.cutText(e.Reasoning)))
	}
	if e.Content != "" {
		p.writeText(w, e.Content, true)
	}
	for _, c := range e.ToolCalls {
		fmt.Fprintf(w, "→ %s %s\n", columns.StripControls(c.Name),
			columns.StripControls(string(plainjson.Unescape(c.Arguments))))
	}
	for _, line := range p.Texts.TroubleOf(e, p.Again, p.Ways) {
		fmt.Fprintf(w, "! %s\n", line)
	}
	_, err := fmt.Fprintln(w)
	return err
}

// AnswerWriter returns a writer that shows answers as their blocks are complete, without drawing
// anything again, for a terminal that no chat is on.
func AnswerWriter(w io.Writer, look func() markdown.Look) io.Writer {
	return &markdown.Stream{Look: look, Open: func(string) {}, Done: func(rows []string) {
		fmt.Fprintln(w, strings.Join(rows, "\n"))
	}}
}
