package threading

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

const (
	anchorBatch = 256 // atoms whose anchors are asked for at once: two anchors each
	anchorLimit = 32  // atoms of one anchor in a thread
	scopeLimit  = 8   // atoms of one anchor in a scope
	maxThreads  = 16  // threads that are compared with a request
	maxPaths    = 64  // paths of a thread that are
	fastAtoms   = 64  // atoms that may have come since the newest request of a thread, to be found at once
	newestAtoms = 4   // atoms that most often have
	maxPieces   = 16  // texts next to each other that may be answers of their own
	maxExamples = 16  // answers that a program may put before each prompt, and that prove nothing
	minPartial  = 8   // bytes of text that are the beginning of an interrupted answer rather than of any
)

// fit is how a request fits a path of a thread.
type fit struct {
	thread  *ThreadRow
	matched int // atoms that are on the path
	first   int // the first atom that is
	end     int // the last one; what follows is new
	node    AtomRow
	start   Place // of the first one, unless the history begins with it
	ours    bool  // whether an answer of ours is among them, or more answers than a program has examples
}

// betters reports whether a fit is better than another one in the same thread: more atoms match, or as many up to the
// same one with less left out between them, or it is newer.
func (f *fit) betters(other *fit) bool {
	if f.matched != other.matched || f.end != other.end {
		return f.matched > other.matched
	}
	return cmp.Or(cmp.Compare(other.node.Place.Seq, f.node.Place.Seq), cmp.Compare(f.node.Order, other.node.Order)) > 0
}

// findNewest recognises the newest request of a thread that goes on: its history is the beginning of this one, and
// what it was answered follows. It returns nil if that is not so, or if more than one thread began like that.
func (s *search) findNewest(ctx context.Context) (*fit, error) {
	n := len(s.atoms)
	if n < 2 || s.name() != "" && len(s.lanes) == 0 {
		return nil, nil
	}
	var rows []RequestRow
	for _, some := range [][2]int{{n - 1 - newestAtoms, n - 1}, {n - 1 - fastAtoms, n - 1 - newestAtoms}} {
		found, err := s.Index.Rolled(ctx, s.scope, s.rolling[max(0, some[0]):max(0, some[1])], scopeLimit)
		if err != nil {
			return nil, err
		}
		rows = slices.DeleteFunc(found, func(row RequestRow) bool {
			return row.Atoms < 1 || row.Atoms >= n || s.rolling[row.Atoms-1] != row.Rolling ||
				s.name() != "" && !s.inLanes(row.Thread)
		})
		if len(rows) > 0 {
			break
		}
	}
	if len(rows) == 0 {
		return nil, nil
	}
	longest := slices.MaxFunc(rows, func(a, b RequestRow) int { return cmp.Compare(a.Atoms, b.Atoms) }).Atoms
	rows = slices.DeleteFunc(rows, func(row RequestRow) bool { return row.Atoms != longest })
	if slices.ContainsFunc(rows, func(row RequestRow) bool { return row.Thread != rows[0].Thread }) {
		return nil, nil
	}
	thread, err := s.Index.Thread(ctx, rows[0].Thread)
	if err != nil || thread == nil {
		return nil, err
	}
	newest := slices.IndexFunc(rows, func(row RequestRow) bool { return row.ID == thread.Newest })
	if newest < 0 || rows[newest].State != Finished {
		return nil, nil
	}
	place := rows[newest].End
	at := longest
	var node *AtomRow
	for place != thread.Tip {
		if at == n {
			return nil, nil
		}
		following, err := s.Index.Following(ctx, place, maxFollowing)
		if err != nil {
			return nil, err
		}
		next := slices.IndexFunc(following, func(row AtomRow) bool {
			return row.Thread == thread.ID && !row.Partial && s.atoms[at].equals(row)
		})
		if next < 0 {
			return nil, nil
		}
		node = &following[next]
		place = node.Place
		at++
	}
	if node == nil || at == n {
		return nil, nil
	}
	return &fit{thread: thread, matched: at, end: at - 1, node: *node}, nil
}

