package ollama

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/thoughts"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// answerLine is one line of an answer. Everything is read tolerantly: what has the wrong type
// counts as absent.
type answerLine struct {
	Error   json.RawMessage `json:"error"`
	Message struct {
		Content   text `json:"content"`
		Thinking  text `json:"thinking"`
		ToolCalls []struct {
			ID       text `json:"id"`
			Function struct {
				Name      text            `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done       bool  `json:"done"`
	DoneReason text  `json:"done_reason"`
	Prompt     count `json:"prompt_eval_count"`
	Cached     count `json:"prompt_eval_cached_count"`
	Eval       count `json:"eval_count"`
}

// text is a string; anything else is empty.
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*t = text(s)
	}
	return nil
}

// count is a number of tokens; what is not a number is 0, and an impossible one -1.
type count int64

func (c *count) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(string(bytes.Trim(raw, `"`)), 64)
	switch {
	case err != nil && !math.IsInf(f, 0):
	case f >= 0 && f <= scrollback.MaxCallTokens:
		*c = count(math.Round(f))
	default:
		*c = -1
	}
	return nil
}

// answerReader reads an answer.
type answerReader struct {
	a     *remote.Answer
	r     model.Request
	asked options
	taken map[string]bool // ids of calls
	calls int
	some  bool // something was said, thought or called

	inText thoughts.Splitter // finds what was thought in what is said
}

func newReader(a *remote.Answer, r model.Request, asked options) *answerReader {
	s := &answerReader{a: a, r: r, asked: asked, taken: map[string]bool{}}
	for _, it := range r.Items {
		for _, c := range it.Parts.Calls() {
			s.taken[c.ID] = true
		}
	}
	return s
}

func (s *answerReader) readAnswer() error {
	for raw, err := range s.a.Lines() {
		if err != nil {
			return err
		}
		var l answerLine
		if json.Unmarshal(raw, &l) != nil {
			return s.a.UnreadableError(raw)
		}
		if len(l.Error) > 0 && string(l.Error) != "null" && string(l.Error) != `""` {
			return s.a.ProblemError(raw)
		}
		if err := s.emitLine(l); err != nil {
			return err
		}
		if l.Done {
			return s.emitEnd(l)
		}
	}
	return s.a.EmitPieces(s.inText.End())
}

// emitLine emits what a line says, in the order in which models write: they think, then
// speak, then call.
func (s *answerReader) emitLine(l answerLine) error {
	if thought := string(l.Message.Thinking); thought != "" {
		s.some = true
		if err := s.a.EmitDelta(model.Delta{Reasoning: thought}); err != nil {
			return err
		}
	}
	if said := string(l.Message.Content); said != "" {
		s.some = true
		if err := s.a.EmitPieces(s.inText.Add(said)); err != nil {
			return err
		}
	}
	if len(l.Message.ToolCalls) > 0 || l.Done {
		if err := s.a.EmitPieces(s.inText.End()); err != nil {
			return err
		}
	}
	for _, c := range l.Message.ToolCalls {
		if err := s.a.CountArguments(len(c.Function.Arguments)); err != nil {
			return err
		}
		s.some = true
		s.calls++
		whole := &scrollback.ToolCall{ID: s.callID(string(c.ID)), Name: string(c.Function.Name),
			Arguments: readArguments(c.Function.Arguments)}
		if err := s.a.EmitDelta(model.Delta{Call: whole}); err != nil {
			return err
		}
	}
	return nil
}

// readArguments returns an object; some servers put it into a text.
func readArguments(raw json.RawMessage) json.RawMessage {
	var inner string
	switch {
	case string(raw) == "null":
		return model.ParseArguments("")
	case json.Unmarshal(raw, &inner) == nil:
		return model.ParseArguments(inner)
	}
	return model.ParseArguments(string(raw))
}

// callID returns the id of a call, or a new one if the server gives none, like older releases, or
// one that is taken.
func (s *answerReader) callID(given string) string {
	for n := s.calls; given == "" || s.taken[given]; n++ {
		given = fmt.Sprintf("call_%d", n)
	}
	s.taken[given] = true
	return given
}

// emitEnd emits the last line's account. An answer that was not finished has no finish
// reason; an empty one is requested again.
func (s *answerReader) emitEnd(l answerLine) error {
	last := model.Delta{Usage: readUsage(l), RequestID: s.a.Header("X-Request-Id")}
	if err := s.checkCut(l, last.Usage); err != nil {
		return err
	}
	switch reason := string(l.DoneReason); {
	case reason == "stop" && s.calls > 0:
		last.Finish = scrollback.FinishToolCalls
	case reason == "", reason == "load", reason == "unload":
		if !s.some {
			return s.a.BrokenOffError("done_reason " + reason)
		}
	default:
		last.Finish = reason // stop and length are our words too
	}
	return s.a.EmitDelta(last)
}

func readUsage(l answerLine) *scrollback.Usage {
	odd := min(l.Prompt, l.Cached, l.Eval) < 0
	in := int64(max(l.Prompt, 0))
	cached := int64(max(l.Cached, 0))
	out := int64(max(l.Eval, 0))
	if in == 0 && out == 0 && !odd {
		return nil
	}
	if cached > in { // cached tokens are part of the prompt, unless they cannot be
		in += cached
	}
	u := scrollback.Usage{InputTokens: in, CachedTokens: cached, OutputTokens: out, TotalTokens: in + out}
	if odd {
		u = u.Doubted()
	}
	return &u
}

// checkCut returns the error of an answer that shows that the prompt did not fit: more was
// read than the window asked for holds, or the window was full before a word was
// said. What it cost is emitted first.
func (s *answerReader) checkCut(l answerLine, u *scrollback.Usage) error {
	var in, out int64
	if u != nil {
		in = u.InputTokens
		out = u.OutputTokens
	}
	over := s.asked.NumCtx > 0 && in > s.asked.NumCtx
	full := !s.some && l.DoneReason == "length" && (s.asked.NumPredict == 0 || out < s.asked.NumPredict)
	if !over && !full {
		return nil
	}
	if u != nil {
		if err := s.a.EmitDelta(model.Delta{Usage: u}); err != nil {
			return err
		}
	}
	return scrollback.Errorf(scrollback.OverBudget, op,
		i18n.OllamaSaysTooLong).
		WithReason(&model.Lesson{TooLong: true, Limit: s.asked.NumCtx, Requested: in})
}
