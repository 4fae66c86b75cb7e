// Package sqlsource keeps the newest version of what messages of a conversation refer to: one
// row a source, with the message that has its content.
//
// It may not know a dialect, or what a source is.
package sqlsource

import (
	"context"
	"database/sql"
	"errors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// Keep stores sources whose content a message has, unless a newer version is known.
func Keep(ctx context.Context, tx *sqlrow.Session, all []driver.Source, m *scrollback.Message) error {
	for _, s := range all {
		if err := keep(ctx, tx, s, m); err != nil {
			return err
		}
	}
	return nil
}

func keep(ctx context.Context, tx *sqlrow.Session, s driver.Source, m *scrollback.Message) error {
	return tx.Run(ctx, `INSERT INTO message_sources (conversation_id, source, version, sha256, branch, seq) VALUES (`+sqlrow.Marks(6)+`)
		ON CONFLICT (conversation_id, source) DO UPDATE SET version = excluded.version, sha256 = excluded.sha256,
		branch = excluded.branch, seq = excluded.seq WHERE excluded.version >= message_sources.version`,
		m.ConversationID, s.Name, s.Version, s.SHA256, m.Branch, m.Seq)
}

// Find returns the sources of some names, of each that of the first conversation that has one.
func Find(ctx context.Context, read *sqlrow.Session, in []scrollback.ConversationID, names []string) (out []driver.Source, err error) {
	for _, name := range names {
		for _, id := range in {
			s := driver.Source{Name: name}
			err := read.Row(ctx, func(r sqlrow.Scanner) error { return r.Scan(&s.Version, &s.SHA256, &s.Branch, &s.Seq) },
				`SELECT version, sha256, branch, seq FROM message_sources WHERE conversation_id = $1 AND source = $2`, id, name)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return nil, err
			}
			out = append(out, s)
			break
		}
	}
	return out, nil
}

// Forget removes the sources of a branch's own messages behind a seq.
func Forget(ctx context.Context, tx *sqlrow.Session, b scrollback.Branch, seq int64) error {
	return tx.Run(ctx, `DELETE FROM message_sources WHERE conversation_id = $1 AND branch = $2 AND seq > $3`, b.Conversation, b.ID, seq)
}

// Sweep removes a source if its conversation is gone.
func Sweep(ctx context.Context, tx *sqlrow.Session, s driver.Stray) error {
	return tx.Run(ctx, `DELETE FROM message_sources WHERE conversation_id = $1 AND source = $2
		AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = message_sources.conversation_id)`, s.Conversation, s.Source)
}