// separate takes answers apart that stand next to each other only because the client left out what stood between
// them. An answer that is stored as it is stays whole.
func (s *search) separate(ctx context.Context) error {
	out := make([]Atom, 0, len(s.atoms))
	for batch := range slices.Chunk(s.atoms, anchorBatch) {
		joined := slices.DeleteFunc(slices.Clone(batch), func(a Atom) bool {
			return len(a.pieces) < 2 || len(a.pieces) > maxPieces
		})
		whole, err := s.stored(ctx, joined)
		if err != nil {
			return err
		}
		for _, a := range batch {
			if len(a.pieces) < 2 || len(a.pieces) > maxPieces || whole[a.Key] {
				out = append(out, a)
				continue
			}
			parts, err := s.takePieces(ctx, a)
			if err != nil {
				return err
			}
			out = append(out, parts...)
		}
	}
	if len(out) != len(s.atoms) {
		s.atoms = out
		s.roll()
	}
	return nil
}

// takePieces returns the longest beginning of an atom's pieces that is stored, then that of the rest, and so on; what
// is not stored is left whole.
func (s *search) takePieces(ctx context.Context, a Atom) ([]Atom, error) {
	var runs []Atom
	for i := range a.pieces {
		for j := i + 1; j <= len(a.pieces); j++ {
			runs = append(runs, s.Table.join(a, a.pieces[i:j]))
		}
	}
	known, err := s.stored(ctx, runs)
	if err != nil {
		return nil, err
	}
	var out []Atom
	rest := a.pieces
	for len(rest) > 0 {
		end := len(rest)
		for end > 0 && !known[s.Table.join(a, rest[:end]).Key] {
			end--
		}
		if end == 0 {
			end = len(rest)
		}
		if part := s.Table.join(a, rest[:end]); part.Text != "" {
			out = append(out, part)
		}
		rest = rest[end:]
	}
	return out, nil
}

// stored returns which atoms are stored in the scope, by key.
func (s *search) stored(ctx context.Context, atoms []Atom) (map[Hash]bool, error) {
	out := map[Hash]bool{}
	if len(atoms) == 0 {
		return out, nil
	}
	rows, err := s.anchored(ctx, AnchorQuery{Scope: s.scope, Limit: 1}, atoms, true)
	for i, a := range atoms {
		out[a.Key] = len(rows) > 0 && len(rows[i]) > 0
	}
	return out, err
}

// findBest returns how the request fits best into a thread: one that its name has named, else one of the scope. It
// returns nil if it fits nowhere.
func (s *search) findBest(ctx context.Context) (*fit, error) {
	if len(s.atoms) == 0 {
		return nil, nil
	}
	if len(s.lanes) > 0 {
		threads := s.lanes
		if len(threads) > 1 {
			var err error
			if threads, err = s.vote(ctx, s.lanes); err != nil {
				return nil, err
			}
		}
		best, err := s.compare(ctx, threads)
		if best != nil || err != nil || !said(s.atoms) || s.request.Explicit {
			return best, err
		}
	}
	threads, err := s.vote(ctx, nil)
	if err != nil {
		return nil, err
	}
	return s.compare(ctx, threads)
}

