package ollama

import (
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// Statuses of HTTP that mean something of their own here.
const unauthorized, notFound = 401, 404

// images is what is dropped by a model that sees none: they are named instead.
const images = "images"

// lacks finds what a model cannot do; several things stand a line each.
var lacks = lazyregexp.New(`(?s)does not support (.*)`)

// blind are words for an image that cannot be shown.
var blind = []string{"missing data required for image input", "vision model not loaded", "does not support image",
	"does not support vision", "image input is not supported"}

// explainRefusal returns what Ollama's own refusals mean. They have no codes.
func (m *Model) explainRefusal(p remote.Problem) *scrollback.Error {
	words := strings.ToLower(p.Message)
	has := func(signs ...string) bool {
		for _, s := range signs {
			if strings.Contains(words, s) {
				return true
			}
		}
		return false
	}
	dropped := func(name string) *scrollback.Error {
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.OllamaModelDoesNotTake,
			name).WithReason(&model.Lesson{Drop: name})
	}
	if p.Status == notFound {
		return m.newMissingError(has("model"))
	}
	what := ""
	if found := lacks().FindStringSubmatch(words); found != nil {
		what = found[1]
	}
	switch {
	case p.Status == unauthorized && m.at.Options.Key == "" && !m.cloud:
		return scrollback.Errorf(scrollback.Refused, op,
			i18n.OllamaRequiresSigningIn).WithAdvice(scrollback.AdviceSetKey,
			"OLLAMA_API_KEY")
	case has(blind...):
		return dropped(images)
	case strings.Contains(what, "tools"):
		return scrollback.ParamErrorf(op, "model",
			i18n.OllamaModelCannotCallTools, m.at.Model)
	case strings.Contains(what, "thinking"):
		return dropped("think")
	case has("think value"):
		return dropped(level)
	case strings.Contains(what, "chat"), strings.Contains(what, "completion"):
		return scrollback.ParamErrorf(op, "model", i18n.OllamaModelCannotChat, m.at.Model)
	case has("only supports one image"):
		return scrollback.Errorf(scrollback.Unavailable, op,
			i18n.OllamaTakesOneImage).WithReason(&model.Lesson{MaxImages: 1})
	case has("more system memory", "more gpu memory", "out of memory"):
		return scrollback.Errorf(scrollback.Unavailable, op,
			i18n.OllamaHasTooLittleMemory).WithReason(scrollback.ErrUpstream)
	}
	return nil
}

// newMissingError returns the error of a 404: for the model, or for the whole API.
func (m *Model) newMissingError(model bool) *scrollback.Error {
	if model {
		return scrollback.ParamErrorf(op, "model", i18n.OllamaDoesNotHaveModel, m.at.Model,
			m.at.Model).WithReason(scrollback.ErrNoModel)
	}
	return scrollback.Errorf(scrollback.Unavailable, op,
		i18n.OllamaDoesNotRespond,
		m.at.Options.BaseVariable).WithReason(scrollback.ErrUpstream).
		WithAdvice(scrollback.AdviceCheckAddress, m.at.Options.BaseVariable)
}
