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
	answerTime    = 3 * time.Minute // of one call
	answerSlack   = 8192            // tokens beside the summary: models think
	answerMax     = 256 << 10       // bytes that are read of an answer
	smallestInput = 1000            // tokens; a record that small is worth no call
)

// Summarizer is a model that can be asked for a summary. Budget is what it may be
// sent, in tokens.
type Summarizer struct {
	Model   model.Model
	Budget  int64
	Reserve int64 // tokens kept for its answer
	Dialect scrollback.Dialect
}

// Call is one call for a summary, in vain or not.
type Call struct {
	Model     string
	Usage     scrollback.Usage
	RequestID string
}

// Outcome is what asking came to. Text is empty when no model gave a usable
// summary; then Result says whether the last one failed (model_error) or said
// nothing usable (empty_summary), and Why it in words.
type Outcome struct {
	Text    string
	By      string // the model that wrote it
	Checked bool   // and was asked to hold it against the record, and did
	Result  scrollback.CompactionResult
	Why     string
	Calls   []Call
}

// Summarize asks the writers in order, the first one a second time with what was
// wrong, until one answers with a summary that passes. It never fails: without a
// summary the extract stands. A context that ends, ends it.
func Summarize(ctx context.Context, r Record, writers []Summarizer) Outcome {
	var out Outcome
	if int64(r.Count(r.form().bare())) >= r.bound() {
		return out // there is no room for more than the headings
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
				text += r.carry("", r.MaxTokens-int64(r.Count(text)))
				out.Text, out.By, out.Result, out.Why = text, w.Model.Facts().Name, "", ""
				return out
			}
			var u unusable
			switch code := scrollback.CodeOf(err); {
			case ctx.Err() != nil:
				out.Result, out.Why = scrollback.ResultModelError, "stopped"
				return out
			case errors.As(err, &u):
				complaint = u.Error()
				out.Result, out.Why = scrollback.ResultEmptySummary, complaint
				continue
			case code == scrollback.Refused || code == scrollback.Invalid:
				tries = 0 // it would be refused again
			case code == scrollback.OverBudget:
				input /= 2
			}
			out.Result, out.Why = scrollback.ResultModelError, err.Error()
			if tries == 0 {
				break
			}
		}
	}
	return out
}

// try makes one call, notes it, and judges the answer.
func (r *Record) try(ctx context.Context, w Summarizer, items []scrollback.Item, out *Outcome) (string, error) {
	text, call, err := ask(ctx, w, items, r.bound())
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	out.Calls = append(out.Calls, call)
	if err != nil {
		return "", err
	}
	return r.accept(text)
}

// check asks the writer to hold its minutes against the record, as often as the
// policy says, and answers the minutes as they are then. A check that fails, or
// whose answer cannot be used, changes nothing.
func (r *Record) check(ctx context.Context, w Summarizer, minutes string, out *Outcome) string {
	for range r.Policy.CheckCalls {
		text, call, err := ask(ctx, w, r.checkItems(w.Budget, minutes), r.bound())
		if ctx.Err() != nil {
			break
		}
		out.Calls = append(out.Calls, call)
		if err != nil {
			break
		}
		if strings.Trim(text, " \n.`*\"") == checked {
			out.Checked = true
			break
		}
		better, err := r.accept(text)
		if err != nil {
			break
		}
		minutes, out.Checked = better, true
	}
	return minutes
}

// unusable is an answer that is no summary.
type unusable string

func (u unusable) Error() string { return string(u) }

// ask makes one call.
func ask(ctx context.Context, w Summarizer, items []scrollback.Item, bound int64) (string, Call, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	call := Call{Model: w.Model.Facts().Name}
	var text strings.Builder
	finish := ""
	for d, err := range w.Model.Stream(ctx, model.Request{Items: window.TakeTurns(items, w.Dialect), MaxOutputTokens: min(w.Reserve, bound+answerSlack)}) {
		if err != nil {
			return "", call, err
		}
		if d.Usage != nil {
			call.Usage = *d.Usage
		}
		if d.RequestID != "" {
			call.RequestID = d.RequestID
		}
		if d.Finish != "" {
			finish = d.Finish
		}
		if d.Call != nil {
			return "", call, unusable("it called a tool")
		}
		if text.WriteString(d.Text); text.Len() > answerMax {
			return "", call, unusable("it did not end")
		}
	}
	switch finish {
	case scrollback.FinishStop:
		return text.String(), call, nil
	case "":
		return "", call, scrollback.Errorf(scrollback.Unavailable, "compact.Summarize", "the stream was cut off").Because(scrollback.ErrUpstream)
	}
	return "", call, unusable("it ended for another reason than being done (" + finish + ")")
}

// thoughts finds the marks that models put around what is no part of an answer.
var thoughts = regexp.MustCompile(`(?i)</?\s*(think|thinking|thought|reasoning|scratchpad|analysis|reflection|record|minutes)\b[^>]*>`)

// bound is the most tokens that a model's part of the summary may have.
func (r *Record) bound() int64 {
	return r.MaxTokens - int64(r.Policy.SaidShare*float64(r.MaxTokens))
}

// accept checks that an answer is a summary of the record's form and nothing else.
func (r *Record) accept(answer string) (string, error) {
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
	switch n := int64(r.Count(text)); {
	case at+1 != len(want):
		return "", unusable("the heading ## " + want[at+1].heading + " was missing")
	case said == 0:
		return "", unusable("it said nothing")
	case n > r.bound():
		return "", unusable(fmt.Sprintf("it was %d tokens long, and at most %d are allowed", n, r.bound()))
	}
	return text, nil
}
