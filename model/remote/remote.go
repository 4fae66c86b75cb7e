// Package remote calls models' servers over HTTP: what all providers have in common,
// whatever their requests and responses look like.
//
// Words it adds: exchange (one request, and how its response is read), answer (a
// response that began well), problem (what a server says is wrong).
//
// Invariants: a request is sent again, after a pause, only before the first piece
// of its answer; neither a key nor a conversation goes to a server that was not
// meant; an answer is bounded in size and time; a server that shows that it is alive, if
// only by comments, is given longer to begin; what a server writes is redacted before it becomes
// part of an error, and is never shown.
//
// It may not know the store, conversations, or the JSON of any one provider.
package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/model"
)

const op = "model.Stream"

// Options say whom to call, and how patiently. Only Provider is required.
type Options struct {
	Provider string // its name, for errors
	Key      string // of the provider; redacted wherever it may come up
	// KeyVariable and BaseVariable are what a person sets for a key and an address;
	// empty if nothing can be set.
	KeyVariable, BaseVariable string

	Agent   string            // User-Agent; empty means "scrollback"
	Client  *http.Client      // its transport is used; nil makes one
	Retries int               // before the first piece of an answer; 0 means 3, negative none
	Pause   time.Duration     // before the first retry; 0 means 500 ms; doubles each time
	Silence time.Duration     // of the server until it is given up; 0 means 3 minutes
	First   time.Duration     // of signs of life alone, until the answer begins; 0 means 15 minutes
	Header  map[string]string // sent with every request
}

// Client calls one provider.
type Client struct {
	o    Options
	http *http.Client
}

// New makes a client.
func New(o Options) *Client {
	if o.Retries == 0 {
		o.Retries = 3
	}
	if o.Pause == 0 {
		o.Pause = 500 * time.Millisecond
	}
	if o.Silence == 0 {
		o.Silence = 3 * time.Minute
	}
	if o.First == 0 {
		o.First = max(15*time.Minute, o.Silence)
	}
	if o.Agent == "" {
		o.Agent = "scrollback"
	}
	c := &Client{o: o, http: &http.Client{CheckRedirect: sameServer}}
	if o.Client != nil {
		c.http.Transport = o.Client.Transport
	}
	return c
}

// Exchange is one request, and how its answer is read.
type Exchange struct {
	URL    string
	Header map[string]string
	Body   any // sent as JSON; nil for a request without one, by GET

	// Params are what the body may be sent without, by their names on the wire. When
	// the server refuses one, the exchange is planned again with it among the dropped.
	Params []string
	// Once are like Params, but what is refused of them concerns this request alone,
	// such as the contents of one conversation: it is not remembered.
	Once []string

	// OlderAPI says that a server which does not know the address of the exchange may
	// know that of an older API: it is planned again with API "chat".
	OlderAPI bool

	// Judge, if set, first classifies a refusal: an error in our own words for what only
	// this provider says, or nil. One whose reason is a lesson changes the
	// request as any lesson does.
	Judge func(p Problem) *scrollback.Error
	// JudgePages says that Judge is for web pages too, which are no answers of an API.
	JudgePages bool

	// Tally is that of the answer that the exchange continues; nil for a whole answer.
	Tally *Tally

	// Read emits what the answer says. A plain error is a fault of the connection or
	// the server; an answer that ends without a finish reason was cut off.
	Read func(a *Answer) error

	shown   *requestImages // the images it was planned with
	weight  int64          // of its items in tokens, by our estimate
	forward *model.Forward // what is sent instead of the body
}

// maxLessons bounds how often one request is changed after what a server said.
const maxLessons = 8

// Stream requests an answer. The exchange is planned with what is known about the
// server, and again when the server has said what it does not accept.
func (c *Client) Stream(ctx context.Context, r model.Request,
	plan func(known scrollback.Learned) (Exchange, error)) iter.Seq2[model.Delta, error] {
	if r.Forward != nil {
		return c.forward(ctx, r, plan)
	}
	return c.ask(ctx, r, plan)
}

// ask requests an answer until there is one, or nothing is left to change.
func (c *Client) ask(ctx context.Context, r model.Request,
	plan func(known scrollback.Learned) (Exchange, error)) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		q := &question{Request: r, plan: plan, known: r.Learned}
		if err := q.planExchange(ctx); err != nil {
			yield(model.Delta{}, err)
			return
		}
		for try := 0; ; try++ {
			began, err := c.sendOnce(ctx, &q.x, q.Bounds.WithDefaults(), yield)
			if err == nil {
				return
			}
			// Only another window helps where it is too long, or has its roles in another order.
			l := model.LessonOf(err)
			learns := l != nil && !began && !l.TooLong && l.Strict == scrollback.StrictNothing
			if learns {
				lasts := !slices.Contains(q.x.Once, l.Drop)
				if err = c.changeQuestion(ctx, q, *l, err); err == nil {
					if lasts && !yield(model.Delta{Lesson: l}, nil) {
						return
					}
					try--
					continue
				}
			} else if err = c.waitToRetry(ctx, q, began, try, err); err == nil {
				continue
			}
			yield(model.Delta{}, err)
			return
		}
	}
}

