package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/token"
)

// How long what was learned of a window stands.
const (
	// refusalFresh is how long a window that a server named in refusing a request goes
	// before one that a person set: they may have started it again with a larger one.
	refusalFresh = time.Hour
	// learnedStands is how long it goes before what the catalog says.
	learnedStands = 7 * 24 * time.Hour
	// listStands is how long a server's list of models is not asked for again, and
	// listRetry the same where the list could not be had, in one process.
	listStands = 24 * time.Hour
	listRetry  = 10 * time.Minute
)

// guessedShare is what is tried of the weight of a request whose server refused it
// as too long and did not say how much is not.
const guessedShare = 0.75

// pupil is a model that is asked with what its server has taught so far, and keeps
// what it teaches; what it says it used is brought within bounds.
type pupil struct {
	model.Model
	e *Engine
}

// find makes a model by its name; an error names those that are close to it.
func (e *Engine) find(name string) (model.Model, error) {
	m, err := e.o.Models(name)
	if err != nil {
		return nil, e.nearest(name, err)
	}
	return pupil{m, e}, nil
}

// nearest names known models that are close to one that is not.
func (e *Engine) nearest(name string, err error) error {
	near := e.o.Catalog.Near(name)
	var known *scrollback.Error
	if !errors.Is(err, scrollback.ErrNoModel) || !errors.As(err, &known) || len(near) == 0 {
		return err
	}
	told := *known
	told.Err = fmt.Errorf("%w; did you mean %s?", known.Err, strings.Join(near, " or "))
	return &told
}

// Stream implements model.Model.
func (p pupil) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		name := p.Facts().Name
		known, err := p.e.store.Learned(ctx, name)
		if err != nil {
			yield(model.Delta{}, err)
			return
		}
		r.Learned, r.Bounds = known, p.e.o.ReplyBounds
		for d, err := range p.Model.Stream(ctx, r) {
			if err != nil {
				if l := model.LessonOf(err); l != nil {
					p.e.learn(ctx, name, *l, r)
				}
				err = p.e.nearest(name, err)
			}
			if d.Lesson != nil {
				p.e.learn(ctx, name, *d.Lesson, r)
			}
			if d.Usage != nil {
				u, changed := d.Usage.Checked()
				if changed {
					p.e.o.Log.Warn("a provider reported usage that cannot be; it is kept as an estimate", "model", name, "reported", *d.Usage)
				}
				d.Usage = &u
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// learn keeps what a server taught, for the model and for good.
func (e *Engine) learn(ctx context.Context, name string, l model.Lesson, r model.Request) {
	var sent int64
	for i := range r.Items {
		sent += r.Items[i].Weight.Tokens
	}
	now := e.store.Now()
	assumed := e.o.Catalog.Find(name).Factor
	err := e.store.Teach(context.WithoutCancel(ctx), name, func(k *scrollback.Learned) {
		if l.Drop != "" && !slices.Contains(k.Dropped, l.Drop) {
			k.Dropped = append(slices.Clone(k.Dropped), l.Drop)
		}
		if l.API != "" {
			k.API = l.API
		}
		if l.Strict != scrollback.StrictNothing && k.Strict != scrollback.StrictNoSystem {
			k.Strict = l.Strict
		}
		if l.MaxOutput > 0 {
			k.MaxOutput = l.MaxOutput
		}
		if !l.TooLong || l.Bytes {
			return
		}
		was := k.Factor
		if was == 0 {
			was = assumed
		}
		if l.Requested > 0 {
			if f := token.Raise(was, sent, l.Requested); f > was {
				k.Factor, was = f, f
			}
		}
		limit := l.Limit
		if limit == 0 {
			limit = int64(guessedShare * (float64(sent)*was + float64(r.MaxOutputTokens)))
		}
		k.Limit, k.LimitFrom, k.LimitAt = max(limit, smallestLimit), scrollback.LimitRefusal, now
	})
	if err != nil {
		e.o.Log.Warn("what a server taught was not kept", "model", name, "error", err)
		return
	}
	e.o.Log.Info("a server taught something of its model", "model", name, "lesson", l.Error())
}

// outgrow forgets a window that a server named once, when it takes more by now.
func (e *Engine) outgrow(ctx context.Context, sh *shape, u scrollback.Usage) {
	if u.Estimated || sh.learned.LimitFrom != scrollback.LimitRefusal || u.InputTokens <= sh.learned.Limit {
		return
	}
	err := e.store.Teach(ctx, sh.facts.Name, func(k *scrollback.Learned) {
		if k.Limit < u.InputTokens {
			k.Limit, k.LimitFrom, k.LimitAt = 0, "", 0
		}
	})
	if err != nil {
		e.o.Log.Warn("what a server taught was not kept", "model", sh.facts.Name, "error", err)
	}
}

// askList asks the server of a model once how long its windows are, where it can
// be asked, and keeps what it says.
func (e *Engine) askList(ctx context.Context, c scrollback.Conversation, over Shape) {
	sh, err := e.resolve(c, over, scrollback.Learned{})
	if err != nil || sh.limitFrom != scrollback.LimitCatalog && sh.limitFrom != scrollback.LimitAssumed {
		return
	}
	p, ok := sh.model.(pupil)
	if !ok {
		return
	}
	lister, ok := p.Model.(model.Lister)
	if !ok {
		return
	}
	name, now := sh.facts.Name, e.store.Now()
	known, err := e.store.Learned(ctx, name)
	if err != nil || now-known.ListedAt < listStands.Milliseconds() || !e.mayList(name, now) {
		return
	}
	limit, most, err := lister.List(ctx)
	if err != nil {
		e.o.Log.Debug("a server does not list its models", "model", name, "error", err)
		return
	}
	err = e.store.Teach(context.WithoutCancel(ctx), name, func(k *scrollback.Learned) {
		k.ListedAt = now
		refused := k.LimitFrom == scrollback.LimitRefusal && now-k.LimitAt < learnedStands.Milliseconds() && k.Limit < limit
		if limit >= smallestLimit && !refused {
			k.Limit, k.LimitFrom, k.LimitAt = limit, scrollback.LimitList, now
		}
		if most > 0 && k.MaxOutput == 0 {
			k.MaxOutput = most
		}
	})
	if err != nil {
		e.o.Log.Warn("what a server's list says was not kept", "model", name, "error", err)
	}
}

// mayList says whether to ask for a list, and notes that it was asked for.
func (e *Engine) mayList(name string, now int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if at, ok := e.listed[name]; ok && now-at < listRetry.Milliseconds() {
		return false
	}
	e.listed[name] = now
	return true
}
