package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// noteWritten notes that this transaction has written something that stores exchange: of a conversation, or of an owner
// of clocks. The functions that write rows of such tables call it, so that none of their callers can forget it.
func (w *writeTx) noteWritten(owner scrollback.ConversationID) {
	if !slices.Contains(w.written, string(owner)) {
		w.written = append(w.written, string(owner))
	}
}

// recordSilent writes a change for each owner of which this transaction has written something, and told nothing.
func (w *writeTx) recordSilent(ctx context.Context) error {
	slices.Sort(w.written) // in one order, or two transactions might wait for each other
	for _, owner := range w.written {
		if slices.Contains(w.told, owner) {
			continue
		}
		err := w.recordChange(ctx, driver.Change{Conversation: scrollback.ConversationID(owner), Kinds: driver.KindSilent})
		if err != nil {
			return err
		}
	}
	return nil
}

// isConversation reports whether a change is about a conversation: other owners have names with a colon.
func isConversation(owner string) bool { return owner != "" && !strings.Contains(owner, ":") }

// digestsName is held by who stores digests, or removes changes that tell which of them are old.
const digestsName = "digests"

// keepChanged remembers of which conversations the changes tell something that are removed next, all but the newest;
// else the digests of these would pass for new.
func (w *writeTx) keepChanged(ctx context.Context, kept int) error {
	if err := w.holdName(ctx, digestsName); err != nil {
		return err
	}
	return w.tx.Queue(ctx, `INSERT INTO digests (id, n, digest) SELECT c.conversation_id, max(c.n), '' FROM changes c
		WHERE c.n <= (SELECT max(n) FROM changes) - $1 AND c.conversation_id NOT LIKE '%:%'
		AND c.n > coalesce((SELECT d.n FROM digests d WHERE d.id = ''), 0) AND EXISTS (SELECT 1 FROM digests)
		GROUP BY c.conversation_id
		ON CONFLICT (id) DO UPDATE SET n = excluded.n, digest = excluded.digest WHERE digests.n < excluded.n`, kept)
}

// ForgetDigests forgets what was worked out of a database into which rows were copied, and moves its mark.
func ForgetDigests(ctx context.Context, d *Dialect, tx Tx) error {
	for _, statement := range []string{`DELETE FROM digests WHERE id >= ''`, `DELETE FROM met WHERE mark > ''`} {
		if err := tx.Queue(ctx, statement); err != nil {
			return err
		}
	}
	copied := driver.Change{Conversation: driver.SilentOther + "copied", Kinds: driver.KindSilent}
	values, err := changeTable.values(&copied)
	if err != nil {
		return err
	}
	return tx.Queue(ctx, d.InsertChange, values...)
}

// changeMark is what marks are made of: the number of a change, and what tells it from one of that number elsewhere.
type changeMark struct{ n, k int64 }

func (m changeMark) String() string { return fmt.Sprintf("%d-%x", m.n, uint64(m.k)) }

// readChangeMark reads what a mark is made of; zeros if that change is not there.
func readChangeMark(ctx context.Context, r Reader, which string, args ...any) (m changeMark, err error) {
	err = QueryRow(ctx, r, scanInto(&m.n, &m.k), `SELECT n, k FROM changes WHERE n = `+which, args...)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return m, err
}

// listPending lists the owners of which changes have no number yet.
func (db log) listPending(ctx context.Context, r Reader) (owners []string, err error) {
	if db.Dialect.PendingChanges != "" {
		err = r.Query(ctx, listInto(&owners), db.Dialect.PendingChanges)
	}
	return owners, err
}

// ReadMark implements [driver.Log]. Where something committed has no number yet, which may last where nothing can be
// written, no two marks are the same.
func (db log) ReadMark(ctx context.Context) (mark string, err error) {
	const op = "sqlstore.ReadMark"
	if err := db.numberCommits(ctx); err != nil {
		return "", db.wrapError(op, err)
	}
	err = db.Readers.Snapshot(ctx, func(r Reader) error {
		m, err := readChangeMark(ctx, r, `(SELECT max(n) FROM changes)`)
		if err != nil {
			return err
		}
		mark = m.String()
		pending, err := db.listPending(ctx, r)
		if len(pending) > 0 {
			mark += "-" + uuid.NewString()
		}
		return err
	})
	return mark, db.wrapError(op, err)
}

// ReadChanged implements [driver.Log].
func (db log) ReadChanged(ctx context.Context, mark string) (out driver.Changed, err error) {
	const op = "sqlstore.ReadChanged"
	number, _, _ := strings.Cut(mark, "-")
	after, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return driver.Changed{Everything: true}, nil
	}
	if err := db.numberCommits(ctx); err != nil {
		return out, db.wrapError(op, err)
	}
	err = db.Readers.Snapshot(ctx, func(r Reader) error {
		out = driver.Changed{}
		m, err := readChangeMark(ctx, r, `$1`, after)
		if err != nil {
			return err
		}
		if m.k == 0 || m.String() != mark && !strings.HasPrefix(mark, m.String()+"-") {
			out.Everything = true
			return nil
		}
		owners, err := db.listPending(ctx, r)
		if err == nil {
			err = r.Query(ctx, listInto(&owners), `SELECT conversation_id FROM changes WHERE n > $1`, after)
		}
		if err != nil {
			return err
		}
		slices.Sort(owners)
		for _, owner := range slices.Compact(owners) {
			if !isConversation(owner) {
				out.Projects = out.Projects || strings.HasPrefix(owner, stamp.OfProject(""))
				continue
			}
			id := scrollback.ConversationID(owner)
			out.Conversations = append(out.Conversations, id)
			if out.Stones {
				continue
			}
			_, err := findStone(ctx, r, id)
			if out.Stones = err == nil; err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		return nil
	})
	return out, db.wrapError(op, err)
}

