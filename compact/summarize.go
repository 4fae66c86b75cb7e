package compact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact/summary"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/window"
)

// Bounds of asking for a summary.
const (
	answerTime    = 3 * time.Minute // for one call
	answerSlack   = 8192            // tokens besides the summary: models think
	answerMax     = 256 << 10       // bytes of an answer that are read
	smallestInput = 1000            // tokens; for less a call is not worth making
	countedApart  = 1.1             // times as many tokens as expected a request may have
)

// Summarizer is a model that can be asked for a summary. Budget is what may be sent to
// it, in o200k tokens.
type Summarizer struct {
	Model   model.Model
	Budget  int64
	Reserve int64 // tokens of its own, kept for its answer
	Dialect scrollback.Dialect

	// Limit is its whole window, and MaxOutput the most that an answer may have, both in tokens of
	// its own; 0 if not known. What a request leaves of the window is for the answer: models think.
	Limit, MaxOutput int64
}

// answerRoom returns how many tokens of its own an answer to a request of some o200k tokens may have,
// if it is to have a summary of bound tokens in the end.
func (w *Summarizer) answerRoom(asked, bound int64) int64 {
	room := w.Reserve
	if w.Limit > 0 && w.Budget > 0 {
		own := float64(asked) * float64(w.Limit-w.Reserve) / float64(w.Budget)
		room = max(room, w.Limit-int64(countedApart*own))
	}
	if w.MaxOutput > 0 {
		room = min(room, w.MaxOutput)
	}
	return min(room, bound+answerSlack)
}

// summaryCall is one call for a summary, successful or not.
type summaryCall struct {
	model     string
	usage     scrollback.Usage
	requestID string
}

// askOutcome is the result of asking. Without a usable summary text is empty; then result
// says whether the last model failed (model_error) or said nothing usable
// (empty_summary), why says it in words that may be shown, and log in full. All are
// empty if nobody was asked.
type askOutcome struct {
	text    string
	by      string // the model that wrote it
	checked bool   // and checked it against the record
	result  scrollback.CompactionResult
	why     string
	log     string
	calls   []summaryCall
	tries   []scrollback.Try // that gave no summary
}

// noteFailure notes why a call gave no summary.
func (o *askOutcome) noteFailure(result scrollback.CompactionResult, err error) {
	o.result = result
	o.why = scrollback.PublicMessage(err)
	o.log = err.Error()
	var u summary.Unusable
	var other summary.OtherLanguage
	var long summary.TooLong
	switch {
	case errors.As(err, &other):
		o.why = other.Shown
	case errors.As(err, &long):
		o.why = long.Shown
	case errors.As(err, &u):
		o.why = u.Shown
	}
	if n := len(o.calls); n > 0 {
		o.tries = append(o.tries, scrollback.Try{Model: o.calls[n-1].model, Result: o.result, Why: o.why})
	}
}

// askWriters asks the writers in order, the first one twice (the second time it says what
// was wrong), until one returns a usable summary or the record's calls are used up. It
// never fails: without a summary the extract stands. It stops when ctx ends.
func askWriters(ctx context.Context, r summaryRecord, writers []Summarizer) askOutcome {
	var out askOutcome
	if int64(r.count(r.summaryForm().Bare())) >= r.maxTokensOwn() {
		return out // there is only room for the headings
	}
	var spare func() askOutcome // a summary in another language, or cut short, is better than none
	for i, w := range writers {
		if why := w.Model.Facts().Unready; why != nil {
			// It is not asked, so this counts as no failure of it.
			if out.result == "" {
				out.result = scrollback.ResultModelError
				out.why = scrollback.PublicMessage(why)
				out.log = why.Error()
			}
			continue
		}
		tries := 1
		complaint := ""
		input := w.Budget
		if i == 0 {
			tries = 2
		}
		for range tries {
			if input < smallestInput || len(out.calls) >= r.calls || ctx.Err() != nil {
				break
			}
			items := r.summaryItems(input, complaint)
			text, err := r.tryWriter(ctx, w, items, &out)
			if err == nil {
				r.maxInput = input
				return r.finishAnswer(ctx, w, text, out)
			}
			var u summary.Unusable
			var other summary.OtherLanguage
			var long summary.TooLong
			switch code := scrollback.CodeOf(err); {
			case errors.As(err, &long):
				complaint = long.Error()
				r.anyLength = true
				spare = func() askOutcome { return r.finishAnswer(ctx, w, long.Text, out) }
				out.noteFailure(scrollback.ResultEmptySummary, long)
				continue
			case errors.As(err, &other):
				complaint = other.Error()
				r.anyLanguage = true
				spare = func() askOutcome { return r.finishAnswer(ctx, w, other.Text, out) }
				out.noteFailure(scrollback.ResultEmptySummary, other)
				continue
			case errors.As(err, &u):
				complaint = u.Error()
				out.noteFailure(scrollback.ResultEmptySummary, u)
				if errors.Is(err, errCutOff) { // a shorter record leaves more room for thoughts
					input = max(min(input, weighItems(items))/2, smallestInput)
				}
				continue
			case code == scrollback.Refused || code == scrollback.Invalid:
				tries = 0 // it would only be refused again
			case code == scrollback.OverBudget:
				input /= 2
			}
			out.noteFailure(scrollback.ResultModelError, err)
			if tries == 0 {
				break
			}
		}
	}
	if spare != nil {
		return spare()
	}
	return out
}

