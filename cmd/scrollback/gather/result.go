package gather

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Result is what an import brought, or would bring: the one shape of import --json, whatever
// was read. Tools are set where tools' own files were read, and Sources say what came of each
// thing that was named or found.
type Result struct {
	DryRun bool `json:"dry_run,omitempty"`
	transfer.ImportResult
	Tools   []collect.Found `json:"tools,omitempty"`
	Sources []Source        `json:"sources"`

	found collect.Report
	shown bool // a person was told of it meanwhile

	counts map[scrollback.ConversationID]int64 // new messages of the conversations of all sources
	unread struct {                            // in a dry run: what would be read of them
		conversations int
		messages      int64
	}
}

// countConversations takes the result's conversations, each once however many files have a part of it.
func (r *Result) countConversations() {
	if r.counts == nil {
		r.counts = map[scrollback.ConversationID]int64{}
	}
	for _, c := range r.Conversations {
		r.counts[c.ID] += c.Messages
	}
}

// Source is what came of one source. In a dry run the counts are of what would be read.
type Source struct {
	Source        string `json:"source"`
	Conversations int    `json:"conversations"` // that it has, or of which it has a part; each once
	Messages      int64  `json:"messages"`      // that are new here
	Error         *Fault `json:"error,omitempty"`
}

// Fault is why a source could not be read, or not all of it.
type Fault struct {
	Code    scrollback.Code `json:"code"`
	Message string          `json:"message"`
}

// NewResult returns a result with nothing in it.
func NewResult(dry bool) Result {
	return Result{DryRun: dry, ImportResult: transfer.ImportResult{Conversations: []transfer.Imported{},
		Skipped: []transcript.Bad{}}, Sources: []Source{}}
}

// LoadedResult returns the result of a file of one format, with its name as it was given.
func LoadedResult(name string, out transfer.ImportResult) Result {
	r := NewResult(false)
	for i, c := range out.Conversations {
		switch {
		case c.Source == "" || c.Source == filepath.Base(name):
			out.Conversations[i].Source = name
		default: // a file in a zip
			out.Conversations[i].Source = filepath.Join(name, filepath.FromSlash(c.Source))
		}
	}
	r.Add(out)
	return r
}

// SurveyResult returns the result of a dry run of a file of one format, with its name as it was given.
func SurveyResult(name string, bytes int64, s transfer.Survey) Result {
	r := NewResult(true)
	f := collect.Found{Tool: s.Format, Places: []string{name}, Sessions: 1, New: 1, Conversations: s.Conversations,
		Messages: s.Messages,
		Bytes:    bytes, Masked: s.Masked, Left: s.Left, BadLines: len(s.Skipped) + s.MoreSkipped,
		MoreProblems: s.MoreSkipped}
	for _, b := range s.Skipped {
		f.Problems = append(f.Problems, collect.Problem{Place: name, Line: b.Line, Reason: b.Reason})
	}
	r.addSurvey(collect.Report{DryRun: true, Tools: []collect.Found{f}})
	return r
}

// IsEmpty reports whether nothing was found, not even something that failed.
func (r Result) IsEmpty() bool {
	return len(r.Conversations) == 0 && len(r.Skipped) == 0 && len(r.Tools) == 0
}

// CloseSource says of the result that it is that of a source, and why it failed, if it did.
func (r *Result) CloseSource(p Program, name string, err error) {
	r.countConversations()
	s := Source{Source: name, Conversations: len(r.counts)}
	for _, n := range r.counts {
		s.Messages += n
	}
	if r.DryRun {
		for _, f := range r.Tools {
			r.unread.conversations += f.Conversations
			r.unread.messages += f.Messages
		}
		s.Conversations += r.unread.conversations
		s.Messages += r.unread.messages
	}
	if err != nil {
		s.Error = &Fault{scrollback.CodeOf(err), columns.StripControls(p.Explain(err))}
	}
	r.Sources = append(r.Sources, s)
}

// SkipFile says why a file was passed over that nobody named.
func (r *Result) SkipFile(p Program, name string, why error) {
	r.Add(transfer.ImportResult{Skipped: []transcript.Bad{{Reason: columns.StripControls(p.Explain(why)), Source: name}}})
}

