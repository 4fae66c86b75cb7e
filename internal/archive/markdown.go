package archive

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

// markdown1 writes a leaf of renderer 1, or of renderer 2, which is the same but for the arguments of calls.
type markdown1 struct {
	bytes.Buffer
	plain bool // renderer 2: arguments without escapes that they can do without
}

func title1(seg scrollback.Segment) []byte {
	return fmt.Appendf(nil, "# Conversation %s, messages %d-%d\n\n- ref: %s\n- branch: %s\n",
		quoteLine(string(seg.Conversation)),
		seg.FirstSeq, seg.LastSeq, quoteLine(string(scrollback.HistoryRef(seg.ID))), quoteLine(string(seg.Branch)))
}

func leaf1(seg scrollback.Segment, ms []scrollback.Message) *renderedSheet {
	return (&markdown1{}).renderLeaf(seg, ms)
}

func leaf2(seg scrollback.Segment, ms []scrollback.Message) *renderedSheet {
	return (&markdown1{plain: true}).renderLeaf(seg, ms)
}

func (m *markdown1) renderLeaf(seg scrollback.Segment, ms []scrollback.Message) *renderedSheet {
	m.Grow(int(min(max(seg.Bytes, 0), 2*scrollback.MaxSegmentBytes)))
	m.Write(title1(seg))
	if len(ms) > 0 {
		fmt.Fprintf(m, "- time: %s to %s\n", formatTime(ms[0].CreatedAt), formatTime(ms[len(ms)-1].CreatedAt))
	}
	fmt.Fprintf(m, "- messages: %d\n", len(ms))
	marks := make([]messageMark, 0, len(ms))
	for i := range ms {
		marks = append(marks, m.writeMessage(&ms[i]))
	}
	return &renderedSheet{text: m.Bytes(), marks: marks}
}

func table1(seg scrollback.Segment, children []scrollback.Segment) *renderedSheet {
	return renderTable(seg, children, func(c *scrollback.Segment) string { return scrollback.Hint(c.Summary) })
}

// table2 says of each segment what was said first in it.
func table2(seg scrollback.Segment, children []scrollback.Segment) *renderedSheet {
	return renderTable(seg, children, func(c *scrollback.Segment) string {
		return cmp.Or(scrollback.Gist(c.Placeholder), scrollback.Hint(c.Summary))
	})
}

func renderTable(seg scrollback.Segment, children []scrollback.Segment,
	about func(*scrollback.Segment) string) *renderedSheet {
	var m markdown1
	m.Write(title1(seg))
	count := 0
	for i := range children {
		count += children[i].Messages
	}
	if n := len(children); n > 0 {
		fmt.Fprintf(&m, "- time: %s to %s\n", formatTime(children[0].From), formatTime(children[n-1].To))
	}
	fmt.Fprintf(&m, "- messages: %d\n- segments: %d, each read by its own ref\n\n", count, len(children))
	m.WriteString("| ref | messages | count | from | to | summary |\n|---|---|---|---|---|---|\n")
	for i := range children {
		c := &children[i]
		fmt.Fprintf(&m, "| %s | %d-%d | %d | %s | %s | %s |\n", quoteLine(string(scrollback.HistoryRef(c.ID))),
			c.FirstSeq, c.LastSeq, c.Messages, formatTime(c.From), formatTime(c.To), quoteCell(about(c)))
	}
	return &renderedSheet{text: m.Bytes()}
}

// writeMessage writes one message and says where it ended.
func (m *markdown1) writeMessage(msg *scrollback.Message) messageMark {
	k := messageMark{seq: msg.Seq, start: m.Len(), artifacts: listMentions(msg.Parts)}
	fmt.Fprintf(m, "\n## #%d %s · %s", msg.Seq, quoteLine(string(msg.Role)), formatTime(msg.CreatedAt))
	m.writeDetail("name", msg.Name)
	m.writeDetail("model", msg.Model)
	if msg.Status != scrollback.StatusComplete {
		m.writeDetail("status", string(msg.Status))
	}
	m.WriteString("\n")
	for _, p := range msg.Parts {
		m.WriteString("\n")
		if r, ok := p.(scrollback.ToolResult); ok && r.Recall {
			k.recalls = append(k.recalls, m.Len())
			fmt.Fprintf(m, "recall result of %s, %d bytes, not repeated here\n", quoteLine(r.Name), len(r.Text))
			continue
		}
		if t, ok := p.(scrollback.Text); ok && t.IsRecall() {
			k.recalls = append(k.recalls, m.Len())
			fmt.Fprintf(m, "recall result of %s, %d bytes, not repeated here\n", quoteLine(t.Reference.Source), len(t.Text))
			continue
		}
		if c, ok := p.(scrollback.ToolCall); ok && c.IsRecall() {
			k.recalls = append(k.recalls, m.Len())
			fmt.Fprintf(m, "recall call of %s · id %s · %s\n", quoteLine(c.Name), quoteLine(c.ID),
				quoteLine(m.arguments(c)))
			continue
		}
		m.writePart(p)
	}
	k.end = m.Len()
	return k
}