// vote returns the threads that have most of the newest atoms of the request: of some, or of the whole scope.
func (s *search) vote(ctx context.Context, among []ThreadRow) ([]ThreadRow, error) {
	query := AnchorQuery{Scope: s.scope, Limit: scopeLimit}
	for _, t := range among {
		query.Threads = append(query.Threads, t.ID)
		query.Threads = append(query.Threads, t.Ancestors...)
	}
	if among != nil {
		query.Limit = anchorLimit
	}
	for end := len(s.atoms); end > 0; end -= anchorBatch {
		votes := map[ThreadID]int{}
		newest := map[ThreadID]int64{}
		batch := s.atoms[max(0, end-anchorBatch):end]
		rows, err := s.anchored(ctx, query, batch, false)
		if err != nil {
			return nil, err
		}
		for i, a := range batch {
			seen := map[ThreadID]bool{}
			for _, row := range rows[i] {
				if !seen[row.Thread] {
					votes[row.Thread]++
					if a.Role != User {
						votes[row.Thread]++
					}
				}
				seen[row.Thread] = true
				newest[row.Thread] = max(newest[row.Thread], row.Order)
			}
		}
		if len(votes) == 0 {
			continue
		}
		if among != nil {
			return slices.DeleteFunc(slices.Clone(among), func(t ThreadRow) bool {
				return votes[t.ID] == 0 && !slices.ContainsFunc(t.Ancestors, func(id ThreadID) bool { return votes[id] > 0 })
			}), nil
		}
		var ids []ThreadID
		for id := range votes {
			ids = append(ids, id)
		}
		slices.SortFunc(ids, func(a, b ThreadID) int {
			return cmp.Or(cmp.Compare(votes[b], votes[a]), cmp.Compare(newest[b], newest[a]), cmp.Compare(a, b))
		})
		var out []ThreadRow
		for _, id := range ids[:min(len(ids), maxThreads)] {
			t, err := s.Index.Thread(ctx, id)
			if err != nil {
				return nil, err
			}
			if t != nil {
				out = append(out, *t)
			}
		}
		return out, nil
	}
	return nil, nil
}

// anchored returns the stored atoms that each of some atoms may be. Where an atom has a call id that is known, only
// those with it are meant. Without loose, content that is no text does not count.
func (s *search) anchored(ctx context.Context, q AnchorQuery, atoms []Atom, loose bool) ([][]AtomRow, error) {
	wanted := map[Hash]bool{}
	for _, a := range atoms {
		if a.Call != (Hash{}) {
			wanted[a.Call] = true
		}
		if loose || a.Kind == Text {
			wanted[a.Key] = true
		}
	}
	for h := range wanted {
		q.Anchors = append(q.Anchors, h)
	}
	rows, err := s.Index.Anchored(ctx, q)
	if err != nil {
		return nil, err
	}
	byCall := map[Hash][]AtomRow{}
	byKey := map[Hash][]AtomRow{}
	for _, row := range rows {
		if row.Call != (Hash{}) {
			byCall[row.Call] = append(byCall[row.Call], row)
		}
		byKey[row.Key] = append(byKey[row.Key], row)
	}
	out := make([][]AtomRow, len(atoms))
	for i, a := range atoms {
		if a.Call != (Hash{}) {
			out[i] = byCall[a.Call]
		}
		if len(out[i]) > 0 || !loose && a.Kind != Text {
			continue
		}
		for _, row := range byKey[a.Key] {
			if a.equals(row) {
				out[i] = append(out[i], row)
			}
		}
	}
	return out, nil
}

// compare returns how the request fits best into one of some threads. The same prompt once more, without a name, is
// rather a new conversation; other ties are broken by name, by dialect, and by age.
func (s *search) compare(ctx context.Context, threads []ThreadRow) (*fit, error) {
	var best *fit
	var score []int64
	for _, t := range threads {
		f, err := s.align(ctx, &t)
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		weight := int64(2 * f.matched)
		if s.isNameless() && f.end == len(s.atoms)-1 {
			following, err := s.Index.Following(ctx, f.node.Place, maxFollowing)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(following, isFinishedAnswer) {
				weight -= 3
			}
		}
		own := []int64{weight, 0, 0, f.node.Order}
		if s.inLanes(t.ID) {
			own[1] = 1
		}
		if t.Dialect == s.request.Dialect {
			own[2] = 1
		}
		if best == nil || slices.Compare(own, score) > 0 {
			best = f
			score = own
		}
	}
	return best, nil
}

// alignment compares the request with the paths of one thread. What is stored of each atom is asked for in batches,
// from the newest back, when it is first needed.
type alignment struct {
	*search
	thread   *ThreadRow
	atoms    []Atom // of the request, or some of its first ones
	query    AnchorQuery
	found    [][]AtomRow
	loaded   int // the first atom that was asked for
	partials []AtomRow
	asked    bool // for the partials
	seen     map[step]bool
}

