package vault

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// inventory is what a list of a vault's objects has.
type inventory struct {
	marker    bool
	heads     map[string][]place          // by writer, newest first
	lists     map[string][]string         // names, by writer
	data      map[string]map[string]int64 // sizes by name, by writer
	artifacts map[string][]place          // by name of the artifact
	sizes     map[string]int64            // of artifacts' objects, by key
	parts     []string                    // what writers left unfinished
	ignored   []string
}

func newInventory() inventory {
	return inventory{heads: map[string][]place{}, lists: map[string][]string{}, data: map[string]map[string]int64{},
		artifacts: map[string][]place{}, sizes: map[string]int64{}}
}

// add notes an object.
func (i *inventory) add(o Object) {
	p, ok := parseKey(o.Key)
	if !ok {
		if o.Key == markerName {
			i.marker = true
			return
		}
		if partPath().MatchString(o.Key) {
			i.parts = append(i.parts, o.Key)
		}
		i.ignored = append(i.ignored, o.Key)
		return
	}
	if i.heads == nil {
		*i = newInventory()
	}
	switch p.kind {
	case headKind:
		i.heads[p.writer] = append(i.heads[p.writer], p)
	case listKind:
		i.lists[p.writer] = append(i.lists[p.writer], p.name)
	case dataKind:
		if i.data[p.writer] == nil {
			i.data[p.writer] = map[string]int64{}
		}
		i.data[p.writer][p.name] = o.Size
	default:
		i.artifacts[p.keyed] = append(i.artifacts[p.keyed], p)
		i.sizes[o.Key] = o.Size
	}
}

// drop forgets an object.
func (i *inventory) drop(key string) {
	p, _ := parseKey(key)
	same := func(o place) bool { return o == p }
	switch p.kind {
	case headKind:
		i.heads[p.writer] = slices.DeleteFunc(i.heads[p.writer], same)
	case listKind:
		i.lists[p.writer] = slices.DeleteFunc(i.lists[p.writer], func(name string) bool { return name == p.name })
	case dataKind:
		delete(i.data[p.writer], p.name)
	case manifestKind, pieceKind:
		i.artifacts[p.keyed] = slices.DeleteFunc(i.artifacts[p.keyed], same)
		delete(i.sizes, key)
	}
}

// sort puts heads into the order in which they are read.
func (i *inventory) sort() {
	for _, heads := range i.heads {
		slices.SortFunc(heads, func(a, b place) int {
			return cmp.Or(cmp.Compare(b.number, a.number), cmp.Compare(a.name, b.name))
		})
	}
	slices.Sort(i.ignored)
}

// writers returns the ids below which there are heads or key lists, ascending.
func (i *inventory) writers() []string {
	return union(slices.Collect(maps.Keys(i.heads)), slices.Collect(maps.Keys(i.lists)))
}

// hasData reports whether an object is listed, and whole as far as its size tells.
func (i *inventory) hasData(writer, name string) bool {
	size, ok := i.data[writer][name]
	return ok && slices.Contains(classes[:], int(size))
}

// listObjects lists what is there.
func (v *Vault) listObjects(ctx context.Context) error {
	all, err := list(ctx, v.objects)
	if err != nil {
		return err
	}
	there := newInventory()
	for _, o := range all {
		there.add(o)
	}
	there.sort()
	if !there.marker { // it was read before: this list is not what is there, or somebody has taken it away
		if _, err := readMarker(ctx, v.objects); errors.Is(err, errNoMarker) {
			return scrollback.Errorf(scrollback.Unavailable, op, i18n.VaultIsGone)
		}
		return scrollback.Errorf(scrollback.Refused, op, i18n.VaultListLacksMarker)
	}
	v.there = there
	v.news.Ignored = there.ignored
	v.listed = true
	return nil
}

// News is what a look found, and what reading found since.
type News struct {
	Writers []WriterNews // those of the others that have something to tell
	ToCome  int          // objects that are announced and not here yet
	Ignored []string     // names that are not ours, ascending
	Refused []Refusal    // objects whose check failed
	Lost    []uint64     // our own batches that are not there any more, ascending
	AllLost bool         // so is what named our batches: all have to be published again
	Another bool         // somebody wrote below this store's id, so that it has another one now
}

// WriterNews is what there is of one other writer.
type WriterNews struct {
	Writer string // its id
	Name   string // of the machine
	Unread int    // batches that were not applied here
	Older  bool   // what is there is older than what was seen before; said once
}

// Refusal is an object whose check failed.
type Refusal struct {
	Key string
	Err error // says why, and names it
}

