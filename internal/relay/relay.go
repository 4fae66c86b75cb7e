// Package relay lets the stores of one person meet through a vault: each leaves there what the vault lacks, and takes
// what the others have left.
//
// Words it adds: known (which records are in the vault), state (what a store keeps of a remote).
//
// Invariants: what is taken is taken by a merge, so that its order and how often it comes cannot matter; a batch counts
// as read when all of it was taken; a meeting that is cut off anywhere is ended by the next one.
//
// It may not know how a vault is kept, nor how a store is.
package relay

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/exchange"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/vault"
)

const op = "sync"

// Options say how to meet.
type Options struct {
	Pull, Push bool
	Terms      merge.Terms           // a look writes nothing on either side
	Project    string                // only what is of this one here and now; empty: everything
	Progress   func(done, total int) // batches
	Now        func() int64          // Unix ms
}

// Result is what a meeting came to. ToCome counts what others have announced and is not here yet, and batches that wait
// for something else.
type Result struct {
	Pulled  merge.Outcome
	Pushed  Pushed
	ToCome  int
	Refused []vault.Refusal
	Ignored []string
	Older   bool // the vault is in an older state than before; what it lacked was published again
}

// Pushed is what was published.
type Pushed struct {
	Conversations int   `json:"conversations"`
	Messages      int64 `json:"messages"`
	Bytes         int64 `json:"bytes"` // of the records, before they were encrypted
}

// Meeting is a store at a vault.
type Meeting struct {
	Vault *vault.Vault
	Ours  *exchange.Peer
	Place Place
	State *State

	known *known
}

// Meet takes what the others have left, and leaves what the vault lacks.
func (m *Meeting) Meet(ctx context.Context, o Options) (Result, error) {
	var out Result
	news, err := m.Vault.Look(ctx)
	if err != nil {
		return out, err
	}
	if m.known, err = openKnown(m.Place.Dir + "/known"); err != nil {
		return out, err
	}
	if o.Pull {
		if err := m.pull(ctx, o, &out); err != nil {
			return out, err
		}
	}
	if o.Push {
		out.Older = len(news.Lost) > 0 || news.AllLost
		if err := m.push(ctx, o, out.Older, &out); err != nil {
			return out, err
		}
	}
	news = m.Vault.News()
	out.ToCome += news.ToCome
	out.Refused = news.Refused
	out.Ignored = news.Ignored
	if o.Terms.Look {
		return out, nil
	}
	m.State.LastMet = o.Now()
	m.State.Error = ""
	m.State.Waiting = out.ToCome
	m.State.Vault = m.Vault.State()
	return out, errors.Join(m.known.save(), m.Place.Write(*m.State))
}

// pull takes what was not read yet. A batch that waits for another one is tried again behind it.
func (m *Meeting) pull(ctx context.Context, o Options, out *Result) error {
	var waiting, remains []vault.Batch
	counted := map[scrollback.ConversationID]bool{}
	take := func(b vault.Batch) (bool, error) {
		got, hasRemains, err := m.take(ctx, o, b)
		if err != nil {
			return false, err
		}
		out.Pulled.Add(got, counted)
		switch {
		case o.Terms.Look || o.Project != "" || len(got.Held) > 0: // it is read again the next time
			return true, nil
		case len(got.Waiting) > 0:
			return false, nil
		case hasRemains: // what waits may need them
			remains = append(remains, b)
			return true, nil
		}
		m.Vault.Applied(b)
		return true, nil
	}
	done := 0
	for b, err := range m.Vault.Read(ctx) {
		if err != nil {
			return err
		}
		taken, err := take(b)
		if err != nil {
			return err
		}
		if !taken {
			waiting = append(waiting, b)
		}
		if done++; o.Progress != nil {
			o.Progress(done, 0)
		}
	}
	for again := true; again && len(waiting) > 0; {
		again = false
		rest := waiting
		waiting = nil
		for _, b := range rest {
			taken, err := take(b)
			if err != nil {
				return err
			}
			if again = again || taken; !taken {
				waiting = append(waiting, b)
			}
		}
	}
	out.ToCome += len(waiting)
	if len(waiting) > 0 {
		return nil
	}
	for _, b := range remains {
		m.Vault.Applied(b)
	}
	return nil
}

