package compact

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/window"
)

// Bounds of asking for a summary.
const (
	answerTime    = 3 * time.Minute // for one call
	answerSlack   = 8192            // tokens besides the summary: models think
	answerMax     = 256 << 10       // bytes of an answer that are read
	smallestInput = 1000            // tokens; for less a call is not worth making
)

// Summarizer is a model that can be asked for a summary. Budget is what may be sent to
// it, in o200k tokens.
type Summarizer struct {
	Model   model.Model
	Budget  int64
	Reserve int64 // tokens of its own, kept for its answer
	Dialect scrollback.Dialect
}

// call is one call for a summary, successful or not.
type call struct {
	model     string
	usage     scrollback.Usage
	requestID string
}

// outcome is the result of asking. Without a usable summary text is empty; then result
// says whether the last model failed (model_error) or said nothing usable
// (empty_summary), and why says it in words. Both are empty if nobody was asked.
type outcome struct {
	text    string
	by      string // the model that wrote it
	checked bool   // and checked it against the record
	result  scrollback.CompactionResult
	why     string
	calls   []call
}

// summarize asks the writers in order, the first one twice (the second time it says what
// was wrong), until one returns a usable summary. It never fails: without a summary the
// extract stands. It stops when ctx ends.
func summarize(ctx context.Context, r record, writers []Summarizer) outcome {
	var out outcome
	if int64(r.count(r.form().bare())) >= r.bound() {
		return out // there is only room for the headings
	}
	for i, w := range writers {
		tries, complaint, input := 1, "", w.Budget
		if i == 0 {
			tries = 2
		}
		for range tries {
			if input < smallestInput {
				break
			}
			text, err := r.try(ctx, w, r.items(input, complaint), &out)
			if err == nil {
				w.Budget = input
				text = r.check(ctx, w, text, &out)
				text += r.carry("", r.maxTokens-int64(r.count(text)))
				out.text, out.by, out.result, out.why = text, w.Model.Facts().Name, "", ""
				return out
			}
			var u unusable
			switch code := scrollback.CodeOf(err); {
			case ctx.Err() != nil:
				out.result, out.why = scrollback.ResultModelError, "stopped"
				return out
			case errors.As(err, &u):
				complaint = u.Error()
				out.result, out.why = scrollback.ResultEmptySummary, complaint
				continue
			case code == scrollback.Refused || code == scrollback.Invalid:
				tries = 0 // it would only be refused again
			case code == scrollback.OverBudget:
				input /= 2
			}
			out.result, out.why = scrollback.ResultModelError, err.Error()
			if tries == 0 {
				break
			}
		}
	}
	return out
}

// try makes one call, records it, and judges the answer.
func (r *record) try(ctx context.Context, w Summarizer, items []scrollback.Item, out *outcome) (string, error) {
	text, made, err := ask(ctx, w, items, r.bound())
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	out.calls = append(out.calls, made)
	if err != nil {
		return "", err
	}
	return r.accept(text)
}

// check asks the writer to check its minutes against the record, as often as the policy
// says, and returns the minutes, corrected or not. A check that fails or returns
// something unusable changes nothing.
func (r *record) check(ctx context.Context, w Summarizer, minutes string, out *outcome) string {
	for range r.policy.CheckCalls {
		text, made, err := ask(ctx, w, r.checkItems(w.Budget, minutes), r.bound())
		if ctx.Err() != nil {
			break
		}
		out.calls = append(out.calls, made)
		if err != nil {
			break
		}
		if strings.Trim(text, " \n.`*\"") == checked {
			out.checked = true
			break
		}
		better, err := r.accept(text)
		if err != nil {
			break
		}
		minutes, out.checked = better, true
	}
	return minutes
}

// unusable says why an answer cannot be used as a summary.
type unusable string

func (u unusable) Error() string { return string(u) }

// ask makes one call.
func ask(ctx context.Context, w Summarizer, items []scrollback.Item, bound int64) (string, call, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	made := call{model: w.Model.Facts().Name}
	var text strings.Builder
	finish := ""
	for d, err := range w.Model.Stream(ctx, model.Request{Items: window.TakeTurns(items, w.Dialect), MaxOutputTokens: min(w.Reserve, bound+answerSlack)}) {
		if err != nil {
			return "", made, err
		}
		if d.Usage != nil {
			made.usage = *d.Usage
		}
		if d.RequestID != "" {
			made.requestID = d.RequestID
		}
		if d.Finish != "" {
			finish = d.Finish
		}
		if d.Call != nil {
			return "", made, unusable("it called a tool")
		}
		if text.WriteString(d.Text); text.Len() > answerMax {
			return "", made, unusable("it did not end")
		}
	}
	switch finish {
	case scrollback.FinishStop:
		return text.String(), made, nil
	case "":
		return "", made, scrollback.Errorf(scrollback.Unavailable, "compact.Run", "the stream was cut off").Because(scrollback.ErrUpstream)
	}
	return "", made, unusable("it ended for another reason than being done (" + finish + ")")
}

// thoughts finds the marks that models put around text that is not part of an answer.
var thoughts = regexp.MustCompile(`(?i)</?\s*(think|thinking|thought|reasoning|scratchpad|analysis|reflection|record|minutes)\b[^>]*>`)

// bound returns the most tokens that a model's part of the summary may have.
func (r *record) bound() int64 {
	return r.maxTokens - int64(r.policy.SaidShare*float64(r.maxTokens))
}

// accept checks that an answer is a summary of the record's form and nothing else.
func (r *record) accept(answer string) (string, error) {
	text := strings.TrimSpace(answer)
	if inner, ok := strings.CutPrefix(text, "```"); ok { // some models wrap Markdown in a fence
		if _, rest, ok := strings.Cut(inner, "\n"); ok {
			text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "```"))
		}
	}
	want := r.form().sections
	switch {
	case text == "":
		return "", unusable("it was empty")
	case thoughts.MatchString(text):
		return "", unusable("it contained thoughts beside the minutes")
	case !strings.HasPrefix(text, "## "+want[0].heading):
		return "", unusable("it did not begin with the heading ## " + want[0].heading)
	}
	said, at := 0, -1
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "## "); ok {
			if at++; at >= len(want) || strings.TrimSpace(title) != want[at].heading {
				return "", unusable(fmt.Sprintf("its headings were not the %d asked for, each once and in order (%q came too)", len(want), clip(title)))
			}
			continue
		}
		if !isNone(line) {
			said++
		}
	}
	switch n := int64(r.count(text)); {
	case at+1 != len(want):
		return "", unusable("the heading ## " + want[at+1].heading + " was missing")
	case said == 0:
		return "", unusable("it said nothing")
	case n > r.bound():
		return "", unusable(fmt.Sprintf("it was %d tokens long, and at most %d are allowed", n, r.bound()))
	}
	return text, nil
}
