package sqlstore

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// threadRow is a thread as it is stored; how many of its requests run is counted when it is read.
type threadRow struct {
	threading.ThreadRow
	rest threadRest
}

// threadRest is what no thread is looked up by.
type threadRest struct {
	Scope     threading.Scope
	Root, Tip threading.Place
	Ancestors []threading.ThreadID `json:",omitempty"`
	Newest    threading.RequestID
	Dialect   threading.Dialect
	Tools     bool               `json:",omitempty"`
	Parent    threading.ThreadID `json:",omitempty"`
}

var threadTable = table[threadRow]{
	columns: []column[threadRow]{
		{"conversation_id", func(t *threadRow) any { return &t.ID }},
		{"rest", func(t *threadRow) any { return asJSON(&t.rest) }},
	},
	split: func(t *threadRow) {
		t.rest = threadRest{Scope: t.Scope, Root: t.Root, Tip: t.Tip, Ancestors: t.Ancestors, Newest: t.Newest,
			Dialect: t.Dialect, Tools: t.Tools, Parent: t.Parent}
	},
	join: func(t *threadRow) {
		t.Scope = t.rest.Scope
		t.Root = t.rest.Root
		t.Tip = t.rest.Tip
		t.Ancestors = t.rest.Ancestors
		t.Newest = t.rest.Newest
		t.Dialect = t.rest.Dialect
		t.Tools = t.rest.Tools
		t.Parent = t.rest.Parent
	},
}

// requestRow is a request as it is stored.
type requestRow struct {
	threading.RequestRow
	n                    int64
	scope, rolling, body []byte
	base                 packedID
	at                   int64
	rest                 requestRest
}

// requestRest is what no request is looked up by.
type requestRest struct {
	Scope     threading.Scope
	Atoms     int
	Profile   []byte
	End, Tip  threading.Place
	Overlap   bool `json:",omitempty"`
	Less      bool `json:",omitempty"`
	Delivered bool `json:",omitempty"`
}

var requestTable = table[requestRow]{
	columns: []column[requestRow]{
		{"conversation_id", func(r *requestRow) any { return &r.Thread }},
		{"id", func(r *requestRow) any { return &r.ID }},
		{"n", func(r *requestRow) any { return &r.n }},
		{"scope", func(r *requestRow) any { return &r.scope }},
		{"rolling", func(r *requestRow) any { return &r.rolling }},
		{"body", func(r *requestRow) any { return &r.body }},
		{"base_branch", func(r *requestRow) any { return (*[]byte)(&r.base) }},
		{"base_seq", func(r *requestRow) any { return &r.Base.Seq }},
		{"side", func(r *requestRow) any { return &r.Side }},
		{"state", func(r *requestRow) any { return &r.State }},
		{"at", func(r *requestRow) any { return &r.at }},
		{"beside", func(r *requestRow) any { return &r.Beside }},
		{"leaf", func(r *requestRow) any { return &r.Leaf }},
		{"rest", func(r *requestRow) any { return asJSON(&r.rest) }},
	},
	split: func(r *requestRow) {
		r.scope = hashScope(r.Scope)
		r.rolling = r.Rolling[:]
		r.body = r.Body[:]
		r.base = packID(r.Base.Branch)
		r.at = r.At.UnixMilli()
		r.rest = requestRest{Scope: r.Scope, Atoms: r.Atoms, Profile: r.Profile[:], End: r.End, Tip: r.Tip,
			Overlap: r.Overlap, Less: r.Less, Delivered: r.Delivered}
	},
	join: func(r *requestRow) {
		r.Scope = r.rest.Scope
		r.Atoms = r.rest.Atoms
		r.End = r.rest.End
		r.Tip = r.rest.Tip
		r.Overlap = r.rest.Overlap
		r.Less = r.rest.Less
		r.Delivered = r.rest.Delivered
		r.Base.Branch = threading.BranchID(r.base.unpack())
		r.At = time.UnixMilli(r.at).UTC()
		copy(r.Rolling[:], r.rolling)
		copy(r.Body[:], r.body)
		copy(r.Profile[:], r.rest.Profile)
	},
}

