// Package catchup says where work stood when it was left: what was last asked, answered and
// done in some conversations, by which tool and model, and what is open. It reads what was
// said, and asks no model.
//
// Words it adds: talk (a conversation, with the newest of its messages), open (asked and not
// answered, begun and not ended, on a list and not ticked).
//
// Invariants: the same talks give the same record; a record is JSON of one line, in which
// nothing that was said can end anything, and fits its room in any language.
//
// It may not know the store, the engine or a protocol.
package catchup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact/summary"
	"github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Bounds of what is read: the number of talks, and of messages of each.
const (
	Talks    = 6
	Messages = 150
)

// ownTool is what did what was said here, and not imported.
const ownTool = "scrollback"

// Talk is a conversation to catch up on. Messages are the newest on its path, oldest first,
// and Turns those among them without a stored answer. Origin is nil if it was not imported.
type Talk struct {
	scrollback.Conversation
	Origin   *scrollback.Origin
	Messages []scrollback.Message
	Turns    []scrollback.TurnEntry
}

// NewestAt returns when the newest message was said, in Unix ms.
func (t Talk) NewestAt() int64 {
	if n := len(t.Messages); n > 0 {
		return t.Messages[n-1].CreatedAt
	}
	return t.UpdatedAt
}

// talkRecord is a talk in a record.
type talkRecord struct {
	ID        scrollback.ConversationID `json:"conversation"`
	Title     string                    `json:"title,omitempty"`
	Tool      string                    `json:"tool"`
	Model     string                    `json:"model,omitempty"`
	Last      string                    `json:"last"` // in UTC
	GitBranch string                    `json:"git_branch,omitempty"`
	Folder    string                    `json:"folder,omitempty"`
	Messages  int64                     `json:"messages"`
	Asked     []shortLine               `json:"asked,omitempty"`
	Answered  *shortLine                `json:"answered,omitempty"`
	Tools     string                    `json:"tools,omitempty"`
	Open      []openItem                `json:"open,omitempty"`
}

// line is a message in short, and open what is open since it.
type (
	shortLine struct {
		Seq  int64  `json:"seq"`
		Text string `json:"text"`
	}
	openItem struct {
		Seq  int64  `json:"seq"`
		What string `json:"what"`
		Text string `json:"text,omitempty"`
	}
)

// detailLevel is how much a record tells: the number of talks, the characters of a text, the number
// of open things, and the tokens for what tools did. Of the newest talk it tells twice that.
type detailLevel struct {
	talks, runes, open int
	tools              int64
}

var levels = []detailLevel{{6, 320, 6, 80}, {6, 200, 5, 70}, {5, 160, 5, 60}, {5, 110, 4, 50}, {4, 90, 4, 40},
	{3, 80, 3, 40},
	{3, 50, 3, 30}, {2, 50, 3, 30},
	{1, 60, 3, 30}, {1, 30, 2, 0}, {1, 10, 1, 0}}

// CountTokens counts those of a text as a record's room does.
func CountTokens(text string) int64 { return int64(token.Count(text)) }

// WriteRecord returns where talks stand, the newest first, in a bounded number of tokens.
func WriteRecord(talks []Talk, tokens int64) (string, error) {
	talks = slices.Clone(talks)
	slices.SortStableFunc(talks, func(a, b Talk) int {
		return cmp.Or(cmp.Compare(b.NewestAt(), a.NewestAt()), cmp.Compare(b.ID, a.ID))
	})
	all := make([]talkState, len(talks))
	for i, t := range talks {
		all[i] = findState(t)
	}
	room := recall.Room{Bytes: recall.RoomMax.Bytes, Tokens: tokens}
	return recall.FitRoom(room, func(try int) (any, bool) {
		out := []talkRecord{}
		for i, s := range all[:min(len(all), levels[try].talks)] {
			l := levels[try]
			if i == 0 {
				l.runes = 2 * l.runes
				l.open = 2 * l.open
				l.tools = 2 * l.tools
			}
			out = append(out, s.describe(l, i == 0))
		}
		return map[string]any{"conversations": out}, try+1 < len(levels)
	})
}

// talkState is where a talk stands.
type talkState struct {
	Talk
	tools    []string
	asked    []scrollback.Message
	answered *scrollback.Message
	open     []openItem
	work     *summary.Work
}