// News returns what was found so far.
func (v *Vault) News() News {
	out := v.news
	out.Ignored = slices.Clone(out.Ignored)
	out.Refused = slices.Clone(out.Refused)
	return out
}

// refuse notes an object whose check failed.
func (v *Vault) refuse(key string, err error) {
	if slices.ContainsFunc(v.news.Refused, func(r Refusal) bool { return r.Key == key }) {
		return
	}
	text := i18n.VaultObjectDamaged
	switch {
	case errors.Is(err, errForeign):
		text = i18n.VaultObjectForeign
	case errors.Is(err, errStranger):
		text = i18n.VaultObjectOfStranger
	case errors.Is(err, errLate):
		text = i18n.VaultObjectAfterRemoval
	}
	v.news.Refused = append(v.news.Refused, Refusal{key, scrollback.Errorf(scrollback.Refused, op, text, key)})
}

// errLate says that a machine wrote an object after it had been removed.
var errLate = errors.New("it was written after its machine had been removed")

// body is the content of an object.
type body struct {
	payload []byte
	err     error
}

// fetch reads an object and opens it. Errors are those of this room, or ErrNotHere for whatever keeps it from being
// read now.
func (v *Vault) fetch(ctx context.Context, key, name string, k kind, writer string) ([]byte, error) {
	object, err := v.objects.Read(ctx, key, maxObject)
	switch {
	case ctx.Err() != nil:
		return nil, scrollback.Wrap(scrollback.Canceled, op, ctx.Err())
	case errors.Is(err, errTooLong):
		return nil, errDamaged
	case errors.Is(err, blob.ErrMissing), errors.Is(err, ErrNotHere):
		return nil, ErrNotHere
	case err != nil:
		return nil, scrollback.Wrap(scrollback.Unavailable, op, err)
	case nameOf(object) != name:
		return nil, errDamaged
	}
	return v.opener().open(k, writer, object)
}

// note takes an error of fetch into the news. It returns those that end the work.
func (v *Vault) note(key string, err error) error {
	switch {
	case errors.Is(err, errDamaged), errors.Is(err, errForeign), errors.Is(err, errStranger), errors.Is(err, errLate):
		v.refuse(key, err)
	case errors.Is(err, ErrNotHere), errors.Is(err, errUnknownKey):
		v.comes(key)
	default:
		return err
	}
	return nil
}

// comes notes an object that is announced and not here.
func (v *Vault) comes(key string) {
	if !v.coming[key] {
		v.coming[key] = true
		v.news.ToCome++
	}
}

func (v *Vault) opener() opener { return v.roster.opener() }

// foundHead is a head that was read and is believed.
type foundHead struct {
	head

	name string
}

func (f foundHead) position() Position {
	return Position{Number: f.Number, Head: f.name, Before: f.Before, Last: f.Last, Chain: f.Chain}
}

// Look looks for what is new: it lists the vault and reads the newest head of each writer, and of the others only what
// tells how much there is to read.
func (v *Vault) Look(ctx context.Context) (News, error) {
	if !v.listed { // else by Open, which had to
		v.news = News{}
		v.coming = map[string]bool{}
		if err := v.listObjects(ctx); err != nil {
			return News{}, err
		}
		v.readLists(ctx, v.me)
		if err := v.checkMember(); err != nil {
			return News{}, err
		}
	}
	v.listed = false
	v.looked = true
	v.lines = nil
	v.bodies = nil
	if err := v.lookAtOwn(ctx); err != nil {
		return News{}, err
	}
	for _, w := range union(v.there.writers(), slices.Collect(maps.Keys(v.state.Readers))) {
		if w == v.writer.id || slices.Contains(v.roster.Retired, w) {
			continue
		}
		if err := v.lookAt(ctx, w); err != nil {
			return News{}, err
		}
	}
	if err := v.keepRoster(); err != nil {
		return News{}, err
	}
	return v.News(), v.keep()
}

// readHeads reads the heads of a writer that say something new, newest first. known are names of heads that need not be
// read. hidden is the number of the newest one that is there and cannot be used.
func (v *Vault) readHeads(ctx context.Context, w string, known []string) (out []foundHead, hidden uint64, err error) {
	for _, p := range v.there.heads[w] {
		if slices.Contains(known, p.name) {
			continue
		}
		h, err := v.readHead(ctx, p)
		if err != nil {
			hidden = max(hidden, p.number)
			if err := v.note(headKey(w, p.number, p.name), err); err != nil {
				return nil, 0, err
			}
			continue
		}
		known = append(known, h.Before)
		out = append(out, foundHead{h, p.name})
	}
	return out, hidden, nil
}

