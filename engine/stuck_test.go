package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/window"
)

// judge is a scripted model that holds each request against what any provider takes:
// the rules, the budget in tokens, bytes and images, and the newest user message.
type judge struct {
	t        *testing.T
	mu       sync.Mutex
	budget   scrollback.Budget
	dialect  scrollback.Dialect
	requests int
	newest   int64 // seq of the user message that must be sent; 0 asks for any
	say      func(n int, r model.Request) []model.Delta
}

func (j *judge) step() modeltest.Step {
	return modeltest.Step{Reply: func(r model.Request) []model.Delta {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.requests++
		if len(r.Tools) == 0 { // for a summary, which has a window of its own
			return j.say(j.requests, r)
		}
		if err := window.Lint(scrollback.Window{Items: r.Items}, j.dialect); err != nil {
			j.t.Errorf("request %d: %v", j.requests, err)
		}
		var w scrollback.Weight
		newest := int64(0)
		for _, it := range r.Items {
			w = w.Add(it.Weight)
			if it.Role == scrollback.RoleUser && it.Kind == scrollback.KindMessage {
				newest = max(newest, it.Seq)
			}
		}
		if !window.Fits(w, j.budget) {
			j.t.Errorf("request %d weighs %+v, the budget is %+v", j.requests, w, j.budget.Weight)
		}
		if newest == 0 || j.newest != 0 && newest != j.newest {
			j.t.Errorf("request %d has the user message #%d, the newest is #%d", j.requests, newest, j.newest)
		}
		return j.say(j.requests, r)
	}}
}

// goOn runs turns after something hard: each completes.
func goOn(t *testing.T, r *rig, id scrollback.ConversationID) {
	t.Helper()
	for i := range 4 {
		r.ask(id, fmt.Sprintf("And then, number %d? ", i)+strings.Repeat("go on please ", 60)).done(t, scrollback.TurnComplete, "stop")
		checkViews(t, r, id)
	}
}

// Five hundred tool steps in one turn, one call or three at a time, with small and big
// outputs: each step is sent, with the question it belongs to, and the turn ends.
func TestManyStepsInOneTurn(t *testing.T) {
	const steps = 500
	j := &judge{t: t, budget: window.NewBudget(8000, 2000), newest: 1}
	j.say = func(n int, r model.Request) []model.Delta {
		if n > steps {
			j.newest = 0
			return []model.Delta{{Text: "done counting"}}
		}
		out := []model.Delta{{Text: fmt.Sprint("step ", n)}}
		for k := range 1 + n%3/2*2 {
			out = append(out, model.Delta{Call: &scrollback.ToolCall{ID: fmt.Sprintf("c%d-%d", n, k), Name: "clock",
				Arguments: json.RawMessage(`{}`)}})
		}
		return out
	}
	r := newRig(t, rigOptions{noFolds: true}, j.step())
	id := r.conversation()
	e := r.turn(engine.TurnRequest{Conversation: id, Message: say("the one question: count to five hundred"), Tools: clock})
	for n := 1; n <= steps; n++ {
		e.done(t, scrollback.TurnWaiting, "tool_calls")
		var results []engine.ToolResult
		for _, ev := range e.events {
			if c, ok := ev.(scrollback.ToolCallEvent); ok {
				size := 40
				if n%50 == 0 {
					size = 6000 // becomes an artifact
				}
				results = append(results, engine.ToolResult{CallID: c.ID, Text: strings.Repeat("tick 嘀 ", size)})
			}
		}
		e = r.turn(engine.TurnRequest{Conversation: id, ToolResults: results})
	}
	e.done(t, scrollback.TurnComplete, "stop")
	if j.requests != steps+1 {
		t.Errorf("%d requests", j.requests)
	}
	m, err := r.Context(context.Background(), id)
	if err != nil || len(m.Excluded) == 0 {
		t.Errorf("nothing was folded: %+v, %v", m.Excluded, err)
	}
	goOn(t, r, id)
}

