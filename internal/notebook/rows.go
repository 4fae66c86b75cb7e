package notebook

import (
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// Row is a cell as a list shows it. Line is the first line of its text, and Answer that of
// the newest text that was said to it; Messages counts what was said to it, and Calls the
// calls among that.
type Row struct {
	Cell     int             `json:"cell"` // from 1
	ID       string          `json:"id,omitempty"`
	Role     scrollback.Role `json:"role"`
	Prompt   bool            `json:"prompt"` // it can be run
	Line     string          `json:"line"`
	Messages int             `json:"messages"`
	Calls    int             `json:"calls,omitempty"`
	Answer   string          `json:"answer,omitempty"`
	Cut      bool            `json:"interrupted,omitempty"`
	Stale    bool            `json:"stale,omitempty"`
}

// Rows lists the cells of a notebook.
func (f *File) Rows() []Row {
	out := []Row{}
	for i, c := range f.Cells() {
		row := Row{Cell: i + 1, ID: c.ID, Role: c.Role, Prompt: isPrompt(c), Line: firstLine(c.Text),
			Messages: len(c.Interaction), Stale: c.Stale}
		if row.Line == "" && len(c.Images) > 0 {
			row.Line = "(image)"
		}
		for _, e := range c.Interaction {
			row.Calls += len(e.Message.Parts.Calls())
			row.Cut = e.Message.Status == scrollback.StatusInterrupted
			if line := firstLine(e.Message.Parts.Text()); line != "" && e.Message.Role == scrollback.RoleAssistant {
				row.Answer = line
			}
		}
		out = append(out, row)
	}
	return out
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}
