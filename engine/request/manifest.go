package request

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/intake"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/window"
)

// Previewer shows requests. It is safe for concurrent use.
type Previewer struct {
	store     *store.Store
	archive   *archive.Archive
	resolver  *Resolver
	compactor *Compactor
	intake    *intake.Intake
	weights   weightCache
	prints    recentCache[*window.Fingerprint]
}

// PreviewerOptions are what a previewer reads from: all over the same store.
type PreviewerOptions struct {
	Archive   *archive.Archive
	Resolver  *Resolver
	Compactor *Compactor
	Intake    *intake.Intake
}

// NewPreviewer makes a previewer over one store.
func NewPreviewer(s *store.Store, p PreviewerOptions) *Previewer {
	return &Previewer{store: s, archive: p.Archive, resolver: p.Resolver, compactor: p.Compactor, intake: p.Intake,
		prints: recentCache[*window.Fingerprint]{most: maxRecentTokens}}
}

// Layout is a request as it was laid out, and from what.
type Layout struct {
	Input  window.Input
	Window scrollback.Window
	Again  []int // of the parts of what the prompt refers to out of sight, those that are repeated
	Web    *scrollback.SentSearch
}

// TakeFingerprint identifies the window of a conversation's next request.
func (x *Previewer) TakeFingerprint(id scrollback.ConversationID, w scrollback.Window) *window.Fingerprint {
	f := window.TakeFingerprint(w, x.prints.get(id))
	x.prints.put(id, f, w.Weight.Tokens)
	return f
}

// BuildManifest returns the manifest of a window; reused are the tokens that it has in common with the beginning of
// the request before it.
func BuildManifest(c scrollback.Conversation, s Settings, w scrollback.Window, reused int64) scrollback.Manifest {
	m := window.BuildManifest(w)
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
	m.CompactsAt = s.ModelTokens(s.Policy.TriggerWeight(w))
	if m.Reused = s.ModelTokens(reused); w.Weight.Tokens > 0 {
		m.CacheReuse = float64(reused) / float64(w.Weight.Tokens)
	}
	return m
}

// RepeatUnshown puts behind a window what its prompt refers to as unchanged, where a compaction
// has meanwhile taken the message that has it out of sight. What finds no room stays
// readable behind its ref.
func (x *Previewer) RepeatUnshown(ctx context.Context, b scrollback.Branch, l *Layout, settings *Settings) error {
	parts, err := x.intake.RepeatReferences(ctx, b, window.UnshownReferences(l.Window))
	if err != nil || len(parts) == 0 {
		return err
	}
	bare := l.Window
	put := func(kept []int) bool { // as many as there is room for
		out := x.appendRepeated(bare, parts, kept, settings.Facts.Dialect)
		fits := window.Fits(out.Weight, settings.Budget) && window.Lint(out, settings.Facts.Dialect) == nil
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

// appendRepeated puts some parts behind a window.
func (x *Previewer) appendRepeated(
	w scrollback.Window,
	parts scrollback.Parts,
	kept []int,
	d scrollback.Dialect,
) scrollback.Window {
	var some scrollback.Parts
	for _, i := range kept {
		if i >= 0 && i < len(parts) {
			some = append(some, parts[i])
		}
	}
	if len(some) == 0 {
		return w
	}
	return window.AppendParts(w, some, x.store.WeighParts(some, nil), d)
}

// foundShare is the share of the budget that what a search found may take.
const foundShare = 0.15

// QuoteSearch puts what a search found behind a window. What does not fit is shortened, and left
// out in the end. It returns how many of the results are quoted.
func (x *Previewer) QuoteSearch(l *Layout, found scrollback.Search, settings *Settings) int {
	for n := len(found.Results); n > 0; n-- {
		found.Results = found.Results[:n]
		for _, chars := range []int{600, 300, 150, 0} {
			quoted, weight := x.appendSearch(l.Window, found, chars, settings.Facts.Dialect)
			if float64(weight.Tokens) <= foundShare*float64(settings.Budget.Tokens) &&
				window.Fits(quoted.Weight, settings.Budget) {
				l.Window = quoted
				l.Web = &scrollback.SentSearch{Query: found.Query, Results: n, Chars: chars}
				return n
			}
		}
	}
	return 0
}

func (x *Previewer) appendSearch(w scrollback.Window, s scrollback.Search, chars int,
	d scrollback.Dialect) (scrollback.Window, scrollback.Weight) {
	text := scrollback.Say(window.WebResults(s, chars))
	weight := x.store.WeighParts(text, nil)
	return window.AppendParts(w, text, weight, d), weight
}

// WeighQuestion returns the weight in tokens of a window's question: its newest user message.
func WeighQuestion(w scrollback.Window) (tokens int64) {
	newest := int64(0)
	for _, it := range w.Items {
		if it.Kind == scrollback.KindMessage && it.Role == scrollback.RoleUser && it.Seq > newest {
			newest = it.Seq
			tokens = it.Weight.Tokens
		}
	}
	return tokens
}
