package gemini

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// ends are the server's reasons to end an answer, in words of ours.
var ends = map[string]string{
	"STOP": scrollback.FinishStop, "MAX_TOKENS": scrollback.FinishLength,
	// as gateways have it; the server itself says STOP
	"FUNCTION_CALL": scrollback.FinishStop, "TOOL_CALLS": scrollback.FinishStop,
	"SAFETY": filtered, "RECITATION": filtered, "BLOCKLIST": filtered, "PROHIBITED_CONTENT": filtered, "SPII": filtered,
	"LANGUAGE":     filtered,
	"IMAGE_SAFETY": filtered, "IMAGE_PROHIBITED_CONTENT": filtered, "IMAGE_RECITATION": filtered,
}

const filtered = "content_filter"

// broken are the reasons that say that the model wrote what its server cannot read. It
// mostly does better when asked again.
var broken = map[string]bool{"MALFORMED_FUNCTION_CALL": true, "UNEXPECTED_TOOL_CALL": true, "MALFORMED_RESPONSE": true}

// endHop closes a hop.
func (a *answerReader) endHop(of *remote.Answer) error {
	last := model.Delta{RequestID: a.requestID}
	if a.hop.usage != nil {
		sum := a.spent.Add(*a.hop.usage)
		if a.doubted {
			sum = sum.Doubted()
		}
		last.Usage = &sum
	}
	reason := a.hop.finish
	switch finish, known := ends[reason]; {
	case reason == "CONTINUATION":
		return a.continueHop(of, last)
	case reason == "" && a.hop.blocked && !a.hop.came:
		return a.failHop(of, last, scrollback.Errorf(scrollback.Refused, op,
			i18n.ProviderDeclinesByContentRules, a.m.place.Options.Provider).
			WithReason(scrollback.ErrPermanent).WithAdvice(scrollback.AdviceRephrase, ""))
	case broken[reason]:
		return a.failHop(of, last, a.newGarbledError(of, reason))
	case finish == scrollback.FinishStop && a.called:
		last.Finish = scrollback.FinishToolCalls
	case known:
		last.Finish = finish
	default:
		last.Finish = strings.ToLower(reason)
	}
	if last.Usage == nil && last.RequestID == "" && last.Finish == "" {
		return nil
	}
	return of.EmitDelta(last)
}

// failHop tells what a hop cost, and then why it failed.
func (a *answerReader) failHop(of *remote.Answer, last model.Delta, why error) error {
	if err := of.EmitDelta(last); err != nil {
		return err
	}
	return why
}

// newGarbledError returns the error of an answer in which the model lost the thread. It is worth asking
// again once.
func (a *answerReader) newGarbledError(of *remote.Answer, reason string) error {
	if a.malformed++; a.malformed > 1 {
		e := scrollback.Errorf(scrollback.Unavailable, op,
			i18n.ToolCallUnreadable, a.m.place.Options.Provider)
		e.Detail = reason
		return e.WithReason(scrollback.ErrUpstream)
	}
	return of.BrokenOffError(reason)
}

// continueHop ends a hop that another one continues. A server that gives no new token has broken
// off; one that never ends is stopped like an answer that is too long.
func (a *answerReader) continueHop(of *remote.Answer, last model.Delta) error {
	switch {
	case a.hop.token == nil || bytes.Equal(a.hop.token, a.token):
		return a.failHop(of, last, of.BrokenOffError("CONTINUATION without a new token"))
	case a.hops+1 >= maxHops:
		last.Finish = scrollback.FinishLength
		return of.EmitDelta(last)
	}
	return a.failHop(of, last, errMore)
}

// readFigures reads the numbers of an object, however they are written: a missing figure is 0,
// and an impossible one -1.
func readFigures(raw json.RawMessage) (of func(name string) int64, ok bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return nil, false
	}
	return func(name string) int64 {
		f, err := strconv.ParseFloat(strings.Trim(string(fields[name]), `"`), 64)
		switch {
		case err != nil && !math.IsInf(f, 0):
			return 0
		case f >= 0 && f <= scrollback.MaxCallTokens:
			return int64(f)
		}
		return -1
	}, true
}

// readUsage reads a count; nil if there is none. Thoughts are output, and what the server's
// tools fed in is input.
func readUsage(raw json.RawMessage) *scrollback.Usage {
	figure, ok := readFigures(raw)
	if !ok {
		return nil
	}
	odd := false
	of := func(name string) int64 {
		n := figure(name)
		odd = odd || n < 0
		return max(n, 0)
	}
	u := scrollback.Usage{InputTokens: of("promptTokenCount") + of("toolUsePromptTokenCount"),
		CachedTokens: of("cachedContentTokenCount"),
		OutputTokens: of("candidatesTokenCount") + of("thoughtsTokenCount"), ReasoningTokens: of("thoughtsTokenCount")}
	u.TotalTokens = max(of("totalTokenCount"), u.InputTokens+u.OutputTokens)
	switch {
	case odd:
		u = u.Doubted()
	case u == (scrollback.Usage{}):
		return nil
	}
	return &u
}

// statuses are those of HTTP for the names that the server's errors have.
var statuses = map[string]int{
	"INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "OUT_OF_RANGE": 400,
	"UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403, "NOT_FOUND": 404,
	"ABORTED": 409, "RESOURCE_EXHAUSTED": 429,
	"INTERNAL": 500, "UNKNOWN": 500,
	"UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,
}

// readStatus returns the status of an error amid a stream: its code, or what its name
// stands for; 0 if it has neither.
func readStatus(raw json.RawMessage) int {
	var e struct {
		Code   json.RawMessage `json:"code"`
		Status string          `json:"status"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return 0
	}
	if n, err := strconv.Atoi(string(e.Code)); err == nil && n >= 400 && n < 600 {
		return n
	}
	return statuses[e.Status]
}
