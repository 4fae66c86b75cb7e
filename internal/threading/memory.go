package threading

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// Memory is an index in memory. It keeps everything until it is told to forget a thread, and is used by many at once.
type Memory struct {
	*memoryRows
	// state says how far a request has come by now; nil is as it was written.
	state func(RequestRow) State
}

// memoryRows is what a Memory keeps.
type memoryRows struct {
	mu        sync.Mutex
	order     int64
	threads   map[ThreadID]*ThreadRow
	names     map[named][]ThreadID
	requests  map[RequestID]*RequestRow
	rolled    map[scoped][]RequestID
	same      map[scoped][]RequestID
	asked     map[scoped][]time.Time
	based     map[Place][]RequestID
	beside    map[ThreadID][]RequestID
	atoms     map[Place]*AtomRow
	branches  map[BranchID]Place
	following map[Place][]Place
	inScope   map[scoped][]Place
	inThread  map[threaded][]Place
	partials  map[ThreadID][]Place
	running   map[ThreadID][]RequestID
	summaries []SummaryRow
	answers   map[Scope]map[string]AnswerRow
	lookUps   int
}

type scoped struct {
	scope Scope
	hash  Hash
}

type named struct {
	scope Scope
	name  string
}

type threaded struct {
	thread ThreadID
	hash   Hash
}

// NewMemory returns an empty index.
func NewMemory() *Memory {
	return &Memory{memoryRows: &memoryRows{threads: map[ThreadID]*ThreadRow{}, names: map[named][]ThreadID{},
		requests: map[RequestID]*RequestRow{}, rolled: map[scoped][]RequestID{}, same: map[scoped][]RequestID{},
		asked: map[scoped][]time.Time{}, based: map[Place][]RequestID{}, beside: map[ThreadID][]RequestID{},
		atoms: map[Place]*AtomRow{}, branches: map[BranchID]Place{}, following: map[Place][]Place{},
		inScope: map[scoped][]Place{}, inThread: map[threaded][]Place{}, partials: map[ThreadID][]Place{},
		running: map[ThreadID][]RequestID{},
		answers: map[Scope]map[string]AnswerRow{}}}
}

// JudgedBy returns the same index, but that state says how far a request that was written as running has come.
func (m *Memory) JudgedBy(state func(RequestRow) State) *Memory { return &Memory{m.memoryRows, state} }

// Ask counts that a request came of which nothing is stored. It comes after Match and before the next one.
func (m *Memory) Ask(match *Match, now time.Time) {
	if match.IsCall() {
		return // its row counts
	}
	scope, body := match.Asked()
	m.CountAsked(scope, body, now)
}

// CountAsked is Ask for a body.
func (m *Memory) CountAsked(scope Scope, body Hash, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := scoped{scope, body}
	m.asked[key] = append(m.asked[key], now)
}

// ErrTaken says that an atom has been stored meanwhile at the place of another one: the request is matched again.
var ErrTaken = errors.New("threading: the place is taken")

// ErrNoThread says that rows are of a thread that is not there, or no longer.
var ErrNoThread = errors.New("threading: no such thread")

// Write stores rows together, or nothing if it fails, with ErrTaken or ErrNoThread.
func (m *Memory) Write(rows Rows) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	places := map[Place]bool{}
	for _, row := range rows.Atoms {
		if m.atoms[row.Place] != nil || places[row.Place] {
			return ErrTaken
		}
		places[row.Place] = true
	}
	for _, id := range rows.Others() {
		if m.threads[id] == nil {
			return ErrNoThread
		}
	}
	if rows.Thread != nil {
		m.threads[rows.Thread.ID] = new(*rows.Thread)
	}
	for _, row := range rows.Atoms {
		m.writeAtom(row)
	}
	if row := rows.Request; row != nil {
		m.writeRequest(*row)
	}
	if row := rows.Name; row != nil {
		key := named{row.Scope, row.Name}
		if !slices.Contains(m.names[key], row.Thread) {
			m.names[key] = append(m.names[key], row.Thread)
		}
	}
	if rows.Summary != nil {
		m.writeSummary(*rows.Summary)
	}
	if row := rows.Answer; row != nil {
		if m.answers[row.Scope] == nil {
			m.answers[row.Scope] = map[string]AnswerRow{}
		}
		m.answers[row.Scope][row.ID] = *row
	}
	for _, id := range rows.Leaves {
		if row := m.requests[id]; row != nil {
			row.Leaf = true
		}
	}
	return nil
}

func (m *Memory) writeSummary(row SummaryRow) {
	same := func(s SummaryRow) bool { return s.Request == row.Request }
	if at := slices.IndexFunc(m.summaries, same); at >= 0 {
		row.Order = m.summaries[at].Order
		m.summaries[at] = row
		return
	}
	m.order++
	row.Order = m.order
	m.summaries = append(m.summaries, row)
}

