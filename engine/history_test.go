package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/threading/dialect"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// clientHistory returns what a client sends that has said and heard n texts, and says the last.
func clientHistory(n int) (texts []string) {
	for i := range n {
		texts = append(texts, fmt.Sprint("text ", i))
	}
	return texts
}

// sendHistory sends a history as a client does, and returns what failed.
func sendHistory(r *enginetest.Rig, texts []string) error {
	ctx := context.Background()
	v := r.Engine.As(scrollback.Operator())
	var messages []map[string]string
	for i, text := range texts {
		messages = append(messages, map[string]string{"role": []string{"user", "assistant"}[i%2], "content": text})
	}
	body, err := json.Marshal(map[string]any{"model": "m", "messages": messages})
	if err != nil {
		return err
	}
	asked, err := dialect.Read(threading.Chat, func(string) string { return "" }, body)
	if err != nil {
		return err
	}
	match, err := v.MatchThread(ctx, "", asked)
	if err != nil {
		return err
	}
	var in []engine.ExchangeMessage
	for i, a := range match.New {
		in = append(in, engine.ExchangeMessage{Atoms: []int{i}, Message: scrollback.Message{
			Role: scrollback.Role(a.Role), Parts: enginetest.Say(asked.Items[a.First].Text)}})
	}
	x, err := v.BeginExchange(ctx, engine.ExchangeRequest{Match: match, Messages: in})
	if err != nil {
		return err
	}
	_, err = x.Run(engine.ExchangeRun{Follow: func(model.Delta) {}, Items: func(ps scrollback.Parts) []threading.Item {
		return []threading.Item{{Role: threading.Assistant, Kind: threading.Text, Text: ps.Text()}}
	}})
	return err
}

// TestLongHistoryStoredOnce lets every call of the driver fail once while a history of three batches is stored. Until
// all of it is there nothing of it is seen, and the client's own retry finds the rest missing and nothing twice.
func TestLongHistoryStoredOnce(t *testing.T) {
	texts := clientHistory(1301)
	for i, calls := int64(0), int64(0); i <= calls; i++ { // beyond the last call nothing fails
		for _, lost := range []bool{false, true} {
			if lost != (i%2 == 1) && testlength.Choose(true, false, false) {
				continue
			}
			mem := oracle.New()
			faulty := &drivertest.Faulty{At: i, Lost: lost}
			r := enginetest.New(t, enginetest.Options{Driver: faulty.Wrap(mem), NoFolds: true}, modeltest.Say("so it is"))
			failed := sendHistory(r, texts)
			calls = faulty.Calls()
			drivertest.CheckInvariants(t, mem)
			again := enginetest.New(t, enginetest.Options{Driver: mem, Clock: r.Clock, NoFolds: true}, modeltest.Say("so it is"))
			if failed != nil {
				for _, c := range listAll(t, again) {
					if c.Messages != 0 && c.Messages < int64(len(texts)) {
						t.Fatalf("call %d failed (lost: %t), and %d messages of %d are seen", i, lost, c.Messages, len(texts))
					}
				}
				again.Clock.Add(700_000) // nothing runs any longer
				if err := sendHistory(again, texts); err != nil {
					t.Fatalf("call %d failed (lost: %t), and then the retry: %v", i, lost, err)
				}
			}
			var with []scrollback.Conversation
			for _, c := range listAll(t, again) {
				if c.Messages > 0 {
					with = append(with, c)
				}
			}
			if len(with) != 1 {
				t.Fatalf("call %d failed (lost: %t): %d conversations", i, lost, len(with))
			}
			if with[0].Title != "text 0" {
				t.Fatalf("call %d failed (lost: %t): the title is %q", i, lost, with[0].Title)
			}
			var got []string
			for _, m := range again.Log(with[0].ID) {
				got = append(got, m.Parts.Text())
				if isOld := len(got) < len(texts); isOld != strings.Contains(string(m.Meta), `"client"`) {
					t.Fatalf("message %d has the meta %s", len(got), m.Meta)
				}
			}
			if want := append(slices.Clone(texts), "so it is"); !slices.Equal(got, want) {
				t.Fatalf("call %d failed (lost: %t): %d messages instead of %d", i, lost, len(got), len(want))
			}
			drivertest.CheckInvariants(t, mem)
		}
	}
}

func listAll(t *testing.T, r *enginetest.Rig) []scrollback.Conversation {
	t.Helper()
	all, _, err := r.List(context.Background(), scrollback.ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
