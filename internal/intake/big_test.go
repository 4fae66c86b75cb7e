package intake_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/window"
)

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
		{"words", words[:chars], 1}, {"chinese", strings.Repeat("潮汐表在第三个系缆柱下面。", chars/13+1), 1},
		{"one word", strings.Repeat("x", chars), 1},
		{"lines", strings.Repeat("\n", chars-1) + "x", 1}, {"emoji", strings.Repeat("🌊", chars), 1},
		{"many parts", words[:chars], 100},
		{"marks", strings.Repeat("</folded_history>", chars/17), 1},
	} {
		for _, limit := range []int64{8000, 2000} {
			t.Run(fmt.Sprint(c.name, " ", limit), func(t *testing.T) {
				whole := string([]rune(c.text)[:min(chars, len([]rune(c.text)))])
				j := &enginetest.Judge{T: t, Budget: window.NewBudget(limit, 2000), Say: func(int,
					model.Request) []model.Delta {
					return []model.Delta{{Text: "read"}}
				}}
				r := enginetest.New(t, enginetest.Options{Limit: limit}, j.Step())
				id := r.NewConversation()
				r.Ask(id, "Something short before.").WantDone(t, scrollback.TurnComplete, "stop")
				var parts scrollback.Parts
				for i := range c.parts {
					n := len(whole) / c.parts
					parts = append(parts, scrollback.Text{Text: whole[i*n : (i+1)*n]})
				}
				r.Run(engine.TurnRequest{Conversation: id, Message: parts}).WantDone(t, scrollback.TurnComplete, "stop")
				var got strings.Builder
				for _, p := range r.Log(id)[2].Parts {
					switch p := p.(type) {
					case scrollback.File:
						got.WriteString(r.ReadBigPages(id, scrollback.ArtifactRef(p.Artifact)))
					case scrollback.Text:
						if !strings.Contains(p.Text, "left out here") {
							got.WriteString(p.Text)
						}
					}
				}
				if strings.ReplaceAll(got.String(), "\n", "") != strings.ReplaceAll(parts.Text(), "\n", "") ||
					c.parts == 1 && got.String() != whole {
					t.Errorf("%d bytes were kept of %d", got.Len(), len(whole))
				}
				enginetest.RunFourTurns(t, r, id)
			})
		}
	}
}

// The same between images, each of which parts two long texts.
func TestLongMessageBetweenImages(t *testing.T) {
	j := &enginetest.Judge{T: t, Budget: window.NewBudget(8000, 2000),
		Say: func(int, model.Request) []model.Delta { return []model.Delta{{Text: "read"}} }}
	r := enginetest.New(t, enginetest.Options{}, j.Step())
	id := r.NewConversation()
	var parts scrollback.Parts
	for n := range 15 {
		parts = append(parts, scrollback.Text{Text: strings.Repeat(fmt.Sprintf("page %d of the tide table. ", n), 500)},
			r.UploadImage(id, n))
	}
	r.Run(engine.TurnRequest{Conversation: id, Message: parts}).WantDone(t, scrollback.TurnComplete, "stop")
	enginetest.RunFourTurns(t, r, id)
}

// Outputs that come back from one step together: however many and long, each call is
// answered in the next request, which fits, and what was cut is behind refs.
func TestManyOutputsAtOnce(t *testing.T) {
	for _, c := range []struct{ calls, words int }{{3, 400}, {10, 600}, {20, 150}, {10, 3000}, {40, 30}} {
		t.Run(fmt.Sprintf("%d of %d words", c.calls, c.words), func(t *testing.T) {
			j := &enginetest.Judge{T: t, Budget: window.NewBudget(8000, 2000), Newest: 1}
			j.Say = func(n int, r model.Request) []model.Delta {
				if n > 1 {
					j.Newest = 0
					return []model.Delta{{Text: "all read"}}
				}
				var out []model.Delta
				for k := range c.calls {
					out = append(out, model.Delta{Call: &scrollback.ToolCall{ID: fmt.Sprint("c", k), Name: "clock",
						Arguments: json.RawMessage(`{}`)}})
				}
				return out
			}
			r := enginetest.New(t, enginetest.Options{}, j.Step())
			id := r.NewConversation()
			r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("ask them all"),
				Tools: enginetest.ClockTool}).WantDone(t,
				scrollback.TurnWaiting, "tool_calls")
			var results []engine.ToolResult
			for k := range c.calls {
				results = append(results, engine.ToolResult{CallID: fmt.Sprint("c", k),
					Text: strings.Repeat(fmt.Sprintf("output %d 输出 ", k), c.words/3)})
			}
			r.Run(engine.TurnRequest{Conversation: id, ToolResults: results}).WantDone(t, scrollback.TurnComplete, "stop")
			for k, p := range r.Log(id)[2].Parts.Results() {
				whole := p.Text
				if p.Artifact != "" {
					whole = r.ReadBigPages(id, scrollback.ArtifactRef(p.Artifact))
				}
				if whole != results[k].Text {
					t.Errorf("output %d is kept as %d bytes of %d", k, len(whole), len(results[k].Text))
				}
			}
			enginetest.RunFourTurns(t, r, id)
		})
	}
}

func TestBigOutputsBecomeArtifacts(t *testing.T) {
	big := strings.Repeat("行 line of output\n", 2000)
	r := enginetest.New(t, enginetest.Options{}, modeltest.Call(enginetest.Call("c1", "clock", `{}`)),
		modeltest.Say("read"))
	id := r.NewConversation()
	r.Run(engine.TurnRequest{Conversation: id, Message: enginetest.Say("run"), Tools: enginetest.ClockTool}).WantDone(t,
		scrollback.TurnWaiting,
		"tool_calls")
	r.Run(engine.TurnRequest{Conversation: id, ToolResults: []engine.ToolResult{{CallID: "c1", Text: big}}}).WantDone(t,
		scrollback.TurnComplete,
		"stop")
	res := r.Log(id)[2].Parts.Results()[0]
	if res.Artifact == "" || len(res.Text) > 4<<10 || !strings.HasPrefix(big, res.Text[:2000]) ||
		!strings.Contains(res.Text, string(scrollback.ArtifactRef(res.Artifact))) {
		t.Fatalf("stored inline: %d bytes, artifact %q", len(res.Text), res.Artifact)
	}
	if got := r.ReadAll(id, scrollback.ArtifactRef(res.Artifact)); got != big {
		t.Errorf("the artifact has %d bytes, the output had %d", len(got), len(big))
	}
	_, err := r.Read(context.Background(), r.NewConversation(), scrollback.ArtifactRef(res.Artifact), 0, 0)
	enginetest.WantCode(t, err, scrollback.NotFound, "mentions no")
	found, err := r.Grep(context.Background(), id, scrollback.GrepQuery{Pattern: "line of output"})
	if err != nil || found.Total != 2000 || found.Matches[0].Ref == nil {
		t.Errorf("grep finds %d lines in the artifact (%v)", found.Total, err)
	}
}

// A message far over half the window is kept whole behind a ref, and the turn
// still fits.
func TestHugeMessage(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{}, modeltest.Say("read"))
	id := r.NewConversation()
	huge := strings.Repeat("长文本 with words, ", 12_000)
	r.Ask(id, huge).WantDone(t, scrollback.TurnComplete, "stop")
	parts := r.Log(id)[0].Parts
	f, ok := parts[0].(scrollback.File)
	if !ok || r.ReadAll(id, scrollback.ArtifactRef(f.Artifact)) != huge {
		t.Fatalf("parts %T: the message is not kept whole", parts[0])
	}
}