// finishAnswer has a usable answer checked, and adds what is carried word for word.
func (r *summaryRecord) finishAnswer(ctx context.Context, w Summarizer, text string, out askOutcome) askOutcome {
	text = r.checkAnswer(ctx, w, text, &out)
	text += r.carryLines("", r.maxTokens-int64(r.count(text)))
	out.text = text
	out.by = w.Model.Facts().Name
	out.result = ""
	out.why = ""
	out.log = ""
	return out
}

// errLate is why a call gave no summary when asking had to stop.
var errLate = scrollback.Errorf(scrollback.Unavailable, "compact.Run",
	i18n.NoSummaryCameInTime).WithReason(scrollback.ErrUpstream)

// tryWriter makes one call, records it, and judges the answer.
func (r *summaryRecord) tryWriter(ctx context.Context, w Summarizer, items []scrollback.Item,
	out *askOutcome) (string, error) {
	text, made, err := callWriter(ctx, w, items, r.maxTokensOwn())
	out.calls = append(out.calls, made)
	if ctx.Err() != nil && err != nil {
		return "", errLate
	}
	if err != nil {
		return "", err
	}
	text, err = r.acceptAnswer(text)
	if other := (summary.OtherLanguage{}); errors.As(err, &other) && r.anyLanguage {
		return other.Text, nil
	}
	if long := (summary.TooLong{}); errors.As(err, &long) && r.anyLength {
		return long.Text, nil
	}
	return text, err
}

// acceptAnswer judges an answer, and returns it in the record's form.
func (r *summaryRecord) acceptAnswer(answer string) (string, error) {
	return r.summaryForm().
		Accept(answer, summary.Criteria{Count: r.count, Bound: r.maxTokensOwn(), Language: summary.DetectSpoken(r.run)})
}

// checkAnswer asks the writer to check its minutes against the record, as often as the policy
// says, and returns the minutes, corrected or not. A check that fails or returns
// something unusable changes nothing.
func (r *summaryRecord) checkAnswer(ctx context.Context, w Summarizer, minutes string, out *askOutcome) string {
	for range r.policy.CheckCalls {
		if ctx.Err() != nil {
			break
		}
		text, made, err := callWriter(ctx, w, r.checkingItems(cmp.Or(r.maxInput, w.Budget), minutes), r.maxTokensOwn())
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
		better, err := r.acceptAnswer(text)
		if err != nil {
			break
		}
		minutes = better
		out.checked = true
	}
	return minutes
}

// callWriter makes one call. It returns when ctx ends, even if the model does not.
func callWriter(ctx context.Context, w Summarizer, items []scrollback.Item, bound int64) (string, summaryCall, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	type answer struct {
		text string
		made summaryCall
		err  error
	}
	came := make(chan answer, 1)
	go func() {
		a := answer{made: summaryCall{model: w.Model.Facts().Name}}
		a.text, a.err = readAnswer(ctx, w, model.Request{Items: window.TakeTurns(items, w.Dialect),
			MaxOutputTokens: w.answerRoom(weighItems(items), bound)}, &a.made)
		came <- a
	}()
	select {
	case a := <-came:
		return a.text, a.made, a.err
	case <-ctx.Done():
		return "", summaryCall{model: w.Model.Facts().Name}, errLate
	}
}

func weighItems(items []scrollback.Item) (tokens int64) {
	for i := range items {
		tokens += items[i].Weight.Tokens
	}
	return tokens
}

// errCutOff is an answer that reached the most tokens that it may have.
var errCutOff = summary.Unusable{Complaint: "it was cut off at its longest",
	Shown: "the summary reached the most tokens that an answer may have, and was cut off"}

// readAnswer reads one answer to its end.
func readAnswer(ctx context.Context, w Summarizer, q model.Request, made *summaryCall) (string, error) {
	var text strings.Builder
	finish := ""
	for d, err := range w.Model.Stream(ctx, q) {
		if err != nil {
			return "", err
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
			return "", summary.Unusable{Complaint: "it called a tool", Shown: "the model called a tool instead of answering"}
		}
		if text.WriteString(d.Text); text.Len() > answerMax {
			return "", summary.Unusable{Complaint: "it did not end", Shown: "the answer did not end"}
		}
	}
	switch finish {
	case scrollback.FinishStop:
		return text.String(), nil
	case scrollback.FinishLength:
		return "", errCutOff
	case "":
		return "", scrollback.Errorf(scrollback.Unavailable, "compact.Run",
			i18n.StreamWasCutOff).WithReason(scrollback.ErrUpstream)
	}
	return "", summary.Unusable{Complaint: "it ended for another reason than being done (" + finish + ")",
		Shown: fmt.Sprintf("the answer ended early (%s)", clipLine(finish))}
}

// maxTokensOwn returns the most tokens that a model's part of the summary may have: what is carried
// word for word has its share of it, and all that the person wants kept.
func (r *summaryRecord) maxTokensOwn() int64 {
	return r.maxTokens - max(int64(r.policy.SaidShare*float64(r.maxTokens)), r.standing)
}
