package sqlrow

import (
	"context"
	"database/sql"
	"errors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// Refer stores a source whose content a message has, unless a newer version is known.
func Refer(ctx context.Context, tx *Session, s driver.Source, m *scrollback.Message) error {
	return tx.Run(ctx, `INSERT INTO message_sources (conversation_id, source, version, sha256, branch, seq) VALUES (`+Marks(6)+`)
		ON CONFLICT (conversation_id, source) DO UPDATE SET version = excluded.version, sha256 = excluded.sha256,
		branch = excluded.branch, seq = excluded.seq WHERE excluded.version >= message_sources.version`,
		m.ConversationID, s.Name, s.Version, s.SHA256, m.Branch, m.Seq)
}

// Sources reads the newest version of each source that one of the conversations has, the
// first that has it.
func Sources(ctx context.Context, read *Session, in []scrollback.ConversationID,
	names []string) ([]driver.Source, error) {
	var out []driver.Source
	for _, name := range names {
		for _, id := range in {
			s := driver.Source{Name: name}
			err := read.Row(ctx, func(r Scanner) error { return r.Scan(&s.Version, &s.SHA256, &s.Branch, &s.Seq) },
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
