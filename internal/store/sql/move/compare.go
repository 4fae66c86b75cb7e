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

// print is what tells two sets of rows apart: how many there are, and the sum of their hashes,
// which does not depend on their order.
type print struct {
	rows int64
	sum  [2]uint64
}

func (p *print) add(row sqlstore.Row) {
	d := digestOf(row)
	p.rows++
	p.sum[0] += binary.BigEndian.Uint64(d[:8])
	p.sum[1] += binary.BigEndian.Uint64(d[8:])
}

// printed is what a side has of a conversation, or of the tables that are compared as a whole, by
// the table's name.
type printed map[string]print

// prints reads what a side has of a conversation: all of it but the messages that are not behind
// the seqs in from; nil is for all messages.
func (s *Side) prints(ctx context.Context, id string, from map[string]int64) (printed, error) {
	out := printed{}
	for _, t := range append([]*table{conversations}, belonging...) {
		if err := s.printTable(ctx, t, id, out); err != nil {
			return nil, err
		}
	}
	lines, err := s.heads(ctx, id)
	if err != nil {
		return nil, err
	}
	for branch := range lines {
		lines[branch] = math.MaxInt64
	}
	return out, s.printMessages(ctx, from, lines, out)
}

// printMessages adds the messages of branches behind the seqs in from, up to those in until.
func (s *Side) printMessages(ctx context.Context, from, until map[string]int64, out printed) error {
	var p print
	for branch, last := range until {
		err := s.rows(ctx, messages.all()+` WHERE branch = $1 AND seq > $2 AND seq <= $3 ORDER BY seq`,
			func(row sqlstore.Row) error { p.add(row); return nil }, branch, from[branch], last)
		if err != nil {
			return err
		}
	}
	out[messages.name] = p
	return nil
}

// printTable adds a table. Rows of a list count with their place.
func (s *Side) printTable(ctx context.Context, t *table, id string, out printed) error {
	var p print
	err := s.read(ctx, t, id, func(row sqlstore.Row) error {
		if t.key == 0 {
			row = append(slices.Clone(row), p.rows)
		}
		p.add(row)
		return nil
	})
	out[t.name] = p
	return err
}

// differ is the table in which two sides differ, or empty.
func differ(a, b printed) string {
	for name, p := range a {
		if b[name] != p {
			return name
		}
	}
	return ""
}

// both reads both sides at once.
func (m *mover) both(read func(s *Side) (printed, error)) (from, to printed, err error) {
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() { to, failed = read(m.to) })
	from, err = read(m.from)
	wg.Wait()
	return from, to, errors.Join(err, failed)
}

// check compares a conversation with the marks that are known of it: all but the messages that were
// compared before. A difference counts unless the conversation was changed since, which has left
// another mark then: it will be copied, and its other rows compared, once more.
func (m *mover) check(ctx context.Context, one marked, from map[string]int64) error {
	id := one.key
	a, b, err := m.both(func(s *Side) (printed, error) { return s.prints(ctx, id, from) })
	if err != nil {
		return err
	}
	name := differ(a, b)
	if name == "" {
		m.seen(id, from, a[messages.name].rows, a[conversations.name].rows)
		return nil
	}
	noted, err := m.from.noted(ctx, one)
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
	return different("%s is not the same on both sides: its %s differ (%d rows here, %d there)", what, name, a[name].rows,
		b[name].rows)
}

// checkMessages compares the messages of a conversation that goes on, as far as the target's heads
// say that it has them: what comes to a log changes nothing of what was there. If even they differ,
// because some were purged or because of a fault, all of them are owed.
func (m *mover) checkMessages(ctx context.Context, id string, from map[string]int64) error {
	heads, err := m.to.heads(ctx, id)
	if err != nil {
		return err
	}
	a, b, err := m.both(func(s *Side) (printed, error) {
		out := printed{}
		return out, s.printMessages(ctx, from, heads, out)
	})
	if err != nil {
		return err
	}
	if differ(a, b) != "" {
		m.owed.Store(id, true)
		return nil
	}
	m.seen(id, from, a[messages.name].rows, 1)
	return nil
}

// seen counts what was compared as a whole; nothing of it is owed any longer.
func (m *mover) seen(id string, from map[string]int64, messages, conversations int64) {
	if from == nil {
		m.owed.Delete(id)
		m.compared.Add(messages)
		m.verified.Add(conversations)
	}
}

func different(format scrollback.TextID, args ...any) error {
	return scrollback.Errorf(scrollback.Internal, op, format+"; the source stays as it is, and the copy is not to be used",
		args...).WithReason(errDiffers)
}

// compare compares all that both sides have, while the source may be in use.
func (m *mover) compare(ctx context.Context) error {
	m.tally.enter(StageVerify)
	m.verified.Store(0)
	m.compared.Store(0)
	var n int64
	if err := m.from.Readers.Query(ctx, func(r sqlstore.Row) error { return r.Scan(&n) },
		`SELECT count(*) FROM conversations`); err != nil {
		return m.from.wrap(err)
	}
	m.tally.of.Store(n)
	check := func(ctx context.Context, id string) error {
		err := repeat(ctx, func() error { return m.check(ctx, marked{kind: markConversation, key: id}, nil) })
		m.tally.done.Add(1)
		return of(id, err)
	}
	if err := walk(ctx, m.from, func(ids []string) error { return together(ctx, ids, check) }); err != nil {
		return err
	}
	// What only the target has.
	err := walk(ctx, m.to, func(ids []string) error {
		return together(ctx, ids, func(ctx context.Context, id string) error {
			if known, err := m.from.has(ctx, id); err != nil || known {
				return err
			}
			return of(id, m.check(ctx, marked{kind: markConversation, key: id}, nil))
		})
	})
	if err != nil {
		return err
	}
	return m.same(ctx)
}

// same compares the tables that are compared as a whole.
func (m *mover) same(ctx context.Context) error {
	for _, t := range whole {
		a, b, err := m.both(func(s *Side) (printed, error) {
			out := printed{}
			return out, s.printTable(ctx, t, "", out)
		})
		if err != nil {
			return err
		}
		if differ(a, b) == "" {
			continue
		}
		if noted, err := m.from.noted(ctx, marked{kind: markTable, key: t.name}); err != nil {
			return err
		} else if !noted {
			return different("the table %s is not the same on both sides (%d rows here, %d there)", t.name, a[t.name].rows,
				b[t.name].rows)
		}
	}
	return nil
}