// take takes a batch, and reports whether it has what forks keep of purged conversations. One of a newer version, or
// that is none, is refused.
func (m *Meeting) take(ctx context.Context, o Options, b vault.Batch) (out merge.Outcome, remains bool, err error) {
	var set merge.Set
	if err := json.Unmarshal(b.Bytes, &set); err != nil {
		return merge.Outcome{Refused: []merge.Refused{{Record: "batch of " + b.Name}}}, false, nil
	}
	for _, c := range set.Conversations {
		remains = remains || c.CreatedAt == 0 && len(c.Messages) > 0
	}
	for id, h := range exchange.ElementsOf(set) {
		m.known.add(newKey(id, h))
	}
	if o.Project != "" {
		set.Projects = nil
		set.Conversations = slices.DeleteFunc(set.Conversations, func(c merge.Conversation) bool {
			return exchange.ProjectOf(&c) != o.Project
		})
	}
	if !o.Terms.Look {
		for _, c := range set.Conversations {
			for _, mention := range c.Mentions {
				if err := m.bringArtifact(ctx, mention); err != nil {
					return out, remains, err
				}
			}
		}
	}
	out, err = m.Ours.Put(ctx, set, o.Terms)
	return out, remains, err
}

// bringArtifact brings the bytes of an artifact, unless they are here. What has not arrived makes its conversation
// wait.
func (m *Meeting) bringArtifact(ctx context.Context, mention merge.Mention) error {
	lacks, err := m.Ours.LacksArtifacts(ctx, []scrollback.ArtifactID{mention.Artifact})
	if err != nil || len(lacks) == 0 {
		return err
	}
	r, size, err := m.Vault.OpenArtifact(ctx, string(mention.Artifact))
	if err == nil {
		err = m.Ours.PutArtifact(ctx, mention.Artifact, r, size)
	}
	switch scrollback.CodeOf(err) {
	case scrollback.Unavailable, scrollback.NotFound, scrollback.Refused, scrollback.Invalid:
		return nil // it is in the news
	}
	return err
}

// push publishes what the vault lacks; all of it, if what was published is lost.
func (m *Meeting) push(ctx context.Context, o Options, lost bool, out *Result) error {
	mark, err := m.Ours.Mark(ctx)
	if err != nil {
		return err
	}
	if mark == m.State.Mark && !lost {
		return m.tend(ctx, o)
	}
	if lost && !o.Terms.Look {
		m.State.Mark = ""
		if err := m.known.forget(); err != nil {
			return err
		}
	}
	plan, err := m.plan(ctx, o)
	if err != nil {
		return err
	}
	out.Pushed = plan.Pushed
	if o.Terms.Look {
		return nil
	}
	publish := m.Vault.Publish
	if lost {
		publish = m.Vault.Replace
	}
	if len(plan.wanted) > 0 || len(plan.projects.Projects) > 0 || lost {
		if err := publish(ctx, m.batches(ctx, plan, out)); err != nil {
			return err
		}
		m.known.add(plan.keys...)
	} else if err := m.tend(ctx, o); err != nil {
		return err
	}
	if err := m.forgetPurged(ctx); err != nil {
		return err
	}
	if o.Project == "" {
		m.State.Mark = mark
	}
	return nil
}

// tend mends what an earlier meeting left in the vault, and joins what the others say of its members. Where nothing is
// wrong, it writes nothing.
func (m *Meeting) tend(ctx context.Context, o Options) error {
	if o.Terms.Look {
		return nil
	}
	return m.Vault.Publish(ctx, func(func([]byte, error) bool) {})
}

// plan is what a vault lacks.
type plan struct {
	Pushed
	wanted   []merge.Wanted
	projects merge.Set
	keys     []key
}

func (m *Meeting) plan(ctx context.Context, o Options) (plan, error) {
	var p plan
	ids, err := m.changed(ctx, o)
	if err != nil {
		return p, err
	}
	var stones []merge.Wanted
	for _, id := range ids {
		all, err := m.Ours.Elements(ctx, id)
		if err != nil {
			return p, err
		}
		lacks := func(h merge.Hash) bool {
			if all.Stone != nil {
				h = asRemains(h)
			}
			k := newKey(id, h)
			if m.known.all[k] {
				return false
			}
			p.keys = append(p.keys, k)
			return true
		}
		if all.Stone != nil && !m.known.all[newKey(id, *all.Stone)] {
			stones = append(stones, merge.Wanted{ID: id, Rest: []merge.Hash{*all.Stone}})
			p.keys = append(p.keys, newKey(id, *all.Stone))
		}
		w := merge.Wanted{ID: id}
		for _, e := range all.Messages {
			if lacks(e.Hash) {
				w.Messages = append(w.Messages, e.ID)
			}
		}
		for _, h := range all.Rest {
			if lacks(h) {
				w.Rest = append(w.Rest, h)
			}
		}
		if len(w.Messages)+len(w.Rest) > 0 {
			p.wanted = append(p.wanted, w)
			p.Conversations++
			p.Messages += int64(len(w.Messages))
		}
	}
	p.wanted = append(p.wanted, stones...) // behind the forks that keep something of what goes
	if o.Project != "" {
		return p, nil
	}
	all, err := m.Ours.Projects(ctx)
	for _, one := range all.Projects {
		lacks := false
		for _, h := range one.Elements() {
			if k := newKey("", h); !m.known.all[k] {
				p.keys = append(p.keys, k)
				lacks = true
			}
		}
		if lacks {
			p.projects.Projects = append(p.projects.Projects, one)
		}
	}
	return p, err
}