// Forget removes everything that is of a thread.
func (m *Memory) Forget(thread ThreadID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.threads, thread)
	delete(m.partials, thread)
	delete(m.beside, thread)
	delete(m.running, thread)
	for key, ids := range m.names {
		m.names[key] = slices.DeleteFunc(ids, func(id ThreadID) bool { return id == thread })
	}
	isGone := func(id RequestID) bool { return m.requests[id].Thread == thread }
	for _, of := range []map[scoped][]RequestID{m.rolled, m.same} {
		for key, ids := range of {
			of[key] = slices.DeleteFunc(ids, isGone)
		}
	}
	for place, ids := range m.based {
		m.based[place] = slices.DeleteFunc(ids, isGone)
	}
	maps.DeleteFunc(m.requests, func(_ RequestID, row *RequestRow) bool { return row.Thread == thread })
	isLost := func(p Place) bool { return m.atoms[p].Thread == thread }
	for key, places := range m.inScope {
		m.inScope[key] = slices.DeleteFunc(places, isLost)
	}
	for place, places := range m.following {
		m.following[place] = slices.DeleteFunc(places, isLost)
	}
	maps.DeleteFunc(m.inThread, func(of threaded, _ []Place) bool { return of.thread == thread })
	maps.DeleteFunc(m.atoms, func(p Place, row *AtomRow) bool {
		if row.Thread == thread && row.Parent.Branch != p.Branch {
			delete(m.branches, p.Branch)
		}
		return row.Thread == thread
	})
	m.summaries = slices.DeleteFunc(m.summaries, func(row SummaryRow) bool { return row.Thread == thread })
	for _, rows := range m.answers {
		maps.DeleteFunc(rows, func(_ string, row AnswerRow) bool { return row.Thread == thread })
	}
}

func (m *Memory) writeAtom(row AtomRow) {
	m.order++
	row.Order = m.order
	m.atoms[row.Place] = &row
	if row.Parent.Branch != row.Place.Branch {
		m.branches[row.Place.Branch] = row.Parent
	}
	m.following[row.Parent] = append(m.following[row.Parent], row.Place)
	scope := m.threads[row.Thread].Scope
	for _, anchor := range []Hash{row.Key, row.Call, row.Quote.Anchor} {
		if anchor != (Hash{}) {
			in := scoped{scope, anchor}
			m.inScope[in] = append(m.inScope[in], row.Place)
			of := threaded{row.Thread, anchor}
			m.inThread[of] = append(m.inThread[of], row.Place)
		}
	}
	if row.Partial {
		m.partials[row.Thread] = append(m.partials[row.Thread], row.Place)
	}
}

func (m *Memory) writeRequest(row RequestRow) {
	if before := m.requests[row.ID]; before != nil {
		row.Leaf = row.Leaf || before.Leaf
		m.requests[row.ID] = &row
		if row.State != Running {
			m.running[row.Thread] = slices.DeleteFunc(m.running[row.Thread], func(id RequestID) bool { return id == row.ID })
		}
		return
	}
	m.requests[row.ID] = &row
	same := scoped{row.Scope, row.Body}
	m.same[same] = append(m.same[same], row.ID)
	if row.Side != "" {
		return
	}
	if row.State == Running {
		m.running[row.Thread] = append(m.running[row.Thread], row.ID)
	}
	rolled := scoped{row.Scope, row.Rolling}
	m.rolled[rolled] = append(m.rolled[rolled], row.ID)
	m.based[row.Base] = append(m.based[row.Base], row.ID)
	if row.Beside {
		m.beside[row.Thread] = append(m.beside[row.Thread], row.ID)
	}
}

// look locks the index for one look-up.
func (m *Memory) look() func() {
	m.mu.Lock()
	m.lookUps++
	return m.mu.Unlock
}

// newest returns the last of a list, the newest first.
func newest[T any](list []T, limit int) []T {
	out := slices.Clone(list[max(0, len(list)-limit):])
	slices.Reverse(out)
	return out
}

func (m *Memory) rows(ids []RequestID) []RequestRow {
	var out []RequestRow
	for _, id := range ids {
		out = append(out, m.request(id))
	}
	return out
}

func (m *Memory) request(id RequestID) RequestRow {
	row := *m.requests[id]
	if row.State == Running && m.state != nil {
		row.State = m.state(row)
	}
	return row
}

func (m *Memory) at(places []Place) []AtomRow {
	var out []AtomRow
	for _, p := range places {
		out = append(out, *m.atoms[p])
	}
	return out
}

// Thread implements Index.
func (m *Memory) Thread(_ context.Context, id ThreadID) (*ThreadRow, error) {
	defer m.look()()
	return m.thread(id), nil
}

func (m *Memory) thread(id ThreadID) *ThreadRow {
	if m.threads[id] == nil {
		return nil
	}
	out := *m.threads[id]
	out.Open = 0
	for _, id := range m.running[id] {
		if m.request(id).State == Running {
			out.Open++
		}
	}
	return &out
}

// Named implements Index.
func (m *Memory) Named(_ context.Context, scope Scope, name string, limit int) ([]ThreadRow, error) {
	defer m.look()()
	ids := m.names[named{scope, name}]
	if len(ids) > limit {
		ids = append(ids[:1:1], ids[len(ids)-limit+1:]...)
	}
	var out []ThreadRow
	for _, id := range ids {
		if row := m.thread(id); row != nil {
			out = append(out, *row)
		}
	}
	return out, nil
}

