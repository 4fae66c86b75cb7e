// Package sight says what requests show: the next one, one with a draft, and those that the
// steps of a turn sent.
//
// What a step sent is stored as an account without text (scrollback.Sent): from which
// messages, segments and texts its window was laid out, what it came to, and a hash of it.
// From that, the log and the stored texts, the same window is laid out again; where the hash
// is another one, because something that it was made from is not known any more, that is
// said.
//
// Words it adds: laid (a request as it was laid out, and from what), note (what is to be
// stored of a request that is being sent).
//
// Invariants: nothing here writes, and no model is asked; no text is stored twice; the items
// of a request are what the model is sent, in the same order, byte by byte.
//
// It may not know callers: whoever asks was let in before.
package sight

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/archive"
	"github.com/scrollback-ai/scrollback/engine/fold"
	"github.com/scrollback-ai/scrollback/engine/setting"
	"github.com/scrollback-ai/scrollback/intake"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/window"
)

// Sight shows requests. It is safe for concurrent use.
type Sight struct {
	store    *store.Store
	archive  *archive.Archive
	resolver *setting.Resolver
	folder   *fold.Folder
	intake   *intake.Intake
	wholes   wholes
}

// Parts are what a sight looks at: all over the same store.
type Parts struct {
	Archive  *archive.Archive
	Resolver *setting.Resolver
	Folder   *fold.Folder
	Intake   *intake.Intake
}

// New makes a sight over one store.
func New(s *store.Store, p Parts) *Sight {
	return &Sight{store: s, archive: p.Archive, resolver: p.Resolver, folder: p.Folder, intake: p.Intake}
}

// Laid is a request as it was laid out, and from what.
type Laid struct {
	Input  window.Input
	Window scrollback.Window
	Again  []int // of the parts of what the prompt refers to out of sight, those that are repeated
	Web    *scrollback.SentSearch
}

// Account is the manifest of a window; prev marks the request before it.
func Account(c scrollback.Conversation, s setting.Resolved, w scrollback.Window,
	prev *scrollback.WindowMark) scrollback.Manifest {
	m := window.Account(w)
	m.Limit = s.ModelBudget.Limit
	m.Budget = s.ModelBudget.Tokens
	m.Tokens = s.ModelTokens(m.Tokens)
	for i := range m.Layers {
		l := &m.Layers[i]
		l.Tokens = s.ModelTokens(l.Tokens)
		for k := range l.Items {
			l.Items[k].Tokens = s.ModelTokens(l.Items[k].Tokens)
		}
	}
	m.ConversationID = c.ID
	m.Model = s.Facts.Name
	m.Policy = s.Policy.Name
	m.LimitFrom = s.LimitFrom
	m.Inherited = s.Inherited(c)
	m.CompactsAt = s.ModelTokens(s.Policy.Presses(s.Budget))
	kept := window.Kept(prev, w)
	if m.Reused = s.ModelTokens(kept); w.Weight.Tokens > 0 {
		m.CacheReuse = float64(kept) / float64(w.Weight.Tokens)
	}
	return m
}

// Restore puts behind a window what its prompt refers to as unchanged, where a compaction
// has meanwhile taken the message that has it out of sight. What finds no room stays
// readable behind its ref.
func (x *Sight) Restore(ctx context.Context, b scrollback.Branch, l *Laid, sh *setting.Resolved) error {
	parts, err := x.intake.Again(ctx, b, window.Unshown(l.Window))
	if err != nil || len(parts) == 0 {
		return err
	}
	bare := l.Window
	put := func(kept []int) bool { // as many as there is room for
		out := x.again(bare, parts, kept, sh.Facts.Dialect)
		fits := window.Fits(out.Weight, sh.Budget) && window.Lint(out, sh.Facts.Dialect) == nil
		if fits {
			l.Window = out
			l.Again = kept
		}
		return fits
	}
	all := make([]int, len(parts))
	for i := range all {
		all[i] = i
	}
	if put(all) {
		return nil
	}
	for i := range parts {
		put(append(l.Again[:len(l.Again):len(l.Again)], i))
	}
	return nil
}

// again puts some parts behind a window.
func (x *Sight) again(w scrollback.Window, parts scrollback.Parts, kept []int, d scrollback.Dialect) scrollback.Window {
	var some scrollback.Parts
	for _, i := range kept {
		if i >= 0 && i < len(parts) {
			some = append(some, parts[i])
		}
	}
	if len(some) == 0 {
		return w
	}
	return window.Behind(w, some, x.store.Weigh(some, nil), d)
}

// foundShare is the share of the budget that what a search found may take.
const foundShare = 0.15

// Quote puts what a search found behind a window. What does not fit is shortened, and left
// out in the end. It returns how many of the results are quoted.
func (x *Sight) Quote(l *Laid, found scrollback.Search, sh *setting.Resolved) int {
	for n := len(found.Results); n > 0; n-- {
		found.Results = found.Results[:n]
		for _, chars := range []int{600, 300, 150, 0} {
			quoted, weight := x.quoted(l.Window, found, chars, sh.Facts.Dialect)
			if float64(weight.Tokens) <= foundShare*float64(sh.Budget.Tokens) && window.Fits(quoted.Weight, sh.Budget) {
				l.Window = quoted
				l.Web = &scrollback.SentSearch{Query: found.Query, Results: n, Chars: chars}
				return n
			}
		}
	}
	return 0
}

func (x *Sight) quoted(w scrollback.Window, s scrollback.Search, chars int,
	d scrollback.Dialect) (scrollback.Window, scrollback.Weight) {
	text := scrollback.Say(window.WebResults(s, chars))
	weight := x.store.Weigh(text, nil)
	return window.Behind(w, text, weight, d), weight
}

// Asked is the weight in tokens of a window's question: its newest user message.
func Asked(w scrollback.Window) (tokens int64) {
	newest := int64(0)
	for _, it := range w.Items {
		if it.Kind == scrollback.KindMessage && it.Role == scrollback.RoleUser && it.Seq > newest {
			newest = it.Seq
			tokens = it.Weight.Tokens
		}
	}
	return tokens
}