// asRemains is what a record of a conversation is known by that was purged: what forks keep of it is published once
// more, by each store that has such a fork, because what was published of it before is taken out.
func asRemains(h merge.Hash) merge.Hash {
	for i := range h {
		h[i] ^= 0x5a
	}
	return h
}

// changed returns the conversations that may have what the vault lacks: what others inherit from before them.
func (m *Meeting) changed(ctx context.Context, o Options) ([]scrollback.ConversationID, error) {
	changed, err := m.Ours.Changed(ctx, m.State.Mark)
	if err != nil {
		return nil, err
	}
	if !changed.Everything && o.Project == "" && !changed.Stones {
		return m.Ours.AncestorsFirst(ctx, changed.Conversations)
	}
	return m.Ours.List(ctx, o.Project)
}

// batches yields what is published, and sees to it that the bytes that it mentions are there before.
func (m *Meeting) batches(ctx context.Context, p plan, out *Result) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		give := func(set merge.Set) bool {
			text, err := json.Marshal(set)
			if err != nil {
				return yield(nil, err)
			}
			out.Pushed.Bytes += int64(len(text))
			return yield(text, nil)
		}
		for left := p.wanted; len(left) > 0; {
			set, rest, err := m.Ours.NextRecords(ctx, left)
			if err != nil {
				yield(nil, err)
				return
			}
			if err := m.putArtifacts(ctx, set); err != nil {
				yield(nil, err)
				return
			}
			if !give(set) {
				return
			}
			left = rest
		}
		if len(p.projects.Projects) > 0 {
			give(p.projects)
		}
	}
}

// putArtifacts writes the bytes that a set mentions into the vault, unless they are there.
func (m *Meeting) putArtifacts(ctx context.Context, set merge.Set) error {
	for _, c := range set.Conversations {
		for _, mention := range c.Mentions {
			has, err := m.Vault.HasArtifact(ctx, string(mention.Artifact))
			if err != nil {
				return err
			}
			if has {
				continue
			}
			r, _, err := m.Ours.OpenArtifact(ctx, mention.Artifact)
			if scrollback.CodeOf(err) == scrollback.NotFound {
				continue // the store has lost it: the doctor says so
			}
			if err != nil {
				return err
			}
			err = m.Vault.PutArtifact(ctx, string(mention.Artifact), r)
			if err := errors.Join(err, r.Close()); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetPurged takes out of what this store has published what was purged since.
func (m *Meeting) forgetPurged(ctx context.Context) error {
	stones, err := m.Ours.CountStones(ctx)
	if err != nil || stones == m.State.Stones {
		return err
	}
	if len(m.Vault.State().Former) > 0 {
		return m.replaceFormer(ctx, stones)
	}
	err = m.Vault.Rewrite(ctx, func(_ uint64, batch []byte) ([]byte, error) {
		var set merge.Set
		if json.Unmarshal(batch, &set) != nil {
			return nil, nil // it is lost: what is held is published again
		}
		dropped, err := m.Ours.DropPurged(ctx, &set)
		if err != nil {
			return nil, err
		}
		for _, id := range dropped {
			if err := m.Vault.DropArtifact(ctx, string(id)); err != nil {
				return nil, err
			}
		}
		return json.Marshal(set)
	})
	if err == nil {
		m.State.Stones = stones
	}
	return err
}

// replaceFormer publishes everything once more, and removes what this store wrote while it had other ids, of which
// nothing can be taken out.
func (m *Meeting) replaceFormer(ctx context.Context, stones int) error {
	if err := m.known.forget(); err != nil {
		return err
	}
	m.State.Mark = ""
	var out Result
	plan, err := m.plan(ctx, Options{})
	if err != nil {
		return err
	}
	if err := m.Vault.Replace(ctx, m.batches(ctx, plan, &out)); err != nil {
		return err
	}
	m.known.add(plan.keys...)
	if err := m.Vault.Retire(ctx); err != nil {
		return err
	}
	m.State.Stones = stones
	return nil
}
