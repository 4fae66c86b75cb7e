package sqlite

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlrow"
)

// indexSegments is how many pieces the full-text index is in, as its structure
// record says: a cookie, a mark of the format, levels, pieces.
func indexSegments(t *testing.T, db *file) int {
	t.Helper()
	var b []byte
	if err := db.readers.QueryRow(`SELECT block FROM message_terms_data WHERE id = 10`).Scan(&b); err != nil {
		t.Fatal(err)
	}
	number := func() (n int) {
		for {
			c := b[0]
			b = b[1:]
			if n = n<<7 | int(c&0x7f); c < 0x80 {
				return n
			}
		}
	}
	if binary.BigEndian.Uint32(b[4:]) == 0xff000001 {
		b = b[4:]
	}
	b = b[4:]
	number() // levels
	return number()
}

func put(t *testing.T, db *file, id scrollback.ConversationID, n int) {
	t.Helper()
	m := scrollback.Message{ID: scrollback.MessageID(fmt.Sprintf("%s-%d", id, n)), Role: scrollback.RoleUser,
		Status: scrollback.StatusComplete,
		Parts:  scrollback.Parts{scrollback.Text{Text: "x"}}}
	_, err := db.Log.Append(context.Background(), driver.Append{Conversation: id, Now: int64(n), IfHead: -1,
		Entries: []driver.Entry{{Message: m, Terms: fmt.Sprintf("word%d number common", n%50)}}})
	if err != nil {
		t.Fatal(err)
	}
}

func converse(t *testing.T, db *file, id scrollback.ConversationID) {
	t.Helper()
	_, _, err := db.Log.Create(context.Background(), scrollback.Conversation{ID: id, Project: "default"},
		scrollback.Branch{ID: scrollback.BranchID("b-" + id), Conversation: id})
	if err != nil {
		t.Fatal(err)
	}
}

func found(t *testing.T, db *file, term string) int {
	t.Helper()
	r, err := db.Find.Search(context.Background(), driver.SearchQuery{Match: driver.Match{Any: []string{term}}, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return len(r.Found)
}

// However many small commits there are, and whether or not the writer ever rests,
// the index stays in few pieces and the log in bounds, and all is found.
func TestUpkeepBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	db := openDB(t, path)
	converse(t, db, "c")
	const commits = 1500
	most := 0
	for n := range commits {
		put(t, db, "c", n)
		if n%10 == 0 {
			most = max(most, indexSegments(t, db))
		}
	}
	if most < 8 || most > 128 {
		t.Errorf("the index was in up to %d pieces", most)
	}
	if n := found(t, db, "word7"); n != commits/50 {
		t.Errorf("%d messages found, want %d", n, commits/50)
	}
	if st, err := os.Stat(path + "-wal"); err != nil || st.Size() > 2*copyAfter*1100 {
		t.Errorf("the log has %v, %v", st, err)
	}
}

// A program that lives for one commit at a time leaves no more pieces behind than
// one that goes on.
func TestUpkeepOfShortLives(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	most := 0
	for n := range 60 {
		db := openDB(t, path)
		if n == 0 {
			converse(t, db, "c")
		}
		put(t, db, "c", n)
		most = max(most, indexSegments(t, db))
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if most < 2 || most > 20 {
		t.Errorf("the index was in up to %d pieces", most)
	}
	db := openDB(t, path)
	if n := found(t, db, "common"); n != 60 {
		t.Errorf("%d messages found, want 60", n)
	}
}

// A job that fails leaves nothing of what it had left for the end of its batch,
// beside neighbours that do not.
func TestLaterGoesWithItsJob(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
	converse(t, db, "c")
	refused := scrollback.Errorf(scrollback.Conflict, "test", "no")
	jobs := func(n int) (batch []job) {
		for i := range n {
			batch = append(batch, job{ctx: context.Background(), done: make(chan error, 1), fn: func(ctx context.Context, tx *sqlrow.Session) error {
				tx.Later(dialect.InsertTerms, 1000+i, "scope", fmt.Sprintf("job%d", i))
				if i%2 == 1 {
					return refused
				}
				return nil
			}})
		}
		return batch
	}
	// The batch runs on the writer's own connection, which nobody else uses now.
	batch := jobs(4)
	db.writer.run(batch)
	alone := jobs(2)[1:]
	db.writer.run(alone)
	for i, j := range append(batch, alone...) {
		if err := <-j.done; (err != nil) != (i%2 == 1 || i == 4) {
			t.Errorf("job %d: %v", i, err)
		}
	}
	for i := range 4 {
		var n int
		if err := db.readers.QueryRow(`SELECT count(*) FROM message_terms WHERE message_terms MATCH $1`,
			fmt.Sprintf("job%d", i)).Scan(&n); err != nil || n != (i+1)%2 {
			t.Errorf("job %d left %d rows, %v", i, n, err)
		}
	}
}
