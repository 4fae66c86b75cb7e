package server_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/color"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/told"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model"
)

// ownSession is a session of Claude Code: what its file has, and what its next request sends. Some of it is said
// through the door, some without, and its file may be imported at any time.
type ownSession struct {
	*clientRig
	*rand.Rand
	id      string
	told    *toldModel
	lines   []string // of the file
	history []any    // messages of the next request
	said    []string // what must be stored, in this order, as lines of holds
	last    string   // the uuid of the newest line
	texts   int
	at      time.Time
}

func newOwnSession(t *testing.T, seed uint64) *ownSession {
	told := &toldModel{}
	return &ownSession{clientRig: newClientRig(t, told, nil, door.Options{}), Rand: rand.New(rand.NewPCG(seed, 7)),
		told: told, id: fmt.Sprintf("%08x-0000-4000-8000-000000000001", seed), at: time.Now().Add(-100 * time.Hour)}
}

// write adds a line to the file, at a time.
func (s *ownSession) write(at time.Time, role string, content any) {
	s.texts++
	id := fmt.Sprintf("u%d", s.texts)
	message := map[string]any{"role": role, "content": content}
	if role == "assistant" {
		message["id"] = "msg_" + id
		message["type"] = "message"
		message["model"] = "claude-sonnet-4-5"
		message["stop_reason"] = "end_turn"
	}
	line := map[string]any{"parentUuid": nil, "isSidechain": false, "type": role, "message": message, "uuid": id,
		"timestamp": at.UTC().Format("2006-01-02T15:04:05.000Z"), "cwd": "/home/u/harbour", "sessionId": s.id,
		"version": "2.1.332", "gitBranch": "main"}
	if s.last != "" {
		line["parentUuid"] = s.last
	}
	s.last = id
	s.lines = append(s.lines, toJSON(line))
}

