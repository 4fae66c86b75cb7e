// Package lessons remembers what models' servers teach, and calls models with it.
//
// Words it adds: keeper (calls models with what was learned, and remembers what they
// teach).
//
// Invariants: a window that a server named counts for a limited time; usage that a
// provider reports is brought within bounds before anybody counts it.
//
// It may not know the store, conversations, or any one provider.
package lessons

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/token"
)

// How long what was learned about a window counts.
const (
	// refusalFresh is how long a window that a server named in refusing a request takes
	// precedence over one that a person set: the server may since have been restarted with
	// a larger one.
	refusalFresh = time.Hour
	// learnedStands is how long it takes precedence over the catalog.
	learnedStands = 7 * 24 * time.Hour
	// listStands is how long a server's list of models is not fetched again, and
	// listRetry the same where the list could not be had.
	listStands = 24 * time.Hour
	listRetry  = 10 * time.Minute
)

// listTime is how long a list may take, with all requests for it: it must
// not hold up the first turn.
const listTime = 5 * time.Second

// guessedShare is what is tried of the weight of a request whose server refused it
// as too long and did not say how much is not.
const guessedShare = 0.75

// Books is where lessons are kept: the store.
type Books interface {
	ReadLearned(ctx context.Context, model string) (scrollback.Learned, error)
	// UpdateLearned changes what is known about a model in one transaction.
	UpdateLearned(ctx context.Context, model string, edit func(*scrollback.Learned)) error
	// Now is the time in Unix ms.
	Now() int64
}

// Keeper calls models with what was learned about their servers. It is safe for
// concurrent use.
type Keeper struct {
	books   Books
	catalog *token.Catalog
	bounds  model.Bounds
	log     *slog.Logger
	least   int64 // the smallest window that is taken up, in tokens
}

// Options configure a keeper; all fields but Bounds are required.
type Options struct {
	Catalog *token.Catalog
	Bounds  model.Bounds // of replies
	Log     *slog.Logger
	Least   int64 // the smallest window that is taken up, in tokens
}

// New makes a keeper.
func New(b Books, o Options) *Keeper {
	return &Keeper{books: b, catalog: o.Catalog, bounds: o.Bounds, log: o.Log, least: o.Least}
}

// LearnedWindow returns the window known for a model's server, 0 for none; fresh says
// that the server named it a moment ago in refusing a request, so that it goes
// before whatever a person set.
func LearnedWindow(known scrollback.Learned, now int64) (limit int64, fresh bool) {
	age := now - known.LimitAt
	if known.LimitFrom == scrollback.LimitRefusal && age > learnedStands.Milliseconds() {
		return 0, false
	}
	return known.Limit, known.LimitFrom == scrollback.LimitRefusal && age < refusalFresh.Milliseconds()
}

// refusedShare is the least weight of a refused request, as a share of what would have fitted.
const refusedShare = 1.05

// taughtModel is a model that is called with what its server has taught so far.
type taughtModel struct {
	model.Model
	name string // by which it was asked for
	k    *Keeper
}

// Facts implements model.Model.
func (p taughtModel) Facts() model.Facts { return model.GuardFacts(p.Model, p.name) }

// WrapModel returns a model that is called with what its server has taught, and whose lessons
// are kept. Its name is the one by which it was asked for.
func (k *Keeper) WrapModel(name string, m model.Model) model.Model { return taughtModel{m, name, k} }

// SuggestNames adds to an error the names of known models that are close to one that is
// not.
func (k *Keeper) SuggestNames(name string, err error) error {
	near := k.catalog.NearNames(name)
	var known *scrollback.Error
	if !errors.Is(err, scrollback.ErrNoModel) || !errors.As(err, &known) || len(near) == 0 {
		return err
	}
	named := *known
	named.Err = fmt.Errorf("%w; did you mean %s?", known.Err, strings.Join(near, " or "))
	return &named
}