func (m *markdown1) writePart(p scrollback.Part) {
	switch p := p.(type) {
	case scrollback.Text:
		m.writeVerbatim(p.Text)
	case scrollback.Image:
		fmt.Fprintf(m, "**Image** %s", quoteLine(p.Location()))
		m.writeAttachment(p.MediaType, p.Name, p.Size)
		if p.Width > 0 && p.Height > 0 {
			fmt.Fprintf(m, " · %dx%d", p.Width, p.Height)
		}
		m.WriteString("\n")
	case scrollback.File:
		fmt.Fprintf(m, "**File** %s", quoteLine(string(scrollback.ArtifactRef(p.Artifact))))
		m.writeAttachment(p.MediaType, p.Name, p.Size)
		m.WriteString("\n")
	case scrollback.ToolCall:
		fmt.Fprintf(m, "**Tool call** %s", quoteLine(p.Name))
		m.writeDetail("id", p.ID)
		m.WriteString("\n\n")
		m.writeFence("json", m.arguments(p))
	case scrollback.ToolResult:
		m.writeResult(p)
	case scrollback.Reasoning:
		m.WriteString("**Reasoning**\n\n")
		m.writeFence("", p.Text)
	}
}

// arguments returns those of a call as they are shown.
func (m *markdown1) arguments(c scrollback.ToolCall) string {
	if m.plain {
		return string(plainjson.Unescape(c.Arguments))
	}
	return string(c.Arguments)
}

func (m *markdown1) writeResult(r scrollback.ToolResult) {
	fmt.Fprintf(m, "**Tool result** %s", quoteLine(r.Name))
	m.writeDetail("call", r.CallID)
	if r.IsError {
		m.WriteString(" · error")
	}
	m.WriteString("\n\n")
	if r.Artifact == "" {
		m.writeFence("", r.Text)
		return
	}
	fmt.Fprintf(m, "The whole output is at %s; the %d bytes of it kept inline are not repeated here.\n",
		quoteLine(string(scrollback.ArtifactRef(r.Artifact))), len(r.Text))
}

func (m *markdown1) writeAttachment(mediaType, name string, size int64) {
	m.writeDetail("", mediaType)
	m.writeDetail("name", name)
	fmt.Fprintf(m, " · %d bytes", size)
}

func (m *markdown1) writeDetail(label, value string) {
	if value == "" {
		return
	}
	m.WriteString(" · ")
	if label != "" {
		m.WriteString(label + " ")
	}
	m.WriteString(quoteLine(value))
}

func (m *markdown1) writeVerbatim(s string) {
	m.WriteString(s)
	if !strings.HasSuffix(s, "\n") {
		m.WriteString("\n")
	}
}

// writeFence writes s between marks longer than any run of backticks in it.
func (m *markdown1) writeFence(kind, s string) {
	longest := 2
	run := 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	marks := strings.Repeat("`", longest+1)
	m.WriteString(marks + kind + "\n")
	if s != "" {
		m.writeVerbatim(s)
	}
	m.WriteString(marks + "\n")
}

// listMentions lists the artifacts beside a message that may be text. What a recall
// result mentions, another message mentions too.
func listMentions(ps scrollback.Parts) []scrollback.ArtifactID {
	var ids []scrollback.ArtifactID
	for _, p := range ps {
		switch p := p.(type) {
		case scrollback.ToolResult:
			if p.Artifact != "" && !p.Recall {
				ids = append(ids, p.Artifact)
			}
		case scrollback.File:
			ids = append(ids, p.Artifact)
		}
	}
	return ids
}

func formatTime(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }

// quoteLine quotes what could break out of its line.
func quoteLine(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// quoteCell makes s fit a cell of a table.
func quoteCell(s string) string { return strings.ReplaceAll(quoteLine(s), "|", `\|`) }
