package recall

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/token"
)

// Bounds of a list for a model, in tokens.
const (
	entryTokens = 60 // of one entry
	leastHint   = 7  // fewer entries are listed rather than have shorter hints
	sizedHint   = 14 // sizes are left out of history rather than have shorter hints
	pageTokens  = 30 // of what stands around the entries
)

// refListing is a page of context_list: a line for each ref. Year is that of all dates in the
// lines; without it they name their own. Next is where the following page begins.
type refListing struct {
	Year int      `json:"year,omitempty"`
	Refs []string `json:"refs"`
	Next string   `json:"next,omitempty"`
}

// listedRef is one ref of a list. Its place is in the list's order: what the window shows,
// then artifacts, then what is older.
type listedRef struct {
	scrollback.RefEntry
	place string
	hints []string // what it is about, in sentences
}

// The places of a list, and of its cursors.
const (
	placeShown    = "shown"
	placeArtifact = "artifact"
	placeOlder    = "older"
)

func runList(ctx context.Context, c toolCall) (string, error) {
	type args struct {
		Kind, Cursor string
		Limit        int
	}
	a, err := DecodeArguments[args](c.arguments)
	switch {
	case err != nil:
		return "", err
	case a.Limit < 0 || a.Limit > scrollback.ListMax:
		return "", scrollback.ParamErrorf("recall", "limit", i18n.LimitOutOfRange, scrollback.ListMax)
	case a.Kind != "" && a.Kind != scrollback.RefHistory && a.Kind != scrollback.RefArtifact:
		return "", scrollback.ParamErrorf("recall", "kind", i18n.RefKindIsOneOf)
	}
	limit := cmp.Or(a.Limit, scrollback.ListDefault)
	head, err := c.access.Head(ctx, c.conversation)
	if err != nil {
		return "", err
	}
	w := refLister{c.Reader, head, append([]scrollback.ConversationID{head.ID}, head.Ancestors...), a.Kind}
	from, after, err := w.readCursor(ctx, a.Cursor)
	if err != nil {
		return "", err
	}
	var all []listedRef
	more := false
	for e, err := range w.walkRefs(ctx, from, after) {
		if err != nil {
			return "", err
		}
		if more = len(all) == limit; more {
			break
		}
		all = append(all, e)
	}
	fits := countFitting(all, c.room)
	return FitRoom(c.room, func(try int) (any, bool) {
		n := max(1, fits-try*max(1, fits/8))
		return layOutPage(all[:min(n, len(all))], more || n < len(all), c.room), n > 1
	})
}

// refLister walks what a conversation and its ancestors mention.
type refLister struct {
	*Reader
	head    store.Head
	lineage []scrollback.ConversationID
	kind    string
}

// readCursor reads a cursor: where the list goes on, and behind which ref.
func (w refLister) readCursor(ctx context.Context, cursor string) (string, *scrollback.RefEntry, error) {
	if cursor == "" {
		return placeShown, nil, nil
	}
	place, ref, ok := strings.Cut(cursor, " ")
	if !ok || place != placeShown && place != placeArtifact && place != placeOlder {
		return "", nil, scrollback.ParamErrorf("recall", "cursor", i18n.NotACursorOfOurs)
	}
	e, err := w.store.Refs.GetIn(ctx, w.lineage, scrollback.Ref(ref))
	return place, &e, err
}

// listPart is a part of the list: what is at one place, from behind a ref on.
type listPart struct {
	place, kind string
	walk        func(ctx context.Context, after *scrollback.RefEntry) iter.Seq2[listedRef, error]
}

