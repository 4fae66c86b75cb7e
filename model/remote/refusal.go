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

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/redact"
	"github.com/scrollback-ai/scrollback/model"
)

// refusal reads and classifies a response that is not a success.
func (c *Client) refusal(resp *http.Response, body io.Reader, x Exchange) error {
	raw, _ := io.ReadAll(io.LimitReader(body, 64<<10)) // as much as there is
	return c.problem(ReadProblem(resp.StatusCode, resp.Header, raw), x)
}

// problem is the error for what a server says is wrong, with its words for the person, if
// they are words: a web page is not.
func (c *Client) problem(p Problem, x Exchange) error {
	err := c.classify(p, x)
	var known *scrollback.Error
	if errors.As(err, &known) && !p.Page {
		known.Cause = redact.Cause(p.Message, c.o.Key)
	}
	return err
}

// classify says what is wrong: by its code, else by its words, else by its status. Missing
// credit goes before rate limits, and those before a request that is too long.
func (c *Client) classify(p Problem, x Exchange) error {
	words := simplified.Replace(strings.ToLower(p.Message))
	is := func(t table) bool { return t.matches(p, words) }
	if x.Judge != nil && (!p.Page || x.JudgePages) {
		if err := x.Judge(p); err != nil {
			return c.said(err, p)
		}
	}
	limit, requested, never := neverFits(words, x.weight)
	if l, ok := tooLong(p, words); !never && ok && l.Requested > l.Limit && l.Limit > 0 {
		limit = l.Limit
		requested = l.Requested
		never = true
	}
	switch {
	case is(plainHTTP):
		return c.upstream("it speaks https, and its address says http"+c.see(c.o.BaseVariable),
			p.Message).Advise(scrollback.AdviceCheckAddress, c.o.BaseVariable)
	case p.Page && p.Status == http.StatusRequestEntityTooLarge: // of a gateway
		return c.overlong(p, model.Lesson{TooLong: true, Bytes: true})
	case p.Page && !c.older(p, words, x):
		return c.retryIf(p, p.Status >= 500 || p.Status == http.StatusTooManyRequests,
			c.upstream("it sent a web page and not an answer: is its address right?"+c.see(c.o.BaseVariable),
				p.Message).Advise(scrollback.AdviceCheckAddress, c.o.BaseVariable))
	case is(spent):
		return c.refused(i18n.ProviderAccountIsEmpty, p,
			c.o.Provider, c.see(c.o.KeyVariable)).Advise(scrollback.AdviceTopUp, c.o.KeyVariable)
	case never:
		return c.overlong(p, model.Lesson{TooLong: true, Limit: limit, Requested: requested})
	case is(daily):
		return c.limited(p, false)
	case is(waiting):
		return c.limited(p, true)
	case is(badKey) && c.o.Key == "":
		return c.refused(i18n.ProviderNeedsKeyNoneIsSet, p, c.o.Provider,
			c.see(c.o.KeyVariable)).Advise(scrollback.AdviceSetKey, c.o.KeyVariable)
	case is(badKey):
		return c.refused(i18n.ProviderRefusesKey, p, c.o.Provider, c.see(c.o.KeyVariable)).Advise(scrollback.AdviceCheckKey,
			c.o.KeyVariable)
	case is(policy):
		return c.refused(i18n.ProviderDeclinesByContentRules, p,
			c.o.Provider).Because(scrollback.ErrPermanent).Advise(scrollback.AdviceRephrase, "")
	}
	if err := c.lesson(p, words, x); err != nil {
		return err
	}
	switch {
	case is(noTools):
		return c.said(scrollback.ParamErrorf(op, "model",
			i18n.ProviderModelCannotCallTools, c.o.Provider), p).Advise(scrollback.AdviceChooseModel, "")
	case is(noModel):
		return c.said(scrollback.Errorf(scrollback.Invalid, op, i18n.ProviderDoesNotKnowModel,
			c.o.Provider).Because(scrollback.ErrNoModel), p)
	case p.Status == http.StatusNotFound:
		return c.said(scrollback.Errorf(scrollback.Invalid, op, i18n.ProviderDoesNotKnowModelOrAddress,
			c.o.Provider, c.see(c.o.BaseVariable)).Because(scrollback.ErrNoModel), p)
	case p.Status == http.StatusForbidden:
		return c.refused(i18n.ProviderDoesNotAllowThis, p, c.o.Provider,
			c.see(c.o.KeyVariable)).Advise(scrollback.AdviceCheckKey, c.o.KeyVariable)
	case is(broken), p.Status == http.StatusRequestTimeout, p.Status == http.StatusConflict,
		p.Status == http.StatusTooEarly, p.Status >= 500:
		return c.retryIf(p, true, c.upstream("it has a fault of its own"+status(p), p.Message))
	case p.Status == 0:
		return c.retryIf(p, true, c.upstream("it broke its answer off with an error", p.Message))
	}
	err := c.upstream("it did not take the request"+status(p), strings.TrimSpace(p.Code+" "+p.Message))
	if p.Status < 500 && (p.Again == nil || !*p.Again) {
		err = err.Because(errors.Join(scrollback.ErrPermanent, scrollback.ErrUpstream))
	}
	return c.retryIf(p, false, err)
}