// question is a request while it is sent, once or again, and how it is sent next. It has a place of its own
// because it is large: what stands on the stack of an answer is kept for as long as the answer is written.
type question struct {
	model.Request
	plan    func(known scrollback.Learned) (Exchange, error)
	known   scrollback.Learned
	lessons int
	x       Exchange
}

// planExchange plans how the request is sent, with what is known by now.
func (q *question) planExchange(ctx context.Context) error {
	x, err := q.plan(q.known)
	if err != nil {
		return err
	}
	x.shown = listImages(ctx, WithoutRefusedImages(q.Request, q.known))
	x.weight = itemTokens(q.Items)
	q.x = x
	return nil
}

// changeQuestion plans the request again after a refusal that teaches something. Where that changes nothing, it
// returns the error for it.
func (c *Client) changeQuestion(ctx context.Context, q *question, l model.Lesson, refusal error) error {
	was := q.x
	if q.lessons < maxLessons && adoptLesson(&q.known, l) {
		if err := q.planExchange(ctx); err != nil {
			return err
		}
	}
	if isSameRequest(was, q.x) {
		return c.markRepeating(refusal)
	}
	q.lessons++
	return nil
}

// waitToRetry waits until a request may be sent again, and plans it. It returns the fault if it may not be.
func (c *Client) waitToRetry(ctx context.Context, q *question, began bool, try int, fault error) error {
	var retry *retryable
	if began || !errors.As(fault, &retry) || q.NoRetries || try >= c.o.Retries || retry.after > maxPause {
		return fault
	}
	if err := waitFor(ctx, c.pauseBefore(try, retry.after)); err != nil {
		return err
	}
	return q.planExchange(ctx) // the planner counts what was asked
}

// itemTokens returns how many tokens the items of a request have, by our estimate.
func itemTokens(items []scrollback.Item) (tokens int64) {
	for i := range items {
		tokens += items[i].Weight.Tokens
	}
	return tokens
}

// adoptLesson takes over what changes how a request is written, and says whether
// anything of it is new.
func adoptLesson(known *scrollback.Learned, l model.Lesson) bool {
	switch {
	case l.Drop != "" && !slices.Contains(known.Dropped, l.Drop):
		known.Dropped = append(slices.Clone(known.Dropped), l.Drop)
	case l.API != "" && known.API != l.API:
		known.API = l.API
	case l.MaxOutput > 0 && (known.MaxOutput == 0 || l.MaxOutput < known.MaxOutput):
		known.MaxOutput = l.MaxOutput
	default:
		return l.LearnImages(known)
	}
	return true
}

// isSameRequest reports whether two exchanges send the same, so that what the server refused of the
// one it would refuse of the other.
func isSameRequest(a, b Exchange) bool {
	if a.URL != b.URL || !maps.Equal(a.Header, b.Header) {
		return false
	}
	one, err := json.Marshal(a.Body)
	if err != nil {
		return false
	}
	other, err := json.Marshal(b.Body)
	return err == nil && bytes.Equal(one, other)
}

// markRepeating returns the error for a refusal whose lesson changes nothing in the request:
// nothing is learned of it.
func (c *Client) markRepeating(refusal error) error {
	err := c.newUpstreamError("it did not take the request", "").WithReason(errors.Join(scrollback.ErrPermanent,
		scrollback.ErrUpstream))
	var known *scrollback.Error
	if errors.As(refusal, &known) {
		err.Detail = known.Detail
		err.Cause = known.Cause
		err.Advice = known.Advice
		err.Setting = known.Setting
	}
	return err
}

// IsDropped reports whether the server is known not to take a parameter.
func IsDropped(known scrollback.Learned, name string) bool {
	return slices.Contains(known.Dropped, name)
}

// OutputLimit returns the longest answer that may be requested, in tokens; 0 for no bound.
func OutputLimit(r model.Request, known scrollback.Learned) int64 {
	if known.MaxOutput > 0 && (r.MaxOutputTokens == 0 || known.MaxOutput < r.MaxOutputTokens) {
		return known.MaxOutput
	}
	return r.MaxOutputTokens
}

// retryable marks an error that may be temporary; after is the pause the server asked for.
type retryable struct {
	error
	after time.Duration
}