// walkRefs yields the refs in the order of the list, from a place on and behind a ref.
func (w refLister) walkRefs(ctx context.Context, from string, after *scrollback.RefEntry) iter.Seq2[listedRef, error] {
	parts := []listPart{{placeShown, scrollback.RefHistory, w.walkShown},
		{placeArtifact, scrollback.RefArtifact, w.walkArtifacts},
		{placeOlder, scrollback.RefHistory, w.walkOlder}}
	parts = parts[slices.IndexFunc(parts, func(p listPart) bool { return p.place == from }):]
	return func(yield func(listedRef, error) bool) {
		for i, p := range parts {
			if w.kind != "" && w.kind != p.kind {
				continue
			}
			behind := after
			if i > 0 {
				behind = nil
			}
			for e, err := range p.walk(ctx, behind) {
				if e.place = p.place; !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// walkShown yields the segments whose placeholders the window holds, newest first.
func (w refLister) walkShown(ctx context.Context, after *scrollback.RefEntry) iter.Seq2[listedRef, error] {
	return func(yield func(listedRef, error) bool) {
		ids := make([]scrollback.SegmentID, 0, len(w.head.Branch.View.Segments))
		for _, s := range slices.Backward(w.head.Branch.View.Segments) {
			ids = append(ids, s.ID)
		}
		if after != nil { // one that gave way to a compaction meanwhile ends the part
			i := slices.IndexFunc(ids, func(id scrollback.SegmentID) bool { return scrollback.HistoryRef(id) == after.Ref })
			ids = ids[cmp.Or(i+1, len(ids)):]
		}
		segs, err := w.store.ReadSegments(ctx, ids)
		if err != nil {
			yield(listedRef{}, err)
			return
		}
		for _, s := range segs {
			if !yield(listSegment(s), nil) {
				return
			}
		}
	}
}

// walkArtifacts yields each artifact once, by its newest mention.
func (w refLister) walkArtifacts(ctx context.Context, after *scrollback.RefEntry) iter.Seq2[listedRef, error] {
	return func(yield func(listedRef, error) bool) {
		for e, err := range w.store.Refs.Walk(ctx, w.lineage, scrollback.RefArtifact, after) {
			if err == nil && len(w.lineage) > 1 {
				var newest scrollback.RefEntry
				newest, err = w.store.Refs.GetIn(ctx, w.lineage, e.Ref)
				if err == nil && newest.Conversation != e.Conversation {
					continue
				}
			}
			if !yield(listedRef{RefEntry: e, hints: []string{e.Hint}}, err) || err != nil {
				return
			}
		}
	}
}

// walkOlder yields the leaves that the window does not show; roll-ups that it does not show
// gave way to others, and only repeat them.
func (w refLister) walkOlder(ctx context.Context, after *scrollback.RefEntry) iter.Seq2[listedRef, error] {
	return func(yield func(listedRef, error) bool) {
		var page []scrollback.SegmentID
		flush := func() bool {
			segs, err := w.store.ReadSegments(ctx, page)
			if err != nil {
				yield(listedRef{}, err)
				return false
			}
			page = page[:0]
			for _, s := range segs {
				if len(s.Children) == 0 && !yield(listSegment(s), nil) {
					return false
				}
			}
			return true
		}
		for e, err := range w.store.Refs.Walk(ctx, w.lineage, scrollback.RefHistory, after) {
			if err != nil {
				yield(listedRef{}, err)
				return
			}
			_, id, err := e.Ref.Split()
			if err != nil || slices.ContainsFunc(w.head.Branch.View.Segments,
				func(v scrollback.ViewItem) bool { return string(v.ID) == id }) {
				continue
			}
			if page = append(page, scrollback.SegmentID(id)); len(page) == scrollback.ListDefault && !flush() {
				return
			}
		}
		flush()
	}
}

// quotePattern is what stands before a sentence in the lines of a placeholder.
var quotePattern = lazyregexp.New(`^- (#\d+ \w+( \(\d+×\))?: )?`)

// listSegment returns a segment with the sentences of its own placeholder: its summary may speak
// for others too.
func listSegment(s scrollback.Segment) listedRef {
	out := listedRef{RefEntry: scrollback.RefEntry{Ref: scrollback.HistoryRef(s.ID), Kind: scrollback.RefHistory,
		FirstSeq: s.FirstSeq, LastSeq: s.LastSeq,
		From: s.From, To: s.To, Bytes: s.Bytes, CreatedAt: s.CreatedAt}}
	for text := range strings.SplitSeq(s.Placeholder, "\n") {
		if mark := quotePattern().FindString(text); mark != "" {
			out.hints = append(out.hints, text[len(mark):])
		}
	}
	if len(out.hints) == 0 {
		out.hints = []string{firstNote(s)}
	}
	return out
}

// firstNote returns what a placeholder without sentences says of its messages, or else the beginning of the
// summary.
func firstNote(s scrollback.Segment) string {
	if _, rest, ok := strings.Cut(s.Placeholder, "\n"); ok { // the first line says only what is folded
		for line := range strings.SplitSeq(rest, "\n") {
			if line = strings.TrimSpace(line); line != "" {
				return line
			}
		}
	}
	return scrollback.Hint(s.Summary)
}

// firstUnused returns the first sentence that no entry before it has, or else the first.
func (e listedRef) firstUnused(used map[string]bool) string {
	for _, hint := range e.hints {
		if !used[hint] {
			used[hint] = true
			return hint
		}
	}
	return e.hints[0]
}

// layOutPage lays entries out as lines that share the room.
func layOutPage(all []listedRef, more bool, room Room) refListing {
	out := refListing{Refs: []string{}, Year: commonYear(all)}
	names := shortenRefs(all)
	if more && len(all) > 0 {
		last := len(all) - 1
		out.Next = all[last].place + " " + names[last]
	}
	lines, spare := layOutLines(all, names, out.Year, room)
	used := map[string]bool{}
	for i, e := range all {
		bare := token.Count(lines[i])
		if hint := e.makeHint(used, min(spare/(len(all)-i), entryTokens-bare)-1); hint != "" {
			lines[i] += ": " + hint
		}
		spare -= token.Count(lines[i]) - bare
	}
	out.Refs = append(out.Refs, lines...)
	return out
}

// layOutLines returns the lines without hints, and how many tokens are left for all of these.
// The sizes of history are left out when room is short: its range says as much.
func layOutLines(all []listedRef, names []string, year int, room Room) (lines []string, spare int) {
	for _, sized := range []bool{true, false} {
		lines = lines[:0]
		spare = roomTokens(room)
		for i, e := range all {
			lines = append(lines, e.formatLine(names[i], year, sized))
			spare -= token.Count(lines[i]) + 1
		}
		if spare >= sizedHint*len(all) {
			break
		}
	}
	return lines, spare
}

// roomTokens returns what a room holds for entries. Three bytes are less than a token of them
// takes.
func roomTokens(room Room) int { return int(min(room.Tokens, int64(room.Bytes)/3)) - pageTokens }

// countFitting returns how many entries fit a room with a hint each; at least one.
func countFitting(all []listedRef, room Room) int {
	names := shortenRefs(all)
	year := commonYear(all)
	left := roomTokens(room)
	for i, e := range all {
		if left -= token.Count(e.formatLine(names[i], year, false)) + 1 + leastHint; left < 0 {
			return max(i, 1)
		}
	}
	return max(len(all), 1)
}

// commonYear returns the year of all entries, or 0 if there are several.
func commonYear(all []listedRef) (year int) {
	for i, e := range all {
		from := dayOf(e.fromTime()).Year()
		to := dayOf(e.toTime()).Year()
		if from != to || i > 0 && to != year {
			return 0
		}
		year = to
	}
	return year
}

// formatLine returns all of an entry but its hint.
func (e listedRef) formatLine(name string, year int, sized bool) string {
	line := name
	if e.Kind == scrollback.RefHistory {
		line += fmt.Sprintf(" #%d", e.FirstSeq)
		if e.LastSeq > e.FirstSeq {
			line += fmt.Sprintf("-%d", e.LastSeq)
		}
	}
	line += " " + formatDays(dayOf(e.fromTime()), dayOf(e.toTime()), year)
	if sized || e.Kind == scrollback.RefArtifact {
		line += " " + formatSize(e.Bytes)
	}
	return line
}

// fromTime and to are when what it points at was said, or stored.
func (e listedRef) fromTime() int64 { return cmp.Or(e.From, e.CreatedAt) }
func (e listedRef) toTime() int64   { return cmp.Or(e.To, e.CreatedAt) }

// makeHint returns what the entry is about, in at most most tokens: first what tells it from those
// before it.
func (e listedRef) makeHint(used map[string]bool, most int) string {
	out := ""
	for i := range e.hints {
		in := append(slices.Clone(e.hints[i:]), e.hints[:i]...)
		hint := clipTokens(strings.Join(in, " · "), most)
		if out == "" {
			out = hint
		}
		if !used[hint] {
			out = hint
			break
		}
	}
	used[out] = true
	return out
}

func dayOf(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// formatDays returns a stretch of days, without the year if that is said elsewhere.
func formatDays(from, to time.Time, year int) string {
	first := from.Format("Jan 2")
	last := to.Format("Jan 2")
	switch {
	case year == 0:
		first = from.Format(time.DateOnly)
		last = to.Format(time.DateOnly)
	case from.Month() == to.Month() && first != last:
		last = to.Format("2")
	}
	if first == last {
		return first
	}
	return first + "-" + last
}

// formatSize returns a number of bytes as a short figure.
func formatSize(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%dB", n)
	case n < 1<<20:
		return fmt.Sprintf("%dK", n>>10)
	}
	return fmt.Sprintf("%dM", n>>20)
}

// shortenRefs returns refs by the ends of their ids: as little of them as is unique here, but
// never less than the store takes.
func shortenRefs(all []listedRef) []string {
	out := make([]string, len(all))
	for n := store.RefEnd; ; n++ {
		seen := map[string]bool{}
		for i, e := range all {
			kind, id, err := e.Ref.Split()
			if err != nil { // none that is stored
				kind = ""
				id = string(e.Ref)
			}
			out[i] = kind + ":" + id[max(0, len(id)-n):]
			seen[out[i]] = true
		}
		if len(seen) == len(all) || n > len("00000000-0000-7000-8000-000000000000") {
			return out
		}
	}
}

// clipTokens returns the beginning of a text, of at most most tokens: whole words, with an
// ellipsis if something was left out and there is room to say so.
func clipTokens(s string, most int) string {
	whole := []rune(s)
	for r := whole[:min(len(whole), 8*max(most, 0))]; len(r) > 0; {
		text := strings.TrimSpace(string(r))
		if len(r) < len(whole) {
			if at := strings.LastIndexByte(text, ' '); at > len(text)/2 && whole[len(r)] != ' ' {
				text = text[:at]
			}
			if most >= sizedHint {
				text += "…"
			}
		}
		n := token.Count(text)
		if n <= most {
			return text
		}
		r = r[:min(len(r)-1, len(r)*most/n+2)]
	}
	return ""
}