// step is an atom at a place of a path.
type step struct {
	atom  int
	place Place
}

func (s *search) newAlignment(thread *ThreadRow, atoms []Atom) *alignment {
	return &alignment{search: s, thread: thread, atoms: atoms, found: make([][]AtomRow, len(atoms)), loaded: len(atoms),
		seen: map[step]bool{}, query: AnchorQuery{Scope: s.scope, Limit: anchorLimit,
			Threads: append([]ThreadID{thread.ID}, thread.Ancestors...)}}
}

// align returns how the request fits best to a path of a thread, or nil. The path of a fork goes on into the thread
// that it forks. Stored atoms may be missing in the request, for clients drop tool rounds, interrupted answers
// and what they compacted; the request may begin with atoms that are not stored. Behind the first one that is, what is
// not stored ends the path.
func (s *search) align(ctx context.Context, thread *ThreadRow) (*fit, error) {
	a := s.newAlignment(thread, s.atoms)
	var best *fit
	paths := 0
	for last := len(s.atoms) - 1; last >= 0 && paths < maxPaths; last-- {
		if best != nil && best.matched > last+1 {
			break
		}
		nodes, err := a.at(ctx, last)
		if err != nil {
			return nil, err
		}
		for _, node := range nodes {
			if a.seen[step{last, node.Place}] {
				continue
			}
			paths++
			f, err := a.try(ctx, last, node)
			if err != nil {
				return nil, err
			}
			if best == nil || f.betters(best) {
				best = f
			}
		}
	}
	return best, nil
}

// at returns what is stored of an atom in the thread and in what it inherits.
func (a *alignment) at(ctx context.Context, atom int) ([]AtomRow, error) {
	for a.loaded > atom {
		begin := max(0, a.loaded-anchorBatch)
		rows, err := a.anchored(ctx, a.query, a.atoms[begin:a.loaded], true)
		if err != nil {
			return nil, err
		}
		for i, of := range rows {
			if a.found[begin+i], err = a.choose(ctx, a.atoms[begin+i], of); err != nil {
				return nil, err
			}
		}
		a.loaded = begin
	}
	return a.found[atom], nil
}

// choose leaves of the rows of an atom those that the thread has or inherits. Where there are none, the beginning of
// an interrupted answer will do.
func (a *alignment) choose(ctx context.Context, atom Atom, rows []AtomRow) ([]AtomRow, error) {
	out, err := a.inherited(ctx, rows, a.thread)
	if len(out) > 0 || err != nil || atom.Role != Assistant || atom.Kind != Text || len(atom.Text) < minPartial {
		return out, err
	}
	if !a.asked {
		a.asked = true
		partials, err := a.Index.Partials(ctx, a.query.Threads, anchorLimit)
		if err != nil {
			return nil, err
		}
		if a.partials, err = a.inherited(ctx, partials, a.thread); err != nil {
			return nil, err
		}
	}
	for _, row := range a.partials {
		if row.Role == Assistant && row.Kind == Text && strings.HasPrefix(row.Text, atom.Text) {
			out = append(out, row)
		}
	}
	return out, nil
}

// inherited leaves of some rows those that a thread has itself, or has from the threads that it forks.
func (s *search) inherited(ctx context.Context, rows []AtomRow, thread *ThreadRow) ([]AtomRow, error) {
	var out []AtomRow
	for _, row := range rows {
		if row.Thread != thread.ID {
			inherits, err := s.onPath(ctx, row.Place, thread.Root)
			if err != nil {
				return nil, err
			}
			if !inherits {
				continue
			}
		}
		out = append(out, row)
	}
	return out, nil
}