// atomRow is an atom as it is stored.
type atomRow struct {
	threading.AtomRow
	n                int64
	branch, parent   packedID
	scope            []byte
	key, call, quote []byte
	rest             []byte
	damaged          error
}

var atomTable = table[atomRow]{
	columns: []column[atomRow]{
		{"conversation_id", func(a *atomRow) any { return &a.Thread }},
		{"branch", func(a *atomRow) any { return (*[]byte)(&a.branch) }},
		{"seq", func(a *atomRow) any { return &a.Place.Seq }},
		{"parent", func(a *atomRow) any { return (*[]byte)(&a.parent) }},
		{"n", func(a *atomRow) any { return &a.n }},
		{"scope", func(a *atomRow) any { return &a.scope }},
		{"key_hash", func(a *atomRow) any { return &a.key }},
		{"call_hash", func(a *atomRow) any { return &a.call }},
		{"quote_hash", func(a *atomRow) any { return &a.quote }},
		{"partial", func(a *atomRow) any { return &a.Partial }},
		{"rest", func(a *atomRow) any { return &a.rest }},
	},
	split: func(a *atomRow) {
		a.branch = packID(a.Place.Branch)
		if a.parent = nil; a.Parent.Branch != a.Place.Branch {
			a.parent = packID(a.Parent.Branch)
		}
		a.key = hashOrNil(a.Key)
		a.call = hashOrNil(a.Call)
		a.quote = hashOrNil(a.Quote.Anchor)
		a.rest = packAtom(&a.AtomRow)
	},
	join: func(a *atomRow) {
		a.Order = a.n
		a.Place.Branch = threading.BranchID(a.branch.unpack())
		a.Parent = threading.Place{Branch: a.Place.Branch, Seq: a.Place.Seq - 1}
		if a.parent != nil {
			a.Parent.Branch = threading.BranchID(a.parent.unpack())
		}
		copy(a.Key[:], a.key)
		copy(a.Call[:], a.call)
		copy(a.Quote.Anchor[:], a.quote)
		a.damaged = unpackAtom(&a.AtomRow, a.rest)
	},
}

// summaryRow is a summary as it is stored.
type summaryRow struct {
	threading.SummaryRow
	n     int64
	scope []byte
	rest  summaryRest
}

// summaryRest is what no summary is looked up by.
type summaryRest struct {
	Scope threading.Scope
	Place threading.Place
	Text  string
	Items [][]byte `json:",omitempty"`
}

var summaryTable = table[summaryRow]{
	columns: []column[summaryRow]{
		{"conversation_id", func(s *summaryRow) any { return &s.Thread }},
		{"request_id", func(s *summaryRow) any { return &s.Request }},
		{"n", func(s *summaryRow) any { return &s.n }},
		{"scope", func(s *summaryRow) any { return &s.scope }},
		{"name", func(s *summaryRow) any { return &s.Name }},
		{"rest", func(s *summaryRow) any { return asJSON(&s.rest) }},
	},
	split: func(s *summaryRow) {
		s.scope = hashScope(s.Scope)
		s.rest = summaryRest{Scope: s.Scope, Place: s.Place, Text: s.Text}
		for _, item := range s.Items {
			s.rest.Items = append(s.rest.Items, item[:])
		}
	},
	join: func(s *summaryRow) {
		s.Order = s.n
		s.Scope = s.rest.Scope
		s.Place = s.rest.Place
		s.Text = s.rest.Text
		s.Items = nil
		for _, item := range s.rest.Items {
			var h threading.Hash
			copy(h[:], item)
			s.Items = append(s.Items, h)
		}
	},
}

// answerRow is an answer as it is stored. Whose it is stands in the query.
type answerRow struct {
	threading.AnswerRow
	n      int64
	scope  []byte
	branch packedID
}