// Stream implements model.Model.
func (p taughtModel) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		name := p.Facts().Name
		known, err := p.k.books.ReadLearned(ctx, name)
		if err != nil {
			yield(model.Delta{}, err)
			return
		}
		r.Learned = known
		r.Bounds = p.k.bounds
		panicked := func(stack []byte) { p.k.log.Error("a model panicked", "model", name, "stack", string(stack)) }
		for d, err := range model.GuardStream(ctx, p.Model, r, panicked) {
			if err != nil {
				if l := model.LessonOf(err); l != nil {
					p.k.keepLesson(ctx, name, *l, r)
				}
				err = p.k.SuggestNames(name, err)
			}
			if d.Lesson != nil {
				p.k.keepLesson(ctx, name, *d.Lesson, r)
			}
			if d.Call != nil {
				c := *d.Call
				c.Name = model.MatchTool(r.Tools, c.Name)
				d.Call = &c
			}
			if d.Usage != nil {
				u, changed := clampUsage(*d.Usage, r).Checked()
				if changed {
					p.k.log.Warn("a provider reported usage that cannot be; it is kept as an estimate", "model", name, "reported",
						*d.Usage)
				}
				d.Usage = &u
			}
			if c := d.Credits; c != nil {
				u, _ := scrollback.Usage{Cost: c.Amount, Currency: c.Currency}.Checked()
				d.Credits = &model.Credits{Amount: u.Cost, Currency: u.Currency}
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// maxTokens is how many tokens a server may count for one that was counted here.
const maxTokens = 4

// maxSearches is how many windows one request may use whose server searches the web for it.
const maxSearches = 16

// clampUsage returns usage with no more tokens than the request could use: its window and what is
// reserved for the answer, or what its own weight may be to another tokenizer. What was
// beyond is cut, and doubted.
func clampUsage(u scrollback.Usage, r model.Request) scrollback.Usage {
	if r.Limit <= 0 {
		return u
	}
	most := max(r.Limit+r.MaxOutputTokens, maxTokens*requestWeight(r))
	if r.WebSearch {
		most *= maxSearches
	}
	cut := false
	for _, n := range []*int64{&u.InputTokens, &u.CachedTokens, &u.CacheWriteTokens, &u.OutputTokens, &u.ReasoningTokens} {
		if *n > most {
			*n = most
			cut = true
		}
	}
	if cut || u.TotalTokens > 2*most {
		return u.Doubted()
	}
	return u
}

func requestWeight(r model.Request) (sent int64) {
	for i := range r.Items {
		sent += r.Items[i].Weight.Tokens
	}
	return sent
}

// keepLesson keeps what a server taught, for the model and for good.
func (k *Keeper) keepLesson(ctx context.Context, name string, l model.Lesson, r model.Request) {
	sent := requestWeight(r)
	now := k.books.Now()
	assumed := k.catalog.Find(name).Factor
	err := k.books.UpdateLearned(context.WithoutCancel(ctx), name, func(known *scrollback.Learned) {
		if l.Drop != "" {
			known.Dropped = model.AddDropped(known.Dropped, l.Drop)
		}
		if l.API != "" {
			known.API = l.API
		}
		l.LearnImages(known)
		if l.Strict != scrollback.StrictNothing && known.Strict != scrollback.StrictNoSystem {
			known.Strict = l.Strict
		}
		if l.MaxOutput > 0 {
			known.MaxOutput = l.MaxOutput
		}
		if !l.TooLong || l.Bytes {
			return
		}
		was := known.Factor
		if was == 0 {
			was = assumed
		}
		counted := l.Requested
		if counted == 0 { // it is more than what the window leaves for it, at least
			counted = int64(refusedShare * float64(l.Limit-r.MaxOutputTokens))
		}
		if counted > 0 {
			if f := token.RaiseFactor(was, sent, counted); f > was {
				known.Factor = f
				was = f
			}
		}
		limit := l.Limit
		if limit == 0 {
			limit = int64(guessedShare * (float64(sent)*was + float64(r.MaxOutputTokens)))
		}
		known.Limit = max(limit, k.least)
		known.LimitFrom = scrollback.LimitRefusal
		known.LimitAt = now
	})
	if err != nil {
		k.log.Warn("what a server taught was not kept", "model", name, "error", err)
		return
	}
	k.log.Info("a server taught something of its model", "model", name, "lesson", l.Error())
}

// ForgetOutgrown forgets a window that a server once named if the server has taken more since.
func (k *Keeper) ForgetOutgrown(ctx context.Context, name string, known scrollback.Learned, u scrollback.Usage) {
	if u.Estimated || known.LimitFrom != scrollback.LimitRefusal || u.InputTokens <= known.Limit {
		return
	}
	err := k.books.UpdateLearned(ctx, name, func(known *scrollback.Learned) {
		if known.LimitFrom == scrollback.LimitRefusal && known.Limit < u.InputTokens {
			known.Limit = 0
			known.LimitFrom = ""
			known.LimitAt = 0
		}
	})
	if err != nil {
		k.log.Warn("what a server taught was not kept", "model", name, "error", err)
	}
}

// AskWindow asks the server of a model for the size of its windows, if it can be asked
// and was not a while ago, and keeps what it says.
func (k *Keeper) AskWindow(ctx context.Context, m model.Model) {
	p, ok := m.(taughtModel)
	if !ok {
		return
	}
	lister, ok := p.Model.(model.Lister)
	if !ok {
		return
	}
	name := m.Facts().Name
	now := k.books.Now()
	known, err := k.books.ReadLearned(ctx, name)
	if err != nil || now-known.ListedAt < listStands.Milliseconds() {
		return
	}
	asking, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	limit, most, failed := lister.List(asking)
	if failed != nil {
		k.log.Debug("a server does not list its models", "model", name, "error", failed)
	}
	err = k.books.UpdateLearned(context.WithoutCancel(ctx), name, func(known *scrollback.Learned) {
		known.ListedAt = now
		if failed != nil { // it is asked again, but not by each program at once
			known.ListedAt -= (listStands - listRetry).Milliseconds()
			return
		}
		refused, _ := LearnedWindow(*known, now)
		if limit >= k.least && (known.LimitFrom != scrollback.LimitRefusal || refused == 0 || limit < refused) {
			known.Limit = limit
			known.LimitFrom = scrollback.LimitList
			known.LimitAt = now
		}
		if most > 0 && known.MaxOutput == 0 {
			known.MaxOutput = most
		}
	})
	if err != nil {
		k.log.Warn("what a server's list says was not kept", "model", name, "error", err)
	}
}

// ForgetModel lets what a server has taught about a model be learned again. What is known about
// its tokens stays.
func (k *Keeper) ForgetModel(ctx context.Context, name string) error {
	return k.books.UpdateLearned(ctx, name,
		func(known *scrollback.Learned) { *known = scrollback.Learned{Factor: known.Factor} })
}
