package move

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// copyConversation copies what has changed of a conversation, and compares it if that is asked for.
func (m *mover) copyConversation(ctx context.Context, one markedItem) error {
	err := m.copyAndCheck(ctx, one)
	m.reporter.done.Add(1)
	return nameConversation(one.key, err)
}

// copyAndCheck compares what was copied, and what an earlier comparison has left: up to the heads
// that the target had, unless something is owed, its messages were compared when they came.
func (m *mover) copyAndCheck(ctx context.Context, one markedItem) error {
	var were map[string]int64
	var err error
	if m.verify {
		were, err = m.to.readHeads(ctx, one.key)
	}
	if err != nil {
		return err
	}
	from, err := m.copyParts(ctx, one.key)
	if err != nil || !m.verify {
		return err
	}
	for branch := range from {
		from[branch] = min(from[branch], were[branch])
	}
	if _, owed := m.unchecked.Load(one.key); owed {
		from = nil
	}
	return m.checkConversation(ctx, one, from)
}

// copyParts copies what has changed, and returns behind which seqs the messages of its branches
// were copied. Of what the target has nothing of, nothing is asked.
func (m *mover) copyParts(ctx context.Context, id string) (from map[string]int64, err error) {
	known, err := m.to.knowsConversation(ctx, id)
	if err != nil {
		return nil, err
	}
	fresh := !known
	b := &batch{m: m}
	if err := b.alignTable(ctx, conversations, id, fresh); err != nil {
		return nil, err
	}
	lines, err := m.from.listBranches(ctx, id)
	if err == nil && !fresh {
		err = b.dropBranches(ctx, id, lines)
	}
	if err == nil {
		err = b.alignTable(ctx, branches, id, fresh)
	}
	from = map[string]int64{}
	for _, branch := range lines {
		if err == nil {
			from[branch], err = b.copyMessages(ctx, branch, fresh)
		}
	}
	for _, t := range conversationTables {
		if err == nil && t != branches {
			err = b.alignTable(ctx, t, id, fresh)
		}
	}
	if err == nil {
		err = b.runSteps(ctx)
	}
	return from, err
}

// copyTable copies what has changed of a table that is compared as a whole.
func (m *mover) copyTable(ctx context.Context, one markedItem) error {
	i := slices.IndexFunc(wholeTables, func(t *table) bool { return t.name == one.key })
	if i < 0 {
		return nil
	}
	b := &batch{m: m}
	if err := b.alignTable(ctx, wholeTables[i], "", false); err != nil {
		return err
	}
	return b.runSteps(ctx)
}

// nameConversation adds to an error which conversation it is about.
func nameConversation(id string, err error) error {
	if err == nil || scrollback.CodeOf(err) == scrollback.Canceled || errors.Is(err, errDiffers) {
		return err
	}
	return &scrollback.Error{Code: scrollback.CodeOf(err), Op: op, Err: fmt.Errorf("conversation %s: %w", id, err)}
}

// hasRow reports whether there is a row of a conversation.
func (s *Side) hasRow(ctx context.Context, id string) (found bool, err error) {
	err = s.Readers.Query(ctx, func(sqlstore.Row) error { found = true; return nil },
		`SELECT 1 FROM conversations WHERE id = $1`, id)
	return found, s.wrapError(err)
}

// knowsConversation reports whether a side has anything of a conversation; messages are not without branches.
func (s *Side) knowsConversation(ctx context.Context, id string) (known bool, err error) {
	var any []string
	for _, t := range append([]*table{conversations}, conversationTables...) {
		any = append(any, `EXISTS (SELECT 1 FROM `+t.name+` WHERE `+s.conversationCondition(t)+`)`)
	}
	err = s.Readers.Query(ctx, func(r sqlstore.Row) error { return r.Scan(&known) },
		`SELECT CASE WHEN `+strings.Join(any, ` OR `)+` THEN 1 ELSE 0 END`, id)
	return known, s.wrapError(err)
}

// listBranches returns the ids of a conversation's.
func (s *Side) listBranches(ctx context.Context, id string) (out []string, err error) {
	err = s.Readers.Query(ctx, func(r sqlstore.Row) error {
		out = append(out, "")
		return r.Scan(&out[len(out)-1])
	}, `SELECT id FROM branches WHERE conversation_id = $1 ORDER BY id`, id)
	return out, s.wrapError(err)
}

