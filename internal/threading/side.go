package threading

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

const (
	transcriptBytes = 200  // what a text without tools has at least that may be a transcript
	transcriptWords = 4096 // words of it that are looked at
	maxSummaries    = 16   // summaries that a history is searched for
	summaryAtoms    = 14   // atoms at the beginning of a history that may quote one
	minQuoted       = 24   // letters and digits of an answer that is one though nobody noticed
	minSummary      = 12   // bytes of the shortest summary that is looked for
	longSummary     = 200  // bytes of one whose beginning is enough, or half of its samples
	summaryHead     = 150  // bytes of that beginning
	summarySamples  = 8    // pieces that are looked for, from all over a long summary
	sampleBytes     = 48   // bytes of one
)

// quoted returns the answers that the only text of a request without tools quotes, each once, up to two.
func (s *search) quoted(ctx context.Context) ([]AtomRow, error) {
	if len(s.atoms) == 0 || len(s.atoms) > 2 || len(s.request.Tools) > 0 || s.atoms[0].Kind != Text ||
		len(s.atoms[0].Text) <= transcriptBytes {
		return nil, nil
	}
	var text []string
	for _, a := range s.atoms {
		text = append(text, a.Text)
	}
	return s.findQuotes(ctx, strings.Join(text, " "), nil, 2)
}

// findQuotes returns answers that a text quotes, each once in a thread, until so many are found: answers of some
// threads, or of the whole scope.
func (s *search) findQuotes(ctx context.Context, text string, threads []ThreadID, enough int) ([]AtomRow, error) {
	transcript := newQuotable(text)
	starts := transcript.starts[:min(len(transcript.starts), transcriptWords)]
	var out []AtomRow
	for batch := range slices.Chunk(starts, 2*anchorBatch) {
		places := map[Hash][]int{}
		query := AnchorQuery{Scope: s.scope, Threads: threads, Limit: scopeLimit}
		for _, at := range batch {
			anchor := transcript.anchor(at)
			if anchor == (Hash{}) {
				break
			}
			if places[anchor] == nil {
				query.Anchors = append(query.Anchors, anchor)
			}
			places[anchor] = append(places[anchor], at)
		}
		if len(query.Anchors) == 0 {
			break
		}
		rows, err := s.Index.Anchored(ctx, query)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			stands := slices.ContainsFunc(places[row.Quote.Anchor], func(at int) bool { return transcript.has(at, row.Quote) })
			known := slices.ContainsFunc(out, func(o AtomRow) bool { return o.Key == row.Key && o.Thread == row.Thread })
			if stands && !known {
				out = append(out, row)
			}
		}
		if countKeys(out) >= enough {
			break
		}
	}
	return out, nil
}

// countKeys returns how many contents atoms have.
func countKeys(rows []AtomRow) int {
	keys := map[Hash]bool{}
	for _, row := range rows {
		keys[row.Key] = true
	}
	return len(keys)
}

// quotesAnswers reports whether a request is a transcript of what we answered, with which some clients ask for a
// summary.
func (s *search) quotesAnswers(ctx context.Context) (bool, error) {
	rows, err := s.quoted(ctx)
	return countKeys(rows) >= 2, err
}

// describeSideCall fills in what is known of a side call: which thread it is about.
func (s *search) describeSideCall(ctx context.Context, out *Match, side sideCall) error {
	out.Purpose = SideCall
	if side.name == sideWarmUp {
		out.Purpose = WarmUp
	}
	out.Side = side.name
	out.Summary = side.summary
	out.New = nil
	out.row.Side = side.name
	if s.request.Chain != "" {
		var err error
		if out.answer, err = s.Index.Answer(ctx, s.scope, s.request.Chain); err != nil {
			return err
		}
		if out.answer != nil && !out.answer.Empty {
			out.Base = out.answer.Place
		}
		out.UnknownChain = out.answer == nil
	}
	if s.request.WarmUp && len(s.lanes) == 0 {
		return nil
	}
	best, err := s.findHistory(ctx)
	if err != nil {
		return err
	}
	switch {
	case best != nil:
		out.Thread = best.thread.ID
		out.Base = best.node.Place
		if side.summary && out.Base == best.thread.Tip {
			out.Late = s.resultsBehind(best.end)
		}
	case len(s.lanes) > 0 && !s.request.Weak:
		out.Thread = s.lanes[0].ID
	case out.answer != nil && !out.answer.Empty:
		out.Thread = out.answer.Thread
	default:
		out.Thread, err = s.findQuoted(ctx)
	}
	out.row.Thread = out.Thread
	return err
}

// resultsBehind returns the results that follow an atom of the request.
func (s *search) resultsBehind(atom int) []Atom {
	results := s.atoms[atom+1:]
	if end := slices.IndexFunc(results, func(a Atom) bool { return a.Kind != Result }); end >= 0 {
		results = results[:end]
	}
	return results
}