// findState finds out where a talk stands.
func findState(t Talk) talkState {
	s := talkState{Talk: t, work: summary.CollectWork(t.Messages)}
	results := map[string]bool{}
	for i := range t.Messages {
		m := &t.Messages[i]
		if tool := s.toolOf(m); !slices.Contains(s.tools, tool) {
			s.tools = append(s.tools, tool)
		}
		if m.Model != "" && m.Role == scrollback.RoleAssistant {
			s.Model = m.Model
		}
		for _, r := range m.Parts.Results() {
			results[r.CallID] = true
		}
		if strings.TrimSpace(m.Parts.Text()) == "" {
			continue
		}
		switch m.Role {
		case scrollback.RoleUser:
			s.asked = append(s.asked, *m)
			s.answered = nil
		case scrollback.RoleAssistant:
			s.answered = m
		case scrollback.RoleSystem, scrollback.RoleTool:
		}
	}
	s.noteRequests()
	s.noteUnended(results)
	s.open = append(s.open, openTodos(t.Messages)...)
	return s
}

// toolOf returns the tool with which a message was said.
func (s *talkState) toolOf(m *scrollback.Message) string {
	if s.Origin != nil && transcript.MarkOf(m.Meta) != "" {
		return s.Origin.Tool
	}
	return ownTool
}

// noteRequests notes a turn that did not end well, if it is the last, and the last request if nothing was said to
// it.
func (s *talkState) noteRequests() {
	left := s.Turns[max(0, len(s.Turns)-1):]
	if n := len(s.Messages); n > 0 && len(left) > 0 && left[0].AfterSeq < s.Messages[n-1].Seq { // somebody went on
		left = nil
	}
	for _, t := range left {
		why := ""
		if t.Error != nil {
			why = ": " + t.Error.Message
		}
		s.open = append(s.open, openItem{t.AfterSeq, "turn " + string(t.State) + why, t.Content})
	}
	n := len(s.asked)
	if n > 0 && s.answered == nil && len(left) == 0 {
		m := s.asked[n-1]
		s.open = append(s.open, openItem{m.Seq, "request without an answer", m.Parts.Text()})
	}
}

// noteUnended notes an answer that was cut off, and calls that got no result, at the end.
func (s *talkState) noteUnended(results map[string]bool) {
	i := len(s.Messages) - 1
	for i >= 0 && s.Messages[i].Role == scrollback.RoleTool {
		i--
	}
	if i < 0 || s.Messages[i].Role != scrollback.RoleAssistant {
		return
	}
	m := s.Messages[i]
	if m.Status != scrollback.StatusComplete && m.Status != "" {
		s.open = append(s.open, openItem{m.Seq, "answer not finished", m.Parts.Text()})
	}
	for _, c := range m.Parts.Calls() {
		if !results[c.ID] {
			called := fmt.Sprintf("%s %s", c.Name, plainjson.Unescape(c.Arguments))
			s.open = append(s.open, openItem{m.Seq, "call without a result", called})
		}
	}
}

// describe returns where a talk stands in as many words; of the newest the last two requests.
func (s talkState) describe(l detailLevel, newest bool) talkRecord {
	out := talkRecord{ID: s.ID, Title: clip.ClipLine(s.Title, min(l.runes, 80)), Tool: strings.Join(s.tools, ", then "),
		Model: clip.ClipLine(s.Model, min(l.runes, 60)),
		Last:  time.UnixMilli(s.NewestAt()).UTC().Format("2006-01-02T15:04Z"), Messages: s.Conversation.Messages,
		Tools: s.work.Line(l.tools, token.Count)}
	if o := s.Origin; o != nil {
		out.GitBranch = clip.ClipLine(o.GitBranch, min(l.runes, 80))
		out.Folder = clip.ClipLine(o.Folder, min(3*l.runes, 200))
	}
	asked := s.asked[max(0, len(s.asked)-1):]
	if newest {
		asked = s.asked[max(0, len(s.asked)-2):]
	}
	for _, m := range asked {
		out.Asked = append(out.Asked, shortenMessage(m, l.runes))
	}
	if s.answered != nil {
		one := shortenMessage(*s.answered, l.runes)
		out.Answered = &one
	}
	for _, o := range s.open[:min(len(s.open), l.open)] {
		o.What = clip.ClipLine(o.What, max(l.runes, 40))
		o.Text = clip.ClipLine(strings.TrimSpace(o.Text), min(l.runes, 160))
		out.Open = append(out.Open, o)
	}
	return out
}

func shortenMessage(m scrollback.Message, runes int) shortLine {
	return shortLine{m.Seq, clip.ClipLine(strings.TrimSpace(m.Parts.Text()), runes)}
}
