package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// keyTable has no secret: only its hash is stored, beside it. A key is never removed while it can be
// used.
var keyTable = table[scrollback.Key]{columns: []column[scrollback.Key]{
	{"id", func(k *scrollback.Key) any { return &k.ID }},
	{"name", func(k *scrollback.Key) any { return &k.Name }},
	{"role", func(k *scrollback.Key) any { return &k.Role }},
	{"projects", func(k *scrollback.Key) any { return asJSON(&k.Projects) }},
	{"created_at", func(k *scrollback.Key) any { return &k.CreatedAt }},
	{"expires_at", func(k *scrollback.Key) any { return &k.ExpiresAt }},
	{"revoked_at", func(k *scrollback.Key) any { return &k.RevokedAt }},
	{"last_used_at", func(k *scrollback.Key) any { return &k.LastUsedAt }},
	{"door", func(k *scrollback.Key) any { return &k.Door }},
}}

var selectKeys = `SELECT ` + keyTable.columnList() + ` FROM keys`

// scanKey reads a key, and what was selected behind its columns.
func scanKey(k *scrollback.Key, more ...any) func(Row) error {
	return keyTable.scanEachWith(func(read scrollback.Key) error { *k = read; return nil }, more...)
}

// missingKeyError is the error for a row that is not there.
func missingKeyError(err error, op, what string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return scrollback.Errorf(scrollback.NotFound, op, "%s", what)
	}
	return err
}

const keyEnded = `(revoked_at > 0 OR expires_at > 0 AND expires_at <= $1)`

// AddKey implements [driver.Access].
func (db access) AddKey(ctx context.Context, n driver.NewKey) error {
	const op = "sqlstore.AddKey"
	values, err := keyTable.values(&n.Key)
	if err != nil {
		return db.wrapError(op, err)
	}
	return db.write(ctx, op, func(ctx context.Context, w *writeTx) error {
		if err := w.holdName(ctx, "keys"); err != nil {
			return err
		}
		var same, all int
		err := QueryRow(ctx, w.tx, scanInto(&same, &all),
			`SELECT count(*) FILTER (WHERE name = $2 AND NOT `+keyEnded+`), count(*) FROM keys`, n.Now, n.Key.Name)
		switch {
		case err != nil:
			return err
		case same > 0:
			return scrollback.Errorf(scrollback.Conflict, op, i18n.KeyNameTaken, n.Key.Name)
		case all >= n.Most:
			gone, err := w.tx.Exec(ctx, `DELETE FROM keys WHERE id = (SELECT id FROM keys WHERE `+keyEnded+
				` ORDER BY created_at, id LIMIT 1)`, n.Now)
			if err != nil {
				return err
			}
			if gone == 0 {
				return scrollback.Errorf(scrollback.Refused, op, i18n.TooManyKeys, all)
			}
		}
		return w.tx.Queue(ctx, `INSERT INTO keys `+keyTable.insertClause("hash"), append(values, n.Hash[:])...)
	})
}

// ListKeys implements [driver.Access].
func (db access) ListKeys(ctx context.Context) ([]scrollback.Key, error) {
	var out []scrollback.Key
	err := db.Readers.Query(ctx, keyTable.appendTo(&out), selectKeys+` ORDER BY created_at, id`)
	return out, db.wrapError("sqlstore.ListKeys", err)
}

// RevokeKey implements [driver.Access].
func (db access) RevokeKey(ctx context.Context, id scrollback.KeyID, now int64) (k scrollback.Key, err error) {
	const op = "sqlstore.RevokeKey"
	err = db.write(ctx, op, func(ctx context.Context, w *writeTx) error {
		err := w.tx.Queue(ctx, `UPDATE keys SET revoked_at = $2 WHERE id = $1 AND revoked_at = 0`, id, now)
		if err == nil {
			err = w.tx.Queue(ctx, `DELETE FROM sign_ins WHERE key_id = $1`, id)
		}
		if err != nil {
			return err
		}
		return missingKeyError(
			QueryRow(ctx, w.tx, scanKey(&k), selectKeys+` WHERE id = $1`, id),
			op,
			"no such key",
		)
	})
	return k, err
}

// FindKey implements [driver.Access].
func (db access) FindKey(ctx context.Context, hash driver.SecretHash) (k scrollback.Key, err error) {
	const op = "sqlstore.FindKey"
	err = QueryRow(ctx, db.Readers, scanKey(&k), selectKeys+` WHERE hash = $1`, hash[:])
	return k, db.wrapError(op, missingKeyError(err, op, "no such key"))
}

// UseKey implements [driver.Access].
func (db access) UseKey(ctx context.Context, id scrollback.KeyID, now, every int64) error {
	return db.write(ctx, "sqlstore.UseKey", func(ctx context.Context, w *writeTx) error {
		return w.tx.Queue(ctx, `UPDATE keys SET last_used_at = $2 WHERE id = $1 AND last_used_at <= $3`, id, now, now-every)
	})
}

// SignIn implements [driver.Access].
func (db access) SignIn(ctx context.Context, s driver.NewSignIn) error {
	const op = "sqlstore.SignIn"
	return db.write(ctx, op, func(ctx context.Context, w *writeTx) error {
		var k scrollback.Key
		if err := QueryRow(ctx, w.tx, scanKey(&k), selectKeys+` WHERE id = $1`, s.Key); err != nil {
			return missingKeyError(err, op, "no such key")
		}
		err := w.tx.Queue(ctx, `DELETE FROM sign_ins WHERE expires_at <= $1`, s.Now)
		if err == nil {
			err = w.tx.Queue(ctx, `INSERT INTO sign_ins (hash, key_id, created_at, expires_at) VALUES (`+parameters(4)+`)`,
				s.Hash[:], s.Key, s.Now, s.Ends)
		}
		if err != nil {
			return err
		}
		return w.tx.Queue(ctx, `DELETE FROM sign_ins WHERE key_id = $1 AND hash IN
			(SELECT hash FROM sign_ins WHERE key_id = $1 AND hash <> $3 ORDER BY created_at DESC, hash DESC LIMIT 1000000 OFFSET $2)`, s.Key, s.Most-1, s.Hash[:])
	})
}

// FindSignIn implements [driver.Access].
func (db access) FindSignIn(ctx context.Context, hash driver.SecretHash,
	now int64) (k scrollback.Key, ends int64, err error) {
	const op = "sqlstore.FindSignIn"
	err = QueryRow(ctx, db.Readers, scanKey(&k, &ends),
		`SELECT k.id, k.name, k.role, k.projects, k.created_at, k.expires_at, k.revoked_at, k.last_used_at, k.door,
		s.expires_at
		FROM sign_ins s JOIN keys k ON k.id = s.key_id WHERE s.hash = $1 AND s.expires_at > $2`, hash[:], now)
	return k, ends, db.wrapError(op, missingKeyError(err, op, "not signed in"))
}

// SignOut implements [driver.Access].
func (db access) SignOut(ctx context.Context, hash driver.SecretHash) error {
	return db.write(ctx, "sqlstore.SignOut", func(ctx context.Context, w *writeTx) error {
		return w.tx.Queue(ctx, `DELETE FROM sign_ins WHERE hash = $1`, hash[:])
	})
}