// try follows the path that ends at a node back, atom by atom, to where the rolling hashes say that both are the same.
func (a *alignment) try(ctx context.Context, last int, node AtomRow) (*fit, error) {
	lineage, err := a.lineage(ctx, node.Place)
	if err != nil {
		return nil, err
	}
	hits := []AtomRow{node} // of the atoms in at, from the newest back
	at := []int{last}
	whole := 0 // all atoms before this one are on the path
	for i := last; ; {
		hit := hits[len(hits)-1]
		a.seen[step{i, hit.Place}] = true
		if a.rolling[i] == hit.Rolling {
			whole = i
			break
		}
		next := -1
		for j := i - 1; j >= 0 && next < 0; j-- {
			nodes, err := a.at(ctx, j)
			if err != nil {
				return nil, err
			}
			var nearest *AtomRow
			for _, row := range nodes {
				if row.Place.Seq < hit.Place.Seq && contains(lineage, row.Place) &&
					(nearest == nil || row.Place.Seq > nearest.Place.Seq) {
					nearest = &row
				}
			}
			if nearest != nil {
				hits = append(hits, *nearest)
				at = append(at, j)
				next = j
			}
		}
		if next < 0 {
			break
		}
		i = next
	}
	f := &fit{thread: a.thread, first: at[len(at)-1], end: last, node: node, matched: whole + len(hits),
		start: hits[len(hits)-1].Place}
	if whole > 0 {
		f.first = 0
	}
	cut, end, err := a.findCut(ctx, lineage, at)
	if err != nil {
		return nil, err
	}
	f.end = end
	f.node = hits[cut]
	f.matched -= cut
	f.ours = whole > 0 && hits[len(hits)-1].Answers > 0 || slices.ContainsFunc(hits[cut:], func(row AtomRow) bool {
		return row.Ours || row.Role == Tool && row.Answers > 0
	})
	answers := 0
	for _, atom := range a.atoms[f.first : f.end+1] {
		if atom.Role == Assistant {
			answers++
		}
	}
	f.ours = f.ours || answers > maxExamples
	return f, nil
}

// findCut returns the last hit before anything that is not on the path, and the last atom before that. What was sent
// twice is on the path.
func (a *alignment) findCut(ctx context.Context, lineage []Reach, at []int) (cut, end int, err error) {
	for k := len(at) - 1; k > 0; k-- {
		for j := at[k] + 1; j < at[k-1]; j++ {
			nodes, err := a.at(ctx, j)
			if err != nil {
				return 0, 0, err
			}
			if !slices.ContainsFunc(nodes, func(row AtomRow) bool { return contains(lineage, row.Place) }) {
				return k, j - 1, nil
			}
		}
	}
	return 0, at[0], nil
}

// lineage returns how far the path that ends at a place follows each branch.
func (s *search) lineage(ctx context.Context, place Place) ([]Reach, error) {
	known, ok := s.lineages[place.Branch]
	if !ok {
		var err error
		if known, err = s.Index.Lineage(ctx, place.Branch); err != nil {
			return nil, err
		}
		s.lineages[place.Branch] = known
	}
	out := slices.Clone(known)
	if len(out) > 0 {
		out[0].Seq = place.Seq
	}
	return out, nil
}

// onPath reports whether a place is on the path that ends at another one.
func (s *search) onPath(ctx context.Context, place, end Place) (bool, error) {
	lineage, err := s.lineage(ctx, end)
	return contains(lineage, place), err
}

// contains reports whether a place is on a path.
func contains(lineage []Reach, place Place) bool {
	return slices.ContainsFunc(lineage, func(r Reach) bool { return r.Branch == place.Branch && place.Seq <= r.Seq })
}

// unknown returns those of some atoms that a thread neither has nor inherits, and what it has of each.
func (s *search) unknown(ctx context.Context, atoms []Atom, thread *ThreadRow) (out []Atom, known [][]AtomRow,
	err error) {
	a := s.newAlignment(thread, atoms)
	for i, atom := range atoms {
		rows, err := a.at(ctx, i)
		if err != nil {
			return nil, nil, err
		}
		if len(rows) == 0 {
			out = append(out, atom)
		}
	}
	return out, a.found, nil
}
