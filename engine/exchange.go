package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/engine/request"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/model"
)

// ExchangeRequest is a request of a client that keeps its history itself and sends it each time: what is new of it
// here, where that goes, and how it is answered.
type ExchangeRequest struct {
	Match    *threading.Match
	Messages []ExchangeMessage // what the request brings, in its order
	Settings Overrides
	Meta     json.RawMessage // of the conversation that begins, if one does
	Project  string          // where it begins; empty for the caller's own

	// ID is the one that a conversation gets that begins; empty for any.
	ID scrollback.ConversationID

	// Origin is the session of a tool that the conversation is, if the request begins it and that is known.
	Origin scrollback.Origin

	Tools []scrollback.Tool // that the client offers; kept with the conversation
	// Instructions are the client's own; kept with the conversation.
	Instructions string
	// Continues says that the client sends only what is new: where it names no tools or has no instructions, those of
	// before still hold.
	Continues bool
	// Chained says the same of tools that the client offered within its history, and of nothing else.
	Chained bool
	// MayForward says that the client brings what lets it in at the model's server, so that no key need be set here.
	MayForward bool

	// Quota counts the request for its caller; nil counts nothing.
	Quota *scrollback.Quota
}

// ExchangeMessage is a message that a client's request brings.
type ExchangeMessage struct {
	scrollback.Message
	Attached  map[int][]byte // bytes of its images and files, by index of the part
	Atoms     []int          // what it holds of Match.New
	IsSummary bool           // of those by which the client has compacted its history; the last one says it
}

// Exchange is a request of a client while it is answered. It is a turn beside others: nothing else waits for it, and
// it waits for nothing. It goes on when the client goes away, until its context ends.
type Exchange struct {
	lt      *liveTurn
	match   *threading.Match
	run     ExchangeRun
	said    model.Writing // of the answer, by all steps
	ended   *threading.RequestRow
	watched context.Context
	leave   func()
	back    scrollback.Branch // where the conversation goes back to behind a leaf
}

// NewExchangeID returns an id for a turn or a message of an exchange.
func (v *View) NewExchangeID() string { return v.e.store.NewID() }

// threadScope returns the threads that a caller's requests may meet in a project: those of keys with the same name
// and the same projects, or the operator's.
func (v *View) threadScope(project string) threading.Scope {
	c := v.door.caller
	scope := threading.Scope{Project: project}
	if c.Key != "" {
		scope.Caller = c.Name + "\x00" + strings.Join(slices.Sorted(slices.Values(c.Projects)), "\x00")
	}
	return scope
}

// MatchThread finds what a client's request goes on with, among the caller's threads in a project; empty for the
// caller's own.
func (v *View) MatchThread(ctx context.Context, project string, r *threading.Request) (*threading.Match, error) {
	if err := v.door.requireAccess(scrollback.AccessWrite); err != nil {
		return nil, err
	}
	project, err := v.door.resolveProject(project)
	if id := r.OwnID(); err == nil && id != "" {
		project, err = v.openNamed(ctx, project, id, r)
	}
	if err != nil {
		return nil, err
	}
	m, err := v.e.matcher().Match(ctx, v.threadScope(project), r, time.UnixMilli(v.e.store.Now()))
	if err == nil && m.Begins() {
		m, err = v.matchSource(ctx, project, r, m)
	}
	if err == nil && !m.IsCall() { // else its row counts
		err = v.e.store.Threads.CountAsked(ctx, m)
	}
	return m, err
}

// matcher returns a matcher of the threads as they are now.
func (e *Engine) matcher() *threading.Matcher {
	return &threading.Matcher{Index: e.store.Threads.Index(), Table: e.o.SideCalls()}
}