// readHead reads one head, and returns why it is not believed.
func (v *Vault) readHead(ctx context.Context, p place) (head, error) {
	payload, err := v.fetch(ctx, headKey(p.writer, p.number, p.name), p.name, headKind, p.writer)
	if err != nil {
		return head{}, err
	}
	h, err := decodeHead(payload, v.state.Vault, p.writer, p.number)
	if err != nil {
		return head{}, err
	}
	if end, ok := v.roster.end(p.writer); ok && h.Number > end {
		return head{}, errLate
	}
	if _, ok := v.roster.owner(p.writer); !ok {
		if slices.Contains(v.roster.Covers, h.List) {
			return head{}, errStranger
		}
		return head{}, errUnknownKey // the list that says whose it is
	}
	return h, nil
}

// line is what there is to read of a writer.
type line struct {
	writer string
	seen   *Seen
	at     int // in the lines of seen
	head   foundHead
	runs   []run // those with batches that were not applied
	holes  bool  // some of them are not known
}

// lookAt looks at another writer.
func (v *Vault) lookAt(ctx context.Context, w string) error {
	seen := v.state.Readers[w]
	if seen == nil {
		seen = &Seen{}
	}
	heads, hidden, err := v.readHeads(ctx, w, nil)
	if err != nil {
		return err
	}
	current := map[int]foundHead{} // the heads of lines
	for _, h := range heads {
		at, err := v.lineOf(ctx, w, seen, current, h)
		if err != nil {
			return err
		}
		if at < 0 {
			continue
		}
		if at == len(seen.Lines) {
			seen.Lines = append(seen.Lines, Line{})
		}
		if _, ok := current[at]; !ok {
			current[at] = h
			seen.Lines[at].Position = h.position()
		}
	}
	if len(seen.Lines) == 0 {
		return nil
	}
	v.state.Readers[w] = seen
	name, _ := v.roster.owner(w)
	news := WriterNews{Writer: w, Name: name, Older: seen.tellOlder(current, heads, hidden)}
	for at := range seen.Lines {
		h, ok := current[at]
		if !ok {
			continue
		}
		l := &line{writer: w, seen: seen, at: at, head: h}
		n, err := v.findUnread(ctx, l)
		if err != nil {
			return err
		}
		news.Unread += n
		v.lines = append(v.lines, l)
	}
	if news.Unread > 0 || news.Older {
		v.news.Writers = append(v.news.Writers, news)
	}
	return nil
}

// tellOlder reports whether it is to be said that what is there of a writer is older than what was seen.
func (s *Seen) tellOlder(current map[int]foundHead, heads []foundHead, hidden uint64) bool {
	older := ""
	for at, l := range s.Lines {
		if _, ok := current[at]; ok || hidden >= l.Number {
			continue
		}
		older = "none"
		if len(heads) > 0 {
			older = heads[0].name
		}
	}
	tell := older != "" && older != s.Older
	s.Older = older
	return tell
}

// lineOf returns which line a head goes on with; one more than there are begins another, and -1 is a head that says
// nothing new. Heads come newest first.
func (v *Vault) lineOf(ctx context.Context, w string, seen *Seen, current map[int]foundHead, h foundHead) (int, error) {
	for at, l := range seen.Lines {
		if l.Head == h.name {
			return at, nil
		}
	}
	for _, newer := range slices.Sorted(maps.Keys(current)) { // its head was read already
		same, err := v.isBefore(ctx, w, current[newer], h.Last, h.Chain)
		if err != nil {
			return 0, err
		}
		if same {
			return -1, nil
		}
	}
	older := false
	for at, l := range seen.Lines {
		_, read := current[at]
		if read {
			continue
		}
		if h.Number < l.Number {
			older = true // of a line whose newest head is not there
			continue
		}
		if h.Last < l.Last {
			continue
		}
		same, err := v.isBefore(ctx, w, h, l.Last, l.Chain)
		if err != nil {
			return 0, err
		}
		if same {
			return at, nil
		}
	}
	if older {
		return -1, nil
	}
	return len(seen.Lines), nil
}

