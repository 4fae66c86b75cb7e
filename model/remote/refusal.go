package remote

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/redact"
	"github.com/scrollback-ai/scrollback/model"
)

// readRefusal reads and classifies a response that is not a success.
func (c *Client) readRefusal(resp *http.Response, body io.Reader, x Exchange) error {
	raw, _ := io.ReadAll(io.LimitReader(body, 64<<10)) // as much as there is
	return c.problemError(ReadProblem(resp.StatusCode, resp.Header, raw), x)
}

// problemError returns the error for what a server says is wrong, with its words for the person, if
// they are words: a web page is not.
func (c *Client) problemError(p Problem, x Exchange) error {
	err := c.classifyProblem(p, x)
	var known *scrollback.Error
	if errors.As(err, &known) {
		if !p.Page {
			known.Cause = redact.RedactCause(p.Message, c.o.Key)
		}
		known.Reason = errors.Join(known.Reason, &model.Refusal{Status: p.Status, After: p.After})
	}
	return err
}

// classifyProblem returns what is wrong: by its code, else by its words, else by its status. Missing
// credit goes before rate limits, and those before a request that is too long.
func (c *Client) classifyProblem(p Problem, x Exchange) error {
	words := simplified.Replace(strings.ToLower(p.Message))
	is := func(t problemTable) bool { return t.matchesProblem(p, words) }
	if x.Judge != nil && (!p.Page || x.JudgePages) {
		if err := x.Judge(p); err != nil {
			return c.withDetail(err, p)
		}
	}
	limit, requested, never := exceedsMinute(words, x.weight)
	if l, ok := findTooLong(p, words); !never && ok && l.Requested > l.Limit && l.Limit > 0 {
		limit = l.Limit
		requested = l.Requested
		never = true
	}
	switch {
	case is(plainHTTP):
		return c.newUpstreamError("it speaks https, and its address says http"+c.nameSetting(c.o.BaseVariable),
			p.Message).WithAdvice(scrollback.AdviceCheckAddress, c.o.BaseVariable)
	case p.Page && p.Status == http.StatusRequestEntityTooLarge: // of a gateway
		return c.newOverlongError(p, model.Lesson{TooLong: true, Bytes: true})
	case p.Page && !c.isOlderAPI(p, words, x):
		return c.markRetryable(p, p.Status >= 500 || p.Status == http.StatusTooManyRequests,
			c.newUpstreamError("it sent a web page and not an answer: is its address right?"+c.nameSetting(c.o.BaseVariable),
				p.Message).WithAdvice(scrollback.AdviceCheckAddress, c.o.BaseVariable))
	case is(spent):
		return c.newRefused(i18n.ProviderAccountIsEmpty, p,
			c.o.Provider, c.nameSetting(c.o.KeyVariable)).WithAdvice(scrollback.AdviceTopUp, c.o.KeyVariable)
	case never:
		return c.newOverlongError(p, model.Lesson{TooLong: true, Limit: limit, Requested: requested})
	case is(daily):
		return c.newRateError(p, false)
	case is(waiting):
		return c.newRateError(p, true)
	case is(badKey) && c.o.Key == "":
		return c.newRefused(i18n.ProviderNeedsKeyNoneIsSet, p, c.o.Provider,
			c.nameSetting(c.o.KeyVariable)).WithAdvice(scrollback.AdviceSetKey, c.o.KeyVariable)
	case is(badKey):
		return c.newRefused(i18n.ProviderRefusesKey, p, c.o.Provider,
			c.nameSetting(c.o.KeyVariable)).WithAdvice(scrollback.AdviceCheckKey,
			c.o.KeyVariable)
	case is(policy):
		return c.newRefused(i18n.ProviderDeclinesByContentRules, p,
			c.o.Provider).WithReason(scrollback.ErrPermanent).WithAdvice(scrollback.AdviceRephrase, "")
	}
	if err := c.findLesson(p, words, x); err != nil {
		return err
	}
	switch {
	case is(noTools):
		return c.withDetail(scrollback.ParamErrorf(op, "model",
			i18n.ProviderModelCannotCallTools, c.o.Provider), p).WithAdvice(scrollback.AdviceChooseModel, "")
	case is(noModel):
		return c.withDetail(scrollback.Errorf(scrollback.Invalid, op, i18n.ProviderDoesNotKnowModel,
			c.o.Provider).WithReason(scrollback.ErrNoModel), p)
	case p.Status == http.StatusNotFound:
		return c.withDetail(scrollback.Errorf(scrollback.Invalid, op, i18n.ProviderDoesNotKnowModelOrAddress,
			c.o.Provider, c.nameSetting(c.o.BaseVariable)).WithReason(scrollback.ErrNoModel), p)
	case p.Status == http.StatusForbidden:
		return c.newRefused(i18n.ProviderDoesNotAllowThis, p, c.o.Provider,
			c.nameSetting(c.o.KeyVariable)).WithAdvice(scrollback.AdviceCheckKey, c.o.KeyVariable)
	case is(broken), p.Status == http.StatusRequestTimeout, p.Status == http.StatusConflict,
		p.Status == http.StatusTooEarly, p.Status >= 500:
		return c.markRetryable(p, true, c.newUpstreamError("it has a fault of its own"+statusText(p), p.Message))
	case p.Status == 0:
		return c.markRetryable(p, true, c.newUpstreamError("it broke its answer off with an error", p.Message))
	}
	err := c.newUpstreamError("it did not take the request"+statusText(p), strings.TrimSpace(p.Code+" "+p.Message))
	if p.Status < 500 && (p.Again == nil || !*p.Again) {
		err = err.WithReason(errors.Join(scrollback.ErrPermanent, scrollback.ErrUpstream))
	}
	return c.markRetryable(p, false, err)
}