// findHistory returns where the history of a side call ends, or nil if it has none that we answered.
func (s *search) findHistory(ctx context.Context) (*fit, error) {
	if !said(s.atoms) {
		return nil, nil
	}
	if err := s.separate(ctx); err != nil {
		return nil, err
	}
	best, err := s.findBest(ctx)
	if best == nil || !best.ours {
		return nil, err
	}
	return best, nil
}

// findQuoted returns the thread that a transcript quotes, or nothing.
func (s *search) findQuoted(ctx context.Context) (ThreadID, error) {
	rows, err := s.quoted(ctx)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	votes := map[ThreadID]int{}
	for _, row := range rows {
		votes[row.Thread]++
	}
	return slices.MaxFunc(rows, func(a, b AtomRow) int {
		return cmp.Or(cmp.Compare(votes[a.Thread], votes[b.Thread]), cmp.Compare(a.Order, b.Order))
	}).Thread, nil
}

// findCompaction recognises a client's own compaction by our answer to a side call that the history quotes, or by an
// item of ours that it has, and reports whether there is one.
func (s *search) findCompaction(ctx context.Context, best *fit, out *Match) (bool, error) {
	summary, quoting, err := s.findSummary(ctx)
	if summary == nil || err != nil {
		return false, err
	}
	id := summary.Thread
	switch {
	case len(s.lanes) > 0 && !s.inLanes(id) && !s.request.Weak:
		id = s.lanes[0].ID
	case id == "" && best != nil:
		id = best.thread.ID
	}
	if id == "" {
		return false, nil
	}
	thread, err := s.Index.Thread(ctx, id)
	if thread == nil || err != nil {
		return false, err
	}
	fresh, known, err := s.unknown(ctx, s.atoms, thread)
	if err != nil {
		return false, err
	}
	quote := s.atoms[quoting]
	if !slices.ContainsFunc(fresh, func(a Atom) bool { return a.Key == quote.Key }) {
		return false, nil // that was recognised when it came first
	}
	out.thread = thread
	out.Course = Compacted
	if out.Base, err = s.compactedAt(ctx, summary, thread, known); err != nil {
		return false, err
	}
	out.New = fresh
	out.Sent = len(s.atoms) - len(fresh)
	out.From = fresh[0].First
	for _, a := range s.atoms { // what the client kept of its history is stored
		if !slices.ContainsFunc(fresh, func(f Atom) bool { return f.First == a.First }) {
			out.From = max(out.From, a.Last+1)
		}
	}
	out.Less = true
	out.Compaction = &ClientCompaction{Request: summary.Request, Quoted: quote.First}
	if quote.Kind != Compaction {
		out.Compaction.Summary = summary.Text
	}
	lineage, err := s.lineage(ctx, out.Base)
	if err != nil {
		return false, err
	}
	kept := map[Place]bool{}
	for _, row := range slices.Concat(known...) {
		kept[row.Place] = true
	}
	out.Compaction.Through = out.Base
	for kept[out.Compaction.Through] {
		out.Compaction.Through = stepBack(lineage, out.Compaction.Through)
	}
	if s.forks() {
		out.Course = Forks
		out.Fork = thread.ID
		fork := &ThreadRow{Root: out.Base, Ancestors: append([]ThreadID{thread.ID}, thread.Ancestors...)}
		if out.New, _, err = s.unknown(ctx, s.atoms, fork); err != nil {
			return false, err
		}
	}
	return true, nil
}

// findUnnoticed recognises a compaction by an answer that the history quotes, though nobody noticed that it was a
// summary when it was asked for: it is that of the newest turn of its path, which is a leaf then, and there is no more
// to it. The thread is one of those of the request's name, or the one that has some of the history. It reports whether
// there is one.
func (s *search) findUnnoticed(ctx context.Context, best *fit, out *Match) (bool, error) {
	var threads []ThreadID
	if best != nil {
		threads = append(threads, best.thread.ID)
	}
	if !s.request.Weak {
		for _, t := range s.lanes {
			threads = append(threads, t.ID)
		}
	}
	if len(threads) == 0 {
		return false, nil
	}
	for _, a := range s.atoms[:min(len(s.atoms), summaryAtoms)] {
		if a.Role != User || a.Kind != Text {
			continue
		}
		rows, err := s.findQuotes(ctx, a.Text, threads, 1)
		if err != nil {
			return false, err
		}
		for _, row := range rows {
			request, err := s.Index.Request(ctx, row.Request)
			if err != nil {
				return false, err
			}
			if !row.Ours || row.Quote.Runes < minQuoted || request == nil || row.Parent != request.End {
				continue
			}
			following, err := s.Index.Following(ctx, row.Place, 1)
			if len(following) > 0 || err != nil {
				continue
			}
			return true, s.goOnBefore(ctx, out, request, a)
		}
	}
	return false, nil
}