// BeginExchange stores what a client's request brings, and opens its turn. Two requests that go on from the same place
// both do, on branches of their own.
func (v *View) BeginExchange(ctx context.Context, r ExchangeRequest) (*Exchange, error) {
	e := v.e
	head, at, err := v.openExchange(ctx, r)
	if err != nil {
		return nil, err
	}
	quota, against, err := e.gate.checkLimits(ctx, v.door.caller.Key, head.Project, r.Quota)
	if err == nil {
		err = against
	}
	if err == nil && r.Origin.ID != "" {
		err = v.noteSource(ctx, head, r.Origin)
	}
	if err != nil {
		return nil, err
	}
	r.Settings.Key = v.door.caller.Key
	if r.Continues && len(r.Tools) == 0 {
		r.Tools = head.Settings.Tools
	}
	if r.Chained {
		r.Tools = addInHistory(r.Tools, head.Settings.Tools)
	}
	if r.Continues && r.Instructions == "" {
		r.Instructions = head.Instructions
	}
	head.Settings.Tools = r.Tools
	head.Instructions = r.Instructions
	settings, err := e.resolveExchange(ctx, head.Conversation, r.Settings, r.MayForward)
	if err != nil {
		return nil, err
	}
	given, err := e.takeSummary(ctx, head, at, &r)
	if err != nil {
		return nil, err
	}
	if err := e.completeResults(ctx, at, &settings, r.Messages); err != nil {
		return nil, err
	}
	markAdopted(r.Messages, r.Match.Adopted)
	in := make([]store.IncomingMessage, len(r.Messages))
	atoms := make([][]int, len(r.Messages))
	for i, m := range r.Messages {
		atoms[i] = m.Atoms
		if in[i], err = e.intake.Admit(ctx, head.ID, m.Message, settings.IntakeRoom(), m.Attached); err != nil {
			return nil, err
		}
		in[i].ID = scrollback.MessageID(e.store.NewID())
		in[i].SaidBy = v.door.caller.Key
	}
	turn := scrollback.TurnID(e.store.NewID())
	scope, name := r.Match.Called()
	isNamed := r.Match.Thread == "" && name != ""
	rows := r.Match.Begin(threading.IDs{Thread: threading.ThreadID(head.ID), Request: threading.RequestID(turn),
		Branch: func() threading.BranchID { return threading.BranchID(e.store.NewID()) }})
	for i, m := range r.Messages {
		for _, atom := range m.Atoms {
			rows.Atoms[atom].Message = string(in[i].ID)
		}
	}
	for _, atom := range given.atoms {
		rows.Atoms[atom].Message = given.before
	}
	leave, err := e.enter()
	if err != nil {
		return nil, err
	}
	history := incomingHistory{messages: in, atoms: atoms, rows: rows, at: at}
	if err := e.storeAhead(ctx, head, &history); err != nil {
		leave()
		return nil, err
	}
	opening, err := e.readOpening(ctx, head, at, r.Messages)
	if err != nil {
		leave()
		return nil, err
	}
	begun, err := e.store.Turns.Begin(ctx, store.BeginRequest{Conversation: head.ID, Turn: turn, Owner: e.store.NewID(),
		Messages: history.messages, At: &history.at, Quota: quota, Thread: &history.rows,
		Edit: func(c *scrollback.Conversation) {
			if c.Title == "" && c.Messages == 0 {
				e.titleExchange(c, opening)
			}
			c.Settings.Tools = r.Tools
			c.Instructions = r.Instructions
		}})
	if err != nil {
		leave()
		return nil, err
	}
	if isNamed {
		if title := e.titles.take(calledConversation{scope, name}); title != "" {
			v.takeTitle(ctx, head.ID, title)
		}
	}
	if given.Text != "" {
		receipt, err := e.compactor.TakeSummary(ctx, &begun.Head, settings, given.GivenSummary)
		if err != nil || receipt.Result != scrollback.ResultCompacted {
			e.o.Log.Error("the summary by which a client compacted its history was not taken", "conversation", head.ID,
				"turn", turn, "result", receipt.Result, "error", err)
		}
	}
	lt := makeLive(v, begun, settings)
	lt.subagents = newSubagents(e.o.Agents, nil)
	lt.maxLookups = maxSteps
	return &Exchange{lt: lt, match: r.Match, leave: leave, watched: e.o.Watch.BeginTurn(ctx, head.ID),
		back: head.Branch}, nil
}

// addInHistory returns tools with those of before that a client offered within its history; of two with one name, the
// new one.
func addInHistory(tools, before []scrollback.Tool) []scrollback.Tool {
	out := slices.Clone(tools)
	for _, t := range before {
		if t.Form.InHistory && !slices.ContainsFunc(tools, func(o scrollback.Tool) bool { return o.Name == t.Name }) {
			out = append(out, t)
		}
	}
	return out
}

// goBack makes the branch current again that was so before a leaf, unless somebody has gone on from it meanwhile.
func (x *Exchange) goBack(ctx context.Context) error {
	head, err := x.lt.view.door.openHead(ctx, x.lt.turn.Conversation, scrollback.AccessWrite)
	if err != nil || head.Branch.ID != x.lt.turn.Branch || x.back.ID == head.Branch.ID {
		return err
	}
	to, err := x.lt.e.store.Branches.Find(ctx, head, x.back.ID)
	if err == nil {
		_, err = x.lt.e.store.Branches.Rewind(ctx, head, to, to.HeadSeq, (*scrollback.Conversation).RepeatEnvironment)
	}
	return err
}