// lesson is the error of a refusal that says how the request would be accepted, or nil.
func (c *Client) lesson(p Problem, words string, x Exchange) error {
	taught := func(l model.Lesson, text i18n.ID, args ...any) error {
		return c.said(scrollback.Errorf(scrollback.Unavailable, op, text, args...).Because(errors.Join(&l,
			scrollback.ErrUpstream)), p)
	}
	if n, ok := answerTooLong(words); ok {
		return taught(model.Lesson{MaxOutput: n}, i18n.ProviderGivesNoLongAnswer, c.o.Provider)
	}
	if l, ok := tooLong(p, words); ok {
		return c.overlong(p, l)
	}
	if s := strictness(words); s != scrollback.StrictNothing {
		return taught(model.Lesson{Strict: s}, i18n.ProviderWantsOtherRoles, c.o.Provider)
	}
	if c.older(p, words, x) {
		return taught(model.Lesson{API: "chat"}, i18n.ProviderDoesNotSpeakAPI, c.o.Provider)
	}
	if l := imageLesson(p, words, x.shown, imageParam(x.Params)); l != nil {
		return taught(*l, i18n.ProviderTakesNoImage, c.o.Provider)
	}
	if name := refusedParam(p, words, slices.Concat(x.Params, x.Once)); name != "" {
		return c.said(Refusing(c.o.Provider, name), p)
	}
	if l := unexplained(p, words, x.shown); l != nil {
		return taught(*l, i18n.ProviderTakesNoImage, c.o.Provider)
	}
	return nil
}

// simplified writes what servers say of requests in traditional characters in simplified ones.
var simplified = strings.NewReplacer("過", "过", "長", "长", "輸", "输", "請", "请", "訊息", "消息", "對", "对", "會", "会", "話", "话",
	"內", "内", "圖", "图", "數", "数",
	"張", "张", "達", "达", "檔", "档", "額", "额", "頻", "频", "餘", "余", "鐘", "钟", "違", "违", "規", "规", "無", "无")

// overlong is the error of a request that is too long.
func (c *Client) overlong(p Problem, l model.Lesson) error {
	return c.said(scrollback.Errorf(scrollback.OverBudget, op, i18n.ProviderSaysTooLong,
		c.o.Provider).Because(&l), p)
}

// Refusing is the error of a provider that refuses a parameter, for providers that
// classify refusals themselves.
func Refusing(provider, name string) *scrollback.Error {
	return scrollback.Errorf(scrollback.Unavailable, op, i18n.ProviderDoesNotTakeParameter, provider,
		name).Because(errors.Join(&model.Lesson{Drop: name}, scrollback.ErrUpstream))
}

// older reports whether the address is not known to a server that may know that of an
// older API.
func (c *Client) older(p Problem, words string, x Exchange) bool {
	return x.OlderAPI && noRoute.matches(p, words) && (p.Page || !noModel.matches(p, words))
}

func status(p Problem) string {
	if p.Status == 0 {
		return ""
	}
	return " (status " + strconv.Itoa(p.Status) + ")"
}

// said adds what the server wrote to an error, for the log.
func (c *Client) said(err *scrollback.Error, p Problem) *scrollback.Error {
	err.Detail = redact.Words(strings.TrimSpace(p.Code+" "+p.Message), c.o.Key)
	return err
}

func (c *Client) refused(text i18n.ID, p Problem, args ...any) *scrollback.Error {
	return c.said(scrollback.Errorf(scrollback.Refused, op, text, args...), p)
}

func (c *Client) limited(p Problem, may bool) error {
	err := scrollback.Errorf(scrollback.RateLimited, op, i18n.ProviderAsksToWait, c.o.Provider)
	if p.After > maxPause {
		err = scrollback.Errorf(scrollback.RateLimited, op, i18n.ProviderAsksToWaitFor, c.o.Provider, p.After.Round(1e9))
	}
	return c.retryIf(p, may, c.said(err, p))
}

// retryIf marks an error that may pass, unless the server says otherwise.
func (c *Client) retryIf(p Problem, may bool, err error) error {
	if p.Again != nil && p.Status != 0 {
		may = *p.Again
	}
	if !may {
		return err
	}
	return &retryable{error: err, after: p.After}
}