// readHeads returns the last seqs of the branches of a conversation, as their rows say.
func (s *Side) readHeads(ctx context.Context, id string) (map[string]int64, error) {
	out := map[string]int64{}
	err := s.Readers.Query(ctx, func(r sqlstore.Row) error {
		var branch string
		var head int64
		err := r.Scan(&branch, &head)
		out[branch] = head
		return err
	}, `SELECT id, head_seq FROM branches WHERE conversation_id = $1`, id)
	return out, s.wrapError(err)
}

// dropBranches removes the messages of branches that are no longer those of the source.
func (b *batch) dropBranches(ctx context.Context, id string, lines []string) error {
	there, err := b.m.to.listBranches(ctx, id)
	for _, branch := range there {
		if err == nil && !slices.Contains(lines, branch) {
			err = b.deleteMessages(ctx, branch, 0)
		}
	}
	return err
}

// messageSpan is which messages of a branch a side has, up to a seq. The last one has the sums of all
// before it.
type messageSpan struct {
	count, last int64
	row         digest
}

func (s *Side) readSpan(ctx context.Context, branch string, until int64) (out messageSpan, err error) {
	err = s.Readers.Query(ctx, func(r sqlstore.Row) error { return r.Scan(&out.count, &out.last) },
		`SELECT count(*), coalesce(max(seq), 0) FROM messages WHERE branch = $1 AND seq <= $2`, branch, until)
	if err == nil && out.count > 0 {
		err = s.eachRow(ctx, messages.allRowsQuery()+` WHERE branch = $1 AND seq = $2`, func(row sqlstore.Row) error {
			out.row = digestOf(row)
			return nil
		}, branch, out.last)
	}
	return out, s.wrapError(err)
}

// copyMessages copies the messages of a branch that the target does not have, and returns the seq behind
// which they are. Messages never change; a purge removes them from the end.
func (b *batch) copyMessages(ctx context.Context, branch string, fresh bool) (from int64, err error) {
	if !fresh {
		if from, err = b.cutToCommon(ctx, branch); err != nil {
			return 0, err
		}
	}
	return from, b.m.from.eachRow(ctx, messages.messagesQuery(),
		func(row sqlstore.Row) error { return b.insertRow(ctx, messages, row) },
		branch, from)
}

// cutToCommon returns the seq up to which both sides have the same messages of a branch. What the target
// has behind it is removed: a purge has removed it, or the branch was brought again since.
func (b *batch) cutToCommon(ctx context.Context, branch string) (seq int64, err error) {
	there, err := b.m.to.readSpan(ctx, branch, math.MaxInt64)
	if err != nil || there.count == 0 {
		return 0, err
	}
	here, err := b.m.from.readSpan(ctx, branch, there.last)
	if err != nil || here == there {
		return there.last, err
	}
	if here.count > 0 && here.last < there.last {
		if there, err = b.m.to.readSpan(ctx, branch, here.last); err != nil {
			return 0, err
		}
		if here == there {
			return here.last, b.deleteMessages(ctx, branch, here.last+1)
		}
	}
	return 0, b.deleteMessages(ctx, branch, 0)
}

// messagesQuery returns the query for the messages of branch $1 behind seq $2.
func (t *table) messagesQuery() string {
	return t.allRowsQuery() + ` WHERE branch = $1 AND seq > $2 ORDER BY seq`
}

// eachRow calls fn for each row of a query; a row is only there until it returns.
func (s *Side) eachRow(ctx context.Context, query string, fn func(row sqlstore.Row) error, args ...any) error {
	return s.wrapError(s.Readers.Query(ctx, fn, query, args...))
}

// eachTableRow calls fn for the rows of a table, of a conversation if it has some of each.
func (s *Side) eachTableRow(ctx context.Context, t *table, id string, fn func(row sqlstore.Row) error) error {
	if t.of == "" {
		return s.eachRow(ctx, s.rowsQuery(t), fn)
	}
	return s.eachRow(ctx, s.rowsQuery(t), fn, id)
}

// digest is a hash of values.
type digest [16]byte

// digestOf returns a hash that is the same for equal values of any two databases.
func digestOf(values []driver.Value) digest {
	h := sha256.New()
	var b [9]byte
	put := func(kind byte, n uint64) {
		b[0] = kind
		binary.BigEndian.PutUint64(b[1:], n)
		h.Write(b[:])
	}
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			put('n', 0)
		case int64:
			put('i', uint64(v))
		case float64:
			put('f', math.Float64bits(v))
		case string:
			put('t', uint64(len(v)))
			h.Write([]byte(v))
		case []byte:
			put('t', uint64(len(v)))
			h.Write(v)
		case bool:
			put('b', map[bool]uint64{true: 1}[v])
		default:
			put('?', 0)
		}
	}
	return digest(h.Sum(nil)[:16])
}