// clientSummary is the summary by which a client has compacted its history, the atoms that are it, and the message
// that it comes behind.
type clientSummary struct {
	compact.GivenSummary
	atoms  []int
	before string
}

// takeSummary takes the summary by which a client has compacted its history out of the messages that a request brings.
// Where what it stands for is hidden already, it stays among them.
func (e *Engine) takeSummary(ctx context.Context, head store.Head, at store.Place, r *ExchangeRequest) (clientSummary,
	error) {
	var out clientSummary
	isSummary := func(m ExchangeMessage) bool { return m.IsSummary }
	if !slices.ContainsFunc(r.Messages, isSummary) {
		return out, nil
	}
	through, err := e.findPlace(ctx, head, r.Match.Compaction.Through)
	if err != nil {
		return out, err
	}
	branch := head.Branch
	if at.Branch != branch.ID {
		if branch, err = e.store.Branches.Find(ctx, head, at.Branch); err != nil {
			return out, err
		}
	}
	last, err := e.store.Threads.Index().At(ctx, r.Match.Base)
	if err != nil || last == nil || min(through.Seq, at.Seq) <= branch.View.Boundary {
		return out, err
	}
	out.Through = min(through.Seq, at.Seq)
	out.before = last.Message
	for _, m := range r.Messages {
		if m.IsSummary {
			out.Text = m.Parts.Text()
			out.atoms = append(out.atoms, m.Atoms...)
		}
	}
	if out.Text == "" {
		return clientSummary{}, nil
	}
	r.Messages = slices.DeleteFunc(slices.Clone(r.Messages), isSummary)
	return out, nil
}

// resolveExchange finds the settings of a client's request. A model without a key will do where the client brings one.
func (e *Engine) resolveExchange(ctx context.Context, c scrollback.Conversation, o Overrides,
	mayForward bool) (request.Settings, error) {
	if mayForward {
		return e.resolver.Resolve(ctx, c, o)
	}
	return e.resolver.ResolveTurn(ctx, c, o)
}

// resultsAfter is how many messages before a result its call is looked for.
const resultsAfter = 20

// completeResults completes what a client's request brings of results: each gets the name of its call, and where the
// client says only the name, the id of the first such call without a result.
func (e *Engine) completeResults(ctx context.Context, at store.Place, settings *request.Settings,
	all []ExchangeMessage) error {
	has := func(m ExchangeMessage) bool { return m.Role == scrollback.RoleTool }
	if !slices.ContainsFunc(all, has) {
		return nil
	}
	var open []scrollback.ToolCall
	answered := func(id string) {
		open = slices.DeleteFunc(open, func(c scrollback.ToolCall) bool { return c.ID == id })
	}
	if at.Seq > 0 {
		before, err := e.store.ReadMessages(ctx, at.Branch, max(1, at.Seq-resultsAfter), at.Seq)
		if err != nil {
			return err
		}
		for _, m := range before {
			settings.RememberCalls(m)
			open = append(open, m.Parts.Calls()...)
			for _, r := range m.Parts.Results() {
				answered(r.CallID)
			}
		}
	}
	for _, m := range all {
		settings.RememberCalls(m.Message)
		open = append(open, m.Parts.Calls()...)
		for i, p := range m.Parts {
			r, ok := p.(scrollback.ToolResult)
			if !ok {
				continue
			}
			if at := slices.IndexFunc(open, func(c scrollback.ToolCall) bool {
				return c.ID == r.CallID || r.CallID == "" && (r.Name == "" || c.Name == r.Name)
			}); at >= 0 {
				r.CallID = open[at].ID
				r.Name = open[at].Name
			}
			answered(r.CallID)
			m.Parts[i] = r
		}
	}
	return nil
}

// titleExchange gives a conversation that a client begins the title of its first prompt: of the newest message of a
// person, since what stands before it may be a description of the client's surroundings.
func (e *Engine) titleExchange(c *scrollback.Conversation, all []ExchangeMessage) {
	for _, m := range all {
		if m.Role == scrollback.RoleUser && len(m.Atoms) > 0 {
			if e.SetTitle(c, m.Parts); c.Title != "" {
				c.TitleBy = scrollback.TitlePrompt // the client's own takes its place
			}
			return
		}
	}
}

