package compact

import (
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact/summary"
	"github.com/scrollback-ai/scrollback/window"
)

// Why no model is asked for a summary, as a receipt says it.
const (
	whyResting  = "models are not asked for a while, since the last calls for a summary failed"
	whyBacklog  = "a backlog is compacted piece by piece, and no model is asked"
	whyNoTime   = "the request could not wait for a summary"
	whyNoSaving = "a summary would leave the request hardly smaller than it was"
	whyNoRoom   = "beside a summary the request would not fit"
)

// summaryPlan is whether a model is asked for the summary of a fold, why it is not, and what the fold has
// without one, the better first; nil is the extract alone.
type summaryPlan struct {
	ask  bool
	why  string // empty where nobody would expect a model's summary
	kept []*askOutcome
}

// planSummary finds out how long the summary of a fold may be for the window to shrink enough, before
// anybody is paid for it, and sets the record's bounds. Room is what the cut leaves for it.
func (j *foldJob) planSummary(before *windowWeights, r *summaryRecord, room int64) (plan summaryPlan, err error) {
	plan.kept = []*askOutcome{nil}
	if j.Reason == Everything { // to start afresh, with what is kept
		if text := r.carryKept(); text != "" {
			plan.kept = []*askOutcome{{text: text, by: scrollback.SummaryExtractive}}
		}
		return plan, nil
	}
	if j.Reason == Replaced {
		text := strings.TrimSpace(j.Given.Text + "\n\n" + r.carryKept())
		plan.kept = []*askOutcome{{text: text, by: scrollback.SummaryClient}}
		return plan, nil
	}
	if j.cut.messages == 0 {
		return plan, nil
	}
	all := *r
	all.maxTokens = j.summaryRoom()
	whole := j.keepSummary(&all, all.maxTokens)
	r.standing = r.standingTokens(whole)
	saved, err := j.mostSummary(before, whole)
	if err != nil {
		return plan, err
	}
	plan.kept = nil
	keep := func(room int64) {
		if text := j.keepSummary(r, room); text != "" {
			plan.kept = append(plan.kept, &askOutcome{text: text, by: scrollback.SummaryExtractive})
		}
	}
	keep(min(room, saved))
	if len(plan.kept) == 0 || j.Reason == MustFit { // better than a request that does not fit
		plan.kept = append(plan.kept, nil)
	}
	r.maxTokens = min(r.maxTokens, room, saved)
	if j.Policy.Summarizes && len(r.run) > 0 {
		plan.why = j.refuseToAsk(r)
		plan.ask = plan.why == "" && len(j.writers) > 0
	}
	return plan, nil
}

// refuseToAsk returns why no model is asked for a summary; empty if one is, or if there is none.
func (j *foldJob) refuseToAsk(r *summaryRecord) string {
	switch {
	case j.More:
		return whyBacklog
	case !j.mayAsk():
		return whyResting
	case len(j.writers) == 0:
		return ""
	case r.maxTokensOwn() <= int64(r.count(r.summaryForm().Bare())) && j.Reason == MustFit:
		return whyNoRoom
	case r.maxTokensOwn() <= int64(r.count(r.summaryForm().Bare())):
		return whyNoSaving
	}
	select {
	case <-j.Hurry: // nobody waits from the beginning
		return whyNoTime
	default:
		return ""
	}
}

// mostSummary returns the most tokens that the summary of a fold may have for the fold to be worth
// having, by what the window weighs with a summary that is known.
func (j *foldJob) mostSummary(before *windowWeights, known string) (int64, error) {
	trial := *j
	trial.summary = nil
	trial.afresh = true
	if known != "" {
		trial.summary = &askOutcome{text: known, by: scrollback.SummaryExtractive}
	}
	made, err := trial.buildFold()
	j.ids = trial.ids
	if err != nil {
		return 0, err
	}
	bare := j.tokensAfter(&made)
	if made.view.Summary != nil {
		bare -= made.view.Summary.Tokens
	}
	most := int64(j.Policy.ShrinkShare * float64(before.window.Weight.Tokens))
	switch w := before.window.Weight; {
	case j.Reason == MustFit && !j.More && !window.Fits(w, j.Window.Budget):
		most = j.budgetTokens()
	case j.Reason == MustFit:
		most = w.Tokens - 1
	}
	return max(most-bare-rounding, 0), nil
}