// AddResult adds the result of another source.
func (r *Result) AddResult(o Result) {
	r.Add(o.ImportResult)
	if r.counts == nil {
		r.counts = map[scrollback.ConversationID]int64{}
	}
	for id, n := range o.counts {
		r.counts[id] += n
	}
	r.unread.conversations += o.unread.conversations
	r.unread.messages += o.unread.messages
	r.found.Add(o.found)
	r.Tools = r.found.Tools
	r.Sources = append(r.Sources, o.Sources...)
}

// IsExplained reports whether showing the result says why sessions of tools failed.
func (r Result) IsExplained() bool { return r.found.Failed() > 0 && !r.IsEmpty() && !r.shown }

// Failed counts the sources that failed.
func (r Result) Failed() (n int) {
	for _, s := range r.Sources {
		if s.Error != nil {
			n++
		}
	}
	return n
}

// ShowResult prints a result for a person.
func (p Program) ShowResult(w io.Writer, r Result) error {
	switch {
	case r.shown:
		return nil
	case len(r.found.Tools) > 0 || r.DryRun:
		return p.showFound(w, r.found)
	}
	return p.ShowImported(w, r.ImportResult)
}

// ShowSum prints what came of several sources.
func (p Program) ShowSum(w io.Writer, r Result) error {
	t := p.Texts
	one := i18n.CountOneNewMessage
	many := i18n.CountNewMessages
	conversations := 0
	messages := int64(0)
	same := 0
	for _, n := range r.counts {
		if messages += n; n > 0 {
			conversations++
		} else {
			same++
		}
	}
	if r.DryRun {
		one = i18n.CountOneMessage
		many = i18n.CountMessages
		conversations = r.unread.conversations
		messages = r.unread.messages
	}
	sources := func(n int) string { return t.Count(int64(n), i18n.CountOneSource, i18n.CountSources) }
	line := t.Say(i18n.ImportSumNothingNew, sources(len(r.Sources)))
	if messages > 0 {
		line = t.Say(i18n.ImportSum, sources(len(r.Sources)), t.Count(messages, one, many),
			t.Count(int64(conversations), i18n.CountOneConversation, i18n.CountConversations))
	}
	if same > 0 {
		line += t.Say(i18n.ImportSumHere, t.Count(int64(same), i18n.CountOneWasHere, i18n.CountWereHere))
	}
	if n := r.Failed(); n > 0 {
		line += t.Say(i18n.ImportSumFailed, sources(n))
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// addSession adds what came of a session of a tool.
func (r *Result) addSession(path string, ch collect.Change) {
	out := ch.ImportResult
	out.Conversations = slices.Clone(out.Conversations)
	out.Skipped = slices.Clone(out.Skipped)
	file := sessionFile(path, ch)
	for i := range out.Conversations {
		out.Conversations[i].Tool = ch.Tool
		out.Conversations[i].Source = file
	}
	for i := range out.Skipped {
		out.Skipped[i].Source = file
	}
	r.Add(out)
}

// addSurvey takes what a sweep found: what could not be read at all, and in a dry run all that
// it has to say.
func (r *Result) addSurvey(found collect.Report) {
	r.found = found
	r.Tools = found.Tools
	for _, f := range found.Tools {
		for _, b := range f.Problems {
			if b.Line > 0 && !found.DryRun {
				continue // its session has told
			}
			r.Add(transfer.ImportResult{Skipped: []transcript.Bad{{Line: b.Line, Reason: b.Reason,
				Source: sessionFile("", collect.Change{Place: b.Place, Session: b.Session})}}})
		}
		if found.DryRun {
			r.Add(transfer.ImportResult{Left: f.Left, Deleted: f.Deleted, Held: f.Held > 0})
		}
	}
}

// sessionFile returns the file of a session; path is what was named, which a session in a zip is in.
func sessionFile(path string, ch collect.Change) string {
	place := ch.Place
	if place == "" {
		place = path
	}
	name := filepath.FromSlash(ch.Session)
	if name == "" || place == name || strings.HasSuffix(place, string(filepath.Separator)+name) {
		return place // it is the place
	}
	return filepath.Join(place, name)
}