// digestRow is a row of digests.
type digestRow struct {
	driver.StoredDigest
	n int64
}

// ReadDigests implements [driver.Log]. Where all were stored once, only what has changed since is looked for.
func (db log) ReadDigests(ctx context.Context) (out driver.Digests, err error) {
	const op = "sqlstore.ReadDigests"
	if err := db.numberCommits(ctx); err != nil {
		return out, db.wrapError(op, err)
	}
	err = db.Readers.Snapshot(ctx, func(r Reader) error {
		out, err = db.readDigests(ctx, r)
		return err
	})
	return out, db.wrapError(op, err)
}

func (db log) readDigests(ctx context.Context, r Reader) (out driver.Digests, err error) {
	var all int64 // up to here all are stored
	if err := QueryRow(ctx, r, scanInto(&out.At, &all), selectDigestSpan); err != nil {
		return out, err
	}
	changed := map[string]int64{}
	err = r.Query(ctx, func(row Row) error {
		var owner string
		var n int64
		err := row.Scan(&owner, &n)
		changed[owner] = max(changed[owner], n)
		return err
	}, `SELECT conversation_id, n FROM changes WHERE n > $1`, all)
	if err != nil {
		return out, err
	}
	pending, err := db.listPending(ctx, r)
	if err != nil {
		return out, err
	}
	for _, owner := range pending {
		changed[owner] = math.MaxInt64
	}
	var missing []string
	if all < 0 {
		for _, query := range []string{`SELECT id FROM conversations WHERE id > '' AND purged_at = 0`,
			`SELECT id FROM stones WHERE id > ''`} {
			if err := r.Query(ctx, listInto(&missing), query); err != nil {
				return out, err
			}
		}
	}
	err = r.Query(ctx, func(row Row) error {
		var d digestRow
		err := row.Scan(&d.ID, &d.n, &d.Digest)
		if n, isOld := changed[string(d.ID)]; isOld && n > d.n {
			d.Digest = ""
		}
		delete(changed, string(d.ID))
		out.All = append(out.All, d.StoredDigest)
		return err
	}, `SELECT id, n, digest FROM digests WHERE id > ''`)
	for owner := range changed {
		if isConversation(owner) {
			missing = append(missing, owner)
		}
	}
	for _, id := range missing {
		out.All = append(out.All, driver.StoredDigest{ID: scrollback.ConversationID(id)})
	}
	// Of an id that is twice, the row with its digest is first.
	slices.SortStableFunc(out.All, func(a, b driver.StoredDigest) int { return cmp.Compare(a.ID, b.ID) })
	out.All = slices.CompactFunc(out.All, func(a, b driver.StoredDigest) bool { return a.ID == b.ID })
	return out, err
}

// selectDigestSpan reads the newest change, and that up to which all digests are stored, or -1.
const selectDigestSpan = `SELECT coalesce((SELECT max(n) FROM changes), 0),
	coalesce((SELECT n FROM digests WHERE id = ''), -1)`

// StoreDigests implements [driver.Log].
func (db log) StoreDigests(ctx context.Context, d driver.Digests, all bool) error {
	return db.write(ctx, "sqlstore.StoreDigests", func(ctx context.Context, w *writeTx) error {
		if err := w.holdName(ctx, digestsName); err != nil {
			return err
		}
		var newest, known, oldest int64
		if err := QueryRow(ctx, w.tx, scanInto(&newest, &known), selectDigestSpan); err != nil || d.At < known {
			return err
		}
		for _, one := range d.All {
			if err := w.storeDigest(ctx, one, d.At); err != nil {
				return err
			}
		}
		if !all {
			return nil
		}
		err := QueryRow(ctx, w.tx, scanInto(&oldest), `SELECT coalesce(min(n), 0) FROM changes`)
		if err != nil || oldest > d.At+1 {
			return err // some of what was changed meanwhile may be told no more
		}
		return w.upsertDigest(ctx, "", d.At, "")
	})
}

// storeDigest stores a digest, or forgets it, unless something newer is known.
func (w *writeTx) storeDigest(ctx context.Context, d driver.StoredDigest, at int64) error {
	if d.Digest == "" {
		return w.tx.Queue(ctx, `DELETE FROM digests WHERE id = $1 AND n <= $2`, d.ID, at)
	}
	return w.upsertDigest(ctx, d.ID, at, d.Digest)
}

func (w *writeTx) upsertDigest(ctx context.Context, id scrollback.ConversationID, at int64, digest string) error {
	return w.tx.Queue(ctx, `INSERT INTO digests (id, n, digest) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET
		n = excluded.n, digest = excluded.digest WHERE digests.n <= excluded.n`, id, at, digest)
}
