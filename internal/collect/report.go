package collect

import (
	"cmp"
	"errors"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Report is what a sweep found and brought, or would bring.
type Report struct {
	DryRun bool    `json:"dry_run,omitempty"`
	Tools  []Found `json:"tools"`
}

// Found is what was found of one tool. Sessions are New, Changed, Unchanged, Excluded, Deleted or
// Failed; Held are those of which the newest answer waits until it is complete.
type Found struct {
	Tool      string   `json:"tool"`
	Places    []string `json:"places"`
	Sessions  int      `json:"sessions"`
	New       int      `json:"new"`
	Changed   int      `json:"changed"`
	Unchanged int      `json:"unchanged"`
	Excluded  int      `json:"excluded,omitempty"`
	Deleted   int      `json:"deleted,omitempty"` // here, after they were brought: they stay away
	Failed    int      `json:"failed,omitempty"`
	Held      int      `json:"held,omitempty"`
	Gone      int      `json:"gone,omitempty"` // that vanished where they were; what is here stays
	// that messages came to; in a dry run those that would be read
	Conversations int `json:"conversations"`
	// that are new here; in a dry run those that would be read
	Messages     int64          `json:"messages"`
	Bytes        int64          `json:"bytes"`                   // of the sessions that were read
	Masked       int            `json:"masked,omitempty"`        // secrets that were replaced by a mark
	Left         map[string]int `json:"left_out,omitempty"`      // what is not talk, by kind
	BadLines     int            `json:"bad_lines,omitempty"`     // that could not be read
	Problems     []Problem      `json:"problems,omitempty"`      // what could not be read, and why
	MoreProblems int            `json:"more_problems,omitempty"` // that are not listed

	told bool  // something that was read is a conversation here
	away error // why something that was read stays away

	// waiting are the sessions that could not be read and are left alone for a while, each with its
	// place: what is wrong with them still stands.
	waiting []Problem

	came map[scrollback.ConversationID]bool
}

// Problem is what could not be read, and why. Line is set if it is one line of a file.
type Problem struct {
	Place   string `json:"place"`
	Session string `json:"session,omitempty"`
	Line    int    `json:"line,omitempty"`
	Reason  string `json:"reason"`
}

// maxProblems bounds those that are listed, of a tool.
const maxProblems = 100

// Sessions counts those of all tools.
func (r Report) Sessions() (n int) {
	for _, f := range r.Tools {
		n += f.Sessions
	}
	return n
}

// IsSilent reports whether all sessions that were read had no talk, and none was known before.
func (r Report) IsSilent() bool {
	for _, f := range r.Tools {
		if f.told || f.Messages > 0 || f.Conversations > 0 || f.Unchanged+f.Changed+f.Excluded+f.Deleted+f.Held > 0 {
			return false
		}
	}
	return r.Sessions() > 0
}

// Away returns why nothing came of what was read, if all of it was deleted here.
func (r Report) Away() error {
	var away error
	for _, f := range r.Tools {
		if f.Deleted < f.Sessions {
			return nil
		}
		away = f.away
	}
	return away
}

// Failed counts the sessions and the places of all tools that could not be read.
func (r Report) Failed() (n int) {
	for _, f := range r.Tools {
		n += f.Failed
	}
	return n
}

// Problems counts what could not be read, lines apart.
func (r Report) Problems() (out []Problem) {
	for _, f := range r.Tools {
		for _, p := range f.Problems {
			if p.Line == 0 {
				out = append(out, p)
			}
		}
	}
	return out
}

// Add adds what another sweep found.
func (r *Report) Add(o Report) {
	r.DryRun = r.DryRun || o.DryRun
	for _, f := range o.Tools {
		sum := r.foundOf(f.Tool)
		sum.Places = append(sum.Places, f.Places...)
		for _, n := range []struct {
			to   *int
			more int
		}{{&sum.Sessions, f.Sessions}, {&sum.New, f.New}, {&sum.Changed, f.Changed}, {&sum.Unchanged, f.Unchanged},
			{&sum.Excluded, f.Excluded},
			{&sum.Deleted, f.Deleted}, {&sum.Failed, f.Failed}, {&sum.Held, f.Held}, {&sum.Gone, f.Gone},
			{&sum.Conversations, f.Conversations},
			{&sum.Masked, f.Masked}, {&sum.BadLines, f.BadLines}, {&sum.MoreProblems, f.MoreProblems}} {
			*n.to += n.more
		}
		for id := range f.came {
			if sum.came[id] {
				sum.Conversations-- // both have a part of it
				continue
			}
			if sum.came == nil {
				sum.came = map[scrollback.ConversationID]bool{}
			}
			sum.came[id] = true
		}
		sum.Messages += f.Messages
		sum.Bytes += f.Bytes
		sum.told = sum.told || f.told
		sum.away = cmp.Or(f.away, sum.away)
		sum.addLeft(f.Left)
		for _, p := range f.Problems {
			sum.addProblem(p)
		}
	}
	r.sortTools()
}

// foundOf returns what was found of a tool.
func (r *Report) foundOf(tool string) *Found {
	i := slices.IndexFunc(r.Tools, func(f Found) bool { return f.Tool == tool })
	if i < 0 {
		i = len(r.Tools)
		r.Tools = append(r.Tools, Found{Tool: tool, Places: []string{}})
	}
	return &r.Tools[i]
}

func (f *Found) addProblem(p Problem) {
	if len(f.Problems) == maxProblems {
		f.MoreProblems++
		return
	}
	f.Problems = append(f.Problems, p)
}

// addResult adds what came of a session.
func (f *Found) addResult(place string, s transcript.Session, out transfer.ImportResult) {
	f.Masked += out.Masked
	for _, c := range out.Conversations {
		if (c.Created || c.Messages > 0) && !f.came[c.ID] { // each once, however many sessions have a part of it
			if f.came == nil {
				f.came = map[scrollback.ConversationID]bool{}
			}
			f.came[c.ID] = true
			f.Conversations++
		}
		f.Messages += c.Messages
		f.told = f.told || c.Total > 0
	}
	f.addLeft(out.Left)
	f.BadLines += len(out.Skipped) + out.MoreSkipped
	for _, b := range out.Skipped {
		f.addProblem(Problem{Place: place, Session: s.Name, Line: b.Line, Reason: b.Reason})
	}
	if out.Held {
		f.Held++
	}
}

func (f *Found) addLeft(left map[string]int) {
	for kind, n := range left {
		if f.Left == nil {
			f.Left = map[string]int{}
		}
		f.Left[kind] += n
	}
}

// sortTools puts the tools in the order of their names.
func (r *Report) sortTools() {
	slices.SortFunc(r.Tools, func(a, b Found) int { return cmp.Compare(a.Tool, b.Tool) })
}

// explainError returns an error as the owner of the files may know it: with the details that a stranger
// is not told.
func explainError(err error) string {
	var e *scrollback.Error
	if errors.As(err, &e) && e.Err != nil {
		return explainError(e.Err)
	}
	return err.Error()
}