// openExchange returns the conversation that a request goes on with, which is made if it begins or forks one, and the
// place behind which what is new of it comes.
func (v *View) openExchange(ctx context.Context, r ExchangeRequest) (store.Head, store.Place, error) {
	m := r.Match
	of := m.Thread
	if m.Fork != "" {
		of = m.Fork
	}
	if of == "" {
		c := scrollback.Conversation{Project: r.Project, Meta: r.Meta, ID: r.ID}
		if err := admitConversation(ctx, v, &c); err != nil {
			return store.Head{}, store.Place{}, err
		}
		if m.Parent != "" {
			c.AgentOf = &scrollback.AgentRef{ID: scrollback.ConversationID(m.Parent)}
		}
		made, isNew, err := v.e.store.CreateConversation(ctx, c)
		if err != nil {
			return store.Head{}, store.Place{}, err
		}
		head, err := v.openWithID(ctx, made.ID, isNew)
		return head, store.Place{Branch: head.Branch.ID}, err
	}
	head, err := v.door.openHead(ctx, scrollback.ConversationID(of), scrollback.AccessWrite)
	if err != nil {
		return head, store.Place{}, err
	}
	at, err := v.e.findPlace(ctx, head, m.Base)
	if err != nil || m.Fork == "" {
		return head, at, err
	}
	from, err := v.e.store.Branches.Find(ctx, head, at.Branch)
	if err != nil {
		return head, at, err
	}
	fork, err := v.e.store.Branches.Fork(ctx, head, from, at.Seq, scrollback.Conversation{ID: r.ID,
		Project: head.Project, Meta: r.Meta, Settings: head.Settings, Title: head.Title, TitleBy: head.TitleBy})
	if err != nil {
		return head, at, err
	}
	head, err = v.openWithID(ctx, fork.ID, fork.Parent != nil && fork.Parent.ID == head.ID)
	return head, store.Place{Branch: head.Branch.ID, Seq: head.Branch.HeadSeq}, err
}

// findPlace returns where the message is that holds an atom; before the first one for a root.
func (e *Engine) findPlace(ctx context.Context, head store.Head, base threading.Place) (store.Place, error) {
	atom, err := e.store.Threads.Index().At(ctx, base)
	if err != nil || atom == nil {
		return store.Place{Branch: head.Branch.ID}, err
	}
	t, err := e.store.Turns.Get(ctx, scrollback.TurnID(atom.Request))
	if scrollback.CodeOf(err) == scrollback.NotFound {
		return e.placeOfMessage(ctx, head, atom.Message)
	}
	if err != nil {
		return store.Place{}, err
	}
	page := int64(4) // most often it is the newest message of the turn
	for to := t.LastSeq; to > 0; {
		from := max(1, to-page+1)
		ms, err := e.store.ReadMessages(ctx, t.Branch, from, to)
		if err != nil {
			return store.Place{}, err
		}
		for _, m := range ms {
			if string(m.ID) == atom.Message {
				return store.Place{Branch: m.Branch, Seq: m.Seq}, nil
			}
		}
		to = from - 1
		page = scrollback.ListMax
	}
	return store.Place{}, scrollback.Errorf(scrollback.NotFound, "engine.Exchange", i18n.NoConversation, head.ID)
}

// Turn returns the id of the exchange's turn.
func (x *Exchange) Turn() scrollback.TurnID { return x.lt.turn.ID }

// StartedAt returns when the exchange's turn began, as it is stored.
func (x *Exchange) StartedAt() time.Time { return time.UnixMilli(x.lt.turn.StartedAt) }

// Conversation returns the id of the exchange's conversation.
func (x *Exchange) Conversation() scrollback.ConversationID { return x.lt.turn.Conversation }

// Tools returns the tools that the client offers, also those that it named before and that still hold.
func (x *Exchange) Tools() []scrollback.Tool { return x.lt.head.Settings.Tools }

// Project returns what is stored of the project of the exchange's conversation.
func (x *Exchange) Project() scrollback.Project { return x.lt.settings.Project }

// leastPerToken is how many bytes of a body a token has at least, on average: text in any language, and the JSON around
// it.
const leastPerToken = 3

// Fits reports whether a body of so many bytes fits the window of the model.
func (x *Exchange) Fits(bytes int64) bool {
	budget := x.lt.settings.ModelBudget
	return budget.Tokens <= 0 || bytes/leastPerToken <= budget.Tokens
}

