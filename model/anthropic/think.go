package anthropic

import (
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// What a server may refuse, by the names under which that is remembered.
const (
	anyThinking      = "thinking"
	manualThinking   = "thinking.budget_tokens"
	adaptiveThinking = "thinking.adaptive"
	noThinking       = "thinking.disabled"
	effort           = "output_config"
	toolChoice       = "tool_choice"
	display          = "thinking.display"
	cacheControl     = "cache_control"

	// blockBinding: thinking is refused once the conversation before it has changed,
	// as a fold changes it. The server is told to drop such blocks.
	blockBinding = "thinking.block_binding"
	// thinkingBlocks: the blocks of this conversation are refused, up to the last one that
	// was sent.
	thinkingBlocks = "thinking.blocks"
	// unsignedThinking: blocks without a signature are refused. Servers that give such ones
	// want them back.
	unsignedThinking = "thinking without signature"
	// missingThinking: calls are refused that no thinking stands before, as those of another
	// model are. Servers of unsigned thinking take an empty one.
	missingThinking = "calls without thinking"
)

// bindingBeta is the version of the API that knows block_binding.
const bindingBeta = "thinking-binding-controls-2026-08-01"

// minBudget is the smallest budget that is taken.
const minBudget = 1024

// sendsNoThinking reports whether no thinking goes back: the server refused what the conversation
// holds, or would, since it drops such blocks itself only while it thinks.
func (d *requestDraft) sendsNoThinking() bool {
	return d.isDropped(thinkingBlocks) || d.isDropped(blockBinding) && d.r.Thinking.IsOff()
}

// setThinking says how much to think. What the request does not say is left to the model.
func (d *requestDraft) setThinking() {
	h := findHabit(d.m.id)
	switch {
	case h.form == adaptive && d.isDropped(adaptiveThinking):
		h = modelHabit{form: manual}
	case h.form == manual && d.isDropped(manualThinking):
		h = modelHabit{form: adaptive, efforts: []string{"low", "medium", "high"}}
	}
	if want := d.r.Thinking.IsWanted(); want != nil && h.form != cannot {
		switch {
		case !*want:
			d.askNoThinking(h)
		case h.form == manual && !d.isDropped(manualThinking):
			d.setBudget()
		case h.form == adaptive && !d.isDropped(adaptiveThinking):
			d.body.Thinking = &thinking{Type: "adaptive"}
			d.setEffort(h)
		}
	}
	if d.isDropped(anyThinking) {
		d.body.Thinking = nil
	} else if d.isDropped(blockBinding) && d.thoughts && (d.body.Thinking == nil || d.body.Thinking.Type == "adaptive") {
		d.binding = true
		d.body.Thinking = &thinking{Type: "adaptive", BlockBinding: &binding{"drop_block"}}
	}
	d.askForText(h)
}

// askForText asks for the text of thinking: newer models omit it unless asked.
func (d *requestDraft) askForText(h modelHabit) {
	if d.isDropped(display) || d.isDropped(anyThinking) || d.isDropped(adaptiveThinking) || h.form != adaptive {
		return
	}
	if d.body.Thinking == nil && h.always && !d.r.Thinking.IsOff() {
		d.body.Thinking = &thinking{Type: "adaptive"}
	}
	if t := d.body.Thinking; t != nil && t.Type == "adaptive" {
		t.Display = "summarized"
	}
}

// askNoThinking asks not to think, or as little as can be.
func (d *requestDraft) askNoThinking(h modelHabit) {
	if h.always || d.isDropped(noThinking) {
		d.setEffort(h)
		return
	}
	d.body.Thinking = &thinking{Type: "disabled"}
}

func (d *requestDraft) setEffort(h modelHabit) {
	if level := d.r.Thinking.EffortLevel(h.efforts...); level != "" && len(h.efforts) > 0 && !d.isDropped(effort) {
		d.body.OutputConfig = &outputConfig{Effort: level}
	}
}

// setBudget asks to think within a budget. An answer that continues after its calls must then
// have begun with thinking; if it did not, it is requested without.
func (d *requestDraft) setBudget() {
	if d.open && d.first != "thinking" && d.first != "redacted_thinking" {
		return
	}
	n := d.r.Thinking.BudgetTokens(d.body.MaxTokens)
	if n == 0 {
		n = scrollback.Thinking{Effort: "medium"}.BudgetTokens(d.body.MaxTokens)
	}
	if n = max(n, minBudget); n < d.body.MaxTokens {
		d.body.Thinking = &thinking{Type: "enabled", BudgetTokens: n}
	}
}

// optionalParams returns what the request can do without.
func (d *requestDraft) optionalParams() []string {
	var out []string
	if t := d.body.Thinking; t != nil {
		form := map[string]string{"adaptive": adaptiveThinking, "enabled": manualThinking, "disabled": noThinking}[t.Type]
		out = append(out, anyThinking, form)
		if t.Display != "" {
			out = append(out, display)
		}
	}
	if d.body.OutputConfig != nil {
		out = append(out, effort)
	}
	if d.body.ToolChoice != nil {
		out = append(out, toolChoice)
	}
	if !d.isDropped(cacheControl) {
		out = append(out, cacheControl)
	}
	return out
}

// explainRefusal returns which of the things sent a refusal is about, or nothing.
func (d *requestDraft) explainRefusal(p remote.Problem) *scrollback.Error {
	if d.recognizeNoSearch(p) {
		return remote.NewRefusalError(Preset().Name, model.WebSearch)
	}
	if name := d.refusedThinking(p); name != "" {
		return remote.NewRefusalError(Preset().Name, name)
	}
	return nil
}

// refusedThinking reads what a server says about thinking: it names in one breath what it refuses
// and what it would take instead, so what was sent decides.
func (d *requestDraft) refusedThinking(p remote.Problem) string {
	words := strings.ToLower(p.Message)
	says := func(signs ...string) bool {
		for _, s := range signs {
			if strings.Contains(words, s) {
				return true
			}
		}
		return false
	}
	if p.Status != 400 && p.Status != 422 {
		return ""
	}
	if !d.isDropped(missingThinking) && says("thinking") &&
		says("must be passed back", "thinking is missing", "missing thinking") {
		return missingThinking
	}
	if d.thoughts {
		bound := says("block_binding", "bound to a different conversation")
		switch {
		case bound && !d.binding:
			return blockBinding
		case bound, says("signature", "cannot be modified") && says("thinking"):
			if d.unsigned && !strings.Contains(words, "invalid") {
				return unsignedThinking
			}
			return model.UpTo(thinkingBlocks, d.lastThought)
		}
	}
	if !says("not supported", "not support", "unsupported", "not permitted", "does not match any", "deprecated",
		"no longer", "not allowed", "unknown", "unrecognized") {
		return ""
	}
	form := ""
	if d.body.Thinking != nil {
		form = d.body.Thinking.Type
	}
	switch {
	case form == "enabled" && says("thinking.type.enabled", "budget_tokens", "thinking.enabled", "'enabled'"):
		return manualThinking
	case form == "adaptive" && d.body.Thinking.Display != "" && says("display"):
		return display
	case form == "adaptive" && says("adaptive"):
		return adaptiveThinking
	case form == "disabled" && says("disabled"):
		return noThinking
	case d.body.OutputConfig != nil && says("effort", "output_config"):
		return effort
	}
	return ""
}
