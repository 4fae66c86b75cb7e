package move

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/scrollback-ai/scrollback"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// errDiffers is the reason of an error about two sides that are not the same.
var errDiffers = errors.New("the two sides differ")

// fingerprint tells two sets of rows apart: how many there are, and the sum of their hashes,
// which does not depend on their order.
type fingerprint struct {
	rows int64
	sum  [2]uint64
}

func (p *fingerprint) addRow(row sqlstore.Row) {
	d := digestOf(row)
	p.rows++
	p.sum[0] += binary.BigEndian.Uint64(d[:8])
	p.sum[1] += binary.BigEndian.Uint64(d[8:])
}

// fingerprints is what a side has of a conversation, or of the tables that are compared as a whole, by
// the table's name.
type fingerprints map[string]fingerprint

// readFingerprints reads what a side has of a conversation: all of it but the messages that are not behind
// the seqs in from; nil is for all messages.
func (s *Side) readFingerprints(ctx context.Context, id string, from map[string]int64) (fingerprints, error) {
	out := fingerprints{}
	for _, t := range append([]*table{conversations}, conversationTables...) {
		if err := s.addTable(ctx, t, id, out); err != nil {
			return nil, err
		}
	}
	lines, err := s.readHeads(ctx, id)
	if err != nil {
		return nil, err
	}
	for branch := range lines {
		lines[branch] = math.MaxInt64
	}
	return out, s.addMessages(ctx, from, lines, out)
}

// addMessages adds the messages of branches behind the seqs in from, up to those in until.
func (s *Side) addMessages(ctx context.Context, from, until map[string]int64, out fingerprints) error {
	var p fingerprint
	for branch, last := range until {
		err := s.eachRow(ctx, messages.allRowsQuery()+` WHERE branch = $1 AND seq > $2 AND seq <= $3 ORDER BY seq`,
			func(row sqlstore.Row) error { p.addRow(row); return nil }, branch, from[branch], last)
		if err != nil {
			return err
		}
	}
	out[messages.name] = p
	return nil
}

// addTable adds a table. Rows of a list count with their place.
func (s *Side) addTable(ctx context.Context, t *table, id string, out fingerprints) error {
	var p fingerprint
	err := s.eachTableRow(ctx, t, id, func(row sqlstore.Row) error {
		if t.key == 0 {
			row = append(slices.Clone(row), p.rows)
		}
		p.addRow(row)
		return nil
	})
	out[t.name] = p
	return err
}

// findDifference returns the table in which two sides differ, or empty.
func findDifference(a, b fingerprints) string {
	for name, p := range a {
		if b[name] != p {
			return name
		}
	}
	return ""
}

// readBoth reads both sides at once.
func (m *mover) readBoth(read func(s *Side) (fingerprints, error)) (from, to fingerprints, err error) {
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() { to, failed = read(m.to) })
	from, err = read(m.from)
	wg.Wait()
	return from, to, errors.Join(err, failed)
}

// checkConversation compares a conversation with the marks that are known of it: all but the messages that were
// compared before. A difference counts unless the conversation was changed since, which has left
// another mark then: it will be copied, and its other rows compared, once more.
func (m *mover) checkConversation(ctx context.Context, one markedItem, from map[string]int64) error {
	id := one.key
	a, b, err := m.readBoth(func(s *Side) (fingerprints, error) { return s.readFingerprints(ctx, id, from) })
	if err != nil {
		return err
	}
	name := findDifference(a, b)
	if name == "" {
		m.countCompared(id, from, a[messages.name].rows, a[conversations.name].rows)
		return nil
	}
	noted, err := m.from.hasOtherMark(ctx, one)
	if err != nil {
		return err
	}
	if noted {
		return m.checkMessages(ctx, id, from)
	}
	what := "conversation " + id
	if id == "" {
		what = "what belongs to no conversation"
	}
	return differenceError("%s is not the same on both sides: its %s differ (%d rows here, %d there)", what, name, a[name].rows,
		b[name].rows)
}

// checkMessages compares the messages of a conversation that goes on, as far as the target's heads
// say that it has them: what comes to a log changes nothing of what was there. If even they differ,
// because some were purged or because of a fault, all of them are owed.
func (m *mover) checkMessages(ctx context.Context, id string, from map[string]int64) error {
	heads, err := m.to.readHeads(ctx, id)
	if err != nil {
		return err
	}
	a, b, err := m.readBoth(func(s *Side) (fingerprints, error) {
		out := fingerprints{}
		return out, s.addMessages(ctx, from, heads, out)
	})
	if err != nil {
		return err
	}
	if findDifference(a, b) != "" {
		m.unchecked.Store(id, true)
		return nil
	}
	m.countCompared(id, from, a[messages.name].rows, 1)
	return nil
}

// countCompared counts what was compared as a whole; nothing of it is owed any longer.
func (m *mover) countCompared(id string, from map[string]int64, messages, conversations int64) {
	if from == nil {
		m.unchecked.Delete(id)
		m.compared.Add(messages)
		m.verified.Add(conversations)
	}
}

func differenceError(format scrollback.TextID, args ...any) error {
	return scrollback.Errorf(scrollback.Internal, op, format+"; the source stays as it is, and the copy is not to be used",
		args...).WithReason(errDiffers)
}

// compareAll compares all that both sides have, while the source may be in use.
func (m *mover) compareAll(ctx context.Context) error {
	m.reporter.enterStage(StageVerify)
	m.verified.Store(0)
	m.compared.Store(0)
	var n int64
	if err := m.from.Readers.Query(ctx, func(r sqlstore.Row) error { return r.Scan(&n) },
		`SELECT count(*) FROM conversations`); err != nil {
		return m.from.wrapError(err)
	}
	m.reporter.of.Store(n)
	check := func(ctx context.Context, id string) error {
		err := retryUnavailable(ctx,
			func() error { return m.checkConversation(ctx, markedItem{kind: markConversation, key: id}, nil) })
		m.reporter.done.Add(1)
		return nameConversation(id, err)
	}
	if err := walkConversations(ctx, m.from,
		func(ids []string) error { return runTogether(ctx, ids, check) }); err != nil {
		return err
	}
	// What only the target has.
	err := walkConversations(ctx, m.to, func(ids []string) error {
		return runTogether(ctx, ids, func(ctx context.Context, id string) error {
			if known, err := m.from.hasRow(ctx, id); err != nil || known {
				return err
			}
			return nameConversation(id, m.checkConversation(ctx, markedItem{kind: markConversation, key: id}, nil))
		})
	})
	if err != nil {
		return err
	}
	return m.compareTables(ctx)
}

// compareTables compares the tables that are compared as a whole.
func (m *mover) compareTables(ctx context.Context) error {
	for _, t := range wholeTables {
		a, b, err := m.readBoth(func(s *Side) (fingerprints, error) {
			out := fingerprints{}
			return out, s.addTable(ctx, t, "", out)
		})
		if err != nil {
			return err
		}
		if findDifference(a, b) == "" {
			continue
		}
		if noted, err := m.from.hasOtherMark(ctx, markedItem{kind: markTable, key: t.name}); err != nil {
			return err
		} else if !noted {
			return differenceError("the table %s is not the same on both sides (%d rows here, %d there)", t.name, a[t.name].rows,
				b[t.name].rows)
		}
	}
	return nil
}
