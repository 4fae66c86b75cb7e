package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/threading/dialect"
)

// The conversations among which one is found.
const (
	threadsLong  = 100 // messages of each
	threadsAsked = 40  // requests of which the median is taken
)

// measureThreads measures how long it takes to find the conversation that a request goes on with, among others that
// have 100,000 messages together: by an id, by its history, and by a history whose end was edited.
func (b *bench) measureThreads() error {
	rig, err := openSession(b, &sessionModel{hold: released()})
	if err != nil {
		return err
	}
	defer rig.close()
	w := newWriter(8)
	var histories [][]json.RawMessage
	for i := range b.mid / threadsLong {
		var history []json.RawMessage
		for j := range threadsLong - 1 {
			history = append(history, sessionMessage(map[string]any{"role": []string{"user", "assistant"}[j%2],
				"content": w.makeText(120)}))
		}
		_, answer, err := rig.ask(fmt.Sprintf("thread %d", i), history)
		if err != nil {
			return err
		}
		if len(histories) < threadsAsked {
			histories = append(histories, append(history,
				sessionMessage(map[string]any{"role": "assistant", "content": answer.Choices[0].Message.Content}),
				sessionMessage(map[string]any{"role": "user", "content": "And now?"})))
		}
	}
	v := rig.sb.Engine.As(scrollback.Operator())
	match := func(history []json.RawMessage, session string) (time.Duration, error) {
		body, err := json.Marshal(map[string]any{"model": "codex", "messages": history})
		if err != nil {
			return 0, err
		}
		asked, err := dialect.Read(threading.Chat, func(name string) string {
			if name == "x-session-id" {
				return session
			}
			return ""
		}, body)
		if err != nil {
			return 0, err
		}
		start := time.Now()
		m, err := v.MatchThread(b.ctx, "", asked)
		took := time.Since(start)
		if err == nil && m.Thread == "" {
			err = fmt.Errorf("the conversation of a request with the id %q was not found", session)
		}
		return took, err
	}
	for _, way := range []struct {
		name   string
		id     bool
		edited bool
	}{{"a request's conversation, by its id", true, false}, {"by its history", false, false},
		{"by its history, edited near its end", false, true}} {
		var took []time.Duration
		for i, history := range histories {
			session := ""
			if way.id {
				session = fmt.Sprintf("thread %d", i)
			}
			if way.edited {
				history = slices.Clone(history)
				history[len(history)-3] = sessionMessage(map[string]any{"role": "user", "content": "Something else"})
				history = history[:len(history)-2]
			}
			n, err := match(history, session)
			if err != nil {
				return err
			}
			took = append(took, n)
		}
		b.addNumber(fmt.Sprintf("%s, among %d messages", way.name, b.mid), 0, percentileMS(took, 0.5), "ms")
	}
	return nil
}

// released is a channel that holds nothing back.
func released() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}