// findLesson returns the error of a refusal that says how the request would be accepted, or nil.
func (c *Client) findLesson(p Problem, words string, x Exchange) error {
	taught := func(l model.Lesson, text i18n.ID, args ...any) error {
		return c.withDetail(scrollback.Errorf(scrollback.Unavailable, op, text, args...).WithReason(errors.Join(&l,
			scrollback.ErrUpstream)), p)
	}
	if n, ok := answerTooLong(words); ok {
		return taught(model.Lesson{MaxOutput: n}, i18n.ProviderGivesNoLongAnswer, c.o.Provider)
	}
	if l, ok := findTooLong(p, words); ok {
		return c.newOverlongError(p, l)
	}
	if s := findStrictness(words); s != scrollback.StrictNothing {
		return taught(model.Lesson{Strict: s}, i18n.ProviderWantsOtherRoles, c.o.Provider)
	}
	if c.isOlderAPI(p, words, x) {
		return taught(model.Lesson{API: "chat"}, i18n.ProviderDoesNotSpeakAPI, c.o.Provider)
	}
	if l := imageLesson(p, words, x.shown, imageParam(x.Params)); l != nil {
		return taught(*l, i18n.ProviderTakesNoImage, c.o.Provider)
	}
	if name := refusedParam(p, words, slices.Concat(x.Params, x.Once)); name != "" {
		return c.withDetail(NewRefusalError(c.o.Provider, name), p)
	}
	if l := unexplainedLesson(p, words, x.shown); l != nil {
		return taught(*l, i18n.ProviderTakesNoImage, c.o.Provider)
	}
	return nil
}

// simplified writes what servers say of requests in traditional characters in simplified ones.
var simplified = strings.NewReplacer("過", "过", "長", "长", "輸", "输", "請", "请", "訊息", "消息", "對", "对", "會", "会", "話", "话",
	"內", "内", "圖", "图", "數", "数",
	"張", "张", "達", "达", "檔", "档", "額", "额", "頻", "频", "餘", "余", "鐘", "钟", "違", "违", "規", "规", "無", "无")

// newOverlongError returns the error of a request that is too long.
func (c *Client) newOverlongError(p Problem, l model.Lesson) error {
	return c.withDetail(scrollback.Errorf(scrollback.OverBudget, op, i18n.ProviderSaysTooLong,
		c.o.Provider).WithReason(&l), p)
}

// NewRefusalError returns the error of a provider that refuses a parameter, for providers that
// classify refusals themselves.
func NewRefusalError(provider, name string) *scrollback.Error {
	return scrollback.Errorf(scrollback.Unavailable, op, i18n.ProviderDoesNotTakeParameter, provider,
		name).WithReason(errors.Join(&model.Lesson{Drop: name}, scrollback.ErrUpstream))
}

// isOlderAPI reports whether the address is not known to a server that may know that of an
// older API.
func (c *Client) isOlderAPI(p Problem, words string, x Exchange) bool {
	return x.OlderAPI && noRoute.matchesProblem(p, words) && (p.Page || !noModel.matchesProblem(p, words))
}

func statusText(p Problem) string {
	if p.Status == 0 {
		return ""
	}
	return " (status " + strconv.Itoa(p.Status) + ")"
}

// withDetail adds what the server wrote to an error, for the log.
func (c *Client) withDetail(err *scrollback.Error, p Problem) *scrollback.Error {
	err.Detail = redact.RedactLine(strings.TrimSpace(p.Code+" "+p.Message), c.o.Key)
	return err
}

