package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

var stoneTable = table[stamp.Stone]{columns: []column[stamp.Stone]{
	{"id", func(s *stamp.Stone) any { return &s.ID }},
	{"project", func(s *stamp.Stone) any { return &s.Project }},
	{"at", func(s *stamp.Stone) any { return &s.At }},
	{"by", func(s *stamp.Stone) any { return &s.By }},
}}

// StoneColumns are those of stones.
var StoneColumns = stoneTable.columnList()

var selectStone = `SELECT ` + StoneColumns + ` FROM stones WHERE id = $1`

// findStone reads the stone of a conversation; sql.ErrNoRows if it has none.
func findStone(ctx context.Context, r Reader, id scrollback.ConversationID) (s stamp.Stone, err error) {
	err = QueryRow(ctx, r, func(row Row) error { return stoneTable.scan(&s, row) }, selectStone, id)
	return s, err
}

// ReadStone implements [driver.Log].
func (db log) ReadStone(ctx context.Context, id scrollback.ConversationID) (stamp.Stone, error) {
	s, err := findStone(ctx, db.Readers, id)
	if errors.Is(err, sql.ErrNoRows) {
		return s, noConversation(id)
	}
	return s, db.wrapError("sqlstore.ReadStone", err)
}

// ListStones implements [driver.Log].
func (db log) ListStones(ctx context.Context, after scrollback.ConversationID, limit int) ([]stamp.Stone, error) {
	var out []stamp.Stone
	err := db.Readers.Query(ctx, stoneTable.appendTo(&out),
		`SELECT `+StoneColumns+` FROM stones WHERE id > $1 ORDER BY id LIMIT $2`, after, limit)
	return out, db.wrapError("sqlstore.ListStones", err)
}

// PutStone implements [driver.Log].
func (db log) PutStone(ctx context.Context, s stamp.Stone) error {
	const op = "sqlstore.PutStone"
	return db.write(ctx, op, func(ctx context.Context, w *writeTx) error {
		if err := w.holdName(ctx, "stone "+string(s.ID)); err != nil {
			return err
		}
		var c conversationRow
		switch err := w.holdConversation(ctx, s.ID, &c); {
		case err == nil && c.PurgedAt == 0:
			return scrollback.Errorf(scrollback.Conflict, op, i18n.ConversationIsHere, s.ID)
		case err != nil && scrollback.CodeOf(err) != scrollback.NotFound:
			return err
		}
		return w.putStone(ctx, s)
	})
}

// putStone stores a stone, unless the one that is here beats it.
func (w *writeTx) putStone(ctx context.Context, s stamp.Stone) error {
	was, err := findStone(ctx, w.tx, s.ID)
	if err == nil && !s.Beats(was) {
		return nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	values, err := stoneTable.values(&s)
	if err != nil {
		return err
	}
	w.noteWritten(s.ID)
	return w.tx.Queue(ctx, `INSERT INTO stones `+stoneTable.insertClause()+
		` ON CONFLICT (id) DO UPDATE SET `+stoneTable.upsertClause("id"), values...)
}

// layStone leaves a stone of a conversation that is being purged, and removes its clocks.
func (j *purgeTx) layStone(ctx context.Context, p driver.Purge) error {
	owner := stamp.OfConversation(j.c.ID)
	s := stamp.Stone{ID: j.c.ID, Project: j.c.Project}
	if p.Stone != nil {
		s = *p.Stone
	} else {
		at, err := j.nextStamp(ctx, owner, p.Now)
		if err != nil {
			return err
		}
		s.Stamp = at
	}
	if err := j.putStone(ctx, s); err != nil {
		return err
	}
	return j.forgetClocks(ctx, owner)
}

// checkNoStone is conflict if a conversation was purged.
func (w *writeTx) checkNoStone(ctx context.Context, op string, id scrollback.ConversationID) error {
	switch _, err := findStone(ctx, w.tx, id); {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	return scrollback.Errorf(scrollback.Conflict, op, i18n.ConversationWasPurged, id)
}