// upstream is a failure of the server or the way to it, in words of ours; what it
// wrote is for the log.
func (c *Client) upstream(words, detail string) *scrollback.Error {
	why := scrollback.Sentence{Value: words}
	// a variable or a status may follow our words
	if ours, _, _ := strings.Cut(words, " ("); !strings.Contains(ours, "%") {
		why = scrollback.NewSentence("%s%s", i18n.ID(ours), words[len(ours):])
	}
	e := scrollback.Errorf(scrollback.Unavailable, op, i18n.ProviderCouldNotAnswer, c.o.Provider,
		why).Because(scrollback.ErrUpstream)
	e.Detail = redact.Words(detail, c.o.Key)
	return e
}

// table recognises a kind of problem: by its code or type whole, by a part of its
// words, or by its status.
type table struct {
	codes  []string
	words  []string // parts, or beginning with ~ patterns
	status []int
}

func (t table) matches(p Problem, words string) bool {
	if slices.Contains(t.codes, p.Code) || slices.Contains(t.codes, p.Type) ||
		p.Status != 0 && slices.Contains(t.status, p.Status) {
		return true
	}
	return slices.ContainsFunc(t.words, func(w string) bool {
		if pattern, ok := strings.CutPrefix(w, "~"); ok {
			return compiled(pattern).MatchString(words)
		}
		return strings.Contains(words, w) || strings.Contains(p.Code, w)
	})
}

func compiled(pattern string) *regexp.Regexp { return patterns[pattern] }

// patterns are those of the tables, compiled once.
var patterns = func() map[string]*regexp.Regexp {
	out := map[string]*regexp.Regexp{}
	for _, t := range []table{plainHTTP, spent, daily, waiting, badKey, noModel, noTools, noRoute, policy, broken} {
		for _, w := range t.words {
			if pattern, ok := strings.CutPrefix(w, "~"); ok {
				out[pattern] = regexp.MustCompile(pattern)
			}
		}
	}
	return out
}()