func (c *Client) newRefused(text i18n.ID, p Problem, args ...any) *scrollback.Error {
	return c.withDetail(scrollback.Errorf(scrollback.Refused, op, text, args...), p)
}

func (c *Client) newRateError(p Problem, may bool) error {
	err := scrollback.Errorf(scrollback.RateLimited, op, i18n.ProviderAsksToWait, c.o.Provider)
	if p.After > maxPause {
		err = scrollback.Errorf(scrollback.RateLimited, op, i18n.ProviderAsksToWaitFor, c.o.Provider, p.After.Round(1e9))
	}
	return c.markRetryable(p, may, c.withDetail(err, p))
}

// markRetryable marks an error that may pass, unless the server says otherwise.
func (c *Client) markRetryable(p Problem, may bool, err error) error {
	if p.Again != nil && p.Status != 0 {
		may = *p.Again
	}
	if !may {
		return err
	}
	return &retryable{error: err, after: p.After}
}

// newUpstreamError returns a failure of the server or the way to it, in words of ours; what it
// wrote is for the log.
func (c *Client) newUpstreamError(words, detail string) *scrollback.Error {
	why := scrollback.Sentence{Value: words}
	// a variable or a status may follow our words
	if ours, _, _ := strings.Cut(words, " ("); !strings.Contains(ours, "%") {
		why = scrollback.NewSentence("%s%s", i18n.ID(ours), words[len(ours):])
	}
	e := scrollback.Errorf(scrollback.Unavailable, op, i18n.ProviderCouldNotAnswer, c.o.Provider,
		why).WithReason(scrollback.ErrUpstream)
	e.Detail = redact.RedactLine(detail, c.o.Key)
	return e
}

// problemTable recognises a kind of problem: by its code or type whole, by a part of its
// words, or by its status.
type problemTable struct {
	codes  []string
	words  []string // parts, or beginning with ~ patterns
	status []int
}

func (t problemTable) matchesProblem(p Problem, words string) bool {
	if slices.Contains(t.codes, p.Code) || slices.Contains(t.codes, p.Type) ||
		p.Status != 0 && slices.Contains(t.status, p.Status) {
		return true
	}
	return slices.ContainsFunc(t.words, func(w string) bool {
		if pattern, ok := strings.CutPrefix(w, "~"); ok {
			return compilePattern(pattern).MatchString(words)
		}
		return strings.Contains(words, w) || strings.Contains(p.Code, w)
	})
}

func compilePattern(pattern string) *regexp.Regexp { return patterns()[pattern] }

// patterns are those of the tables, compiled when the first is needed.
var patterns = sync.OnceValue(func() map[string]*regexp.Regexp {
	out := map[string]*regexp.Regexp{}
	for _, t := range []problemTable{plainHTTP, spent, daily, waiting, badKey, noModel, noTools, noRoute, policy, broken} {
		for _, w := range t.words {
			if pattern, ok := strings.CutPrefix(w, "~"); ok {
				out[pattern] = regexp.MustCompile(pattern)
			}
		}
	}
	return out
})