// Model returns what is known about the model that is asked.
func (x *Exchange) Model() model.Facts { return x.lt.settings.Facts }

// ExchangeRun says how an exchange is answered.
type ExchangeRun struct {
	// Forward is sent as it stands; without it the engine lays out a window of its own, as it does for its own turns. It
	// does so too where the model's server says that what was forwarded is too long.
	Forward *model.Forward
	// Follow is told each piece of the answer that is the client's, before it is stored.
	Follow func(model.Delta)
	// ID is the answer's, by which the client may go on from it.
	ID string
	// Items turns what was said into what the client will send again.
	Items func(scrollback.Parts) []threading.Item
}

// ExchangeAnswer is what came of an exchange. Usage is of its last request to the model: of the window that was sent,
// without what was looked up before.
type ExchangeAnswer struct {
	Done  scrollback.DoneEvent
	Usage scrollback.Usage
}

// Run asks the model and stores what it says; when it returns, the answer is stored or has failed. It goes on until it
// is canceled, or the engine closes.
func (x *Exchange) Run(r ExchangeRun) (ExchangeAnswer, error) {
	defer x.leave()
	lt := x.lt
	x.run = r
	lt.forward = r.Forward
	lt.exchange = x
	lt.run(watch.WithTurn(lt.e.base, x.watched))
	if x.match.Leaf {
		if err := x.goBack(context.WithoutCancel(lt.e.base)); err != nil {
			lt.e.o.Log.Warn("a conversation stands at a call beside it", "conversation", lt.turn.Conversation, "error", err)
		}
	}
	return ExchangeAnswer{Done: lt.last, Usage: lt.stepUsage}, lt.fault
}

// Cancel ends the exchange: nobody waits for its answer any more. What has come of it is stored as interrupted.
func (x *Exchange) Cancel() {
	x.lt.mu.Lock()
	cancel := x.lt.cancel
	x.lt.mu.Unlock()
	cancel(errStopped)
}

// takePiece takes a piece of the answer, and hands it on unless it looks something up here.
func (x *Exchange) takePiece(d model.Delta) {
	if d.Call != nil && d.Call.IsRecall() {
		return
	}
	if d.Finish != "" && x.lt.forward == nil {
		return // a step of several
	}
	x.said.Add(d)
	x.run.Follow(d)
}

// mintCall gives a call an id that no other call has: clients send it back, and it says what they go on from.
func (x *Exchange) mintCall(c scrollback.ToolCall) *scrollback.ToolCall {
	c.ID = "call_" + strings.ReplaceAll(x.lt.e.store.NewID(), "-", "")
	return &c
}

// thread adds to the end of a step what is stored of the exchange's thread, if the exchange ends with it.
func (x *Exchange) thread(f *store.FinishRequest) error {
	if f.State == scrollback.TurnOpen {
		return nil
	}
	parts := x.said.TakeParts()
	state := threading.Finished
	switch {
	case len(parts) == 0:
		state = threading.Failed
	case f.State == scrollback.TurnInterrupted, f.State == scrollback.TurnFailed:
		state = threading.Interrupted
	}
	e := x.lt.e
	rows, err := e.matcher().Finish(context.WithoutCancel(e.base), x.match,
		threading.Answer{ID: x.run.ID, Items: x.run.Items(parts), State: state}, time.UnixMilli(e.store.Now()),
		func() threading.BranchID { return threading.BranchID(e.store.NewID()) })
	if err != nil {
		return err
	}
	var last *scrollback.Message
	for i := range f.Messages {
		m := &f.Messages[i].Message
		if m.ID == "" {
			m.ID = scrollback.MessageID(e.store.NewID())
		}
		if m.Role == scrollback.RoleAssistant {
			last = m
		}
	}
	for i := range rows.Atoms {
		if last != nil {
			rows.Atoms[i].Message = string(last.ID)
		}
	}
	f.Thread = &rows
	x.ended = rows.Request
	return nil
}

// NoteDelivered notes that the end of the answer was written to the client: if it asks the same again, it wants another
// answer.
func (x *Exchange) NoteDelivered(ctx context.Context) {
	if x.ended == nil || x.ended.State != threading.Finished {
		return
	}
	row := *x.ended
	row.Delivered = true
	if err := x.lt.e.store.Threads.Write(ctx, threading.Rows{Request: &row}); err != nil {
		x.lt.e.o.Log.Warn("it was not noted that an answer reached its client", "turn", x.lt.turn.ID, "error", err)
	}
}
