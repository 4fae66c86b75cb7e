package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/postings"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// mortalWriter is a writer that dies: from the write with number at on, nothing happens any more.
type mortalWriter struct {
	sqlstore.Writer
	writes, diesAt atomic.Int64
}

var errDead = errors.New("dead")

func (m *mortalWriter) Write(ctx context.Context, fn func(context.Context, sqlstore.Tx) error) error {
	if n := m.writes.Add(1); m.diesAt.Load() > 0 && n >= m.diesAt.Load() {
		return errDead
	}
	return m.Writer.Write(ctx, fn)
}

// openMortal opens a database whose writer can die.
func openMortal(t *testing.T, path string) (*testDB, *mortalWriter) {
	t.Helper()
	d, err := openDatabase(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &mortalWriter{Writer: d.Writer}
	w := d.Writer.(*writer)
	d.Writer = m
	db := &testDB{sqlstore.New(d), w, d.Readers.(*readers).db, d.Readers.(*readers)}
	t.Cleanup(func() { db.Close() })
	return db, m
}

// appendMessages stores messages with these texts, whose words are the terms of the index.
func appendMessages(t *testing.T, db *testDB, id scrollback.ConversationID, texts ...string) {
	t.Helper()
	var in []driver.Entry
	for _, text := range texts {
		n := lastMessage.Add(1)
		in = append(in, driver.Entry{Message: scrollback.Message{ID: scrollback.MessageID(fmt.Sprint("told", n)),
			Role:   scrollback.RoleUser,
			Status: scrollback.StatusComplete, CreatedAt: n, Parts: scrollback.Parts{scrollback.Text{Text: text}}}})
	}
	if _, err := db.Log.AppendEntries(t.Context(), driver.Append{Conversation: id, IfHead: -1, Entries: in}); err != nil {
		t.Fatal(err)
	}
}

var lastMessage atomic.Int64

// catchUp indexes what is behind, in one batch.
func catchUp(ctx context.Context, db *testDB) (bool, error) {
	s, err := db.Index.ReadState(ctx)
	if err == nil && s.Cut != 1 {
		err = db.Index.Reset(ctx, 1)
		s.Watermark = 0
	}
	if err != nil {
		return false, err
	}
	ms, err := db.Index.ReadUnindexed(ctx, driver.UnindexedQuery{After: s.Watermark, Limit: 100_000})
	if err != nil || len(ms) == 0 {
		return false, err
	}
	d := driver.DocumentBatch{Cut: 1, From: s.Watermark, To: ms[len(ms)-1].Number}
	for _, m := range ms {
		words := strings.Fields(m.Parts[0].(scrollback.Text).Text)
		mark := driver.Mark{Place: m.Place, Role: m.Role, CreatedAt: m.CreatedAt, Length: len(words)}
		d.All = append(d.All, driver.Document{Terms: words, Mark: mark})
	}
	return db.Index.PutDocuments(ctx, d)
}

func mustCatchUp(t *testing.T, db *testDB) {
	t.Helper()
	if put, err := catchUp(t.Context(), db); err != nil || !put {
		t.Fatalf("put %v: %v", put, err)
	}
}

func maintainAll(ctx context.Context, db *testDB) error {
	for range 10_000 {
		if more, err := db.Index.Maintain(ctx); err != nil || !more {
			return err
		}
	}
	return errors.New("tending never ends")
}

// findTexts finds terms among messages and tail, as texts.
func findTexts(t *testing.T, db *testDB, terms ...string) []string {
	t.Helper()
	got, err := db.Index.FindPostings(t.Context(), driver.PostingQuery{Terms: terms})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i, p := range got {
		ms, err := db.Index.ReadMessagesAt(t.Context(), p.Places)
		if err != nil || len(ms) != len(p.Places) || int(p.Holding) != len(ms) {
			t.Fatalf("%s: %d of %d places, holding %d, %v", terms[i], len(ms), len(p.Places), p.Holding, err)
		}
		for _, m := range ms {
			out = append(out, fmt.Sprint(terms[i], " in ", m.ID))
		}
	}
	return out
}

// countRows counts rows of the index, those that nobody reads apart.
func countRows(t *testing.T, db *testDB) (segments, left int) {
	t.Helper()
	for query, n := range map[string]*int{
		`SELECT count(*) FROM index_segments WHERE state = 1`: &segments,
		`SELECT (SELECT count(*) FROM index_segments WHERE state <> 1 OR into_segment <> 0)
			+ (SELECT count(*) FROM index_blocks WHERE segment NOT IN (SELECT id FROM index_segments))
			+ (SELECT count(*) FROM index_marks WHERE segment NOT IN (SELECT id FROM index_segments)) + (SELECT count(*) FROM index_dropped)`: &left,
	} {
		if err := db.readers.QueryRow(query).Scan(n); err != nil {
			t.Fatal(err)
		}
	}
	return segments, left
}

// makeWords returns many words, so that a segment takes more than one transaction.
func makeWords(n int) string {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "w%xz%x ", (n*400+i)*2654435761%(1<<30), i)
	}
	return b.String()
}

