package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	sqlstore "github.com/scrollback-ai/scrollback/internal/store/sql"
)

// testDay is a time within day 20000, and the day.
const testDay = 20000*scrollback.DayMS + 5

// bookUsage enters calls of a model on a day of a conversation that is in a project.
func bookUsage(t *testing.T, db *testDB, model string, all ...scrollback.Usage) {
	t.Helper()
	var id scrollback.ConversationID = "c"
	b := scrollback.Branch{ID: "b", Conversation: id}
	if _, _, err := db.Log.CreateConversation(t.Context(),
		scrollback.Conversation{ID: id, Project: "house", Branch: b.ID, Version: 1},
		b); err != nil {
		t.Fatal(err)
	}
	h, err := db.Log.ReadHead(t.Context(), id)
	c := driver.FoldCommit{Conversation: id, Branch: b.ID, IfViewVersion: h.Branch.ViewVersion, View: h.Branch.View}
	for _, u := range all {
		c.Usage = append(c.Usage, scrollback.UsageRecord{Usage: u, Conversation: id, Model: model, At: testDay})
	}
	if err == nil {
		err = db.Views.CommitFold(t.Context(), c)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func usageOf(input int64) scrollback.Usage {
	return scrollback.Usage{InputTokens: input, CachedTokens: 1, OutputTokens: 2, TotalTokens: input + 2, Cost: 0.1,
		Currency: "USD"}
}

// damageRows runs statements behind the driver's back.
func damageRows(t *testing.T, db *testDB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		err := db.writer.Write(t.Context(), func(ctx context.Context, tx sqlstore.Tx) error {
			tx.Cache().Clear()
			return tx.Queue(ctx, s)
		})
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// findFlaws returns those that an audit finds.
func findFlaws(t *testing.T, db *testDB) (out []driver.Flaw) {
	t.Helper()
	err := db.Admin.WalkRows(t.Context(), driver.AuditWalk{
		Total:        func(int64) error { return nil },
		Conversation: func(scrollback.Conversation) error { return nil },
		Branch:       func(scrollback.Branch) error { return nil },
		Message:      func(scrollback.Message) error { return nil },
		Segment:      func(scrollback.Segment) error { return nil },
		Artifact:     func(scrollback.Artifact, int64) error { return nil },
		Turn:         func(scrollback.Turn) error { return nil },
		Flaw:         func(f driver.Flaw) error { out = append(out, f); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func readUsageDays(t *testing.T, db *testDB) []scrollback.UsageDay {
	t.Helper()
	out, err := db.Access.ListUsageDays(t.Context(), 0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// repairFlaws wants flaws of usage, repairs each, and wants none afterwards.
func repairFlaws(t *testing.T, db *testDB) {
	t.Helper()
	found := findFlaws(t, db)
	if len(found) == 0 {
		t.Error("no flaw was found")
	}
	for _, f := range found {
		if f.Kind != driver.FlawUsage || f.Repair == nil || f.Where == "" || f.Detail == "" {
			t.Fatalf("found %+v", f)
		}
		if err := db.Admin.Repair(t.Context(), *f.Repair); err != nil {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if left := findFlaws(t, db); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}

// Sums that cannot be are read, say that they are estimated, take more calls, and
// are what their records come to once they are repaired.
func TestBrokenSums(t *testing.T) {
	t.Parallel()
	for _, damage := range []string{"input_tokens = -5", "input_tokens = 9.3e18", "input_tokens = 'many'",
		"input_tokens = 1.5",
		"cost = 9e999", "cost = -9e999",
		"cost = 'much'", "calls = -1", "calls = 1e300", "estimated_calls = 99", "total_tokens = 9223372036854775807",
		"cached_tokens = x'00ff'",
		"currency = 'a long story'"} {
		t.Run(damage, func(t *testing.T) {
			db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
			bookUsage(t, db, "a/x", usageOf(10), usageOf(20))
			bookUsage(t, db, "b/y", usageOf(7))
			before := readUsageDays(t, db)
			damageRows(t, db, `UPDATE usage_days SET `+damage+` WHERE model = 'a/x'`)
			got := readUsageDays(t, db)
			if len(got) != 2 || !got[0].Estimated || got[0].EstimatedCalls < 1 || got[1] != before[1] {
				t.Fatalf("read as %+v", got)
			}
			if _, again := got[0].Checked(); again {
				t.Errorf("out of bounds: %+v", got[0])
			}
			bookUsage(t, db, "a/x", usageOf(30))
			repairFlaws(t, db)
			got = readUsageDays(t, db)
			want := before[0]
			want.AddCall(usageOf(30))
			if len(got) != 2 || got[0] != want || got[1] != before[1] {
				t.Errorf("mended to %+v, want %+v", got, want)
			}
		})
	}
}

// Sums that differ from their records are those of the records once they are repaired;
// records that cannot be are brought within bounds.
func TestMendUsage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		harm []string
		want func(*scrollback.UsageDay) // of two calls
	}{
		"more tokens":        {[]string{`UPDATE usage_days SET output_tokens = output_tokens + 1`}, nil},
		"less tokens":        {[]string{`UPDATE usage_days SET cached_tokens = 0`}, nil},
		"more calls":         {[]string{`UPDATE usage_days SET calls = calls + 1`}, nil},
		"less calls":         {[]string{`UPDATE usage_days SET calls = 1`}, nil},
		"another cost":       {[]string{`UPDATE usage_days SET cost = cost + 0.001`}, nil},
		"a total":            {[]string{`UPDATE usage_days SET total_tokens = total_tokens + 9`}, nil},
		"no sums":            {[]string{`DELETE FROM usage_days`}, nil},
		"in another project": {[]string{`UPDATE usage_days SET project = 'shed'`}, nil},
		"a negative record": {[]string{`UPDATE usage_records SET input_tokens = -4 WHERE n = 1`},
			func(d *scrollback.UsageDay) {
				d.InputTokens = 20
				d.CachedTokens = 1
				d.EstimatedCalls = 1
				d.Estimated = true
			}},
		"records that overflowed": {[]string{`UPDATE usage_records SET input_tokens = 9223372036854775807, total_tokens = ` +
			`9223372036854775807, cost = 9e999`,
			`UPDATE usage_days SET input_tokens = 1.8e19, total_tokens = 1.8e19, cost = 9e999`}, func(d *scrollback.UsageDay) {
			d.InputTokens = 2 * scrollback.MaxCallTokens
			d.TotalTokens = 4 * scrollback.MaxCallTokens
			d.Cost = 2 * scrollback.MaxCallCost
			d.EstimatedCalls = 2
			d.Estimated = true
		}},
		"records without a currency that can be": {[]string{`UPDATE usage_records SET currency = 'a long story'`,
			`UPDATE usage_days SET currency = 'a long story'`},
			func(d *scrollback.UsageDay) {
				d.EstimatedCalls = 2
				d.Estimated = true
			}},
	} {
		t.Run(name, func(t *testing.T) {
			db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
			bookUsage(t, db, "a/x", usageOf(10), usageOf(20))
			if found := findFlaws(t, db); len(found) > 0 {
				t.Fatalf("flaws of a sound database: %+v", found)
			}
			want := readUsageDays(t, db)[0]
			if c.want != nil {
				c.want(&want)
			}
			damageRows(t, db, c.harm...)
			repairFlaws(t, db)
			if got := readUsageDays(t, db); len(got) != 1 || got[0] != want {
				t.Errorf("mended to %+v, want %+v", got, want)
			}
		})
	}
}

// Differences that are no fault are not reported: records that are gone, a
// conversation that moved or was purged, and what older records do not say.
func TestHonestDifferences(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][]string{
		"no records":             {`DELETE FROM usage_records`},
		"fewer records":          {`DELETE FROM usage_records WHERE n = 1`},
		"a conversation moved":   {`UPDATE conversations SET project = 'shed'`},
		"a conversation is gone": {`DELETE FROM branches`, `DELETE FROM receipts`, `DELETE FROM conversations`},
		"older records": {`UPDATE usage_records SET project = NULL, total_tokens = NULL`,
			`UPDATE usage_days SET total_tokens = 0`},
		"older, and moved": {`UPDATE usage_records SET project = NULL`, `UPDATE conversations SET project = 'shed'`},
		"older, one, and is gone": {`UPDATE usage_records SET project = NULL WHERE n = 2`, `DELETE FROM branches`,
			`DELETE FROM receipts`,
			`DELETE FROM conversations`},
		"older, moved between": {`UPDATE usage_records SET project = NULL`,
			`UPDATE usage_days SET calls = 1, input_tokens = 10, cached_tokens = 1, output_tokens = 2, total_tokens = 12, cost = 0.1`,
			`INSERT INTO usage_days SELECT day, model, 'shed', currency, 1, 0, 20, 1, cache_write_tokens, 2, reasoning_tokens, 22, 0.1 FROM ` +
				`usage_days`},
	} {
		db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
		bookUsage(t, db, "a/x", usageOf(10), usageOf(20))
		damageRows(t, db, change...)
		before := readUsageDays(t, db)
		if found := findFlaws(t, db); len(found) > 0 {
			t.Errorf("%s: %+v", name, found)
		}
		if err := db.Admin.Repair(t.Context(),
			driver.Repair{Usage: &driver.UsageRepair{Day: 20000, Model: "a/x"}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := readUsageDays(t, db); fmt.Sprint(got) != fmt.Sprint(before) {
			t.Errorf("%s: %+v became %+v", name, before, got)
		}
	}
}

// Older records that a purge left without a conversation stay in the project of the
// only sums that there are, and broken sums without any record are read as they can
// be from then on.
func TestMendUsageWithoutRecords(t *testing.T) {
	t.Parallel()
	db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
	bookUsage(t, db, "a/x", usageOf(10), usageOf(20))
	want := readUsageDays(t, db)[0]
	damageRows(t, db, `UPDATE usage_records SET project = NULL`, `DELETE FROM branches`, `DELETE FROM receipts`,
		`DELETE FROM conversations`,
		`UPDATE usage_days SET cost = 9e999`)
	repairFlaws(t, db)
	if got := readUsageDays(t, db); len(got) != 1 || got[0] != want {
		t.Errorf("mended to %+v, want %+v", got, want)
	}
	damageRows(t, db, `DELETE FROM usage_records`, `UPDATE usage_days SET cost = 9e999`)
	repairFlaws(t, db)
	want.Cost = scrollback.MaxSumCost
	want.EstimatedCalls = 1
	want.Estimated = true
	if got := readUsageDays(t, db); len(got) != 1 || got[0] != want {
		t.Errorf("without records mended to %+v, want %+v", got, want)
	}
}

// What is known of a model and cannot be read counts as nothing, is a flaw, and is
// removed by a repair or by what is learned next.
func TestBrokenFacts(t *testing.T) {
	t.Parallel()
	for damage, want := range map[string]scrollback.Learned{
		`facts = '{'`:             {Factor: 1.5},
		`facts = '{"limit":"x"}'`: {Factor: 1.5},
		`factor = 'much'`:         {Limit: 9},
		`factor = 9e999`:          {Limit: 9},
		`factor = -1`:             {Limit: 9},
	} {
		db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
		teach := func(edit func(*scrollback.Learned)) {
			if err := db.Turns.UpdateLearned(t.Context(), "a/x", edit); err != nil {
				t.Fatal(err)
			}
		}
		knows := func(want scrollback.Learned) {
			t.Helper()
			if got, err := db.Turns.ReadLearned(t.Context(), "a/x"); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %+v, %v, want %+v", damage, got, err, want)
			}
		}
		teach(func(l *scrollback.Learned) {
			l.Factor = 1.5
			l.Limit = 9
		})
		for _, heal := range []func(f driver.Flaw){
			func(f driver.Flaw) {
				if err := db.Admin.Repair(t.Context(), *f.Repair); err != nil {
					t.Error(err)
				}
			},
			func(driver.Flaw) { teach(func(l *scrollback.Learned) { l.API = "chat" }); want.API = "chat" },
		} {
			damageRows(t, db, `UPDATE models_learned SET `+damage)
			knows(want)
			found := findFlaws(t, db)
			if len(found) != 1 || found[0].Kind != driver.FlawDamage || found[0].Where != "model a/x" || found[0].Repair == nil {
				t.Fatalf("%s: found %+v", damage, found)
			}
			heal(found[0])
			knows(want)
			if left := findFlaws(t, db); len(left) > 0 {
				t.Errorf("%s: left %+v", damage, left)
			}
		}
	}
}

// An edit that changes nothing writes nothing.
func TestTeachNothing(t *testing.T) {
	t.Parallel()
	db := openDB(t, filepath.Join(t.TempDir(), "s.db"))
	version := func() (n int64) { // changes with every commit of another connection
		t.Helper()
		if err := sqlstore.QueryRow(t.Context(), db.read, func(r sqlstore.Row) error { return r.Scan(&n) },
			`PRAGMA data_version`); err != nil {
			t.Fatal(err)
		}
		return n
	}
	db.readers.SetMaxOpenConns(1)
	teach := func(edit func(*scrollback.Learned)) {
		if err := db.Turns.UpdateLearned(t.Context(), "a/x", edit); err != nil {
			t.Fatal(err)
		}
	}
	something := func(l *scrollback.Learned) {
		l.Factor = 1.5
		l.Limit = 9
		l.Dropped = []string{"seed"}
	}
	for range 2 {
		before := version()
		teach(func(*scrollback.Learned) {})
		if version() != before {
			t.Error("nothing was written")
		}
		teach(something)
		if version() == before {
			t.Fatal("something was not seen to be written")
		}
		before = version()
		teach(something)
		if version() != before {
			t.Error("the same was written again")
		}
		teach(func(l *scrollback.Learned) { l.Limit = 10 })
	}
}

// Two processes that teach at once lose nothing of each other.
func TestTeachFromTwo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	const times = 40
	edits := []func(*scrollback.Learned){func(l *scrollback.Learned) { l.Limit++ },
		func(l *scrollback.Learned) { l.Dropped = append(l.Dropped, "x") }}
	dbs := []*testDB{openDB(t, path), openDB(t, path)}
	var all sync.WaitGroup
	for i, db := range dbs {
		all.Go(func() {
			for range times {
				if err := db.Turns.UpdateLearned(t.Context(), "a/x", edits[i]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, db := range dbs {
		if got, err := db.Turns.ReadLearned(t.Context(), "a/x"); err != nil || got.Limit != times ||
			len(got.Dropped) != times {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// A database from before takes over its factors, and its books are sound.
func TestMigrateBooks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	older, err := sql.Open("sqlite", fileDSN(path, "rwc", 0))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	s, err := readSchema(ctx, older, path)
	if err == nil {
		_, err = s.migrations.UpTo(ctx, 6)
	}
	for _, statement := range []string{fmt.Sprint("PRAGMA application_id = ", applicationID), "PRAGMA journal_mode = WAL",
		`INSERT INTO model_factors VALUES ('a/x', 1.25)`,
		`INSERT INTO usage_records (conversation_id, turn_id, model, purpose, request_id, at, input_tokens, cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost, currency, estimated)
			VALUES ('gone', '', 'a/x', 'turn', '', ` + fmt.Sprint(testDay) + `, 10, 1, 0, 2, 9, 0.1, 'USD', 0)`,
		`INSERT INTO usage_days VALUES (20000, 'a/x', 'house', 'USD', 1, 0, 10, 1, 0, 2, 9, 77, 0.1)`} {
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
	if got, err := db.Turns.ReadLearned(ctx, "a/x"); err != nil || got.Factor != 1.25 || got.Limit != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if found := findFlaws(t, db); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
	bookUsage(t, db, "a/x", usageOf(20))
	if got := readUsageDays(t, db); len(got) != 1 || got[0].Calls != 2 || got[0].InputTokens != 30 ||
		got[0].TotalTokens != 99 {
		t.Errorf("%+v", got)
	}
	if found := findFlaws(t, db); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
	var tables string
	err = sqlstore.QueryRow(ctx, db.read, func(r sqlstore.Row) error { return r.Scan(&tables) },
		`SELECT group_concat(name) FROM sqlite_schema`)
	if err != nil || strings.Contains(tables, "model_factors") {
		t.Errorf("%s, %v", tables, err)
	}
	drivertest.CheckInvariants(t, db.Driver)
}
