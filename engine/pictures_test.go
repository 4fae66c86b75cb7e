package engine_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"unicode"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

var update = flag.Bool("update", false, "rewrite the pictures of windows")

// Each talk in testdata/windows is a long conversation, which is held as it stands
// there. What the model gets with its last question is kept beside it as a picture, to be
// read with the eyes of a model: could it go on as if nothing had been compacted?
//
//	# limit 8000, policy rolling      how the conversation is set up
//	u: …                              what the user says; goes on to the next mark
//	a: …                              what the model replies
//	c: name {…}                       a call in the model's reply; several stand together
//	r: …                              the result of a call, in the order of the calls
//	s: …                              a summary, which the model writes when it is asked
//	day 3                             as many days pass
//	each a|b|c                        the lines up to "end", once for each, in the place of {it}
//	fill 40 …                         a line as many times, with its number in the place of {n}
//	make gotest 90 7                  as many lines as a tool writes of that kind, by a seed
//	⟪202e⟫                            an invisible character, in pictures as well
func TestWindowPictures(t *testing.T) {
	paths, err := filepath.Glob("testdata/windows/*.talk")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d talks, %v", len(paths), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".talk")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := readTalk(t, path).picture(t)
			kept := strings.TrimSuffix(path, ".talk") + ".txt"
			if *update {
				if err := os.WriteFile(kept, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(kept)
			if err != nil || got != string(want) {
				t.Errorf("%s shows another window now (%v); see it with -update:\n%s", kept, err, got)
			}
		})
	}
}

// talk is a conversation to be held.
type script struct {
	settings map[string]string
	moves    []move
	reports  []string // summaries, in the order of the requests for them

	expects map[int][]expected // of turns
}

// move is one mark of a talk, and the text that follows it.
type move struct{ mark, text string }