// isBefore reports whether a head goes on behind a batch with what the runs were there. What it does not have any more
// is taken to be so.
func (v *Vault) isBefore(ctx context.Context, w string, h foundHead, last uint64, chain string) (bool, error) {
	switch {
	case last == h.Last:
		return chain == h.Chain, nil
	case last > h.Last:
		return false, nil
	case last < h.First:
		return true, nil
	}
	runs, complete, err := v.runsFrom(ctx, w, h.head, last)
	if err != nil {
		return false, err
	}
	for _, r := range runs {
		if r.last() == last {
			return r.Chain == chain, nil
		}
	}
	return !complete, nil
}

// runsFrom returns the runs of a head from the one with a batch on. Those of indexes that cannot be read are left out,
// which is not complete.
func (v *Vault) runsFrom(ctx context.Context, w string, h head, from uint64) (out []run, complete bool, err error) {
	complete = true
	for _, i := range h.Indexes {
		if i.Last < from {
			continue
		}
		key := dataKey(w, i.Name)
		b, ok := v.bodies[key]
		if !ok {
			b.payload, b.err = v.fetch(ctx, key, i.Name, indexKind, w)
			v.remember(key, b)
		}
		if b.err == nil {
			var runs []run
			if runs, b.err = decodeIndex(b.payload, i.Last); b.err == nil {
				out = append(out, runs...)
				continue
			}
		}
		complete = false
		if err := v.note(key, b.err); err != nil {
			return nil, false, err
		}
	}
	out = append(out, h.Runs...)
	at := slices.IndexFunc(out, func(r run) bool { return r.last() >= from })
	if at < 0 {
		return nil, complete, nil
	}
	return out[at:], complete, nil
}

// remembered bounds how many contents are kept for the next one who asks.
const remembered = 4

func (v *Vault) remember(key string, b body) {
	if len(v.bodies) >= remembered {
		v.bodies = nil
	}
	if v.bodies == nil {
		v.bodies = map[string]body{}
	}
	v.bodies[key] = b
}

// findUnread finds what of a line was not applied here, and returns how many batches that are.
func (v *Vault) findUnread(ctx context.Context, l *line) (int, error) {
	mine := &l.seen.Lines[l.at]
	mine.Gaps = slices.DeleteFunc(mine.Gaps, func(n uint64) bool { return n < l.head.First })
	mine.Done = max(mine.Done, l.head.First-1)
	if mine.Done >= l.head.Last && len(mine.Gaps) == 0 {
		return 0, nil
	}
	from := mine.Done + 1
	if len(mine.Gaps) > 0 {
		from = mine.Gaps[0]
	}
	runs, complete, err := v.runsFrom(ctx, l.writer, l.head.head, from)
	if err != nil {
		return 0, err
	}
	l.holes = !complete
	unread := int(l.head.Last-mine.Done) + len(mine.Gaps)
	for _, r := range runs {
		wanted := false
		for i, size := range r.Sizes {
			n := r.First + uint64(i)
			if !mine.wants(n) {
				continue
			}
			if size == 0 { // it was dropped
				unread--
				mine.apply(n)
				continue
			}
			wanted = true
			for _, p := range r.pieces(i) {
				if _, ok := v.there.data[l.writer][p.Name]; !ok {
					v.comes(dataKey(l.writer, p.Name))
				}
			}
		}
		if wanted {
			l.runs = append(l.runs, r)
		}
	}
	return unread, nil
}

// pieces returns the objects that a batch of a run is in.
func (r run) pieces(i int) []piece {
	from := 0
	for _, n := range r.Sizes[:i] {
		from += n
	}
	var out []piece
	at := 0
	for _, p := range r.Objects {
		if at < from+r.Sizes[i] && at+p.Used > from {
			out = append(out, p)
		}
		at += p.Used
	}
	return out
}

// wants reports whether a batch was not applied.
func (l *Line) wants(n uint64) bool { return n > l.Done || slices.Contains(l.Gaps, n) }

// maxGaps bounds how many batches of a writer may be missing before those that were applied.
const maxGaps = 10_000

// apply notes that a batch was applied.
func (l *Line) apply(n uint64) {
	if n <= l.Done {
		l.Gaps = slices.DeleteFunc(l.Gaps, func(gap uint64) bool { return gap == n })
		return
	}
	if n-l.Done-1+uint64(len(l.Gaps)) > maxGaps { // it will be read again
		return
	}
	for gap := l.Done + 1; gap < n; gap++ {
		l.Gaps = append(l.Gaps, gap)
	}
	l.Done = n
}