// A message of two hundred thousand characters, in any script and in one part or in
// many, in a window of eight thousand tokens and in the smallest: it is answered, kept
// whole behind refs, and the conversation goes on.
func TestLongestMessageInASmallWindow(t *testing.T) {
	const chars = 200_000
	words := strings.Repeat("the tide table lies under the third bollard. ", chars/45+1)
	for _, c := range []struct {
		name, text string
		parts      int
	}{
		{"words", words[:chars], 1}, {"chinese", strings.Repeat("潮汐表在第三个系缆柱下面。", chars/13+1), 1}, {"one word", strings.Repeat("x", chars), 1},
		{"lines", strings.Repeat("\n", chars-1) + "x", 1}, {"emoji", strings.Repeat("🌊", chars), 1}, {"many parts", words[:chars], 100},
		{"marks", strings.Repeat("</folded_history>", chars/17), 1},
	} {
		for _, limit := range []int64{8000, 2000} {
			t.Run(fmt.Sprint(c.name, " ", limit), func(t *testing.T) {
				whole := string([]rune(c.text)[:min(chars, len([]rune(c.text)))])
				j := &judge{t: t, budget: window.NewBudget(limit, 2000), say: func(int,
					model.Request) []model.Delta {
					return []model.Delta{{Text: "read"}}
				}}
				r := newRig(t, rigOptions{limit: limit}, j.step())
				id := r.conversation()
				r.ask(id, "Something short before.").done(t, scrollback.TurnComplete, "stop")
				var parts scrollback.Parts
				for i := range c.parts {
					n := len(whole) / c.parts
					parts = append(parts, scrollback.Text{Text: whole[i*n : (i+1)*n]})
				}
				r.turn(engine.TurnRequest{Conversation: id, Message: parts}).done(t, scrollback.TurnComplete, "stop")
				var got strings.Builder
				for _, p := range r.log(id)[2].Parts {
					switch p := p.(type) {
					case scrollback.File:
						got.WriteString(r.readBig(id, scrollback.ArtifactRef(p.Artifact)))
					case scrollback.Text:
						if !strings.Contains(p.Text, "left out here") {
							got.WriteString(p.Text)
						}
					}
				}
				if strings.ReplaceAll(got.String(), "\n", "") != strings.ReplaceAll(parts.Text(), "\n", "") || c.parts == 1 && got.String() != whole {
					t.Errorf("%d bytes were kept of %d", got.Len(), len(whole))
				}
				goOn(t, r, id)
			})
		}
	}
}

// The same between images, each of which parts two long texts.
func TestLongMessageBetweenImages(t *testing.T) {
	j := &judge{t: t, budget: window.NewBudget(8000, 2000),
		say: func(int, model.Request) []model.Delta { return []model.Delta{{Text: "read"}} }}
	r := newRig(t, rigOptions{}, j.step())
	id := r.conversation()
	var parts scrollback.Parts
	for n := range 15 {
		parts = append(parts, scrollback.Text{Text: strings.Repeat(fmt.Sprintf("page %d of the tide table. ", n), 500)}, r.picture(id, n))
	}
	r.turn(engine.TurnRequest{Conversation: id, Message: parts}).done(t, scrollback.TurnComplete, "stop")
	goOn(t, r, id)
}

// readBig is readAll by the biggest pages.
func (r *rig) readBig(id scrollback.ConversationID, ref scrollback.Ref) string {
	r.t.Helper()
	var b strings.Builder
	for page := (scrollback.Page{}); !page.Done; {
		var err error
		if page, err = r.Read(context.Background(), id, ref, page.NextOffset, scrollback.ReadMax); err != nil {
			r.t.Fatal(err)
		}
		b.WriteString(page.Content)
	}
	return b.String()
}

// picture makes a small image unlike any other.
func (r *rig) picture(id scrollback.ConversationID, n int) scrollback.Part {
	r.t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 64, 64))
	img.Set(n%64, n/64, color.White)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		r.t.Fatal(err)
	}
	a, err := r.Upload(context.Background(), id, &b, fmt.Sprintf("%d.png", n))
	if err != nil {
		r.t.Fatal(err)
	}
	return scrollback.Image{Artifact: a.ID}
}

// Outputs that come back from one step together: however many and long, each call is
// answered in the next request, which fits, and what was cut is behind refs.
func TestManyOutputsAtOnce(t *testing.T) {
	for _, c := range []struct{ calls, words int }{{3, 400}, {10, 600}, {20, 150}, {10, 3000}, {40, 30}} {
		t.Run(fmt.Sprintf("%d of %d words", c.calls, c.words), func(t *testing.T) {
			j := &judge{t: t, budget: window.NewBudget(8000, 2000), newest: 1}
			j.say = func(n int, r model.Request) []model.Delta {
				if n > 1 {
					j.newest = 0
					return []model.Delta{{Text: "all read"}}
				}
				var out []model.Delta
				for k := range c.calls {
					out = append(out, model.Delta{Call: &scrollback.ToolCall{ID: fmt.Sprint("c", k), Name: "clock", Arguments: json.RawMessage(`{}`)}})
				}
				return out
			}
			r := newRig(t, rigOptions{}, j.step())
			id := r.conversation()
			r.turn(engine.TurnRequest{Conversation: id, Message: say("ask them all"), Tools: clock}).done(t, scrollback.TurnWaiting, "tool_calls")
			var results []engine.ToolResult
			for k := range c.calls {
				results = append(results, engine.ToolResult{CallID: fmt.Sprint("c", k),
					Text: strings.Repeat(fmt.Sprintf("output %d 输出 ", k), c.words/3)})
			}
			r.turn(engine.TurnRequest{Conversation: id, ToolResults: results}).done(t, scrollback.TurnComplete, "stop")
			for k, p := range r.log(id)[2].Parts.Results() {
				whole := p.Text
				if p.Artifact != "" {
					whole = r.readBig(id, scrollback.ArtifactRef(p.Artifact))
				}
				if whole != results[k].Text {
					t.Errorf("output %d is kept as %d bytes of %d", k, len(whole), len(results[k].Text))
				}
			}
			goOn(t, r, id)
		})
	}
}

