package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/scrollback-ai/scrollback/internal/hook"
	"github.com/scrollback-ai/scrollback/internal/store/evidence"
)

// Open returns what looks things up in the store of a data folder: the server that has it open, if there is one, and
// else what alone opens. A server that is gone in the middle is made up for by alone, too. store names the store as the
// server does; wait is how long the server may take to greet.
func Open(ctx context.Context, dir, store string, wait time.Duration,
	alone func(ctx context.Context) (hook.Evidence, error)) (hook.Evidence, error) {
	t, err := dial(ctx, dir, store, wait)
	if err != nil {
		return alone(ctx)
	}
	return &asked{talk: t, alone: alone}, nil
}

// Probe reports whether a server answers over the socket of a data folder for a store.
func Probe(ctx context.Context, dir, store string, wait time.Duration) bool {
	t, err := dial(ctx, dir, store, wait)
	if err != nil {
		return false
	}
	_ = t.Close() // nothing was asked
	return true
}

// dial connects to a server, and reads its greeting.
func dial(ctx context.Context, dir, store string, wait time.Duration) (*talk, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	address, remove, err := shorten(filepath.Join(dir, FileName))
	if err != nil {
		return nil, err
	}
	defer remove()
	c, err := new(net.Dialer).DialContext(ctx, "unix", address)
	if err != nil {
		return nil, err
	}
	t := newTalk(c, maxReply)
	stop := t.until(ctx)
	defer stop()
	var g greeting
	if err = t.in.Decode(&g); err == nil && (g.Protocol != protocol || g.Store != store) {
		err = fmt.Errorf("another server: protocol %d", g.Protocol)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return t, nil
}

// asked looks things up by asking a server, or alone once that is gone.
type asked struct {
	talk  *talk
	alone func(ctx context.Context) (hook.Evidence, error)
	own   hook.Evidence
}

// Close implements [hook.Evidence].
func (a *asked) Close() error {
	err := a.talk.Close()
	if a.own != nil {
		err = errors.Join(err, a.own.Close())
	}
	return err
}

// Find implements [hook.Evidence].
func (a *asked) Find(ctx context.Context, q evidence.Query) (out evidence.Answer, err error) {
	f := &find{Prompt: q.Prompt, Place: newPlace(q.Place), Session: q.Session, Kept: q.Kept, Most: q.Most}
	for seen := range q.Told {
		f.Told = append(f.Told, seen)
	}
	said, err := a.ask(ctx, question{Find: f}, q.Place)
	switch {
	case err == nil && said.Answer != nil:
		return *said.Answer, nil
	case err == nil:
		err = errGone
	}
	return out, a.instead(ctx, err, func(own hook.Evidence) error {
		out, err = own.Find(ctx, q)
		return err
	})
}

// Stand implements [hook.Evidence].
func (a *asked) Stand(ctx context.Context, p evidence.Place, of evidence.Session,
	since int64) ([]evidence.Found, error) {
	said, err := a.ask(ctx, question{Stand: &stand{newPlace(p), of, since}}, p)
	return a.listed(ctx, said, err, func(own hook.Evidence) ([]evidence.Found, error) {
		return own.Stand(ctx, p, of, since)
	})
}

// HandBack implements [hook.Evidence].
func (a *asked) HandBack(ctx context.Context, of evidence.Session, said string) ([]evidence.Found, error) {
	r, err := a.ask(ctx, question{HandBack: &handBack{of, said}}, evidence.Place{})
	return a.listed(ctx, r, err, func(own hook.Evidence) ([]evidence.Found, error) {
		return own.HandBack(ctx, of, said)
	})
}

// listed returns the list in a reply, or what fn finds where there is none.
func (a *asked) listed(ctx context.Context, said reply, err error,
	fn func(own hook.Evidence) ([]evidence.Found, error)) (out []evidence.Found, _ error) {
	switch {
	case err == nil && said.List != nil:
		return said.List.Found, nil
	case err == nil:
		err = errGone
	}
	return out, a.instead(ctx, err, func(own hook.Evidence) error {
		out, err = fn(own)
		return err
	})
}

// ask returns the answer to a question. An error of the server is one; errGone is why there is none. A server is asked
// no more once it is gone.
func (a *asked) ask(ctx context.Context, q question, p evidence.Place) (reply, error) {
	if a.own != nil {
		return reply{}, errGone
	}
	stop := a.talk.until(ctx)
	defer stop()
	q.MS = maxWait.Milliseconds()
	if end, bound := ctx.Deadline(); bound {
		q.MS = max(time.Until(end).Milliseconds(), 1)
	}
	if err := a.talk.out.Encode(q); err != nil {
		return reply{}, lost(err)
	}
	for {
		var r reply
		if err := a.talk.in.Decode(&r); err != nil {
			return reply{}, lost(err)
		}
		var j judgement
		switch {
		case r.Error != "":
			return reply{}, errors.New(r.Error)
		case r.Has != nil && p.Has != nil:
			j.Yes = p.Has(*r.Has)
		case r.Exclude != nil && p.Exclude != nil:
			j.Yes = p.Exclude(r.Exclude[0], r.Exclude[1])
		default:
			return r, nil
		}
		if err := a.talk.out.Encode(j); err != nil {
			return reply{}, lost(err)
		}
	}
}

// instead looks up alone what a server that is gone did not answer. Any other error stays, and so does the end of ctx.
func (a *asked) instead(ctx context.Context, err error, fn func(own hook.Evidence) error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !errors.Is(err, errGone):
		return err
	}
	if a.own == nil {
		own, err := a.alone(ctx)
		if err != nil {
			return err
		}
		a.own = own
	}
	return fn(a.own)
}
