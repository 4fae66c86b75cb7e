package sqldriver

import (
	"context"
	"database/sql"
	"errors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// keys implements [driver.Keys].
//
// No secret is stored, only its hash; a key is never removed while it can be used.
type keys struct {
	Read  *sqlrow.Session
	Write func(ctx context.Context, op string, fn func(ctx context.Context, tx *sqlrow.Session) error) error
	Wrap  func(op string, err error) error // classifies an error of the database
}

var _ driver.Keys = keys{}

const keyColumns = `k.id, k.name, k.role, k.projects, k.created_at, k.expires_at, k.revoked_at, k.last_used_at`

// scanKey reads the columns of a key, and whatever else was selected behind them.
func scanKey(k *scrollback.Key, more ...any) func(sqlrow.Scanner) error {
	return func(r sqlrow.Scanner) error {
		var projects string
		if err := r.Scan(append([]any{&k.ID, &k.Name, &k.Role, &projects, &k.CreatedAt, &k.ExpiresAt, &k.RevokedAt,
			&k.LastUsedAt}, more...)...); err != nil {
			return err
		}
		var col sqlrow.Columns
		col.Parse(projects, &k.Projects)
		return col.Err
	}
}

// missingKeyError is the error for a row that is not there.
func missingKeyError(err error, op, what string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return scrollback.Errorf(scrollback.NotFound, op, "%s", what)
	}
	return err
}

const keyEnded = `(revoked_at > 0 OR expires_at > 0 AND expires_at <= $1)`

// Add implements [driver.Keys].
func (db keys) Add(ctx context.Context, n driver.NewKey) error {
	const op = "sqldriver.AddKey"
	k := n.Key
	projects, err := sqlrow.JSON(k.Projects)
	if err != nil {
		return db.Wrap(op, err)
	}
	return db.Write(ctx, op, func(ctx context.Context, tx *sqlrow.Session) error {
		if err := tx.Alone(ctx, "keys"); err != nil {
			return err
		}
		var same, all int
		count := func(r sqlrow.Scanner) error { return r.Scan(&same, &all) }
		err := tx.Row(ctx, count, `SELECT count(*) FILTER (WHERE name = $2 AND NOT `+keyEnded+`), count(*) FROM keys`, n.Now,
			k.Name)
		switch {
		case err != nil:
			return err
		case same > 0:
			return scrollback.Errorf(scrollback.Conflict, op, "there is a key with the name %s", k.Name)
		case all >= n.Most:
			gone, err := tx.Exec(ctx, `DELETE FROM keys WHERE id = (SELECT id FROM keys WHERE `+keyEnded+
				` ORDER BY created_at, id LIMIT 1)`, n.Now)
			if err != nil {
				return err
			}
			if rows, err := gone.RowsAffected(); err != nil || rows == 0 {
				return errors.Join(err, scrollback.Errorf(scrollback.Refused, op, "there are %d keys; revoke one that nobody needs",
					all))
			}
		}
		return tx.Run(ctx,
			`INSERT INTO keys (id, hash, name, role, projects, created_at, expires_at, revoked_at, last_used_at) VALUES (`+
				sqlrow.Marks(9)+`)`,
			k.ID, n.Hash[:], k.Name, k.Role, projects, k.CreatedAt, k.ExpiresAt, k.RevokedAt, k.LastUsedAt)
	})
}

// List implements [driver.Keys].
func (db keys) List(ctx context.Context) ([]scrollback.Key, error) {
	var out []scrollback.Key
	err := db.Read.Rows(ctx, func(r sqlrow.Scanner) error {
		out = append(out, scrollback.Key{})
		return scanKey(&out[len(out)-1])(r)
	}, `SELECT `+keyColumns+` FROM keys k ORDER BY k.created_at, k.id`)
	return out, db.Wrap("sqldriver.Keys", err)
}

