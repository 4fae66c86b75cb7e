package threading

import (
	"context"
	"slices"
	"strings"
	"time"
)

// IDs are the ids that new rows get.
type IDs struct {
	Thread  ThreadID // if a thread begins
	Request RequestID
	// Branch returns a new one each time; it is called twice at most.
	Branch func() BranchID
}

// IsCall reports whether a model is called for the request: it is neither joined nor answered with what is there.
func (m *Match) IsCall() bool { return m.Purpose != Join && m.Purpose != Replay && m.Purpose != Refuse }

// Begins reports whether the request begins a conversation, or a fork of one.
func (m *Match) Begins() bool {
	return m.IsCall() && m.Side == "" && (m.Thread == "" || m.Fork != "")
}

// Asked returns whose request it is, and its body: what is counted for [Index]'s Same.
func (m *Match) Asked() (Scope, Hash) { return m.scope, m.row.Body }

// Called returns what the client calls the conversation, and among whose threads that counts; no name if it says
// none.
func (m *Match) Called() (Scope, string) { return nameScope(m.scope, m.request), nameOf(m.request) }

// Begin returns what is stored before a model is called, and completes the match: its thread is known then. Requests
// that are joined, replayed or refused store nothing; a side call stores that it was asked.
func (m *Match) Begin(ids IDs) Rows {
	if !m.IsCall() {
		return Rows{}
	}
	m.row.ID = ids.Request
	if m.Side != "" {
		row := m.row
		return Rows{Request: &row}
	}
	rows := Rows{Leaves: m.Leaves}
	branch := m.Base.Branch
	switch {
	case m.thread == nil:
		branch = ids.Branch()
		m.Base = Place{Branch: branch}
		m.thread = &ThreadRow{ID: ids.Thread, Scope: m.scope, Root: m.Base, Dialect: m.request.Dialect, Parent: m.Parent}
	case m.Course == Forks:
		forked := m.thread
		m.thread = &ThreadRow{ID: ids.Thread, Scope: m.scope, Root: m.Base, Dialect: m.request.Dialect, Parent: m.Parent,
			Ancestors: append([]ThreadID{forked.ID}, forked.Ancestors...)}
		branch = ""
	case !m.free:
		branch = ""
	}
	m.Thread = m.thread.ID
	if branch == "" && len(m.New) > 0 {
		branch = ids.Branch()
	}
	m.row.Thread = m.Thread
	m.row.Base = m.Base
	m.row.Leaf = m.Leaf
	end := m.Base
	rolling := m.rolling
	for _, a := range m.New {
		rolling = rolling.add(a.step())
		row := newRow(a, m.Thread, ids.Request)
		row.Parent = end
		row.Place = Place{Branch: branch, Seq: end.Seq + 1}
		row.Rolling = rolling
		if m.Compaction != nil && m.Compaction.Request != "" && a.First == m.Compaction.Quoted {
			row.Ours = true
			m.answers++
		}
		row.Answers = m.answers
		end = row.Place
		rows.Atoms = append(rows.Atoms, row)
	}
	m.rolling = rolling
	m.row.End = end
	m.row.Tip = end
	m.thread.Tip = end
	m.thread.Newest = ids.Request
	m.thread.Tools = m.thread.Tools || len(m.request.Tools) > 0
	rows.Thread = m.thread
	row := m.row
	rows.Request = &row
	if name := nameOf(m.request); name != "" && !m.named {
		rows.Name = &NameRow{Scope: nameScope(m.scope, m.request), Name: name, Thread: m.Thread}
	}
	return rows
}

func newRow(a Atom, thread ThreadID, request RequestID) AtomRow {
	return AtomRow{Thread: thread, Request: request, Role: a.Role, Kind: a.Kind, Key: a.Key, Call: a.Call,
		Quote: newQuote(a)}
}

// Finish returns what is stored when the answer to a match has ended. An answer that stands there already, word for
// word, is not stored again. branch is called once at most.
func (m *Matcher) Finish(ctx context.Context, match *Match, answer Answer, at time.Time,
	branch func() BranchID) (Rows, error) {
	if !match.IsCall() {
		return Rows{}, nil
	}
	row := match.row
	row.State = answer.State
	row.Delivered = answer.Delivered
	row.At = at
	rows := Rows{Request: &row}
	atoms := m.Table.takeApart(nil, answer.Items).atoms
	if match.Side != "" {
		rows.Summary = match.summaryOf(atoms, answer)
		if answer.ID != "" && answer.State != Failed {
			rows.Answer = &AnswerRow{Scope: match.scope, ID: answer.ID, Empty: true}
			if match.answer != nil && !match.answer.Empty {
				rows.Answer.Empty = false
				rows.Answer.Thread = match.answer.Thread
				rows.Answer.Place = match.answer.Place
			}
		}
		return rows, nil
	}
	thread, err := m.Index.Thread(ctx, match.Thread)
	if err != nil {
		return Rows{}, err
	}
	if thread == nil {
		thread = match.thread
	}
	if answer.State == Failed {
		atoms = nil
	}
	partial := answer.State == Interrupted
	end := row.End
	rolling := match.rolling
	answers := match.answers
	var on BranchID
	for _, a := range atoms {
		rolling = rolling.add(a.step())
		if on == "" {
			following, err := m.Index.Following(ctx, end, maxFollowing)
			if err != nil {
				return Rows{}, err
			}
			there := slices.IndexFunc(following, func(f AtomRow) bool {
				return f.Thread == match.Thread && f.Partial == partial && a.equals(f)
			})
			if there >= 0 {
				end = following[there].Place
				answers = following[there].Answers
				continue
			}
			on = end.Branch
			next := Place{on, end.Seq + 1}
			if end == thread.Root && len(thread.Ancestors) > 0 ||
				slices.ContainsFunc(following, func(f AtomRow) bool { return f.Place == next }) {
				on = branch()
			}
		}
		stored := newRow(a, match.Thread, row.ID)
		stored.Parent = end
		stored.Place = Place{Branch: on, Seq: end.Seq + 1}
		stored.Rolling = rolling
		answers++
		stored.Answers = answers
		stored.Ours = true
		stored.Partial = partial
		if partial {
			stored.Text = a.Text
		}
		end = stored.Place
		rows.Atoms = append(rows.Atoms, stored)
	}
	row.Tip = end
	if answer.State == Finished || thread.Newest == row.ID {
		thread.Tip = end // else the client went on while the answer that it gave up was still being stopped
	}
	rows.Thread = thread
	if answer.ID != "" && answer.State != Failed {
		rows.Answer = &AnswerRow{Scope: match.scope, ID: answer.ID, Thread: match.Thread, Place: end}
	}
	return rows, nil
}

// summaryOf returns the summary that a side call's answer is, or nil.
func (m *Match) summaryOf(atoms []Atom, answer Answer) *SummaryRow {
	if !m.Summary || answer.State == Failed {
		return nil
	}
	out := &SummaryRow{Scope: m.scope, Name: nameOf(m.request), Request: m.row.ID, Thread: m.Thread,
		Place: m.Base}
	var text []string
	for _, a := range atoms {
		switch a.Kind {
		case Text:
			text = append(text, a.Text)
		case Compaction:
			out.Items = append(out.Items, a.Key)
		default:
		}
	}
	out.Text = strings.Join(text, " ")
	if out.Text == "" && len(out.Items) == 0 {
		return nil
	}
	return out
}