// Request implements Index.
func (m *Memory) Request(_ context.Context, id RequestID) (*RequestRow, error) {
	defer m.look()()
	if m.requests[id] != nil {
		return new(m.request(id)), nil
	}
	return nil, nil
}

// Rolled implements Index.
func (m *Memory) Rolled(_ context.Context, scope Scope, hashes []Hash, limit int) ([]RequestRow, error) {
	defer m.look()()
	var out []RequestRow
	for _, h := range hashes {
		out = append(out, m.rows(newest(m.rolled[scoped{scope, h}], limit))...)
	}
	return out, nil
}

// Same implements Index.
func (m *Memory) Same(_ context.Context, scope Scope, body Hash, since time.Time, limit int) ([]RequestRow, int,
	error) {
	defer m.look()()
	key := scoped{scope, body}
	rows := slices.DeleteFunc(m.rows(newest(m.same[key], limit)), func(row RequestRow) bool {
		return row.State != Running && row.At.Before(since)
	})
	asked := 0
	for _, at := range newest(m.asked[key], limit) {
		if !at.Before(since) {
			asked++
		}
	}
	return rows, asked, nil
}

// Beside implements Index.
func (m *Memory) Beside(_ context.Context, thread ThreadID, base Place, limit int) ([]RequestRow, error) {
	defer m.look()()
	foreign := func(id RequestID) bool { return m.requests[id].Thread != thread }
	isLeaf := func(id RequestID) bool { return m.requests[id].Leaf }
	out := m.rows(newest(slices.DeleteFunc(slices.Clone(m.based[base]), foreign), limit))
	for _, row := range m.rows(newest(slices.DeleteFunc(slices.Clone(m.beside[thread]), isLeaf), limit)) {
		if !slices.ContainsFunc(out, func(o RequestRow) bool { return o.ID == row.ID }) {
			out = append(out, row)
		}
	}
	return out, nil
}

// FindSpan returns when the first and the last request came, in Unix ms, of the threads that a name has named in any
// scope; zeros if none came.
func (m *Memory) FindSpan(name string) (first, last int64) {
	defer m.look()()
	for at, threads := range m.names {
		for _, row := range m.requests {
			if at.name != name || !slices.Contains(threads, row.Thread) {
				continue
			}
			when := row.At.UnixMilli()
			if first == 0 || when < first {
				first = when
			}
			last = max(last, when)
		}
	}
	return first, last
}

// ListLeaves lists the requests of a thread that are leaves, by id.
func (m *Memory) ListLeaves(thread ThreadID) (out []RequestID) {
	defer m.look()()
	for id, row := range m.requests {
		if row.Leaf && row.Thread == thread && row.Side == "" {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// Anchored implements Index.
func (m *Memory) Anchored(_ context.Context, q AnchorQuery) ([]AtomRow, error) {
	defer m.look()()
	var out []AtomRow
	for _, anchor := range q.Anchors {
		if len(q.Threads) == 0 {
			out = append(out, m.at(newest(m.inScope[scoped{q.Scope, anchor}], q.Limit))...)
		}
		for _, thread := range q.Threads {
			out = append(out, m.at(newest(m.inThread[threaded{thread, anchor}], q.Limit))...)
		}
	}
	return out, nil
}

// At implements Index.
func (m *Memory) At(_ context.Context, place Place) (*AtomRow, error) {
	defer m.look()()
	if row := m.atoms[place]; row != nil {
		return new(*row), nil
	}
	return nil, nil
}

// Lineage implements Index.
func (m *Memory) Lineage(_ context.Context, branch BranchID) ([]Reach, error) {
	defer m.look()()
	out := []Reach{{Branch: branch}}
	for {
		parent, ok := m.branches[out[len(out)-1].Branch]
		if !ok {
			return out, nil
		}
		out = append(out, parent)
	}
}

// Following implements Index.
func (m *Memory) Following(_ context.Context, place Place, limit int) ([]AtomRow, error) {
	defer m.look()()
	return m.at(newest(m.following[place], limit)), nil
}

// Partials implements Index.
func (m *Memory) Partials(_ context.Context, threads []ThreadID, limit int) ([]AtomRow, error) {
	defer m.look()()
	var out []AtomRow
	for _, thread := range threads {
		out = append(out, m.at(newest(m.partials[thread], limit))...)
	}
	return out, nil
}

// Summaries implements Index.
func (m *Memory) Summaries(_ context.Context, scope Scope, name string, limit int) ([]SummaryRow, error) {
	defer m.look()()
	var out []SummaryRow
	for _, row := range slices.Backward(m.summaries) {
		if row.Scope == scope && (name == "" || row.Name == name) && len(out) < limit {
			out = append(out, row)
		}
	}
	return out, nil
}

// Answer implements Index.
func (m *Memory) Answer(_ context.Context, scope Scope, id string) (*AnswerRow, error) {
	defer m.look()()
	if row, ok := m.answers[scope][id]; ok {
		return &row, nil
	}
	return nil, nil
}
