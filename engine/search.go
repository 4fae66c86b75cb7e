package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/request"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/window"
)

// Searcher searches the web for requests whose model's server does not.
type Searcher interface {
	// Search searches for what a question is about. The query is set even if it fails; the
	// words of the error are for people.
	Search(ctx context.Context, question string) (scrollback.Search, error)
}

// Who searches the web, as Options.WebSearch and ModelEntry.WebSearch say it.
const (
	WebSearchAuto     = "auto"     // the model's server if it can, or else the searcher
	WebSearchProvider = "provider" // only the model's server
	WebSearchSearXNG  = "searxng"  // only the searcher
	WebSearchOff      = "off"
)

const (
	searchTime    = 10 * time.Second // then the turn goes on without it
	maxSearches   = 10               // that are kept of one turn
	questionsBack = 50               // messages among which the newest question is looked for
)

// webSearch is what a turn has to do with the web.
type webSearch struct {
	by       string // WebSearchProvider, WebSearchSearXNG, or nobody
	question string
	found    scrollback.Search // by the searcher, to be quoted in each window of the turn
	shown    bool              // found was shown
}

// chooseSearcher returns who searches the web for a model's requests: WebSearchProvider,
// WebSearchSearXNG, or nobody.
func (e *Engine) chooseSearcher(settings *request.Settings, tools []scrollback.Tool) string {
	named := func(t scrollback.Tool) bool { return t.Name == model.WebSearch }
	own := settings.Facts.Searches && !slices.Contains(settings.Learned.Dropped, model.WebSearch) &&
		!slices.ContainsFunc(tools, named) && !(settings.Facts.SearchesAlone && len(tools) > 0)
	switch mode := e.o.WebSearch; {
	case own && mode != WebSearchSearXNG && mode != WebSearchOff:
		return WebSearchProvider
	case e.o.Searcher != nil && mode != WebSearchProvider && mode != WebSearchOff:
		return WebSearchSearXNG
	}
	return ""
}

// planSearch returns how a request searches the web, or an error if it wants to and nobody can.
func (e *Engine) planSearch(ctx context.Context, head store.Head, r *TurnRequest,
	settings *request.Settings) (webSearch, error) {
	if !r.WebSearch {
		return webSearch{}, nil
	}
	tools := r.Tools
	if tools == nil {
		tools = head.Settings.Tools
	}
	w := webSearch{by: e.chooseSearcher(settings, tools), question: r.Message.Text()}
	switch {
	case w.by == "" && e.o.WebSearch == WebSearchOff:
		return w, scrollback.ParamErrorf("engine.Turn", "web_search",
			i18n.WebSearchSwitchedOff)
	case w.by == "":
		return w, scrollback.ParamErrorf(
			"engine.Turn",
			"web_search",
			i18n.NobodyCanSearchWeb,
			settings.Facts.Name,
		)
	case w.by == WebSearchProvider || len(r.Message) > 0:
		return w, nil
	}
	ms, err := e.store.ReadMessages(ctx, head.Branch.ID, max(1, head.Branch.HeadSeq-questionsBack), head.Branch.HeadSeq)
	for _, m := range slices.Backward(ms) {
		if m.Role == scrollback.RoleUser {
			w.question = m.Parts.Text()
			break
		}
	}
	return w, err
}

// runSearch has the searcher search, if it is to. A search that fails is shown, and the turn
// goes on without it.
func (lt *liveTurn) runSearch(ctx context.Context) {
	if lt.web.by != WebSearchSearXNG {
		return
	}
	asking, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	found, err := lt.e.o.Searcher.Search(asking, lt.web.question)
	if ctx.Err() != nil {
		return // stopped
	}
	if err != nil {
		lt.e.o.Log.Log(ctx, lt.e.o.failure(), "a search of the web failed", "turn", lt.turn.ID, "error", err)
		found.Results = nil
		found.Error = scrollback.PublicMessage(err)
	}
	if lt.web.found = window.SanitizeSearch(found); len(lt.web.found.Results) == 0 {
		lt.emitSearch(ctx, lt.web.found)
	}
}

// quoteSearch puts what the searcher found behind a request, and shows what of it is quoted.
func (lt *liveTurn) quoteSearch(ctx context.Context, l *request.Layout) {
	used := lt.web.found
	n := lt.e.previewer.QuoteSearch(l, used, &lt.settings)
	if lt.web.shown || len(used.Results) == 0 {
		return
	}
	lt.web.shown = true
	if used.Results = used.Results[:n]; n == 0 {
		used.Error = "what was found does not fit into the window beside the conversation"
	}
	lt.web.found.Results = used.Results // no later step quotes more than is shown
	lt.emitSearch(ctx, used)
}

// noteSearches notes what a delta says about searches by the model's server.
func (lt *liveTurn) noteSearches(ctx context.Context, d model.Delta) {
	if d.Search != nil {
		lt.emitSearch(ctx, window.SanitizeSearch(*d.Search))
	}
	if d.Lesson != nil && d.Lesson.Drop == model.WebSearch && lt.web.by == WebSearchProvider {
		lt.web.by = ""
		lt.emitSearch(ctx, scrollback.Search{Results: []scrollback.Source{},
			Error: "the model's server does not search the web for this model"})
	}
}

// emitSearch shows a search once it is kept with the turn, so that what was shown is there after
// a crash.
func (lt *liveTurn) emitSearch(ctx context.Context, s scrollback.Search) {
	lt.saving.Lock()
	meta := lt.turnMetaLocked()
	known := slices.ContainsFunc(meta.Searches, func(was scrollback.Search) bool { return was.Query == s.Query })
	if !known && len(meta.Searches) >= maxSearches {
		lt.saving.Unlock()
		return
	}
	meta.AddSearch(s)
	_, err := lt.e.store.Turns.SaveDraft(ctx, lt.turn, lt.copyDraft())
	lt.saving.Unlock()
	switch {
	case errors.Is(err, scrollback.ErrLostLease):
		lt.cancel(scrollback.ErrLostLease)
	case err != nil:
		lt.e.o.Log.Warn("a search of the web was not kept", "turn", lt.turn.ID, "error", err)
	default:
		lt.emit(scrollback.SearchEvent{Search: s})
	}
}

// turnMetaLocked returns what is kept with the turn; saving is held.
func (lt *liveTurn) turnMetaLocked() *scrollback.TurnMeta {
	if lt.turn.Meta == nil {
		lt.turn.Meta = &scrollback.TurnMeta{}
	}
	return lt.turn.Meta
}

// listMeta returns what is kept of the turns that a page shows.
func (t Turns) listMeta(ctx context.Context,
	p scrollback.MessagePage) (map[scrollback.TurnID]scrollback.TurnMeta, error) {
	var ids []scrollback.TurnID
	for _, m := range p.Messages {
		if m.Role == scrollback.RoleAssistant && m.TurnID != "" && !slices.Contains(ids, m.TurnID) {
			ids = append(ids, m.TurnID)
		}
	}
	for _, e := range p.Turns {
		if !slices.Contains(ids, e.TurnID) {
			ids = append(ids, e.TurnID)
		}
	}
	return t.v.e.store.Turns.ReadMeta(ctx, ids)
}