// A program that is killed between any two writes of the index loses nothing that can be
// found, shows nothing half, and leaves nothing behind that is not removed.
func TestIndexKilled(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	terms := []string{"common", "secret", "word3", "new", "late"}
	base := filepath.Join(t.TempDir(), "s.db")
	before := makeSegments(t, base, terms)
	for at, done := int64(1), false; !done; at += testlength.Choose[int64](3, 1, 1) {
		path := filepath.Join(t.TempDir(), "s.db")
		copyFiles(t, base, path)
		db, m := openMortal(t, path)
		m.diesAt.Store(m.writes.Load() + at)
		put, err := catchUp(t.Context(), db)
		if err == nil {
			err = maintainAll(t.Context(), db)
		}
		done = err == nil
		m.diesAt.Store(0)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}

		db = openDB(t, path)
		after := findTexts(t, db, terms...)
		if !put {
			if !slices.Equal(before, after) {
				t.Fatalf("killed at write %d: found %v, was %v", at, after, before)
			}
			damageRows(t, db, `UPDATE index_segments SET until = 1 WHERE state = 0`) // its claim runs out
			mustCatchUp(t, db)
			after = findTexts(t, db, terms...)
		}
		if want := len(before) + 100; len(after) != want {
			t.Fatalf("killed at write %d: %d found, want %d", at, len(after), want)
		}
		damageRows(t, db, `UPDATE index_segments SET until = 1 WHERE state = 0`)
		if err := maintainAll(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if got := findTexts(t, db, terms...); !slices.Equal(got, after) {
			t.Fatalf("killed at write %d and tended: found %v, was %v", at, got, after)
		}
		if _, left := countRows(t, db); left != 0 {
			t.Fatalf("killed at write %d: %d rows are left", at, left)
		}
		if got := countBlocks(t, db, "secret"); got != 0 {
			t.Fatalf("killed at write %d: what was purged is in %d blocks", at, got)
		}
		db.Close()
		if at == 1 && done || at > 500 {
			t.Fatalf("%d writes were killed", at)
		}
	}
}

// makeSegments makes a database with segments to be joined, one that holds something purged and is
// left over, and many messages behind it; it returns what is found.
func makeSegments(t *testing.T, path string, terms []string) []string {
	db := openDB(t, path)
	runTurn(t, db, "c")
	runTurn(t, db, "gone")
	for i := range 9 {
		appendMessages(t, db, "c", fmt.Sprintf("common word%d", i), makeWords(2*i), makeWords(2*i+1), "common")
		appendMessages(t, db, "gone", "secret common", "secret")
		mustCatchUp(t, db)
	}
	if _, err := db.Log.PurgeConversation(t.Context(),
		driver.Purge{Conversation: "gone", Now: 5, Limit: 1000}); err != nil {
		t.Fatal(err)
	}
	found := findTexts(t, db, terms...)
	var texts []string
	for i := range 100 {
		texts = append(texts, "new", makeWords(100+i))
	}
	appendMessages(t, db, "c", texts...)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return found
}

