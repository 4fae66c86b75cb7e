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

// bare says that no thinking goes back: the server refused what the conversation
// holds, or would, since it drops such blocks itself only while it thinks.
func (d *draft) bare() bool {
	return d.dropped(thinkingBlocks) || d.dropped(blockBinding) && d.r.Thinking.Off()
}

// think says how much to think. What the request does not say is left to the model.
func (d *draft) think() {
	h := habitOf(d.m.id)
	switch {
	case h.form == adaptive && d.dropped(adaptiveThinking):
		h = habit{form: manual}
	case h.form == manual && d.dropped(manualThinking):
		h = habit{form: adaptive, efforts: []string{"low", "medium", "high"}}
	}
	if want := d.r.Thinking.Wanted(); want != nil && h.form != cannot {
		switch {
		case !*want:
			d.rest(h)
		case h.form == manual && !d.dropped(manualThinking):
			d.budget()
		case h.form == adaptive && !d.dropped(adaptiveThinking):
			d.body.Thinking = &thinking{Type: "adaptive"}
			d.effort(h)
		}
	}
	if d.dropped(anyThinking) {
		d.body.Thinking = nil
	} else if d.dropped(blockBinding) && d.thoughts && (d.body.Thinking == nil || d.body.Thinking.Type == "adaptive") {
		d.binding = true
		d.body.Thinking = &thinking{Type: "adaptive", BlockBinding: &binding{"drop_block"}}
	}
	d.show(h)
}

// show asks for the text of thinking: newer models omit it unless asked.
func (d *draft) show(h habit) {
	if d.dropped(display) || d.dropped(anyThinking) || d.dropped(adaptiveThinking) || h.form != adaptive {
		return
	}
	if d.body.Thinking == nil && h.always && !d.r.Thinking.Off() {
		d.body.Thinking = &thinking{Type: "adaptive"}
	}
	if t := d.body.Thinking; t != nil && t.Type == "adaptive" {
		t.Display = "summarized"
	}
}

// rest asks not to think, or as little as can be.
func (d *draft) rest(h habit) {
	if h.always || d.dropped(noThinking) {
		d.effort(h)
		return
	}
	d.body.Thinking = &thinking{Type: "disabled"}
}

func (d *draft) effort(h habit) {
	if level := d.r.Thinking.Level(h.efforts...); level != "" && len(h.efforts) > 0 && !d.dropped(effort) {
		d.body.OutputConfig = &outputConfig{Effort: level}
	}
}

// budget asks to think within a budget. An answer that continues after its calls must then
// have begun with thinking; if it did not, it is requested without.
func (d *draft) budget() {
	if d.open && d.first != "thinking" && d.first != "redacted_thinking" {
		return
	}
	n := d.r.Thinking.Tokens(d.body.MaxTokens)
	if n == 0 {
		n = scrollback.Thinking{Effort: "medium"}.Tokens(d.body.MaxTokens)
	}
	if n = max(n, minBudget); n < d.body.MaxTokens {
		d.body.Thinking = &thinking{Type: "enabled", BudgetTokens: n}
	}
}

// params are what the request can do without.
func (d *draft) params() []string {
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
	if !d.dropped(cacheControl) {
		out = append(out, cacheControl)
	}
	return out
}

// judge says which of the things sent a refusal is about, or nothing.
func (d *draft) judge(p remote.Problem) *scrollback.Error {
	if d.searchless(p) {
		return remote.Refusing(Preset().Name, model.WebSearch)
	}
	if name := d.refused(p); name != "" {
		return remote.Refusing(Preset().Name, name)
	}
	return nil
}

// refused reads what a server says about thinking: it names in one breath what it refuses
// and what it would take instead, so what was sent decides.
func (d *draft) refused(p remote.Problem) string {
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
	if !d.dropped(missingThinking) && says("thinking") &&
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
