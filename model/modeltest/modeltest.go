// Package modeltest holds what every model is tested with: the suite that each
// implementation of model.Model passes, a scripted model for testing code that uses
// one, and the skeleton of the stand-ins for providers' servers, each of which is a
// package below it.
//
// Words it adds: script (a model that plays steps), step (what one request
// gets), answer (a stream read to its end), stand-in (a server that refuses what
// the real one refuses, and plays a model for the rest), protocol (how it reads
// and writes), rule (why a request is refused).
//
// The suite asks for what the contract says: exactly one finish reason, and it
// comes last; calls that are whole JSON objects with unique ids; usage that is
// present and not negative; requests left unchanged; streams that end promptly, with
// canceled and without a leaked goroutine, when the context ends or the reader stops;
// safety for concurrent use.
//
// It may not know any model, any stand-in, the engine or the store.
package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// Deterministic is implemented by models that claim equal answers to equal requests.
type Deterministic interface {
	Deterministic() bool
}

// Answer is a stream read to its end. Usage and RequestID are the last ones
// given; Finish is empty when the stream was cut off.
type Answer struct {
	Text      string
	Reasoning string
	Calls     []scrollback.ToolCall
	Usage     *scrollback.Usage
	RequestID string
	Finish    string
	Deltas    []model.Delta
}

// Read reads a stream to its end. With an error it also returns what came before.
func Read(stream iter.Seq2[model.Delta, error]) (Answer, error) {
	var a Answer
	for d, err := range stream {
		if err != nil {
			return a, err
		}
		a.Deltas = append(a.Deltas, d)
		a.Text += d.Text
		a.Reasoning += d.Reasoning
		if d.Call != nil {
			a.Calls = append(a.Calls, *d.Call)
		}
		if d.Usage != nil {
			a.Usage = d.Usage
		}
		if d.RequestID != "" {
			a.RequestID = d.RequestID
		}
		if d.Finish != "" {
			a.Finish = d.Finish
		}
	}
	return a, nil
}

// StoredParts returns the parts that are stored of an answer.
func StoredParts(deltas []model.Delta) scrollback.Parts {
	var w model.Writing
	for _, d := range deltas {
		w.Add(d)
	}
	return w.TakeParts()
}

// checkAnswer says how a whole answer breaks the contract.
func checkAnswer(r model.Request, a Answer) error {
	for i, d := range a.Deltas {
		if d.Finish != "" && i < len(a.Deltas)-1 {
			return fmt.Errorf("delta %d of %d has finish reason %q: it must come last, and once", i+1, len(a.Deltas), d.Finish)
		}
	}
	switch {
	case a.Finish == "":
		return errors.New("the stream ends without a finish reason")
	case a.Text == "" && len(a.Calls) == 0:
		return errors.New("neither text nor a call")
	case len(a.Calls) > 0 != (a.Finish == scrollback.FinishToolCalls):
		return fmt.Errorf("%d calls, and finish reason %q", len(a.Calls), a.Finish)
	}
	if err := checkCalls(r, a.Calls); err != nil {
		return err
	}
	return checkUsage(a.Usage)
}

func checkCalls(r model.Request, calls []scrollback.ToolCall) error {
	taken := map[string]bool{}
	for _, it := range r.Items {
		for _, c := range it.Parts.Calls() {
			taken[c.ID] = true
		}
	}
	offered := map[string]bool{}
	for _, t := range r.Tools {
		offered[t.Name] = true
	}
	for _, c := range calls {
		var args map[string]json.RawMessage
		switch {
		case c.ID == "" || taken[c.ID]:
			return fmt.Errorf("the call of %q has id %q: empty or taken", c.Name, c.ID)
		case !offered[c.Name]:
			return fmt.Errorf("call of %q, which was not offered", c.Name)
		case json.Unmarshal(c.Arguments, &args) != nil || args == nil:
			return fmt.Errorf("the arguments of %q are not a JSON object: %s", c.Name, c.Arguments)
		}
		taken[c.ID] = true
	}
	return nil
}

func checkUsage(u *scrollback.Usage) error {
	if u == nil {
		return errors.New("no usage")
	}
	for _, n := range []int64{u.InputTokens, u.CachedTokens, u.CacheWriteTokens, u.OutputTokens, u.ReasoningTokens} {
		if n < 0 {
			return fmt.Errorf("negative usage: %+v", *u)
		}
	}
	if u.TotalTokens < u.OutputTokens || u.Cost < 0 {
		return fmt.Errorf("usage does not add up: %+v", *u)
	}
	return nil
}

// checkCanceled says how a stream that was canceled breaks the contract.
func checkCanceled(a Answer, err error) error {
	if err == nil {
		return fmt.Errorf("it ended without an error (finish reason %q) after the context", a.Finish)
	}
	if scrollback.CodeOf(err) != scrollback.Canceled {
		return fmt.Errorf("code %q, want canceled: %w", scrollback.CodeOf(err), err)
	}
	var known *scrollback.Error
	if !errors.As(err, &known) || !errors.Is(err, context.Canceled) {
		return fmt.Errorf("want a *scrollback.Error that wraps context.Canceled, got %T: %w", err, err)
	}
	return nil
}

// PlainRequest returns a request whose last message asks what its first one tells: enough
// for an answer of several pieces.
func PlainRequest() model.Request {
	return model.Request{MaxOutputTokens: 512, Items: []scrollback.Item{
		textItem(1, scrollback.RoleUser, "The access code of the blue depot is 7F3K-221."),
		textItem(2, scrollback.RoleAssistant, "Understood."),
		textItem(3, scrollback.RoleUser, "What is the access code of the blue depot?"),
	}}
}

// ToolRequest returns a request that its messages do not answer and a tool may.
func ToolRequest() model.Request {
	r := PlainRequest()
	r.Items = r.Items[2:]
	r.Tools = []scrollback.Tool{{
		Name:        "context_search",
		Description: "Searches the whole conversation, what is folded included.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`),
	}}
	return r
}

func textItem(seq int64, role scrollback.Role, text string) scrollback.Item {
	words := int64(len(strings.Fields(text)))
	return scrollback.Item{Kind: scrollback.KindMessage, Layer: scrollback.LayerMessages, Role: role, Seq: seq,
		Parts:  scrollback.Parts{scrollback.Text{Text: text}},
		Weight: scrollback.Weight{Tokens: words, Bytes: int64(len(text))}}
}