var answerTable = table[answerRow]{
	columns: []column[answerRow]{
		{"conversation_id", func(a *answerRow) any { return &a.Thread }},
		{"scope", func(a *answerRow) any { return &a.scope }},
		{"id", func(a *answerRow) any { return &a.ID }},
		{"n", func(a *answerRow) any { return &a.n }},
		{"branch", func(a *answerRow) any { return (*[]byte)(&a.branch) }},
		{"seq", func(a *answerRow) any { return &a.Place.Seq }},
		{"empty", func(a *answerRow) any { return &a.Empty }},
	},
	split: func(a *answerRow) {
		a.scope = hashScope(a.Scope)
		a.branch = packID(a.Place.Branch)
	},
	join: func(a *answerRow) { a.Place.Branch = threading.BranchID(a.branch.unpack()) },
}

// The columns of the tables of threads.
var (
	ThreadColumns        = threadTable.columnList()
	ThreadRequestColumns = requestTable.columnList()
	ThreadAtomColumns    = atomTable.columnList()
	ThreadSummaryColumns = summaryTable.columnList()
	ThreadAnswerColumns  = answerTable.columnList()
)

// ThreadAtomColumnsOf are those of atoms, each with the name of a table before it.
func ThreadAtomColumnsOf(name string) string { return columnsOf(name, ThreadAtomColumns) }

// SelectThreadRequests begins a query for requests r: their columns, and of their turns, as far as they are stored as
// running, what [driver.RequestState] judges by. The name of a table or a list with r follows.
var SelectThreadRequests = `SELECT ` + columnsOf("r", ThreadRequestColumns) + `, coalesce(t.state, ''),
	coalesce(t.lease_until, 0), coalesce(t.draft, ''), coalesce(t.reply, '') FROM `

// JoinRunningTurns joins those turns.
const JoinRunningTurns = ` LEFT JOIN turns t ON t.id = r.id AND r.state = 'running' `

// columnsOf returns columns, each with the name of a table before it.
func columnsOf(name, columns string) string {
	return name + "." + strings.ReplaceAll(columns, ", ", ", "+name+".")
}

// scanRequests reads requests as they are at a time.
func scanRequests(now int64, each func(requestRow) error) func(Row) error {
	var turn scrollback.Turn
	return requestTable.scanEachWith(func(r requestRow) error {
		if r.State != threading.Running {
			return each(r)
		}
		var known *scrollback.Turn
		if turn.State != "" {
			known = &turn
		}
		r.State = driver.RequestState(r.RequestRow, known, now)
		return each(r)
	}, &turn.State, &turn.LeaseUntil, freshJSON(&turn.Draft), &turn.Reply)
}

// freshJSON is asJSON of a field that is read again and again: what one row has is not left to the next.
func freshJSON[T any](field *T) encoded { return freshField[T]{asJSON(field), field} }

type freshField[T any] struct {
	encoded
	field *T
}

func (f freshField[T]) decode(text string) error {
	*f.field = *new(T)
	return f.encoded.decode(text)
}

// scanAtoms reads atoms.
func scanAtoms(out *[]threading.AtomRow) func(Row) error {
	return atomTable.scanEach(func(a atomRow) error {
		*out = append(*out, a.AtomRow)
		return a.damaged
	})
}

// hashScope returns what stands for a scope in columns.
func hashScope(s threading.Scope) []byte {
	h := threading.HashOf("scope", s.Project, s.Caller)
	return h[:]
}

// hashOrNil returns a hash as a column, nil for none.
func hashOrNil(h threading.Hash) []byte {
	if h == (threading.Hash{}) {
		return nil
	}
	return h[:]
}

// packedID is an id as a blob: the 16 bytes of a UUID, and any other text as it is. A text of 16 bytes has a zero
// behind it, and so has an empty one: not every database tells that from none.
type packedID []byte

func packID[T ~string](id T) packedID {
	if u := uuidBytes(string(id)); u != nil {
		return u
	}
	if id == "" || len(id) == 16 || strings.HasSuffix(string(id), "\x00") {
		return packedID(id + "\x00")
	}
	return packedID(id)
}