// goOnBefore goes on from where a request did that turns out to have asked for a summary.
func (s *search) goOnBefore(ctx context.Context, out *Match, summary *RequestRow, quote Atom) error {
	thread, err := s.Index.Thread(ctx, summary.Thread)
	if thread == nil || err != nil {
		return err
	}
	out.thread = thread
	out.Course = Compacted
	out.Base = summary.Base
	if out.New, _, err = s.unknown(ctx, s.atoms, thread); err != nil {
		return err
	}
	out.Sent = len(s.atoms) - len(out.New)
	out.Less = true
	out.Leaves = []RequestID{summary.ID}
	out.Compaction = &ClientCompaction{Request: summary.ID, Quoted: quote.First, Through: summary.Base}
	return nil
}

// quotes reports whether a text quotes a summary: whole, or, if it is long, its beginning or half of it. Some clients
// take the reasoning and the tags out of what they were answered: what stands in tags before the rest may be missing.
func quotes(text, summary string) bool {
	for ; summary != ""; summary = withoutHead(summary) {
		if quotesPart(text, summary) {
			return true
		}
	}
	return false
}

// withoutHead returns a text without the element of a markup that it begins with; empty if it begins with none, or if
// too little is left to be recognised by.
func withoutHead(text string) string {
	tag := headTag().FindStringSubmatch(text)
	if tag == nil {
		return ""
	}
	_, rest, _ := strings.Cut(text, "</"+tag[1]+">")
	if len(bareWords(rest)) < minSummary {
		return ""
	}
	return rest
}

// headTag finds the tag that a text begins with.
var headTag = lazyregexp.New(`^\s*<([A-Za-z][\w-]*)>`)

// quotesPart is quotes for a part of a summary that is there whole or not at all.
func quotesPart(text, summary string) bool {
	if strings.Contains(text, summary) {
		return true
	}
	if len(summary) <= longSummary {
		bare := bareWords(summary)
		return len(bare) >= minSummary && strings.Contains(bareWords(text), bare)
	}
	if strings.Contains(text, summary[:summaryHead]) {
		return true
	}
	found := 0
	for i := range summarySamples {
		at := i * (len(summary) - sampleBytes) / (summarySamples - 1)
		if strings.Contains(text, summary[at:at+sampleBytes]) {
			found++
		}
	}
	return found >= summarySamples/2
}

// marked finds a tag of a markup.
var marked = lazyregexp.New(`</?[A-Za-z][\w-]*>`)

// bareWords returns a text without tags, and with one blank between its words.
func bareWords(text string) string {
	return strings.Join(strings.Fields(marked().ReplaceAllString(text, " ")), " ")
}

// compactedAt returns the end of the path that a client compacted: the newest atom behind the history that was
// summarised that the client kept, or the end of that history; where that is not known, the end of the thread.
func (s *search) compactedAt(ctx context.Context, summary *SummaryRow, thread *ThreadRow,
	known [][]AtomRow) (Place, error) {
	if summary.Place.Seq == 0 || summary.Thread != thread.ID {
		return thread.Tip, nil
	}
	lineage, err := s.lineage(ctx, summary.Place)
	if err != nil {
		return Place{}, err
	}
	out := summary.Place
	var newest int64
	for _, rows := range known {
		if slices.ContainsFunc(rows, func(row AtomRow) bool { return row.Partial || contains(lineage, row.Place) }) {
			continue // it was there when the summary was asked for
		}
		for _, row := range rows {
			behind, err := s.onPath(ctx, summary.Place, row.Place)
			if err != nil {
				return Place{}, err
			}
			if behind && (row.Place.Seq > out.Seq || row.Place.Seq == out.Seq && row.Order > newest) {
				out = row.Place
				newest = row.Order
			}
		}
	}
	base, err := s.Index.At(ctx, out)
	if base == nil || err != nil {
		return out, err
	}
	end, _, err := s.passUnsent(ctx, *base, &fit{thread: thread})
	return end.Place, err
}

// stepBack returns the place before one on a path.
func stepBack(lineage []Reach, place Place) Place {
	place.Seq--
	at := slices.IndexFunc(lineage, func(r Reach) bool { return r.Branch == place.Branch })
	for at >= 0 && at+1 < len(lineage) && place.Seq <= lineage[at+1].Seq {
		at++
		place.Branch = lineage[at].Branch
	}
	return place
}

// findSummary returns the newest summary that the history quotes, and the atom that does.
func (s *search) findSummary(ctx context.Context) (*SummaryRow, int, error) {
	rows, err := s.Index.Summaries(ctx, s.scope, "", maxSummaries)
	if err != nil {
		return nil, 0, err
	}
	if name := s.name(); name != "" {
		own, err := s.Index.Summaries(ctx, s.scope, name, maxSummaries)
		if err != nil {
			return nil, 0, err
		}
		rows = append(own, rows...)
	}
	for _, row := range rows {
		at := slices.IndexFunc(s.atoms, func(a Atom) bool { return slices.Contains(row.Items, a.Key) })
		if at >= 0 {
			return &row, at, nil
		}
		if len(row.Text) < minSummary {
			continue
		}
		at = slices.IndexFunc(s.atoms[:min(len(s.atoms), summaryAtoms)], func(a Atom) bool {
			return quotes(a.Text, row.Text)
		})
		if at >= 0 {
			return &row, at, nil
		}
	}
	return nil, 0, nil
}
