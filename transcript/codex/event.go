package codex

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// threadEvent is an event, as far as it is read.
type threadEvent struct {
	Type    string          `json:"type"`
	TurnID  string          `json:"turn_id"`
	Turns   int64           `json:"num_turns"`
	Message json.RawMessage `json:"message"`
	Text    string          `json:"text"`
	Name    string          `json:"thread_name"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error"`
	Item   *completedItem `json:"item"`
	CallID string         `json:"call_id"`
	Child  string         `json:"new_thread_id"`
	commandRun
}

// completedItem is an item that was completed.
type completedItem struct {
	Type      string   `json:"type"`
	ID        string   `json:"id"`
	Tool      string   `json:"tool"`
	Receivers []string `json:"receiver_thread_ids"`
	commandRun
}

// commandRun is how a command ended. The output is whole up to 64 KiB, where the result that the
// model saw is cut.
type commandRun struct {
	Output   string   `json:"aggregated_output"`
	ExitCode *int64   `json:"exit_code"`
	Duration duration `json:"duration"`
}

type duration struct {
	Secs  int64 `json:"secs"`
	Nanos int64 `json:"nanos"`
}

// parseEvent reads a line as an event.
func (l *line) parseEvent() (e threadEvent, ok bool) {
	if json.Unmarshal(l.payload, &e) == nil {
		return e, true
	}
	// A field has another type than it had; what tells turns apart is enough.
	var kind struct {
		Type   string          `json:"type"`
		TurnID string          `json:"turn_id"`
		Turns  int64           `json:"num_turns"`
		Text   json.RawMessage `json:"message"`
	}
	if json.Unmarshal(l.payload, &kind) != nil {
		return threadEvent{}, false
	}
	return threadEvent{Type: kind.Type, TurnID: kind.TurnID, Turns: kind.Turns, Message: kind.Text}, true
}

// beginsTurn reports whether a turn begins. Newer versions call it a turn, older ones a task.
func (e threadEvent) beginsTurn() bool { return e.Type == "task_started" || e.Type == "turn_started" }

var errNoEvent = errors.New("it is not an event")

// takeEvent takes an event: where turns begin and end, and what items do not say. Texts of
// events repeat items.
func (t *threadBuilder) takeEvent(l *line) error {
	e, ok := l.parseEvent()
	if !ok {
		return errNoEvent
	}
	switch e.Type {
	case "user_message":
		var text string
		_ = json.Unmarshal(e.Message, &text) // another form says nothing
		t.takeRepeat(text)
	case "task_started", "turn_started":
		t.closeAnswer()
		t.turn = e.TurnID
		t.marked = true
		t.open = true
		t.asked = false
		t.last = -1
	case "task_complete", "turn_complete":
		t.closeAnswer()
		t.open = false
		if e.Error != nil {
			t.noteRemark("error", e.Error.Message)
		}
	case "turn_aborted":
		if t.answer != nil {
			t.answer.status = scrollback.StatusInterrupted
		}
		t.closeAnswer()
		t.open = false
		t.noteRemark("interrupted", true)
	case "thread_rolled_back":
		t.closeAnswer()
		t.talk.takeBack(e.Turns)
		t.last = -1
	case "token_count":
		t.takeCount(l.payload)
	case "thread_name_updated":
		t.title = e.Name
	case "agent_reasoning":
		if t.head.Originator == originator && strings.TrimSpace(e.Text) != "" {
			t.aloud = append(t.aloud, e.Text)
		}
	case "item_completed":
		if e.Item != nil {
			t.tools.markDone(*e.Item)
		}
	case "exec_command_end":
		t.tools.noteRun(e.CallID, e.commandRun)
	case "collab_agent_spawn_end":
		t.tools.noteSpawn(e.Child, e.CallID)
	}
	return nil
}

// noteRemark notes on the newest message how its turn ended, if it is of this turn.
func (t *threadBuilder) noteRemark(key string, value any) {
	if t.talk.cur >= 0 && (t.asked || !t.marked) {
		t.talk.nodes[t.talk.cur].setMeta(key, value)
	}
}

