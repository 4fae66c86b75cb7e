package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/token"
)

// The long session: how many steps it has, how many of them a question of the person begins, the window of its model,
// and how many facts tools tell that are asked for at the end.
const (
	sessionSteps    = 2000
	sessionTurn     = 20
	sessionWindow   = 32_768
	sessionFacts    = 40
	sessionBudget   = 2000 // tokens in which a look-up must answer
	sessionAgents   = 200
	sessionAgentLog = 20 // messages of each agent
)

// sessionModel answers every step with a call of a tool, the last one of a turn with words. It counts what it is sent.
type sessionModel struct {
	mu     sync.Mutex
	step   int
	tokens int64
	reused int64
	last   string
	hold   chan struct{} // answers wait for it, if it is there
}

// Facts implements [model.Model].
func (*sessionModel) Facts() model.Facts {
	return model.Facts{Name: "codex", Limit: sessionWindow, APIs: []string{model.APIChat}, NoSummaries: true}
}

// Stream implements [model.Model].
func (m *sessionModel) Stream(_ context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		if m.hold != nil {
			<-m.hold
			yield(model.Delta{Text: "so it is", Finish: scrollback.FinishStop}, nil)
			return
		}
		m.mu.Lock()
		m.count(r)
		m.step++
		step := m.step
		m.mu.Unlock()
		if step%sessionTurn == 0 {
			yield(model.Delta{Text: fmt.Sprintf("Step %d is done.", step), Finish: scrollback.FinishStop}, nil)
			return
		}
		call := scrollback.ToolCall{ID: "call_" + strconv.Itoa(step), Name: "shell",
			Arguments: json.RawMessage(fmt.Sprintf(`{"command":"sed -n %d,%dp harbour.go"}`, step, step+40))}
		if yield(model.Delta{Call: &call}, nil) {
			yield(model.Delta{Finish: scrollback.FinishToolCalls}, nil)
		}
	}
}

// count counts the tokens of a request, and how many of them it begins with that the last one began with too.
func (m *sessionModel) count(r model.Request) {
	var b strings.Builder
	if r.Forward != nil {
		b.Write(r.Forward.Body)
	}
	for _, t := range r.Tools {
		b.WriteString(t.Name + t.Description + string(t.Parameters) + "\n")
	}
	for _, it := range r.Items {
		parts, err := json.Marshal(it.Parts)
		if err != nil {
			continue // parts are always JSON: not reached
		}
		b.WriteString(string(it.Role) + " " + string(parts) + "\n")
	}
	text := b.String()
	same := 0
	for same < min(len(text), len(m.last)) && text[same] == m.last[same] {
		same++
	}
	n := int64(token.Count(text))
	m.tokens += n
	m.reused += n * int64(same) / int64(max(1, len(text)))
	m.last = text
}

// sessionRig is a program with an open door before a model.
type sessionRig struct {
	sb  *local.Scrollback
	srv *httptest.Server
}

func openSession(b *bench, m model.Model) (*sessionRig, error) {
	dir, err := os.MkdirTemp(b.dir, "session-")
	if err != nil {
		return nil, err
	}
	sb, err := local.Open(b.ctx, dir, &local.Options{Model: "codex", Models: map[string]model.Model{"codex": m}})
	if err != nil {
		return nil, err
	}
	srv := httptest.NewServer(server.Handler(sb.Engine, sb.Transfer, server.Options{Version: "bench",
		Log: slog.New(slog.DiscardHandler), DoorBytes: 32 << 20, Door: door.New(door.Options{})}, true))
	return &sessionRig{sb, srv}, nil
}

func (r *sessionRig) close() {
	r.srv.Close()
	_ = r.sb.Close() // the folder goes with the run
}

// ask sends a history, and returns the conversation and the calls that came back.
func (r *sessionRig) ask(session string, history []json.RawMessage) (id string, answer sessionAnswer, err error) {
	body, err := json.Marshal(map[string]any{"model": "codex", "stream": false, "messages": history,
		"tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "shell"}}}})
	if err != nil {
		return "", answer, err
	}
	req, err := http.NewRequest(http.MethodPost, r.srv.URL+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", answer, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Session-Id", session)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", answer, err
	}
	defer func() { _ = resp.Body.Close() }() // it is read
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.300s", resp.Status, text)
	}
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	return resp.Header.Get("X-Scrollback-Conversation"), answer, err
}

// sessionAnswer is an answer of chat completions.
type sessionAnswer struct {
	Choices []struct {
		Message struct {
			Content string            `json:"content"`
			Calls   []json.RawMessage `json:"tool_calls"`
		}
	}
}

// makeName is a name that is no word of the texts.
func (w *writer) makeName() string {
	var b strings.Builder
	b.WriteByte("BKLMNPRST"[w.rng.IntN(9)])
	for range 4 {
		b.WriteString(string("aeiou"[w.rng.IntN(5)]) + string("bdgklmnprstvz"[w.rng.IntN(13)]))
	}
	return b.String()
}

func sessionMessage(v map[string]any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts are always JSON
	}
	return b
}