// Revoke implements [driver.Keys].
func (db keys) Revoke(ctx context.Context, id scrollback.KeyID, now int64) (k scrollback.Key, err error) {
	const op = "sqldriver.RevokeKey"
	err = db.Write(ctx, op, func(ctx context.Context, tx *sqlrow.Session) error {
		err := tx.Run(ctx, `UPDATE keys SET revoked_at = $2 WHERE id = $1 AND revoked_at = 0`, id, now)
		if err == nil {
			err = tx.Run(ctx, `DELETE FROM sign_ins WHERE key_id = $1`, id)
		}
		if err != nil {
			return err
		}
		return missingKeyError(
			tx.Row(ctx, scanKey(&k), `SELECT `+keyColumns+` FROM keys k WHERE k.id = $1`, id),
			op,
			"no such key",
		)
	})
	return k, err
}

// Find implements [driver.Keys].
func (db keys) Find(ctx context.Context, hash driver.SecretHash) (k scrollback.Key, err error) {
	const op = "sqldriver.Key"
	err = db.Read.Row(ctx, scanKey(&k), `SELECT `+keyColumns+` FROM keys k WHERE k.hash = $1`, hash[:])
	return k, db.Wrap(op, missingKeyError(err, op, "no such key"))
}

// Use implements [driver.Keys].
func (db keys) Use(ctx context.Context, id scrollback.KeyID, now, every int64) error {
	return db.Write(ctx, "sqldriver.UseKey", func(ctx context.Context, tx *sqlrow.Session) error {
		return tx.Run(ctx, `UPDATE keys SET last_used_at = $2 WHERE id = $1 AND last_used_at <= $3`, id, now, now-every)
	})
}

// SignIn implements [driver.Keys].
func (db keys) SignIn(ctx context.Context, s driver.NewSignIn) error {
	const op = "sqldriver.SignIn"
	return db.Write(ctx, op, func(ctx context.Context, tx *sqlrow.Session) error {
		var k scrollback.Key
		if err := tx.Row(ctx, scanKey(&k), `SELECT `+keyColumns+` FROM keys k WHERE k.id = $1`, s.Key); err != nil {
			return missingKeyError(err, op, "no such key")
		}
		err := tx.Run(ctx, `DELETE FROM sign_ins WHERE expires_at <= $1`, s.Now)
		if err == nil {
			err = tx.Run(ctx, `INSERT INTO sign_ins (hash, key_id, created_at, expires_at) VALUES (`+sqlrow.Marks(4)+`)`,
				s.Hash[:], s.Key, s.Now, s.Ends)
		}
		if err != nil {
			return err
		}
		return tx.Run(ctx, `DELETE FROM sign_ins WHERE key_id = $1 AND hash IN
			(SELECT hash FROM sign_ins WHERE key_id = $1 AND hash <> $3 ORDER BY created_at DESC, hash DESC LIMIT 1000000 OFFSET $2)`, s.Key, s.Most-1, s.Hash[:])
	})
}

// SignedIn implements [driver.Keys].
func (db keys) SignedIn(ctx context.Context, hash driver.SecretHash,
	now int64) (k scrollback.Key, ends int64, err error) {
	const op = "sqldriver.SignedIn"
	err = db.Read.Row(
		ctx,
		scanKey(&k, &ends),
		`SELECT `+keyColumns+`, s.expires_at FROM sign_ins s JOIN keys k ON k.id = s.key_id
		WHERE s.hash = $1 AND s.expires_at > $2`,
		hash[:],
		now,
	)
	return k, ends, db.Wrap(op, missingKeyError(err, op, "not signed in"))
}

// SignOut implements [driver.Keys].
func (db keys) SignOut(ctx context.Context, hash driver.SecretHash) error {
	return db.Write(ctx, "sqldriver.SignOut", func(ctx context.Context, tx *sqlrow.Session) error {
		return tx.Run(ctx, `DELETE FROM sign_ins WHERE hash = $1`, hash[:])
	})
}