// threadCalls are the calls of a thread, by id.
type threadCalls struct {
	names   map[string]string
	runs    map[string]commandRun
	results map[string]bool   // whose result was told
	started map[string]string // by thread: which call started it
}

func (c *threadCalls) markDone(d completedItem) {
	switch d.Type {
	case "CommandExecution":
		c.noteRun(d.ID, d.commandRun)
	case "CollabAgentToolCall":
		if d.Tool == "spawn_agent" {
			for _, child := range d.Receivers {
				c.noteSpawn(child, d.ID)
			}
		}
	}
}

// noteRun notes how a command ended. What ends after its result was told is left out: the result
// must read the same before and after.
func (c *threadCalls) noteRun(call string, r commandRun) {
	if !c.results[call] {
		c.runs[call] = r
	}
}

func (c *threadCalls) noteSpawn(child, call string) {
	if child != "" && call != "" && c.started[child] == "" {
		c.started[child] = call
	}
}

// usageMeter is what is known of what calls of the model have used.
type usageMeter struct {
	records bool              // calls have records of their own
	total   callUsage         // of the thread, as it was told last
	known   bool              // it was told
	pending *scrollback.Usage // of an answer that comes
	spare   *scrollback.Usage // of what a model said to compact its window
}

// callUsage is what calls have used, as the tool counts it.
type callUsage struct {
	Input     int64 `json:"input_tokens"`
	Cached    int64 `json:"cached_input_tokens"`
	Written   int64 `json:"cache_write_input_tokens"`
	Output    int64 `json:"output_tokens"`
	Reasoning int64 `json:"reasoning_output_tokens"`
	Total     int64 `json:"total_tokens"`
}

// toUsage returns the usage as we count it, or nil if nothing was used.
func (u callUsage) toUsage() *scrollback.Usage {
	in := func(n int64) int64 { return max(0, min(n, scrollback.MaxCallTokens)) }
	if u.Input <= 0 && u.Output <= 0 {
		return nil
	}
	return &scrollback.Usage{InputTokens: in(u.Input), CachedTokens: in(u.Cached), CacheWriteTokens: in(u.Written),
		OutputTokens: in(u.Output), ReasoningTokens: in(u.Reasoning), TotalTokens: in(u.Total)}
}

// takeRecord takes the record of a call, which comes after what the call said.
func (t *threadBuilder) takeRecord(l *line) error {
	var v struct {
		Usage callUsage `json:"usage"`
	}
	if err := json.Unmarshal(l.payload, &v); err != nil {
		return err
	}
	t.records = true
	t.pending = nil
	if u := v.Usage.toUsage(); u != nil && !t.setUsage(u) {
		t.spare = u
	}
	return nil
}

// takeCount takes the count of a thread, in which that of the last call is: it comes after what
// the call said, or, in some versions, before; and it is repeated.
func (t *threadBuilder) takeCount(raw json.RawMessage) {
	var v struct {
		Info *struct {
			Total callUsage `json:"total_token_usage"`
			Last  callUsage `json:"last_token_usage"`
		} `json:"info"`
	}
	if t.records || json.Unmarshal(raw, &v) != nil {
		return
	}
	if v.Info == nil {
		t.known = false
		if t.head.Originator == originator {
			t.closeAnswer() // so an answer ends there of which it is not known what it has used
		}
		return
	}
	if t.known && t.total == v.Info.Total {
		return
	}
	t.known = true
	t.total = v.Info.Total
	if u := v.Info.Last.toUsage(); u != nil && !t.setUsage(u) {
		t.pending = u
		t.spare = u
	}
}

// setUsage gives the newest answer of the turn what its call used, if that is not known yet.
func (t *threadBuilder) setUsage(u *scrollback.Usage) bool {
	if t.answer != nil && t.answer.usage == nil {
		t.answer.usage = u
		t.closeAnswer()
		return true
	}
	if t.last >= 0 && t.talk.nodes[t.last].entry.Message.Usage == nil {
		t.talk.nodes[t.last].entry.Message.Usage = u
		return true
	}
	return false
}