// The kinds of problem. The codes and words are those of docs/guides/dialects.md.
var (
	plainHTTP = table{words: []string{"client sent an http request to an https server",
		"plain http request was sent to https port"}}

	spent = table{status: []int{http.StatusPaymentRequired},
		codes: []string{"insufficient_quota", "exceeded_current_quota_error", "arrearage", "accountoverdueerror",
			"insufficient_balance", "insufficient_credits",
			"billing_error", "billing_hard_limit_reached", "contract_spend_limit_reached", "enforced_spend_limit_reached",
			"3036"},
		words: []string{"insufficient balance", "credit balance is too low", "insufficient credits", "insufficient_quota",
			"account is in arrears", "overdue payment", "daily free allocation",
			// the last three: what is left pays for no more
			"prompt tokens limit exceeded", "requires more credits", "can only afford"}}
	daily = table{words: []string{"perday", "~limit: 0\\b"}}

	waiting = table{status: []int{http.StatusTooManyRequests, 529},
		codes: []string{"rate_limit_exceeded", "rate_limit_error", "rate_limit_reached_error", "engine_overloaded_error",
			"overloaded_error", "resource_exhausted", "throttling", "3040"},
		words: []string{"too many requests", "rate limit reached", "too many tokens, please wait",
			"maximum pending requests exceeded", "throttling"}}
	badKey = table{status: []int{http.StatusUnauthorized},
		codes: []string{"invalid_api_key", "authentication_error", "api_key_invalid", "unauthenticated",
			"invalid_authentication_error", "incorrect_api_key_error"},
		words: []string{"api key not valid", "incorrect api key", "invalid api key", "no api key", "invalid x-api-key",
			"api_key_invalid", "api key not found", "api key expired", "reported as leaked", "unregistered callers"}}
	noModel = table{codes: []string{"model_not_found", "not_found_error", "modelnotopen",
		"invalidendpointormodel.notfound", "5007"},
		words: []string{"~\\bmodel\\b.{0,160}\\b(does not exist|not found|is not found|not exist|no such model|unknown model)\\b", "model_not_found", "no such model", "unknown model",
			"not a valid model", "~\\bmodel\\b.{0,160}is not supported for generatecontent", "no endpoints found for"}}
	noTools = table{words: []string{"not support tool", "n't support tool", "tools are not supported",
		"tool calling is not supported", "tool use is not supported",
		"not support function call", "function calling is not supported", "requires --enable-auto-tool-choice",
		"tools param requires --jinja", "found that support tool use"}}
	noRoute = table{status: []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented},
		codes: []string{"unknown_url"},
		words: []string{"unexpected endpoint or method", "unknown request url", "invalid url (post"}}
	policy = table{codes: []string{"content_filter", "content_policy_violation", "invalid_prompt", "bio_policy",
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
	broken = table{codes: []string{"server_error", "api_error", "internal_server_error", "internal", "unavailable",
		"unavailable_error", "service_unavailable", "timeout_error", "insufficient_system_resource", "deadline_exceeded"},
		words: []string{"loading model", "overloaded"}}
)

var outputBounds = []*regexp.Regexp{
	regexp.MustCompile(`range of max_(?:completion_)?tokens should be \[\d+, ?(\d+)\]`),
	regexp.MustCompile(`max_(?:completion_|output_)?tokens['"]?: \d+ > (\d+)`),
	regexp.MustCompile(`max_(?:completion_|output_)?tokens['"]?.{0,60}too large.{0,80}at most (\d+)`),
	regexp.MustCompile(`max_?(?:completion_|output_)?tokens['"]?.{0,80}(?:must be|should be|maximum|at most|less than or equal to|<=|exceeds?)[^\d\[]{0,60}(\d+)`),
	regexp.MustCompile(`valid range of max_(?:completion_)?tokens is \[\d+, ?(\d+)\]`),
	regexp.MustCompile(`maxoutputtokens.{0,80}from \d+ \(inclusive\) to (\d+)`),
}

// answerTooLong recognises that a longer answer was requested than the model
// gives. That is not a request that is too long, and folding would not help.
func answerTooLong(words string) (int64, bool) {
	if strings.Contains(words, "context") || strings.Contains(words, "input length") || strings.Contains(words, "prompt") {
		return 0, false
	}
	for _, re := range outputBounds {
		if m := re.FindStringSubmatch(words); m != nil {
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

// strictness recognises a chat template that refuses the order of roles.
func strictness(words string) scrollback.Strictness {
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
var sightless = regexp.MustCompile(`support (?:for )?(?:image|vision|images? input)|image (?:input|content|understanding)s? (?:is|are) not supported|images are not supported|no endpoints found that support image|is not a multimodal model|only (?:takes|accepts|supports) text`)

// badImage are codes about one image, which another may not deserve.
var badImage = regexp.MustCompile(`^(?:invalid_image|image_|unsupported_image|invalid_base64)`)

// Addresses are what an exchange names among its Once when it has images at addresses: the
// server may be unable to fetch one, today or ever, and then it gets them as words.
const Addresses = "addresses of images"

// unfetched are words of servers about an address they cannot make an image of.
var unfetched = regexp.MustCompile(`download|fetch|retriev|\burls?\b|\blinks?\b|base64`)

// imageParam is the parameter in which images are sent, or empty.
func imageParam(params []string) string {
	for _, name := range params {
		if strings.HasPrefix(name, "image") {
			return name
		}
	}
	return ""
}

// refusedParam is which of the parameters a server refuses, or empty. A name with
// a blank in it is not a parameter, but words about several.
func refusedParam(p Problem, words string, params []string) string {
	if slices.Contains(params, Addresses) && unfetched.MatchString(strings.ReplaceAll(words, "image_url", "")) &&
		!sightless.MatchString(words) &&
		p.Status >= 400 && p.Status < 500 {
		return Addresses
	}
	for _, name := range params {
		if strings.HasPrefix(name, "image") && sightless.MatchString(words) && !badImage.MatchString(p.Code) {
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
			if len(name) > len(best) && means(name) && !(strings.HasPrefix(name, "image") && badImage.MatchString(p.Code)) {
				best = name
			}
		}
		return best
	}
	words = links.ReplaceAllString(words, "")
	named := flat(words) + " " + flat(strings.ReplaceAll(words, ".", " ")) // a path ends with what it is about
	best := longest(func(name string) bool { return p.Code == "invalid_"+name })
	if best == "" && against {
		best = longest(func(name string) bool { return strings.Contains(name, " ") && strings.Contains(named, flat(name)) })
	}
	if best == "" && against {
		best = cmp.Or(longest(func(name string) bool { return p.Param == name || strings.HasPrefix(p.Param, name+".") }),
			longest(func(name string) bool { return mentions(named, flat(name)) }))
	}
	return best
}

// links are addresses, whose words say nothing about parameters.
var links = regexp.MustCompile(`https?://\S+`)

// flat takes out what servers spell differently: reasoning.effort, reasoning_effort
// and reasoningEffort are one.
func flat(s string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(s))
}

// mentions reports whether words name a parameter. A plain word must be
// quoted, or follow a colon.
func mentions(words, name string) bool {
	before := `\b`
	if name == "include" || name == "stream" {
		before = "(?:['\"`]|: ?)"
	}
	return regexp.MustCompile(before + regexp.QuoteMeta(name) + `\b`).MatchString(words)
}
