// Package door answers clients of other APIs: chats and agents that keep their history themselves and send it each
// time. It finds the conversation that a request goes on with, stores what is new, and has it answered: the request
// goes to the model's server as it stands where that speaks the client's API and the history fits, else the engine
// lays out a window of its own.
//
// Words it adds: dialect (the API that a client speaks), forwarded (sent as it stands), relay (an answer on its way to
// those who asked for it), mode (whether requests are forwarded).
//
// Invariants: what a client is told has ended is stored; equal requests at the same time are one call; an answer goes
// on for a while when its client goes away, so that a retry joins it; a client's credential goes to the server of the
// same API only, and is not kept.
//
// It knows the engine, threading and its dialects, and models' clients through the engine. It may not know how a face
// writes an answer, nor the store.
package door

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/threading/dialect"
	"github.com/scrollback-ai/scrollback/model"
)

// The modes.
const (
	ModeFaithful = scrollback.DoorFaithful // forwarded where it fits, else a window of ours; the default
	ModeWindow   = scrollback.DoorWindow   // always a window of ours
	ModeRecord   = scrollback.DoorRecord   // always forwarded where the server speaks the API
)

// Placeholder stands where a client does not start without a key, and nobody has given it one. It lets nobody in
// anywhere, so that it is as good as none.
const Placeholder = "no-key-needed"

// Options configure a door.
type Options struct {
	Mode string // one of the modes, where nothing narrower says another; empty for the default
	// Models maps names that clients use to "provider/name"; * stands for anything.
	Models map[string]string
	// Serves reports whether a provider can be asked, by its name.
	Serves func(provider string) bool
	// Recall is one of RecallModes; empty for the default.
	Recall string
	// PassCredentials lets a client's own credential go on to the server of its API.
	PassCredentials bool
	Log             *slog.Logger // nil discards
}

// Door answers clients. It is safe for concurrent use.
type Door struct {
	o      Options
	named  sync.Map // names of models that were said to be unknown
	reader *dialect.Reader

	mu     sync.Mutex
	relays map[threading.RequestID]*relay
	bodies map[threading.Hash]*bodyLock
	held   held
}