// keepSummary returns the summary that the fold has without a model: the minutes so far, then a note of
// where they end and what is carried, in about room tokens. The minutes stay whole while the policy has
// room for them, and lose lines in a smaller window; what the person wants kept stays in any case. It
// is empty if there is nothing to carry.
func (in *Input) keepSummary(r *summaryRecord, room int64) string {
	if !in.hasSummary() {
		return ""
	}
	bound := in.summaryRoom()
	note := ""
	minutes, _ := splitSummary(r.previous)
	if minutes != "" {
		note = "\n" + fmt.Sprintf(r.summaryForm().Words.Ends, summaryEnd(r.previous, r.previousEnd))
		own := bound - int64(r.policy.SaidShare*float64(bound))
		if most := bound - r.standing; int64(r.count(minutes)) > most {
			minutes = summary.Trim(minutes, r.count, min(own, most))
		}
	}
	left := bound - int64(r.count(minutes))
	block := r.carryLines(note, min(max(min(room, r.maxTokens)-bound+left, r.standing), left))
	if block == "" {
		return ""
	}
	return strings.TrimLeft(minutes+block, "\n")
}

// hasModelSummary reports whether the summary so far holds something that a model wrote.
func (r *summaryRecord) hasModelSummary() bool {
	minutes, _ := splitSummary(r.previous)
	return minutes != ""
}

// standingTokens returns the tokens that the block of a summary needs for what a person wants kept.
func (r *summaryRecord) standingTokens(text string) int64 {
	_, block := splitSummary(text)
	n := int64(0)
	last := rankSaid
	for line := range strings.SplitSeq(block, "\n") {
		if _, said := window.ParseLine(line); !said {
			last = rankOf(line)
		}
		if last <= rankInstruction || strings.Contains(line, scrollback.RefArtifact+":") {
			n += int64(r.count("\n" + line))
		}
	}
	if n == 0 {
		return 0
	}
	return n + int64(r.count("\n\n## "+r.summaryForm().Said+"\n"+r.summaryForm().Words.Ends))
}

// chooseFold builds the fold with each of some summaries, in this order, until it is worth having. If
// it never is, the last one stands, with a result that says so.
func (j *foldJob) chooseFold(before *windowWeights, summaries []*askOutcome) (made builtFold, err error) {
	for _, s := range summaries {
		if s != nil && s.text == "" {
			continue
		}
		j.summary = s
		if made, err = j.buildFold(); err != nil {
			return made, err
		}
		in := j.inputAfter(&made)
		made.said = in.SaidLines()
		if len(in.Without) == 0 { // else the window has other lines
			in.Said = made.said
		}
		w := window.Assemble(in).Weight
		made.tokens = w.Tokens + before.unread // no piece of a backlog shrinks all of it by much: each is judged by itself
		if made.result = j.judge(before.window.Weight, w); made.result == scrollback.ResultCompacted &&
			(j.Reason != MustFit || j.More || window.Fits(w, j.Window.Budget)) {
			break
		}
	}
	return made, nil
}

// judge says whether a fold that takes a window from one weight to another is worth having: it
// must shrink by the policy's share or, where the request does not fit otherwise, come nearer to
// fitting.
func (j *foldJob) judge(before, after scrollback.Weight) scrollback.CompactionResult {
	switch {
	case !j.choosesCut():
		return scrollback.ResultCompacted
	case j.Reason != MustFit:
		return j.Policy.judgeFold(before.Tokens, after.Tokens)
	case after.Tokens < before.Tokens && (j.More || window.Fits(before, j.Window.Budget)),
		comesNearer(before, after, j.Window.Budget.Weight):
		return scrollback.ResultCompacted
	}
	return scrollback.ResultInflated
}

// comesNearer reports whether a weight that is over a budget comes nearer to it, and in nothing goes
// further over it.
func comesNearer(before, after, budget scrollback.Weight) bool {
	nearer := false
	for _, of := range [][3]int64{{before.Tokens, after.Tokens, budget.Tokens}, {before.Bytes, after.Bytes, budget.Bytes},
		{before.Images, after.Images, budget.Images}} {
		was := max(of[0]-of[2], 0)
		is := max(of[1]-of[2], 0)
		if is > was {
			return false
		}
		nearer = nearer || is < was
	}
	return nearer
}

// canFit reports whether a request could fit if everything that may be folded was gone: where the fixed
// layers and the newest question alone are too big, no fold helps.
func (in *Input) canFit() bool {
	least := in.Window
	least.Segments = nil
	least.Summary = nil
	atUser, _, inTurn := legalCuts(in.Window.Live, in.Window.Carried)
	if in.More { // of a piece, all may go
		least.Live = nil
		least.Carried = nil
	} else if cut, ok := largestCut(atUser, inTurn); ok {
		environment := newestEnvironment(in.Window.Carried, in.Window.Live)
		least.Live = nil
		least.Carried = nil
		for _, m := range in.Window.Carried {
			if cut.keepsShown(m.Seq, environment) {
				least.Carried = append(least.Carried, m)
			}
		}
		for i, m := range in.Window.Live {
			if i >= cut.messages {
				least.Live = append(least.Live, m)
			} else if cut.keepsShown(m.Seq, environment) {
				least.Carried = append(least.Carried, m)
			}
		}
	}
	return window.Fits(window.Assemble(least).Weight, in.Window.Budget)
}
