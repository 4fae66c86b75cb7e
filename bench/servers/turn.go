//go:build linux

package main

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/local"
)

// textBytes is about how long a message is.
const textBytes = 900

// A word that one message in a hundred has, and one that one in ten thousand has.
const common, rare = "zyxwort", "qqxvale"

// words makes text of a vocabulary as skewed as a language's; the same for the same seed.
type words struct {
	rng  *rand.Rand
	zipf *rand.Zipf
	all  []string
}

func newWords(seed uint64) *words {
	w := &words{rng: rand.New(rand.NewPCG(seed, 5))}
	w.zipf = rand.NewZipf(w.rng, 1.25, 2, 19_999)
	made := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		b := make([]byte, 4+made.IntN(6))
		for i := range b {
			b[i] = "bdfgklmnprstaeiou"[made.IntN(17)]
		}
		w.all = append(w.all, string(b))
	}
	return w
}

func (w *words) makeText() string {
	var b strings.Builder
	for b.Len() < textBytes {
		b.WriteString(w.all[w.zipf.Uint64()] + " ")
	}
	return b.String()
}

// nthMessage returns the n-th of the long conversation.
func (w *words) nthMessage(n int) store.IncomingMessage {
	text := w.makeText()
	switch {
	case n%10_000 == 77:
		text += rare
	case n%100 == 7:
		text += common
	}
	role := scrollback.RoleUser
	if n%2 == 1 {
		role = scrollback.RoleAssistant
	}
	return newIncoming(role, text)
}

func (w *words) hashLike() string {
	b := make([]byte, 32)
	for i := range b {
		b[i] = byte(w.rng.Uint32())
	}
	return hex.EncodeToString(b)
}

func newIncoming(role scrollback.Role, text string) store.IncomingMessage {
	return store.IncomingMessage{Message: scrollback.Message{Role: role,
		Parts: scrollback.Parts{scrollback.Text{Text: text}}}}
}

// beginTurn opens a turn with a question.
func beginTurn(ctx context.Context, s *store.Store, id scrollback.ConversationID,
	text string) (store.BeginResult, error) {
	return s.Turns.Begin(ctx, store.BeginRequest{Conversation: id, Owner: "bench",
		Messages: []store.IncomingMessage{newIncoming(scrollback.RoleUser, text)},
		Admit:    func(*scrollback.Turn) error { return nil }, Edit: func(*scrollback.Conversation) {}})
}

// runTurn returns a question and its answer, both durable, with what the program stores beside them.
// It returns how long the two took.
func runTurn(ctx context.Context, s *store.Store, id scrollback.ConversationID, w *words) (time.Duration, error) {
	ask := w.makeText()
	reply := w.makeText()
	sent := &scrollback.SentRequest{Step: 1, At: s.Now(), Model: "bench/model", Policy: "segments", Limit: 32_768,
		Budget: 27_034,
		Tokens: 12_345,
		Bytes:  49_380, Instructions: strings.Repeat("1", 32), Tools: strings.Repeat("2", 32), First: 301, Last: 340,
		Prompt: 340, Hash: w.hashLike()}
	mark := &scrollback.WindowMark{Items: 45, Tokens: 12_345, Hash: w.hashLike()}
	for i := range int64(5) {
		sent.Runs = append(sent.Runs, scrollback.SentRun{Kind: scrollback.KindPlaceholder,
			Layer: scrollback.LayerPlaceholders,
			Seq:   i*100 + 1, LastSeq: i*100 + 100, Tokens: 180 + i})
		mark.Layers = append(mark.Layers, scrollback.LayerMark{Items: 8, Tokens: 2000 + i, Hash: w.hashLike()})
	}
	start := time.Now()
	begun, err := beginTurn(ctx, s, id, ask)
	if err != nil {
		return 0, err
	}
	_, err = s.Turns.FinishStep(ctx, store.FinishRequest{Turn: begun.Turn,
		Messages: []store.IncomingMessage{newIncoming(scrollback.RoleAssistant, reply)},
		State:    scrollback.TurnComplete, FinishReason: scrollback.FinishStop, Window: mark, Sent: sent,
		Texts: map[string]string{sent.Instructions: "instructions", sent.Tools: "tools"},
		Usage: []scrollback.UsageRecord{{Conversation: id, TurnID: begun.Turn.ID, Model: "bench/model", Purpose: "turn",
			At:           s.Now(),
			WindowTokens: 1000, Usage: scrollback.Usage{InputTokens: 1000, OutputTokens: 100, TotalTokens: 1100}}}})
	return time.Since(start), err
}

// openStore opens a database as a server does.
func openStore(ctx context.Context, dir, url string) (*local.Scrollback, error) {
	return cloud.Open(ctx, dir, &local.Options{Database: url})
}