// Look-ups that are made in one step together leave room for the answer.
func TestManyLookUpsAtOnce(t *testing.T) {
	j := &judge{t: t, budget: window.NewBudget(8000, 2000)}
	j.say = func(n int, r model.Request) []model.Delta {
		if n != 4 {
			return []model.Delta{{Text: strings.Repeat("the tide table, again and again. ", 40)}}
		}
		var out []model.Delta
		for k := range 12 {
			out = append(out, model.Delta{Call: &scrollback.ToolCall{ID: fmt.Sprint("r", k), Name: "context_search",
				Arguments: json.RawMessage(`{"query":"tide table","limit":20}`)}})
		}
		return out
	}
	r := newRig(t, rigOptions{}, j.step())
	id := r.conversation()
	for i := range 4 {
		r.ask(id, fmt.Sprint("number ", i, strings.Repeat(" and the tide table", 100))).done(t, scrollback.TurnComplete, "stop")
	}
	goOn(t, r, id)
}

// Forty images, one a message, five a message, or all at once where twenty is the
// most: no request has more than its budget, and the conversation goes on.
func TestFortyImages(t *testing.T) {
	for _, each := range []int{1, 5, 20, 40} {
		t.Run(fmt.Sprint(each, " at once"), func(t *testing.T) {
			j := &judge{t: t, budget: window.NewBudget(60_000, 2000), say: func(int,
				model.Request) []model.Delta {
				return []model.Delta{{Text: "seen"}}
			}}
			r := newRig(t, rigOptions{limit: 60_000}, j.step())
			id := r.conversation()
			for n := 0; n < 40; n += each {
				parts := say(fmt.Sprint("look at these, from ", n))
				for k := range each {
					parts = append(parts, r.picture(id, n+k))
				}
				e := r.turn(engine.TurnRequest{Conversation: id, Message: parts})
				d, ok := last[scrollback.DoneEvent](e)
				if want := map[bool]scrollback.TurnState{true: scrollback.TurnComplete,
					false: scrollback.TurnOverBudget}[each <= int(j.budget.Images)]; e.err != nil || !ok || d.Status != want {
					t.Fatalf("from %d: %+v, %v, want %s", n, d, e.err, want)
				}
			}
			seen := 0
			for _, m := range r.log(id) {
				for _, p := range m.Parts {
					if _, ok := p.(scrollback.Image); ok {
						seen++
					}
				}
			}
			if seen != 40 {
				t.Errorf("%d images are in the log", seen)
			}
			goOn(t, r, id)
			if !slices.ContainsFunc(r.log(id), func(m scrollback.Message) bool { return strings.HasPrefix(m.Parts.Text(), "And then") }) {
				t.Error("nothing was said after them")
			}
		})
	}
}

// Whoever waits for another fold, which may wait for its model, can be stopped.
func TestWaitingForAFoldEnds(t *testing.T) {
	gate, asked := make(chan struct{}), make(chan struct{}, 1)
	w := &writer{sum: func(_ int, r model.Request) []model.Delta {
		select {
		case asked <- struct{}{}:
		default:
		}
		<-gate
		return []model.Delta{{Text: minutes("x")}}
	}}
	r := newRig(t, rigOptions{limit: 8000, noFolds: true, summaries: true, policy: compact.Snapshot}, w.step())
	id := r.conversation()
	r.grow(id, 80)
	first := make(chan error, 1)
	go func() {
		_, err := r.Compact(context.Background(), id, engine.CompactRequest{Force: true})
		first <- err
	}()
	<-asked
	ctx, cancel := context.WithCancel(context.Background())
	second := make(chan error, 1)
	go func() {
		_, err := r.Compact(ctx, id, engine.CompactRequest{Force: true})
		second <- err
	}()
	cancel()
	select {
	case err := <-second:
		if scrollback.CodeOf(err) != scrollback.Canceled {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it still waits for the other fold")
	}
	close(gate)
	if err := <-first; err != nil {
		t.Error(err)
	}
}
