package sqlstore

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

var readingTable = table[driver.Reading]{columns: []column[driver.Reading]{
	{"conversation_id", func(r *driver.Reading) any { return &r.Conversation }},
	{"branch", func(r *driver.Reading) any { return &r.Branch }},
	{"from_seq", func(r *driver.Reading) any { return &r.From }},
	{"born", func(r *driver.Reading) any { return &r.Born }},
}}

// ReadingColumns are those of readings.
var ReadingColumns = readingTable.columnList()

// ReadReadings implements [driver.Log].
func (db log) ReadReadings(ctx context.Context, id scrollback.ConversationID) ([]driver.Reading, error) {
	var out []driver.Reading
	err := db.Readers.Query(ctx, readingTable.appendTo(&out),
		`SELECT `+ReadingColumns+` FROM readings WHERE conversation_id = $1 ORDER BY branch, from_seq`, id)
	return out, db.wrapError("sqlstore.ReadReadings", err)
}

// insertReading stores a reading, unless it is known.
func (w *writeTx) insertReading(ctx context.Context, r driver.Reading) error {
	values, err := readingTable.values(&r)
	if err != nil {
		return err
	}
	w.noteWritten(r.Conversation)
	return w.tx.Queue(ctx, `INSERT INTO readings `+readingTable.insertClause()+` ON CONFLICT DO NOTHING`, values...)
}