// The kinds of problem. The codes and words are those of docs/guides/dialects.md.
var (
	plainHTTP = problemTable{words: []string{"client sent an http request to an https server",
		"plain http request was sent to https port"}}

	spent = problemTable{status: []int{http.StatusPaymentRequired},
		codes: []string{"insufficient_quota", "exceeded_current_quota_error", "arrearage", "accountoverdueerror",
			"insufficient_balance", "insufficient_credits",
			"billing_error", "billing_hard_limit_reached", "contract_spend_limit_reached", "enforced_spend_limit_reached",
			"3036"},
		words: []string{"insufficient balance", "credit balance is too low", "insufficient credits", "insufficient_quota",
			"account is in arrears", "overdue payment", "daily free allocation",
			// the last three: what is left pays for no more
			"prompt tokens limit exceeded", "requires more credits", "can only afford"}}
	daily = problemTable{words: []string{"perday", "~limit: 0\\b"}}

	waiting = problemTable{status: []int{http.StatusTooManyRequests, 529},
		codes: []string{"rate_limit_exceeded", "rate_limit_error", "rate_limit_reached_error", "engine_overloaded_error",
			"overloaded_error", "resource_exhausted", "throttling", "3040"},
		words: []string{"too many requests", "rate limit reached", "too many tokens, please wait",
			"maximum pending requests exceeded", "throttling"}}
	badKey = problemTable{status: []int{http.StatusUnauthorized},
		codes: []string{"invalid_api_key", "authentication_error", "api_key_invalid", "unauthenticated",
			"invalid_authentication_error", "incorrect_api_key_error"},
		words: []string{"api key not valid", "incorrect api key", "invalid api key", "no api key", "invalid x-api-key",
			"api_key_invalid", "api key not found", "api key expired", "reported as leaked", "unregistered callers"}}
	noModel = problemTable{codes: []string{"model_not_found", "not_found_error", "modelnotopen",
		"invalidendpointormodel.notfound", "5007"},
		words: []string{"~\\bmodel\\b.{0,160}\\b(does not exist|not found|is not found|not exist|no such model|unknown model)\\b", "model_not_found", "no such model", "unknown model",
			"not a valid model", "~\\bmodel\\b.{0,160}is not supported for generatecontent", "no endpoints found for"}}
	noTools = problemTable{words: []string{"not support tool", "n't support tool", "tools are not supported",
		"tool calling is not supported", "tool use is not supported",
		"not support function call", "function calling is not supported", "requires --enable-auto-tool-choice",
		"tools param requires --jinja", "found that support tool use"}}
	noRoute = problemTable{status: []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented},
		codes: []string{"unknown_url"},
		words: []string{"unexpected endpoint or method", "unknown request url", "invalid url (post"}}
	policy = problemTable{codes: []string{"content_filter", "content_policy_violation", "invalid_prompt", "bio_policy",
		"misalignment_policy_violation", "data_inspection_failed",
		"datainspectionfailed", "sensitivecontentdetected", "moderation_blocked", "moderation_error", "sensitive", "1026",
		"1027", "1301", "336104"},
		words: []string{"content policy", "riskdetection", "data_inspection_failed", "datainspectionfailed",
			"inappropriate content", "flagged by moderation", "requires moderation",
			"~content[ _]?(?:management |safety )?(?:polic|filter|violat)",
			"~\\b(?:safety|moderation) (?:system|settings|guidelines|filters?|polic)",
			"~violat\\w* .{0,40}(?:polic|guideline|guardrail|terms)",
			"~guardrail.{0,40}(?:violat|block|polic|interven)",
			"~\\b(?:content|prompt|input|output|text|response|request)\\b.{0,60}\\b(?:flagged|blocked|high risk)\\b",
			"~\\bflagged (?:as|for|by)\\b",
			"~sensitive[ _]?(?:content|info)", "unsafe or sensitive", "severe violation", "severeviolation", "new_sensitive",
			"content exists risk", "prohibited_content", "censorship",
			"敏感", "违规", "内容安全", "不安全"}}
	broken = problemTable{codes: []string{"server_error", "api_error", "internal_server_error", "internal", "unavailable",
		"unavailable_error", "service_unavailable", "timeout_error", "insufficient_system_resource", "deadline_exceeded"},
		words: []string{"loading model", "overloaded"}}
)

var outputBounds = []func() *regexp.Regexp{
	lazyregexp.New(`range of max_(?:completion_)?tokens should be \[\d+, ?(\d+)\]`),
	lazyregexp.New(`max_(?:completion_|output_)?tokens['"]?: \d+ > (\d+)`),
	lazyregexp.New(`max_(?:completion_|output_)?tokens['"]?.{0,60}too large.{0,80}at most (\d+)`),
	lazyregexp.New(`max_?(?:completion_|output_)?tokens['"]?.{0,80}(?:must be|should be|maximum|at most|less than or equal to|<=|exceeds?)[^\d\[]{0,60}(\d+)`),
	lazyregexp.New(`valid range of max_(?:completion_)?tokens is \[\d+, ?(\d+)\]`),
	lazyregexp.New(`maxoutputtokens.{0,80}from \d+ \(inclusive\) to (\d+)`),
}

// answerTooLong recognises that a longer answer was requested than the model
// gives. That is not a request that is too long, and folding would not help.
func answerTooLong(words string) (int64, bool) {
	if strings.Contains(words, "context") || strings.Contains(words, "input length") || strings.Contains(words, "prompt") {
		return 0, false
	}
	for _, re := range outputBounds {
		if m := re().FindStringSubmatch(words); m != nil {
			if n, err := strconv.ParseInt(m[1], 10, 64); err == nil && n > 0 {
				if strings.Contains(words, m[1]+" (exclusive)") {
					n--
				}
				return n, true
			}
		}
	}
	return 0, false
}