func readTalk(t *testing.T, path string) script {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := script{settings: map[string]string{}}
	head, body, _ := strings.Cut(strings.TrimSpace(string(file)), "\n")
	for one := range strings.SplitSeq(strings.TrimPrefix(head, "# "), ", ") {
		key, value, _ := strings.Cut(one, " ")
		out.settings[key] = value
	}
	for _, line := range expand(t, strings.Split(body, "\n")) {
		mark, text, _ := strings.Cut(line, " ")
		if slices.Contains([]string{"u:", "a:", "c:", "r:", "s:", "day"}, mark) {
			out.moves = append(out.moves, move{strings.TrimSuffix(mark, ":"), text})
			continue
		}
		out.moves[len(out.moves)-1].text += "\n" + line
	}
	out.moves = slices.DeleteFunc(out.moves, func(m move) bool {
		if m.mark == "s" {
			out.reports = append(out.reports, strings.TrimSpace(m.text))
		}
		return m.mark == "s"
	})
	for i := range out.moves {
		out.moves[i].text = named.ReplaceAllStringFunc(strings.TrimRight(out.moves[i].text, "\n"), func(s string) string {
			r, err := strconv.ParseInt(strings.Trim(s, "⟪⟫"), 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			return string(rune(r))
		})
	}
	return out
}

// named is the number of an invisible character.
var named = regexp.MustCompile(`⟪[0-9a-f]+⟫`)

// visible names the characters that nobody sees.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			fmt.Fprintf(&b, "⟪%x⟫", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// expand writes out what is to be repeated.
func expand(t *testing.T, lines []string) (out []string) {
	t.Helper()
	for i := 0; i < len(lines); i++ {
		if each, ok := strings.CutPrefix(lines[i], "each "); ok {
			end := slices.Index(lines[i:], "end")
			if end < 0 {
				t.Fatalf("line %d has no end", i+1)
			}
			inner := strings.Join(lines[i+1:i+end], "\n")
			for it := range strings.SplitSeq(each, "|") {
				out = append(out, expand(t, strings.Split(strings.ReplaceAll(inner, "{it}", it), "\n"))...)
			}
			i += end
			continue
		}
		if output, ok := strings.CutPrefix(lines[i], "make "); ok {
			out = append(out, makeOutput(t, output)...)
			continue
		}
		if fill, ok := strings.CutPrefix(lines[i], "fill "); ok {
			number, line, _ := strings.Cut(fill, " ")
			times, err := strconv.Atoi(number)
			if err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			for n := range times {
				out = append(out, strings.ReplaceAll(line, "{n}", strconv.Itoa(n+1)))
			}
			continue
		}
		out = append(out, lines[i])
	}
	return out
}

// picture holds the talk and draws the last request that the model gets in it.
func (k script) picture(t *testing.T) string {
	_, draw := k.hold(t)
	return draw()
}

// hold holds the talk; draw draws the last request that the model gets in it.
func (k script) hold(t *testing.T) (h *held, draw func() string) {
	limit, err := strconv.ParseInt(k.settings["limit"], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var ids atomic.Int64
	h = &held{script: k}
	r := enginetest.New(t, enginetest.Options{Limit: limit, Policy: k.settings["policy"], Summaries: len(k.reports) > 0,
		NoFolds: true, // beside a turn they hold the reply or do not, as it comes
		NewID:   func() string { return fmt.Sprintf("0190a000-0000-7000-8000-%012d", ids.Add(1)) }},
		modeltest.Step{Reply: h.reply})
	c, _, err := r.Create(t.Context(), scrollback.Conversation{Instructions: k.settings["instructions"],
		Settings: scrollback.Settings{Tools: k.tools()}})
	if err != nil {
		t.Fatal(err)
	}
	for h.at < len(k.moves) {
		r.Clock.Add(90_000)
		switch m := k.moves[h.at]; m.mark {
		case "day":
			days, err := strconv.ParseInt(m.text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			r.Clock.Add(days * 24 * 3600 * 1000)
			h.at++
		case "u":
			h.at++
			h.run(t, r, engine.TurnRequest{Conversation: c.ID, Message: enginetest.Say(m.text)})
			h.notePoint(t, r, c.ID)
		case "r":
			req := engine.TurnRequest{Conversation: c.ID}
			for ; h.at < len(k.moves) && k.moves[h.at].mark == "r"; h.at++ {
				text := k.moves[h.at].text
				rest, failed := strings.CutPrefix(text, "failed ")
				req.ToolResults = append(req.ToolResults,
					engine.ToolResult{CallID: h.open[len(req.ToolResults)], Text: rest, IsError: failed})
			}
			h.run(t, r, req)
		default:
			t.Fatalf("%q stands where nobody asks for it", m.mark+": "+m.text)
		}
	}
	return h, func() string { return h.draw(t, r, c.ID) }
}

// tools returns those that the talk calls.
func (k script) tools() (out []scrollback.Tool) {
	seen := map[string]bool{}
	for _, m := range k.moves {
		if name, _, _ := strings.Cut(m.text, " "); m.mark == "c" && !seen[name] {
			seen[name] = true
			out = append(out, scrollback.Tool{Name: name, Parameters: json.RawMessage(`{"type":"object"}`)})
		}
	}
	return out
}

// held is a talk that is being held: the next move, the calls that wait for a result,
// and how many summaries were asked for.
type held struct {
	script
	at, asked, calls int
	open             []string
	last             model.Request

	turns  int
	points []point
}

// reply returns what the talk lets the model say. A request without tools is one for a
// summary.
func (h *held) reply(r model.Request) (out []model.Delta) {
	if len(r.Tools) == 0 {
		h.asked++
		return []model.Delta{{Text: h.reports[min(h.asked, len(h.reports))-1]}}
	}
	h.last = r
	h.open = nil
	for ; h.at < len(h.moves) && strings.Contains("ac", h.moves[h.at].mark); h.at++ {
		m := h.moves[h.at]
		if m.mark == "a" {
			out = append(out, model.Delta{Text: m.text})
			continue
		}
		name, args, _ := strings.Cut(m.text, " ")
		h.calls++
		call := enginetest.Call(fmt.Sprintf("call-%d", h.calls), name, args)
		h.open = append(h.open, call.ID)
		out = append(out, model.Delta{Call: &call})
	}
	if len(out) == 0 { // the last question
		return []model.Delta{{Text: "…"}}
	}
	return out
}

// run runs a turn, and what follows it.
func (h *held) run(t *testing.T, r *enginetest.Rig, req engine.TurnRequest) {
	t.Helper()
	out := r.Run(req)
	want := scrollback.TurnComplete
	reason := "stop"
	if len(h.open) > 0 {
		want = scrollback.TurnWaiting
		reason = "tool_calls"
	}
	out.WantDone(t, want, reason)
	r.Engine.Rest()
}

// The most of a message that a picture shows.
const shownRunes = 500

// draw shows a request as the model gets it.
func (h *held) draw(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID) string {
	t.Helper()
	receipts, err := r.Receipts(t.Context(), id, 100)
	if err != nil || len(receipts) < 2 && h.expects == nil {
		m, _ := r.Context(t.Context(), id)
		t.Fatalf("%d compactions of %d messages, %d of %d tokens, %v", len(receipts), len(r.Log(id)), m.Tokens, m.Budget, err)
	}
	var b strings.Builder
	weights := map[scrollback.Layer]int64{}
	for _, it := range h.last.Items {
		weights[it.Layer] += it.Weight.Tokens
	}
	fmt.Fprintf(&b, "%d messages, %d compactions, %d requests for a summary; limit %s, policy %s\n", len(r.Log(id)),
		len(receipts), h.asked,
		h.settings["limit"], h.settings["policy"])
	for _, l := range []scrollback.Layer{scrollback.LayerInstructions, scrollback.LayerPlaceholders,
		scrollback.LayerMessages} {
		fmt.Fprintf(&b, "%s: %d tokens\n", l, weights[l])
	}
	for _, it := range h.last.Items {
		if it.Kind == scrollback.KindTools {
			continue
		}
		fmt.Fprintf(&b, "\n── %s", it.Role)
		if it.Seq > 0 {
			fmt.Fprintf(&b, " #%d", it.Seq)
		}
		b.WriteString("\n")
		for _, p := range it.Parts {
			shown := shownRunes
			if it.Kind == scrollback.KindFolded {
				shown = 100_000
			}
			b.WriteString(visible(clipped(spelled(p), shown)) + "\n")
		}
	}
	// Folds beside a turn and the turn itself take ids in any order.
	seen := map[string]string{}
	return regexp.MustCompile(`history:[0-9a-f-]{36}`).ReplaceAllStringFunc(b.String(), func(id string) string {
		if seen[id] == "" {
			seen[id] = fmt.Sprintf("history:0190a000-0000-7000-8000-%012d", len(seen)+1)
		}
		return seen[id]
	})
}

func spelled(p scrollback.Part) string {
	switch p := p.(type) {
	case scrollback.Text:
		return p.Text
	case scrollback.ToolCall:
		return fmt.Sprintf("[%s %s]", p.Name, p.Arguments)
	case scrollback.ToolResult:
		return p.Text
	}
	return fmt.Sprintf("%T", p)
}

// clipped keeps the head and the tail of a text.
func clipped(s string, runes int) string {
	rs := []rune(s)
	if len(rs) <= runes {
		return s
	}
	return string(rs[:runes*2/3]) + fmt.Sprintf(" ⟨%d characters⟩ ", len(rs)-runes) + string(rs[len(rs)-runes/3:])
}