// New makes a door.
func New(o Options) *Door {
	if o.Mode == "" {
		o.Mode = ModeFaithful
	}
	if o.Recall == "" {
		o.Recall = RecallAuto
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Serves == nil {
		o.Serves = func(string) bool { return false }
	}
	return &Door{o: o, reader: dialect.NewReader(), relays: map[threading.RequestID]*relay{},
		bodies: map[threading.Hash]*bodyLock{}, held: held{answers: map[string]*relay{}}}
}

// Request is what came to a face.
type Request struct {
	Dialect threading.Dialect
	Body    []byte // JSON, as the client wrote it but for its compression
	Header  http.Header
	Model   string // where the path names it; else the body's counts
	Stream  bool   // whether the client wants a stream
	Project string // empty for the caller's own

	// Named is told which conversation the answer is of, before anything else, unless it is nil; not of a side call.
	Named func(scrollback.ConversationID)
	// Quota counts the request for its caller; nil counts nothing.
	Quota *scrollback.Quota
	// OwnCredential says that what lets the client in here is a key of ours: it is never sent on.
	OwnCredential bool

	// Whole says that the body has the whole history, although it names an answer that it goes on from.
	Whole bool
	// Ours says that the request is none that a server of its dialect knows.
	Ours bool
	// Transient says that the answer is not to be found by its id.
	Transient bool
	// Keep is held with an answer that can be found, for the face to write it once more.
	Keep any
}

// Head is how an answer of ours begins.
type Head struct {
	ID           string // of the answer, as the dialect has it
	Model        string // as the client calls it
	Conversation scrollback.ConversationID
	Created      time.Time
	Tools        []scrollback.Tool // that the client has in another form than its model
}

// FinishInterrupted is how a stored answer ends that was cut short.
const FinishInterrupted = "interrupted"

// End is how an answer of ours ends.
type End struct {
	Finish string // scrollback.FinishStop, FinishToolCalls, FinishLength, …, or FinishInterrupted
	Usage  scrollback.Usage
}

// Writer writes an answer in a client's dialect. Its methods are called one after the other, by one goroutine: either
// Forward, Frame for each piece of a body, and EndForward, or Begin, Piece for each piece of an answer, and End.
// Fail may come instead of anything, or behind it, and then is the last. A refusal ends with its last Frame.
type Writer interface {
	// Forward begins an answer that comes from a model's server. What it says is passed as it is.
	Forward(h model.ResponseHead, conversation scrollback.ConversationID)
	// Frame writes a piece of it: of a stream, an event with its blank line.
	Frame(b []byte)
	// EndForward ends it: what it says is stored.
	EndForward()

	Begin(h Head)
	Piece(d model.Delta)
	End(e End)

	// Fail writes an error, as the head of an answer or as its end.
	Fail(err error)
}

// Answer answers a request for a caller, until the answer has ended or the client is gone.
func (d *Door) Answer(ctx context.Context, v *engine.View, r *Request, w Writer) {
	if err := d.answer(ctx, v, r, w); err != nil && ctx.Err() == nil {
		w.Fail(err)
	}
}

func (d *Door) answer(ctx context.Context, v *engine.View, r *Request, w Writer) error {
	asked, err := d.read(r, r.Body)
	if err != nil {
		return err
	}
	if len(asked.Items) == 0 && slices.Contains(wantItems, r.Dialect) {
		return scrollback.Errorf(scrollback.Invalid, "door", i18n.NothingToAnswer)
	}
	if !r.Whole && isTransient(asked.Chain) {
		return unknownAnswer(asked.Chain)
	}
	if err := checkMadeIDs(ctx, v, r); err != nil {
		return err
	}
	rel, err := d.begin(ctx, v, r, asked)
	if err != nil {
		return err
	}
	if r.Named != nil && rel.head.Conversation != "" {
		r.Named(rel.head.Conversation)
	}
	return rel.read(ctx, r.Stream, w)
}

// wantItems are the dialects in which a request without a message asks nothing. In the others it may load a model, or
// go on with what the server holds.
var wantItems = []threading.Dialect{threading.Chat, threading.Messages, threading.Gemini}

// read reads a body of the request's dialect, and checks its mode.
func (d *Door) read(r *Request, body []byte) (*threading.Request, error) {
	if err := scrollback.CheckDoorMode("door", ModeHeader, r.Header.Get(ModeHeader)); err != nil {
		return nil, err
	}
	if err := checkName(r.Header.Get(dialect.ConversationHeader)); err != nil {
		return nil, err
	}
	asked, err := d.reader.Read(r.Dialect, func(name string) string { return r.Header.Get(name) }, body)
	switch {
	case err != nil && !json.Valid(body):
		return nil, scrollback.ParamErrorf("door", "body", i18n.BodyMustBeJSON)
	case err != nil:
		return nil, scrollback.ParamErrorf("door", "body", "%s", err)
	}
	if r.Model != "" { // then the path says too whether a stream is wanted
		asked.Model = r.Model
		asked.Body = threading.HashOf(asked.Body.String(), r.Model, strconv.FormatBool(r.Stream))
	}
	return asked, nil
}

// begin finds what a request is, and has it answered; it returns the answer on its way. Equal requests are matched one
// after the other, so that the second finds the first.
func (d *Door) begin(ctx context.Context, v *engine.View, r *Request, asked *threading.Request) (*relay, error) {
	release := d.lockBody(asked.Body)
	defer release()
	for tries := 0; ; tries++ {
		rel, err := d.beginOnce(ctx, v, r, asked)
		if scrollback.CodeOf(err) != scrollback.Conflict || tries == maxTaken {
			return rel, err
		}
	}
}

// maxTaken is how often a request is matched again because another one has taken its place meanwhile.
const maxTaken = 4

func (d *Door) beginOnce(ctx context.Context, v *engine.View, r *Request, asked *threading.Request) (*relay, error) {
	match, err := v.MatchThread(ctx, r.Project, asked)
	if err != nil {
		return nil, err
	}
	if match.UnknownChain && !r.Whole {
		return nil, unknownAnswer(asked.Chain)
	}
	switch match.Purpose {
	case threading.Refuse:
		return nil, &tooOftenError{scrollback.Errorf(scrollback.RateLimited, "door", i18n.AskedTooOften), match.RetryAfter}
	case threading.Join, threading.Replay:
		if rel := d.findRelay(match.Earlier.ID); rel != nil {
			return rel, nil
		}
		return d.replay(ctx, v, match, r, asked)
	case threading.SideCall, threading.WarmUp:
		if len(match.Late) > 0 {
			if match, err = d.tellLate(ctx, v, r, asked, match); err != nil {
				return nil, err
			}
		}
		return d.beginSideCall(ctx, v, r, asked, match)
	default:
		return d.beginTurn(ctx, v, r, asked, match)
	}
}

// bodyLock keeps equal requests apart while they are matched.
type bodyLock struct {
	sync.Mutex
	waiting int
}

// lockBody holds what has the body until release is called.
func (d *Door) lockBody(body threading.Hash) (release func()) {
	d.mu.Lock()
	l := d.bodies[body]
	if l == nil {
		l = &bodyLock{}
		d.bodies[body] = l
	}
	l.waiting++
	d.mu.Unlock()
	l.Lock()
	return func() {
		l.Unlock()
		d.mu.Lock()
		defer d.mu.Unlock()
		if l.waiting--; l.waiting == 0 {
			delete(d.bodies, body)
		}
	}
}

// beginTurn stores what a request brings and has it answered.
func (d *Door) beginTurn(ctx context.Context, v *engine.View, r *Request, asked *threading.Request,
	match *threading.Match) (*relay, error) {
	options := readOptions(r.Dialect, r.Body)
	name := d.chooseModel(v, asked.Model, d.mayPass(r))
	x, err := v.BeginExchange(ctx, engine.ExchangeRequest{Match: match, Messages: readMessages(asked, match),
		Settings: engine.Overrides{Model: name, Thinking: options.Thinking, NoRecall: d.o.Recall == RecallOff},
		Project:  r.Project, ID: scrollback.ConversationID(asked.OwnID()), Tools: options.Tools,
		Instructions: readInstructions(asked), Meta: beginMeta(r, asked, match),
		Origin: originOf(asked, match), Quota: quotaOf(match, r.Quota),
		MayForward: d.mayPass(r), Continues: asked.OwnID() != "" || r.Dialect == threading.Messages && asked.Chain != "",
		Chained: r.Dialect == threading.Responses && !hasHistory(r, asked)})
	if err != nil {
		return nil, err
	}
	deliver := func() { x.NoteDelivered(context.WithoutCancel(ctx)) }
	rel := newRelay(Head{ID: r.answerID(string(x.Turn())), Model: asked.Model, Conversation: x.Conversation(),
		Created: x.StartedAt(), Tools: formedTools(x.Tools())}, x.Cancel)
	rel.deliver = deliver
	d.keepRelay(threading.RequestID(x.Turn()), rel)
	d.hold(v, r, rel)
	run := engine.ExchangeRun{Follow: rel.addPiece, ID: rel.head.ID, Items: answerItems}
	mode := d.modeOf(v, r, x.Project())
	if mayForward(mode, r, asked, match, x) && !d.wantsRecall(mode, r, options) {
		run.Forward = d.forward(r, x.Model(), rel)
	}
	go func() {
		defer d.dropRelay(threading.RequestID(x.Turn()))
		done, err := x.Run(run)
		if run.Forward != nil && err == nil {
			err = noteMadeIDs(context.WithoutCancel(ctx), v, r, rel)
		}
		rel.end(End{Finish: done.Done.FinishReason, Usage: done.Usage}, err)
		d.letGo(rel)
	}()
	return rel, nil
}

// mayPass reports whether a client's own credential goes on to the server of its API.
func (d *Door) mayPass(r *Request) bool { return d.o.PassCredentials && r.credential() != nil }

// quotaOf returns what a request is counted in: a step of tools is none of a person's.
func quotaOf(m *threading.Match, q *scrollback.Quota) *scrollback.Quota {
	if m.Purpose == threading.ToolStep {
		return nil
	}
	return q
}

// mayForward reports whether a request goes to the model's server as it stands. One that names what it goes on from
// does not: the server knows neither our ids nor what was said before.
func mayForward(mode string, r *Request, asked *threading.Request, m *threading.Match, x *engine.Exchange) bool {
	if mode == ModeWindow || !speaks(x.Model(), r.Dialect) || !hasHistory(r, asked) {
		return false
	}
	return mode == ModeRecord || !m.Less && x.Fits(int64(len(r.Body)))
}

// hasHistory reports whether a request has its whole history, so that another server could answer it.
func hasHistory(r *Request, asked *threading.Request) bool {
	return !r.Ours && (r.Whole || asked.Chain == "" && asked.Conversation == "")
}

// speaks reports whether a model's server has the API of a dialect.
func speaks(f model.Facts, d threading.Dialect) bool {
	for _, api := range f.APIs {
		if api == string(d) {
			return true
		}
	}
	return false
}

// forward returns a request as it goes to the model's server, whose answer the relay gets.
func (d *Door) forward(r *Request, facts model.Facts, rel *relay) *model.Forward {
	_, id, _ := strings.Cut(facts.Name, "/")
	body := withModel(r.Body, id)
	if r.Whole {
		body = splice.Form{}.SetField(body, 0, "previous_response_id", nil)
	}
	switch {
	case r.Dialect == threading.Messages && splice.GetField(body, "thread") != nil: // the thread is kept here
		body = splice.Form{}.SetField(body, 0, "thread", nil)
		rel.rename(r.Stream)
	case r.Dialect == threading.Responses:
		rel.rename(r.Stream)
	}
	f := &model.Forward{API: string(r.Dialect), Body: body, Whole: !r.Stream,
		Header: passHeader(r.Header), Tap: func(h model.ResponseHead) io.Writer { return rel.forward(h) }}
	if d.o.PassCredentials {
		f.Credential = r.credential()
	}
	return f
}

// beginMeta returns what a conversation says of its client, if the request begins one.
func beginMeta(r *Request, asked *threading.Request, m *threading.Match) json.RawMessage {
	if m.Thread != "" && m.Fork == "" {
		return nil
	}
	return describeClient(r, asked)
}

// originOf returns which session of a tool a conversation is that the request begins; the zero value if that is not
// known.
func originOf(asked *threading.Request, m *threading.Match) scrollback.Origin {
	if asked.Source == (threading.Source{}) || !m.Begins() {
		return scrollback.Origin{}
	}
	o := scrollback.Origin{Tool: asked.Source.Tool, ID: asked.Source.ID}
	o.Folder, o.GitBranch = readPlace(asked)
	return o
}

// describeClient returns what a conversation says of the client that began it.
func describeClient(r *Request, asked *threading.Request) json.RawMessage {
	name, version := readAgent(r.Header.Get("User-Agent"))
	client := map[string]string{"name": name, "dialect": string(r.Dialect)}
	if version != "" {
		client["version"] = version
	}
	if asked.Name != "" && !asked.Weak {
		client["session"] = asked.Name
	}
	if agent := r.Header.Get("X-Claude-Code-Agent-Id"); agent != "" {
		client["agent"] = agent
	}
	if folder, branch := readPlace(asked); folder != "" {
		client["cwd"] = folder
		if branch != "" {
			client["git_branch"] = branch
		}
	}
	out, err := json.Marshal(map[string]any{"client": client})
	if err != nil {
		return nil // texts are always JSON: not reached
	}
	return out
}

// readAgent returns the name and the version of a program that calls itself name/version.
func readAgent(agent string) (name, version string) {
	first, _, _ := strings.Cut(agent, " ")
	name, version, _ = strings.Cut(first, "/")
	return name, version
}

// tooOftenError is the error of a client that asks the same over and over.
type tooOftenError struct {
	error
	after time.Duration
}

func (e *tooOftenError) Unwrap() error { return e.error }

// retryAfter is how long a client waits that is over a limit of ours, unless something else is known.
const retryAfter = 30 * time.Second

// RetryAfter returns how long a client is to wait after an error; 0 if it need not.
func RetryAfter(err error) time.Duration {
	var often *tooOftenError
	switch {
	case errors.As(err, &often):
		return often.after
	case scrollback.CodeOf(err) == scrollback.RateLimited, scrollback.CodeOf(err) == scrollback.OverBudget:
		return retryAfter
	}
	return 0
}