func (p packedID) unpack() string {
	if len(p) != 16 {
		return strings.TrimSuffix(string(p), "\x00")
	}
	text := hex.EncodeToString(p)
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// uuidBytes returns the bytes of a UUID in its usual form, and nil for any other text.
func uuidBytes(id string) []byte {
	if len(id) != 36 || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' || strings.ToLower(id) != id {
		return nil
	}
	b, err := hex.DecodeString(id[:8] + id[9:13] + id[14:18] + id[19:23] + id[24:])
	if err != nil {
		return nil
	}
	return b
}

// Roles and kinds as an atom has them; what is not listed is written out behind a zero. The order never changes.
var (
	atomRoles = []threading.Role{"", threading.System, threading.User, threading.Assistant, threading.Tool}
	atomKinds = []threading.Kind{"", threading.Text, threading.Call, threading.Result, threading.Image, threading.Thinking,
		threading.Compaction, threading.Opaque}
)

const (
	atomIsOurs   = 1
	atomIsQuoted = 2
)

// packAtom packs what no atom is looked up by.
func packAtom(a *threading.AtomRow) []byte {
	b := make([]byte, 0, 80)
	flags := byte(0)
	if a.Ours {
		flags |= atomIsOurs
	}
	if a.Quote != (threading.Quote{}) {
		flags |= atomIsQuoted
	}
	b = append(b, flags)
	b = appendListed(b, atomRoles, a.Role)
	b = appendListed(b, atomKinds, a.Kind)
	b = binary.AppendUvarint(b, uint64(a.Answers))
	b = append(b, a.Rolling[:]...)
	if flags&atomIsQuoted != 0 {
		b = append(b, a.Quote.Whole[:]...)
		b = binary.AppendUvarint(b, uint64(a.Quote.Runes))
	}
	b = appendBytes(b, packID(a.Request))
	b = appendBytes(b, packID(a.Message))
	return append(b, a.Text...)
}

// unpackAtom reads it.
func unpackAtom(a *threading.AtomRow, rest []byte) error {
	u := unpacker{rest: rest}
	flags := u.take(1)
	a.Role = takeListed(&u, atomRoles)
	a.Kind = takeListed(&u, atomKinds)
	a.Answers = int(u.number())
	copy(a.Rolling[:], u.take(len(a.Rolling)))
	if len(flags) > 0 {
		a.Ours = flags[0]&atomIsOurs != 0
		if flags[0]&atomIsQuoted != 0 {
			copy(a.Quote.Whole[:], u.take(len(a.Quote.Whole)))
			a.Quote.Runes = int(u.number())
		}
	}
	a.Request = threading.RequestID(packedID(u.bytes()).unpack())
	a.Message = packedID(u.bytes()).unpack()
	a.Text = string(u.rest)
	return u.err
}

func appendBytes(b, more []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(more))), more...)
}

// appendListed appends where a word is in a list, or a zero and the word.
func appendListed[T ~string](b []byte, list []T, word T) []byte {
	at := slices.Index(list, word)
	if at >= 0 {
		return append(b, byte(at+1))
	}
	return appendBytes(append(b, 0), []byte(word))
}

func takeListed[T ~string](u *unpacker, list []T) T {
	at := u.number()
	switch {
	case at == 0:
		return T(u.bytes())
	case at > uint64(len(list)):
		u.fail()
		return ""
	}
	return list[at-1]
}

// unpacker reads what was packed. After an error it reads nothing more.
type unpacker struct {
	rest []byte
	err  error
}

func (u *unpacker) fail() {
	u.rest = nil
	u.err = errors.New("a stored column is damaged: it ends too early")
}

func (u *unpacker) take(n int) []byte {
	if n > len(u.rest) {
		u.fail()
		return nil
	}
	out := u.rest[:n]
	u.rest = u.rest[n:]
	return out
}

func (u *unpacker) number() uint64 {
	v, n := binary.Uvarint(u.rest)
	if n <= 0 {
		u.fail()
		return 0
	}
	u.rest = u.rest[n:]
	return v
}

func (u *unpacker) bytes() []byte {
	n := u.number()
	if n > uint64(len(u.rest)) {
		u.fail()
		return nil
	}
	return u.take(int(n))
}