// findStrictness recognises a chat template that refuses the order of roles.
func findStrictness(words string) scrollback.Strictness {
	if strings.Contains(words, "exception of an initial optional system message") {
		return scrollback.StrictTurns
	}
	for _, sign := range []string{"system role not supported", "system role is not supported",
		"system messages are not supported", "does not support the system role",
		"developer instruction is not enabled", "only user and assistant roles are supported",
		"only user, assistant and tool roles"} {
		if strings.Contains(words, sign) {
			return scrollback.StrictNoSystem
		}
	}
	for _, sign := range []string{"roles must alternate", "must alternate between", "after the optional system message",
		"unexpected role 'system'", `unexpected role "system"`, "unexpected role 'user'", `unexpected role "user"`,
		"system message must be at the beginning", "system message must be the first", "only one system message",
		"expected last role user"} {
		if strings.Contains(words, sign) {
			return scrollback.StrictTurns
		}
	}
	return scrollback.StrictNothing
}

// against are words that refuse a parameter.
var against = []string{"unsupported", "not supported", "does not support", "doesn't support", "unrecognized", "unknown",
	"unexpected", "not permitted", "not allowed", "not take", "no longer", "deprecated", "invalid", "extra inputs",
	"extra fields", "not enabled", "only 1 is allowed"}

// sightless are words of servers whose model has no vision.
var sightless = lazyregexp.New(`support (?:for )?(?:image|vision|images? input)|image (?:input|content|understanding)s? (?:is|are) not supported|images are not supported|no endpoints found that support image|is not a multimodal model|only (?:takes|accepts|supports) text`)

// badImage are codes about one image, which another may not deserve.
var badImage = lazyregexp.New(`^(?:invalid_image|image_|unsupported_image|invalid_base64)`)

// Addresses are what an exchange names among its Once when it has images at addresses: the
// server may be unable to fetch one, today or ever, and then it gets them as words.
const Addresses = "addresses of images"

// unfetched are words of servers about an address they cannot make an image of.
var unfetched = lazyregexp.New(`download|fetch|retriev|\burls?\b|\blinks?\b|base64`)

// imageParam returns the parameter in which images are sent, or empty.
func imageParam(params []string) string {
	for _, name := range params {
		if strings.HasPrefix(name, "image") {
			return name
		}
	}
	return ""
}

// refusedParam returns which of the parameters a server refuses, or empty. A name with
// a blank in it is not a parameter, but words about several.
func refusedParam(p Problem, words string, params []string) string {
	if slices.Contains(params, Addresses) && unfetched().MatchString(strings.ReplaceAll(words, "image_url", "")) &&
		!sightless().MatchString(words) &&
		p.Status >= 400 && p.Status < 500 {
		return Addresses
	}
	for _, name := range params {
		if strings.HasPrefix(name, "image") && sightless().MatchString(words) && !badImage().MatchString(p.Code) {
			return name
		}
	}
	if p.Status != 0 && (p.Status < 400 || p.Status >= 500) {
		return ""
	}
	against := slices.ContainsFunc(against, func(w string) bool { return strings.Contains(words, w) }) ||
		strings.HasPrefix(p.Code, "unsupported") || strings.HasPrefix(p.Code, "unknown")
	longest := func(means func(name string) bool) (best string) {
		for _, name := range params {
			if len(name) > len(best) && means(name) && !(strings.HasPrefix(name, "image") && badImage().MatchString(p.Code)) {
				best = name
			}
		}
		return best
	}
	words = links().ReplaceAllString(words, "")
	// a path ends with what it is about
	named := flattenName(words) + " " + flattenName(strings.ReplaceAll(words, ".", " "))
	best := longest(func(name string) bool { return p.Code == "invalid_"+name })
	if best == "" && against {
		best = longest(func(name string) bool {
			return strings.Contains(name, " ") && strings.Contains(named, flattenName(name))
		})
	}
	if best == "" && against {
		best = cmp.Or(longest(func(name string) bool { return p.Param == name || strings.HasPrefix(p.Param, name+".") }),
			longest(func(name string) bool { return mentionsParam(named, flattenName(name)) }))
	}
	return best
}

// links are addresses, whose words say nothing about parameters.
var links = lazyregexp.New(`https?://\S+`)

// flattenName takes out what servers spell differently: reasoning.effort, reasoning_effort
// and reasoningEffort are one.
func flattenName(s string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(s))
}

// mentionsParam reports whether words name a parameter. A plain word must be
// quoted, or follow a colon.
func mentionsParam(words, name string) bool {
	before := `\b`
	if name == "include" || name == "stream" {
		before = "(?:['\"`]|: ?)"
	}
	return regexp.MustCompile(before + regexp.QuoteMeta(name) + `\b`).MatchString(words)
}