// measureSession measures a session of many steps behind a client that sends its whole history each time, though the
// window of its model holds a small part of it: what goes upstream, what a cache can keep of it, and what of the
// history can be reached; and the memory of many agents at once.
func (b *bench) measureSession() error {
	steps := sessionSteps
	if b.big < 1_000_000 {
		steps /= 10
	}
	m := &sessionModel{}
	rig, err := openSession(b, m)
	if err != nil {
		return err
	}
	defer rig.close()
	w := newWriter(5)
	var history []json.RawMessage
	facts := map[string]string{} // where the key of a boat is kept, by its name
	var without, sent int64
	id := ""
	began := time.Now()
	for step := 1; step <= steps; step++ {
		if step%sessionTurn == 1 {
			text := fmt.Sprintf("Now do part %d. %s", step/sessionTurn, w.makeText(120))
			history = append(history, sessionMessage(map[string]any{"role": "user", "content": text}))
			without += int64(token.Count(text))
		}
		sent += without // the whole history, as far as it goes
		var answer sessionAnswer
		if id, answer, err = rig.ask("long", history); err != nil {
			return err
		}
		said := answer.Choices[0].Message
		echo := map[string]any{"role": "assistant", "content": said.Content}
		if len(said.Calls) > 0 {
			echo["tool_calls"] = said.Calls
		}
		history = append(history, sessionMessage(echo))
		without += int64(token.Count(string(history[len(history)-1])))
		if len(said.Calls) == 0 {
			continue
		}
		var call struct{ ID string }
		if err := json.Unmarshal(said.Calls[0], &call); err != nil {
			return err
		}
		result := w.makeText(900)
		if step%(steps/sessionFacts) == 2 {
			boat := w.makeName()
			facts[boat] = fmt.Sprintf("locker %d", 1000+step*7919%9000)
			result += fmt.Sprintf(" The key of the %s is kept in %s, behind the third bollard. ", boat, facts[boat])
		}
		history = append(history, sessionMessage(map[string]any{"role": "tool", "tool_call_id": call.ID, "content": result}))
		without += int64(token.Count(result))
	}
	b.addNumber(fmt.Sprintf("a step of a session of %d, whole", steps), 0,
		float64(time.Since(began).Milliseconds())/float64(steps), "ms")
	b.addNumber("tokens sent upstream, of the client's", 0, 100*float64(m.tokens)/float64(max(1, sent)), "%")
	b.addNumber("of them as the last request began", 0, 100*float64(m.reused)/float64(max(1, m.tokens)), "%")
	reached := 0
	for boat, place := range facts {
		found, err := rig.sb.Engine.As(scrollback.Operator()).Recall().RunTool(b.ctx, scrollback.ConversationID(id),
			"context_search", json.RawMessage(fmt.Sprintf(`{"query":"Where is the key of the %s kept?"}`, boat)),
			recall.Room{Bytes: recall.RoomMax.Bytes, Tokens: sessionBudget})
		if err != nil {
			return err
		}
		if strings.Contains(found, place) {
			reached++
		}
	}
	b.addNumber("facts reached by a look-up", 0, 100*float64(reached)/float64(len(facts)), "%")
	return b.measureAgents()
}

// measureAgents measures the memory of many agents that wait for their answers at once.
func (b *bench) measureAgents() error {
	m := &sessionModel{hold: make(chan struct{})}
	rig, err := openSession(b, m)
	if err != nil {
		return err
	}
	defer rig.close()
	w := newWriter(6)
	text := w.makeText(3000)
	before := heapInUse()
	var asking sync.WaitGroup
	errs := make(chan error, sessionAgents)
	for agent := range sessionAgents {
		asking.Go(func() {
			var history []json.RawMessage
			for i := range sessionAgentLog - 1 {
				history = append(history, sessionMessage(map[string]any{"role": []string{"user", "assistant"}[i%2],
					"content": fmt.Sprintf("%d of agent %d: %s", i, agent, text)}))
			}
			_, _, err := rig.ask(fmt.Sprintf("agent %d", agent), history)
			errs <- err
		})
	}
	for deadline := time.Now().Add(2 * time.Minute); ; {
		running, err := countRunning(b.ctx, rig)
		if err != nil || time.Now().After(deadline) {
			return fmt.Errorf("%d of %d agents run: %w", running, sessionAgents, err)
		}
		if running == sessionAgents {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.addNumber(fmt.Sprintf("memory of %d agents that wait, each", sessionAgents), 0,
		float64(heapInUse()-before)/sessionAgents/1024, "KiB")
	close(m.hold)
	asking.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func countRunning(ctx context.Context, rig *sessionRig) (n int, err error) {
	v := rig.sb.Engine.As(scrollback.Operator())
	q := scrollback.ListQuery{Limit: scrollback.ListMax}
	for {
		page, next, err := v.List(ctx, q)
		if err != nil {
			return n, err
		}
		for _, c := range page {
			if c.Messages >= sessionAgentLog-1 {
				n++
			}
		}
		if q.Cursor = next; next == "" {
			return n, nil
		}
	}
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse)
}