func (r *retryable) Unwrap() error { return r.error }

// maxPause bounds a pause. If a server asks for a longer one, the client does not wait.
const maxPause = 30 * time.Second

// pauseBefore returns how long to wait before try+1: doubled each time, spread by a half, or
// what the server asks for.
func (c *Client) pauseBefore(try int, asked time.Duration) time.Duration {
	d := c.o.Pause << min(try, 6)
	d += time.Duration(rand.Int64N(int64(d)/2 + 1))
	return min(max(d, asked), maxPause)
}

func waitFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return checkContext(ctx)
	}
}

func checkContext(ctx context.Context) error {
	return &scrollback.Error{Code: scrollback.Canceled, Op: op, Err: ctx.Err()}
}

// lastWords is how long a server may take to end a response that has said all there is to say.
const lastWords = 2 * time.Second

// sendOnce sends the request and yields its deltas. began says that a piece of the
// answer was yielded, or that the reader stopped: then there is no retry.
func (c *Client) sendOnce(parent context.Context, x *Exchange, b model.Bounds,
	yield func(model.Delta, error) bool) (began bool, err error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	silence := time.AfterFunc(c.o.Silence, func() { cancel(errSilence) })
	defer silence.Stop()
	first := time.AfterFunc(c.o.First, func() { cancel(errUnbegun) })
	defer first.Stop()
	tally := x.Tally
	if tally == nil {
		tally = &Tally{}
	}
	whole := time.AfterFunc(tally.timeLeft(b.Duration), func() { cancel(model.NewBoundError(b.Duration.String())) })
	defer whole.Stop()

	resp, err := c.sendRequest(ctx, x)
	if err != nil {
		return false, c.classifyFault(parent, ctx, err)
	}
	defer resp.Body.Close()
	a := &Answer{client: c, x: x, bounds: b, header: resp.Header, yield: yield, first: first, parent: parent, Tally: tally,
		body: &watchedReader{r: x.tapBody(resp), alarm: func() { silence.Reset(c.o.Silence) }}}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		err = c.readRefusal(resp, a.body, *x)
		x.drain(a.body)
		if parent.Err() != nil {
			err = checkContext(parent)
		}
		return false, err
	}
	err = x.Read(a)
	if err == nil && !a.gone {
		lingers := time.AfterFunc(lastWords, func() { cancel(nil) })
		x.drain(a.unreadBody())
		lingers.Stop()
	}
	switch {
	case a.gone:
		return true, nil
	case parent.Err() != nil && !a.finished:
		return a.began, checkContext(parent)
	case err == nil && !a.began:
		return false, c.classifyFault(parent, ctx, errEmpty)
	case err == nil:
		return true, nil
	}
	return a.began, c.classifyFault(parent, ctx, err)
}

// sendRequest makes the request and waits for the head of its answer.
func (c *Client) sendRequest(ctx context.Context, x *Exchange) (*http.Response, error) {
	method := http.MethodGet
	body := []byte(nil)
	switch {
	case x.forward != nil:
		method = http.MethodPost
		body = x.forward.Body
	case x.Body != nil:
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(x.Body); err != nil {
			return nil, scrollback.Wrap(scrollback.Internal, op, err)
		}
		method = http.MethodPost
		body = scrollback.WellFormed(bytes.TrimRight(buf.Bytes(), "\n"))
	}
	sent := &sentBody{}
	req, err := http.NewRequestWithContext(ctx, method, x.URL, http.NoBody)
	if len(body) > 0 {
		sent.text = body
		req, err = sent.newRequest(ctx, method, x.URL)
	}
	if err != nil || req.URL.Host == "" || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return nil, scrollback.ParamErrorf(op, "base_url", i18n.ProviderAddressNotValid, c.o.Provider,
			c.nameSetting(c.o.BaseVariable))
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("User-Agent", c.o.Agent)
	req.Header.Set("Accept", "text/event-stream, application/x-ndjson, application/json")
	x.addForwarded(req)
	for _, h := range []map[string]string{c.o.Header, x.Header} {
		for name, value := range h {
			if strings.ContainsFunc(value, unicode.IsControl) {
				return nil, scrollback.Errorf(scrollback.Refused, op,
					i18n.KeyHasControlCharacter, c.o.Provider, c.nameSetting(c.o.KeyVariable))
			}
			req.Header.Set(name, value)
		}
	}
	resp, err := c.http.Do(req)
	sent.markAnswered()
	return resp, err
}

// nameSetting names what a person may set, if anything.
func (c *Client) nameSetting(variable string) string {
	if variable == "" {
		return ""
	}
	return " (" + variable + ")"
}