// countBlocks counts the blocks that have a term.
func countBlocks(t *testing.T, db *testDB, want string) (n int) {
	t.Helper()
	rows, err := db.readers.Query(`SELECT first_term, start, data FROM index_blocks`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var b postings.Block
		if err := rows.Scan(&b.Term, &b.Start, &b.Data); err != nil {
			t.Fatal(err)
		}
		if err := b.Each(func(term []byte, _ postings.List) bool {
			if string(term) == want {
				n++
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

// Several programs write, index, maintain and purge at once; each search finds each message
// once, and in the end all that is left, and nothing that is not.
func TestIndexOfSeveral(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	first := openDB(t, path)
	mustReset(t, first)
	const programs, rounds = 3, 25
	var all sync.WaitGroup
	var finished atomic.Int64
	fail := make(chan error, 3*programs)
	try := func(fn func() error) {
		all.Go(func() {
			if err := fn(); err != nil {
				fail <- err
			}
		})
	}
	for p := range programs {
		db := openDB(t, path)
		id := scrollback.ConversationID(fmt.Sprint("c", p))
		runTurn(t, db, id)
		runTurn(t, db, id+"-gone")
		try(func() error {
			defer finished.Add(1)
			for i := range rounds {
				for _, to := range []scrollback.ConversationID{id, id + "-gone"} {
					e := driver.Entry{Message: scrollback.Message{ID: scrollback.MessageID(fmt.Sprint(to, i)),
						Role:   scrollback.RoleUser,
						Status: scrollback.StatusComplete,
						Parts:  scrollback.Parts{scrollback.Text{Text: fmt.Sprintf("all %s %s-%d", to, to, i)}}}}
					if _, err := db.Log.AppendEntries(context.Background(),
						driver.Append{Conversation: to, IfHead: -1, Entries: []driver.Entry{e}}); err != nil {
						return err
					}
				}
			}
			_, err := db.Log.PurgeConversation(context.Background(),
				driver.Purge{Conversation: id + "-gone", Now: 5, Limit: 1000})
			return err
		})
		for range 2 {
			try(func() error { return followIndex(db, func() bool { return finished.Load() == programs }) })
		}
	}
	all.Wait()
	close(fail)
	for err := range fail {
		t.Fatal(err)
	}
	for put := true; put; {
		var err error
		if put, err = catchUp(t.Context(), first); err != nil {
			t.Fatal(err)
		}
	}
	if err := maintainAll(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	terms := []string{"all"}
	for p := range programs {
		terms = append(terms, fmt.Sprintf("c%d", p), fmt.Sprintf("c%d-gone", p))
	}
	if got, want := len(findTexts(t, first, terms...)), 2*programs*rounds; got != want {
		t.Errorf("%d found, want %d", got, want)
	}
	if _, left := countRows(t, first); left != 0 {
		t.Errorf("%d rows are left", left)
	}
}

func mustReset(t *testing.T, db *testDB) {
	t.Helper()
	if err := db.Index.Reset(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
}

// followIndex indexes, maintains and searches until over returns true.
func followIndex(db *testDB, over func() bool) error {
	ctx := context.Background()
	for last := false; !last; {
		last = over()
		if _, err := catchUp(ctx, db); err != nil {
			return err
		}
		if _, err := db.Index.Maintain(ctx); err != nil {
			return err
		}
		got, err := db.Index.FindPostings(ctx, driver.PostingQuery{Terms: []string{"all"}})
		if err != nil {
			return err
		}
		seen := map[driver.Place]bool{}
		for _, p := range got[0].Places {
			seen[p] = true
		}
		if len(seen) != len(got[0].Places) || int(got[0].Holding) != len(seen) {
			return fmt.Errorf("%d places, %d of them different, holding %d", len(got[0].Places), len(seen), got[0].Holding)
		}
	}
	return nil
}

// Many look at once, with one connection between them and no statement prepared yet, while
// somebody writes: nobody waits for a connection that waits for them.
func TestIndexOneConnection(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	full := openDB(t, path)
	runTurn(t, full, "c")
	appendMessages(t, full, "c", "red", "blue")
	mustCatchUp(t, full)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 5 {
		d, err := openDatabase(ctx, path, &Options{Readers: 1})
		if err != nil {
			t.Fatal(err)
		}
		db := sqlstore.New(d)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				q := driver.PostingQuery{Terms: []string{"red", "b*"}, Role: scrollback.RoleUser}
				got, err := db.Index.FindPostings(ctx, q)
				if err != nil || got[0].Holding != 1 || got[1].Holding != 1 {
					t.Errorf("look %d: %+v, %v", i, got, err)
				}
				if _, err := db.Index.Maintain(ctx); err != nil {
					t.Errorf("tend %d: %v", i, err)
				}
				m, err := db.Index.ReadMarks(ctx, []driver.Place{driver.NewPlace(1, 1)})
				if err != nil || len(m) != 1 {
					t.Errorf("marks %d: %+v, %v", i, m, err)
				}
			})
		}
		all.Wait()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// An index that may only be read is searched, and what is behind it is read.
func TestIndexReadOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	db := openDB(t, path)
	runTurn(t, db, "c")
	appendMessages(t, db, "c", "red", "blue")
	mustCatchUp(t, db)
	appendMessages(t, db, "c", "red again")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s, err := d.Index.ReadState(t.Context())
	if err != nil || s.Documents != 2 || s.Newest != s.Watermark+1 {
		t.Fatalf("%+v, %v", s, err)
	}
	got, err := d.Index.FindPostings(t.Context(), driver.PostingQuery{Terms: []string{"red"}})
	if err != nil || got[0].Holding != 1 || len(got[0].Places) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	behind, err := d.Index.ReadUnindexed(t.Context(), driver.UnindexedQuery{After: s.Watermark, Limit: 9})
	if err != nil || len(behind) != 1 || behind[0].Seq != 3 {
		t.Errorf("behind it is %+v, %v", behind, err)
	}
	_, err = d.Index.PutDocuments(t.Context(), driver.DocumentBatch{Cut: s.Cut, From: s.Watermark, To: s.Newest})
	if scrollback.CodeOf(err) != scrollback.Refused {
		t.Errorf("put: %v", err)
	}
}

// A database from before has the messages that its full-text index had, behind the new one;
// its branches get numbers by age, and new ones go on.
func TestMigrateIndex(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	older, err := sql.Open("sqlite", fileDSN(path, "rwc", 0))
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	s, err := readSchema(ctx, older, path)
	if err == nil {
		_, err = s.migrations.UpTo(ctx, 16)
	}
	statements := []string{fmt.Sprint("PRAGMA application_id = ", applicationID), "PRAGMA journal_mode = WAL"}
	for _, id := range []string{"b", "a", "c"} {
		statements = append(statements, fmt.Sprintf(`INSERT INTO conversations (id, project, title, model, instructions, policy, limit_tokens, roots, settings, pinned_seqs,
				meta, parent, version, branch, messages, turn, created_at, updated_at, deleted_at)
				VALUES ('%[1]s', '', '', '', '', '', 0, '', '', '', '', '', 1, 'b-%[1]s', 1, '', 0, 0, 0)`, id),
			fmt.Sprintf(`INSERT INTO branches (id, conversation_id, parent_branch, at_seq, head_seq, sum_tokens, sum_bytes, sum_images, view, view_version)
				VALUES ('b-%[1]s', '%[1]s', '', 0, 1, 0, 0, 0, '', 0)`, id),
			fmt.Sprintf(`INSERT INTO messages (id, conversation_id, branch, seq, turn_id, role, name, parts, model, usage, tokens, own_tokens, own_bytes, own_images,
				sum_tokens, sum_bytes, sum_images, status, created_at, meta)
				VALUES ('m-%[1]s', '%[1]s', 'b-%[1]s', 1, '', 'user', '', '[{"type":"text","text":"one"}]', '', '', 0, 0, 0, 0, 0, 0, 0, 'complete', 5, '')`, id))
	}
	for _, statement := range append(statements,
		`INSERT INTO message_terms (rowid, scope, terms) VALUES (1, 's', 'one')`) {
		if err == nil {
			_, err = older.ExecContext(ctx, statement)
		}
	}
	if err == nil {
		err = older.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	db := openDB(t, path)
	runTurn(t, db, "d")
	appendMessages(t, db, "d", "two")
	mustCatchUp(t, db)
	lines, err := db.Index.FindBranches(ctx, driver.IndexedBranchQuery{Numbers: []int64{1, 2, 3, 4, 5}})
	if err != nil || !slices.Equal(slices.Sorted(maps.Keys(lines)), []int64{1, 2, 3, 4}) ||
		lines[1].Conversation != "a" || lines[4].Conversation != "d" {
		t.Errorf("%+v, %v", lines, err)
	}
	if got := findTexts(t, db, "one", "two"); len(got) != 4 {
		t.Errorf("found %v", got)
	}
	var tables string
	err = db.readers.QueryRow(`SELECT group_concat(name) FROM sqlite_schema`).Scan(&tables)
	if err != nil || strings.Contains(tables, "message_terms") {
		t.Errorf("%s, %v", tables, err)
	}
}

// Whatever is wrong with its rows, the index says so, a check finds it, and emptying the index
// and making it again repairs it.
func TestIndexDamaged(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "s.db")
	db := openDB(t, base)
	runTurn(t, db, "c")
	for i := range 3 {
		appendMessages(t, db, "c", fmt.Sprintf("red word%d", i), "blue blue", makeWords(i))
		mustCatchUp(t, db)
	}
	if got := findFlaws(t, db); len(got) > 0 {
		t.Fatalf("a sound index has flaws: %+v", got)
	}
	sound := findTexts(t, db, "red", "blue", "word1")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{
		`UPDATE index_blocks SET data = x'00ff' WHERE segment = 1`,
		`UPDATE index_blocks SET data = zeroblob(length(data)) WHERE segment = 2`,
		`UPDATE index_blocks SET data = substr(data, 1, length(data) - 1) WHERE segment = 2`,
		`UPDATE index_blocks SET first_term = 'zzz' WHERE id = (SELECT min(id) FROM index_blocks)`,
		`UPDATE index_blocks SET segment = 99 WHERE segment = 2`,
		`DELETE FROM index_blocks WHERE segment = 1`,
		`UPDATE index_marks SET data = x'01' WHERE segment = 1`,
		`DELETE FROM index_marks WHERE segment = 3`,
		`UPDATE index_marks SET segment = 77 WHERE segment = 3`,
		`UPDATE index_segments SET places = x'ff' WHERE id = 1`,
		`UPDATE index_segments SET places = (SELECT places FROM index_segments WHERE id = 2) WHERE id = 1`,
		`UPDATE index_segments SET documents = 7 WHERE id = 3`,
		`UPDATE index_segments SET terms = 1 WHERE id = 3`,
		`DELETE FROM index_segments WHERE id = 1`,
		`DELETE FROM index_state`,
		`DELETE FROM messages WHERE seq = 9`,
	} {
		path := filepath.Join(t.TempDir(), "s.db")
		copyFiles(t, base, path)
		db := openDB(t, path)
		damageRows(t, db, damage)
		found := findFlaws(t, db)
		if !slices.ContainsFunc(found, func(f driver.Flaw) bool { return f.Kind == driver.FlawIndex }) {
			t.Errorf("%s: the flaws are %+v", damage, found)
		}
		q := driver.PostingQuery{Terms: []string{"red", "blue", "w*"}, Role: scrollback.RoleUser}
		if _, err := db.Index.FindPostings(t.Context(), q); err != nil && scrollback.CodeOf(err) != scrollback.Internal {
			t.Errorf("%s: %v", damage, err)
		}
		mustReset(t, db)
		if err := maintainAll(t.Context(), db); err != nil {
			t.Errorf("%s, and reset: %v", damage, err)
		}
		mustCatchUp(t, db)
		if got := findTexts(t, db, "red", "blue", "word1"); !slices.Equal(got, sound) {
			t.Errorf("%s, and made again: found %v, want %v", damage, got, sound)
		}
		if got := findFlaws(t, db); len(got) > 0 {
			t.Errorf("%s, and made again: %+v", damage, got)
		}
		db.Close()
	}
}