func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func textBlock(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

// hidden is what Claude Code puts around and between; hooked what this program told it.
const (
	hidden = "<system-reminder>\nThe date is today.\n</system-reminder>"
	hooked = "scrollback, installed by this user, found in earlier conversations here (a record):\n" +
		`[{"when":"2026-11-20","tool":"codex","who":"assistant","says":"it ends","conversation":"01a203ef-1111","seq":41}]` +
		"\nMore: context_read, context_search."
)

// ask says a prompt, through the door or without, and has it answered, perhaps behind a tool.
func (s *ownSession) ask(through bool) {
	s.at = s.at.Add(time.Minute)
	prompt := fmt.Sprintf("Prompt %d asks for ship number %d in the harbour.", s.texts, s.texts*7)
	if s.IntN(4) == 0 {
		prompt = "Go on." // is said again and again
	}
	s.write(s.at, "user", prompt)
	content := []any{textBlock(prompt)}
	switch s.IntN(6) {
	case 0:
		content = append([]any{textBlock(hidden)}, content...)
	case 1:
		content = append(content, textBlock(hooked))
	case 2:
		content = []any{textBlock(hooked + "\n\n" + prompt)}
	}
	s.history = append(s.history, map[string]any{"role": "user", "content": content})
	s.said = append(s.said, "user "+prompt)
	if s.IntN(3) == 0 {
		s.step(through)
	}
	answer := fmt.Sprintf("Answer %d: the ship lies at pier %d.", s.texts, s.texts*3)
	s.told.deltas = []model.Delta{{Text: answer}}
	if through {
		s.request()
	}
	s.write(s.at.Add(2*time.Second), "assistant", []any{textBlock(answer)})
	s.history = append(s.history, map[string]any{"role": "assistant", "content": []any{textBlock(answer)}})
	s.said = append(s.said, "assistant "+answer)
}

// step has the model call a tool, and returns its result.
func (s *ownSession) step(through bool) {
	call := fmt.Sprintf("toolu_own_%s_%d", s.id[:8], s.texts)
	s.told.deltas = []model.Delta{{Text: fmt.Sprintf("I look at number %d.", s.texts)},
		{Call: &scrollback.ToolCall{ID: call, Name: "Read", Arguments: json.RawMessage(`{"file_path":"/harbour/ships"}`)}}}
	say := s.told.deltas[0].Text
	if through {
		call = s.request()
	}
	blocks := []any{textBlock(say), map[string]any{"type": "tool_use", "id": call, "name": "Read",
		"input": map[string]any{"file_path": "/harbour/ships"}}}
	s.write(s.at.Add(time.Second), "assistant", blocks)
	s.history = append(s.history, map[string]any{"role": "assistant", "content": blocks})
	result := fmt.Sprintf("Result %d", s.texts)
	block := map[string]any{"tool_use_id": call, "type": "tool_result", "content": result}
	s.write(s.at.Add(time.Second), "user", []any{block})
	s.history = append(s.history, map[string]any{"role": "user", "content": []any{block}})
	s.said = append(s.said, "assistant "+say+` Read{"file_path":"/harbour/ships"}`, "tool -> "+result)
}

// request sends the history through the door, and returns the id of a call in the answer, if there is one.
func (s *ownSession) request() (call string) {
	s.Helper()
	got := s.send(http.MethodPost, "/v1/messages", toJSON(map[string]any{"model": "own/m", "max_tokens": 1000,
		"system": "You are an agent.\nWorking directory: /home/u/harbour\n", "messages": s.history,
		"tools": []any{map[string]any{"name": "Read", "input_schema": map[string]any{"type": "object"}}}}),
		"X-Claude-Code-Session-Id: "+s.id, "User-Agent: claude-cli/2.1.332 (external, cli)")
	var answer struct {
		Content []struct{ Type, ID string }
	}
	if err := json.Unmarshal([]byte(got.body), &answer); err != nil || got.status != http.StatusOK {
		s.Fatalf("%d %s", got.status, got.body)
	}
	for _, b := range answer.Content {
		if b.Type == "tool_use" {
			call = b.ID
		}
	}
	return call
}

// bring imports the file as it is.
func (s *ownSession) bring() {
	s.Helper()
	got := s.send(http.MethodPost, "/api/import", strings.Join(s.lines, "\n")+"\n")
	if got.status != http.StatusOK && got.status != http.StatusCreated {
		s.Fatalf("%d %s", got.status, got.body)
	}
}

// check fails unless what was said is stored once, in its order, in one conversation.
func (s *ownSession) check() {
	s.Helper()
	s.bring()
	s.wantSaid(s.said)
}

// wantSaid fails unless exactly this is stored, without what was told beside it.
func (s *ownSession) wantSaid(want []string) {
	s.Helper()
	all, _, err := s.sb.List(s.Context(), scrollback.ListQuery{})
	if err != nil || len(all) != 1 {
		for _, c := range all {
			for m := range s.sb.Engine.As(scrollback.Operator()).Recall().AllMessages(s.Context(), c.ID) {
				s.Logf("%s %s %d %s %q", c.ID, c.Project, m.Seq, m.Role, m.Parts.Text())
			}
		}
		s.Fatalf("%d conversations are stored, want 1: %v", len(all), err)
	}
	var got []string
	for m, err := range s.sb.Engine.As(scrollback.Operator()).Recall().AllMessages(s.Context(), all[0].ID) {
		if err != nil {
			s.Fatal(err)
		}
		if m.Role == scrollback.RoleSystem {
			continue
		}
		line := string(m.Role)
		for _, p := range m.Parts {
			switch p := p.(type) {
			case scrollback.Text:
				line += " " + strings.TrimSpace(told.Without(p.Text))
			case scrollback.ToolCall:
				line += " " + p.Name + string(p.Arguments)
			case scrollback.ToolResult:
				line += " -> " + p.Text
			}
		}
		got = append(got, line)
	}
	if !slices.Equal(got, want) {
		s.Errorf("stored is\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// TestDoorAndImport: a session that comes through the door and is read by imports, in any order, is one conversation
// that has everything once, and goes on either way.
func TestDoorAndImport(t *testing.T) {
	seeds := testlength.Choose(8, 30, 300)
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newOwnSession(t, seed)
			for range 12 {
				s.ask(s.IntN(2) == 0)
				if s.IntN(2) == 0 {
					s.bring()
				}
			}
			s.check()
			origins, err := s.sb.Transfer.Origins(t.Context(), s.sb.Engine.As(scrollback.Operator()),
				transfer.OriginQuery{Tool: "claude-code", ID: s.id})
			if err != nil || len(origins) != 1 || origins[0].Folder != "/home/u/harbour" {
				t.Errorf("origins: %+v, %v", origins, err)
			}
		})
		if t.Failed() {
			break
		}
	}
}

// TestDoorImportWaits: what the file has before its request comes is left to that.
func TestDoorImportWaits(t *testing.T) {
	s := newOwnSession(t, 1)
	s.ask(true)
	stored := slices.Clone(s.said)
	s.at = time.Now().Add(-10 * time.Second)
	s.ask(false)
	s.bring()
	s.wantSaid(stored) // it has just been said
	s.ask(true)
	s.wantSaid(s.said)
}

// TestDoorImportRewinds: a session that goes back is one here too, and its first end stays.
func TestDoorImportRewinds(t *testing.T) {
	s := newOwnSession(t, 2)
	s.ask(true)
	n := len(s.history)
	last := s.last
	said := len(s.said)
	s.ask(true)
	s.bring()
	s.history = s.history[:n]
	s.said = s.said[:said]
	s.last = last
	s.ask(true)
	s.check()
	s.ask(false)
	s.check()
}

// TestDoorImportPictures: a picture that was shown without the door is added with what follows it.
func TestDoorImportPictures(t *testing.T) {
	s := newOwnSession(t, 3)
	s.ask(true)
	s.at = s.at.Add(time.Minute)
	s.write(s.at, "user", []any{map[string]any{"type": "image", "source": map[string]any{"type": "base64",
		"media_type": "image/png", "data": base64.StdEncoding.EncodeToString(painted(t, 9, 9, color.Black))}}})
	s.said = append(s.said, "user")
	s.check()
	s.ask(false)
	s.check()
}
