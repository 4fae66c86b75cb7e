package terminal

import (
	"strconv"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/terminal/columns"
)

// searched notes a search of the web, and keeps its pages to be listed under the answer.
func (p *Printer) searched(s scrollback.Search) {
	known := false
	for i := range p.searches {
		if p.searches[i].Query == s.Query {
			p.searches[i], known = s, true
		}
	}
	if !known {
		p.searches = append(p.searches, s)
	}
	switch t := p.Texts.Web; {
	case s.Error != "":
		p.Note(t.Failed, columns.Plain(s.Error))
	case !known && s.Query != "":
		p.Note(t.Searched, columns.Clip(s.Query, noteWidth))
	}
}

// sources lists the pages that the turn's searches found.
func (p *Printer) sources() {
	n, seen := 0, map[string]bool{}
	for _, s := range p.searches {
		for _, r := range s.Results {
			if seen[r.URL] {
				continue
			}
			seen[r.URL] = true
			if n++; n == 1 {
				p.Note("%s", p.Texts.Web.Sources)
			}
			p.Note("%3s %s", strconv.Itoa(n)+".", columns.Clip(r.Title, sourceWidth))
			p.Note("    %s", columns.Plain(r.URL))
		}
		if len(s.Results) == 0 && s.Error == "" {
			p.Note("%s", p.Texts.Web.Nothing)
		}
	}
}

// sourceWidth is how much of a title is shown, in columns.
const sourceWidth = 100