// lookAtOwn looks at what this store has written.
func (v *Vault) lookAtOwn(ctx context.Context) error {
	v.ownHead = head{}
	v.ownRuns = nil
	v.litter = nil
	v.news.Lost = nil
	v.news.AllLost = false
	v.relist = false
	if err := v.checkOwnList(ctx); err != nil {
		return err
	}
	own := &v.state.Own
	heads, _, err := v.readHeads(ctx, v.writer.id, nil)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(heads, func(h foundHead) bool { return h.name == v.state.Next && v.state.Next != "" })
	if at < 0 {
		at = slices.IndexFunc(heads, func(h foundHead) bool { return h.name == own.Head && own.Head != "" })
	} else {
		*own = heads[at].position()
	}
	forked := slices.Contains(v.roster.Retired, v.writer.id)
	for i, h := range heads {
		if i == at {
			continue
		}
		if h.Number >= own.Number {
			forked = true
			continue
		}
		if at >= 0 {
			same, err := v.isBefore(ctx, v.writer.id, heads[at], h.Last, h.Chain)
			if err != nil {
				return err
			}
			if !same {
				forked = true
				continue
			}
		}
		v.litter = append(v.litter, headKey(v.writer.id, h.Number, h.name))
	}
	if forked {
		return v.becomeAnother()
	}
	switch {
	case at >= 0:
		v.ownHead = heads[at].head
		v.state.Next = ""
		return v.checkOwnData(ctx)
	case own.Number > 0:
		v.news.AllLost = true
		return nil
	}
	return v.checkOwnData(ctx)
}

// checkOwnList looks whether the key list that this store has written is there and whole.
func (v *Vault) checkOwnList(ctx context.Context) error {
	name := v.state.List
	if name == "" {
		return nil
	}
	key := listKey(v.writer.id, name)
	object, err := v.objects.Read(ctx, key, maxList)
	switch {
	case ctx.Err() != nil:
		return scrollback.Wrap(scrollback.Canceled, op, ctx.Err())
	case err == nil && nameOf(object) == name:
		return nil
	case err == nil || errors.Is(err, errTooLong):
		v.refuse(key, errDamaged)
		v.litter = append(v.litter, key)
	}
	v.relist = true
	return nil
}

// becomeAnother gives this store another id to write below, because somebody else writes below the one it had.
func (v *Vault) becomeAnother() error {
	old := v.writer.id
	v.state.Former = append(v.state.Former, old)
	v.state.Readers[old] = &Seen{}
	if own := v.state.Own; own.Number > 0 {
		v.state.Readers[old].Lines = []Line{{Position: own, Done: own.Last}}
	}
	v.state.Salt = randomBytes(nameBytes)
	v.state.Own = Position{}
	v.state.Next = ""
	v.state.List = ""
	v.state.Said = ""
	v.state.SaidTo = nil
	v.state.Writing = false
	v.ownHead = head{}
	v.litter = nil
	v.news.Lost = nil
	v.news.Another = true
	w, err := deriveWriter(v.me, v.state.Salt)
	if err != nil {
		return err
	}
	v.writer = w
	return v.keep()
}

// checkOwnData looks whether all that the own head names is there, and what else is.
func (v *Vault) checkOwnData(ctx context.Context) error {
	w := v.writer.id
	var whole []string
	for name := range v.there.data[w] {
		if v.there.hasData(w, name) {
			whole = append(whole, name)
		}
	}
	if len(whole) == len(v.there.data[w]) && sumWith("", whole...) == sumWith(v.ownHead.Sum) {
		return nil
	}
	runs, complete, err := v.runsFrom(ctx, w, v.ownHead, v.ownHead.First)
	if err != nil {
		return err
	}
	if !complete {
		v.news.AllLost = true
		return nil
	}
	v.news.Lost = nil
	for _, r := range runs {
		for i, size := range r.Sizes {
			gone := func(p piece) bool { return !v.there.hasData(w, p.Name) }
			if size > 0 && slices.ContainsFunc(r.pieces(i), gone) {
				v.news.Lost = append(v.news.Lost, r.First+uint64(i))
			}
		}
	}
	named := namesIn(v.ownHead, runs)
	for name := range v.there.data[w] {
		if named[name] {
			continue
		}
		if !v.state.Writing { // nobody here has left it
			return v.becomeAnother()
		}
		v.litter = append(v.litter, dataKey(w, name))
	}
	return nil
}

// namesIn returns the names of the data objects of a head whose runs these are.
func namesIn(h head, runs []run) map[string]bool {
	out := map[string]bool{}
	for _, i := range h.Indexes {
		out[i.Name] = true
	}
	for _, r := range runs {
		for _, p := range r.Objects {
			out[p.Name] = true
		}
	}
	return out
}
