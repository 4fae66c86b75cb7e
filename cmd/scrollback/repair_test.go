package main

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// A repair that finds nothing to do changes nothing and makes no copy; a first look
// offers one only where it can help.
func TestRepairNothing(t *testing.T) {
	t.Parallel()
	sound := aFolder(t)
	before := contents(t, sound)
	if code, c := checkup(t, sound, "--repair"); code != 0 || c.Copy != "" {
		t.Errorf("exit %d, %+v", code, c)
	}
	for name, now := range contents(t, sound) {
		if before[name] != now {
			t.Errorf("%s was touched", name)
		}
	}
	for _, c := range []struct{ damage, says string }{
		{`UPDATE branches SET head_seq = 1`, "doctor --repair repairs what it can, once the database has been copied"},
		{`UPDATE segments SET sha256 = 'ab'`, "nothing to repair from"},
	} {
		data := harmed(t, sound, c.damage)
		if code, out, _ := inside(t, data, "doctor"); code != 1 || !strings.Contains(out, c.says) {
			t.Errorf("after %s: exit %d: %s", c.damage, code, out)
		}
	}
	data := harmed(t, sound, `UPDATE branches SET head_seq = 1`)
	code, out, _ := inside(t, data, "doctor", "--repair")
	if code != 0 || !strings.Contains(out, "repaired") ||
		!strings.Contains(out, "All is well. The database as it was: "+data) {
		t.Errorf("exit %d: %s", code, out)
	}
	data = harmed(t, sound, `UPDATE branches SET head_seq = 1`)
	write(t, filepath.Join(data, "backup"), nil)                                  // no folder can be made there
	if err := os.Chmod(filepath.Join(data, "scrollback.db"), 0o600); err != nil { // as opening it would
		t.Fatal(err)
	}
	harm := contents(t, data)
	if code, _, errs := inside(t, data, "doctor", "--repair"); code == 0 ||
		!strings.Contains(errs, "nothing was changed") {
		t.Errorf("without a copy: exit %d: %s", code, errs)
	}
	if name := filepath.Join(data, "scrollback.db"); contents(t, data)[name] != harm[name] {
		t.Error("it was changed without a copy")
	}
}

// Branches and forks whose rows are lost find the place where they left again; what
// fits no place, or more than one, stays.
func TestRepairBranches(t *testing.T) {
	t.Parallel()
	sound := t.TempDir()
	do := func(args ...string) string {
		code, out, errs := inside(t, sound, args...)
		if code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
		return out
	}
	for i := range 4 {
		args := []string{"run", fmt.Sprintf("Berth %d at the bollard is free %s", i, strings.Repeat("again ", i*i))}
		if i > 0 {
			args = append(args, "--conversation", "latest")
		}
		do(args...)
	}
	do("rewind", "latest", "4")
	do("run", "--conversation", "latest", "Another way from here, which is longer than the first")
	do("fork", "latest", "5")
	do("run", "--conversation", "latest", "A fork goes on")
	before := map[string]string{}
	for _, table := range []string{"id, parent_branch, at_seq, head_seq, sum_bytes FROM branches",
		"id, parent, ancestors, branch, messages, turn FROM conversations"} {
		before[table] = columnsOf(t, sound, table)
	}
	for name, c := range map[string]struct {
		lost  []string
		stays bool
	}{
		"branches":      {lost: []string{`DELETE FROM branches WHERE parent_branch <> ''`}},
		"parents":       {lost: []string{`UPDATE branches SET parent_branch = 'gone'`}},
		"places":        {lost: []string{`UPDATE branches SET at_seq = 0`}},
		"conversations": {lost: []string{`DELETE FROM conversations`}},
		"ancestors":     {lost: []string{`UPDATE conversations SET ancestors = '{', parent = '{' WHERE parent <> ''`}},
		"a fork and its branch": {lost: []string{`DELETE FROM branches WHERE conversation_id IN (SELECT id FROM conversations WHERE parent ` +
			`<> '')`, `DELETE FROM conversations WHERE parent <> ''`}, stays: true},
		"two places": {lost: []string{`INSERT INTO branches SELECT 'twin', conversation_id, '', 0, head_seq, sum_tokens, sum_bytes, ` +
			`sum_images, view, 0, 0, n + 1000, 0 FROM branches WHERE parent_branch = ''`,
			`INSERT INTO messages SELECT n + 1000, id || 'x', conversation_id, 'twin', seq, turn_id, role, name, parts, model, usage, tokens, ` +
				`own_tokens, own_bytes, own_images, sum_tokens, sum_bytes, sum_images, status, created_at, meta, x'' FROM messages WHERE branch IN ` +
				`(SELECT id FROM branches WHERE parent_branch = '' AND id <> 'twin')`,
			`UPDATE branches SET parent_branch = 'gone' WHERE parent_branch <> '' AND at_seq = 4`}, stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := harmed(t, sound, c.lost...)
			if code, _ := checkup(t, data); code != 1 {
				t.Fatalf("exit %d", code)
			}
			code, after := checkup(t, data, "--repair")
			if c.stays != (code == 1) {
				t.Errorf("exit %d: %+v", code, unrepaired(after.Problems))
			}
			if c.stays {
				return
			}
			for table, want := range before {
				if got := columnsOf(t, data, table); got != want {
					t.Errorf("%s:\n%s\nwas\n%s", table, got, want)
				}
			}
			goOn(t, data)
		})
	}
}

// A purge that was interrupted goes on, once all is well.
func TestRepairPurge(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	data := aFolder(t)
	raw(t, data, `UPDATE conversations SET purged_at = -1, deleted_at = 1, turn = '' WHERE id = `+longest,
		`INSERT INTO index_dropped SELECT n, 5, 1 FROM branches WHERE id = `+folded, `UPDATE index_state SET dropped = 1`,
		`DELETE FROM kept WHERE branch = `+folded+` AND seq > 4`, `DELETE FROM messages WHERE branch = `+folded+` AND seq > 4`)
	if code, c := checkup(t, data); code != 0 || len(c.Notes) != 2 || c.Notes[0].Kind != "purge" ||
		c.Notes[1].Kind != "index" {
		t.Fatalf("half of a purge: exit %d, %+v %+v", code, c.Problems, c.Notes)
	}
	raw(t, data, `UPDATE branches SET head_seq = head_seq + 1`)
	long := time.Unix(1, 0)
	if err := os.Chtimes(objectFiles(t, data)[0], long, long); err != nil {
		t.Fatal(err)
	}
	code, c := checkup(t, data, "--repair")
	if code != 0 || c.Checked.Conversations != 2 || c.Checked.Messages != 4 || c.Checked.Objects != 0 {
		t.Errorf("exit %d: %+v", code, c)
	}
	if code, c := checkup(t, data); code != 0 || len(c.Notes) > 0 {
		t.Errorf("after it: exit %d, %+v", code, c.Notes)
	}
	goOnWithout(t, data)
}

// What a model had written when its owner went is kept, even of a turn that belongs
// to nothing.
func TestRepairDraft(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	sound := aFolder(t)
	for _, also := range []string{"", ", branch = 'gone'"} {
		data := harmed(t, sound, `UPDATE turns SET state = 'open', lease_until = 1, draft = '{"content":"half an answer"}'`+also+`
			WHERE id = (SELECT turn FROM conversations WHERE id = `+longest+`)`)
		if code, c := checkup(t, data, "--repair"); code != 0 || len(unrepaired(c.Notes)) > 0 {
			t.Errorf("exit %d, %+v %+v", code, c.Problems, c.Notes)
		}
		if _, out, _ := inside(t, data, "search", "half answer"); !strings.Contains(out, "half an answer") {
			t.Errorf("%s: found: %s", also, out)
		}
		goOn(t, data)
	}
}

// goOnWithout wants nothing to be found of what was purged.
func goOnWithout(t *testing.T, data string) {
	t.Helper()
	if _, out, _ := inside(t, data, "search", "bollard"); strings.Contains(out, "bollard") {
		t.Errorf("found: %s", out)
	}
}

// columns prints a query of a folder's database.
func columnsOf(t *testing.T, data, query string) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(data, "scrollback.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all, err := db.Query(`SELECT ` + query + ` ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	names, _ := all.Columns()
	values := make([]any, len(names))
	into := make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	var out strings.Builder
	for all.Next() {
		if err := all.Scan(into...); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&out, values...)
	}
	if err := all.Err(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// everywhere is harm of many kinds that can all be repaired.
var everywhere = []string{`UPDATE branches SET head_seq = 1, sum_tokens = 1`,
	`UPDATE conversations SET messages = 77, branch = 'gone'`,
	`DELETE FROM segments WHERE level > 0`, `DELETE FROM mentions`, `DELETE FROM index_blocks`, `DELETE FROM turns`,
	`UPDATE receipts SET conversation_id = 'gone'`, `DELETE FROM index_marks`}

// kill -9 in the middle of a repair leaves what can be repaired, and no copy that is
// not whole; two repairs at once do no harm.
func TestRepairKilled(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	sound := aFolder(t)
	rng := rand.New(rand.NewPCG(3, 3))
	killed := 0
	copies := 0
	for round := range testlength.Choose(4, 6, 12) {
		data := harmed(t, sound, everywhere...)
		messages := rows(t, data, "messages")
		cmd := command(t, data, nil, "doctor", "--repair")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		moment := time.After(time.Duration(rng.IntN(60)) * time.Millisecond) // it is what is tested
		if round%3 > 0 {
			copied(t, data)
			moment = time.After(time.Duration(rng.IntN(25)) * time.Millisecond)
		}
		<-moment
		cmd.Process.Kill()
		if cmd.Wait() != nil {
			killed++
		}
		names, err := filepath.Glob(filepath.Join(data, "backup", "*.db"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			copies++
			there := t.TempDir()
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(there, "scrollback.db"), b)
			if got := rows(t, there, "messages"); got != messages {
				t.Errorf("%s is not whole", name)
			}
		}
		if code, c := checkup(t, data, "--repair"); code != 0 {
			t.Errorf("repaired again: exit %d, %+v", code, unrepaired(c.Problems))
		}
		if got := rows(t, data, "messages"); got != messages {
			t.Error("messages were touched")
		}
		goOn(t, data)
	}
	if copies == 0 {
		t.Error("none got as far as a copy")
	}
	t.Logf("%d killed, %d copies", killed, copies)
}

// copied waits for the copy that a repair makes before it changes anything.
func copied(t *testing.T, data string) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for {
		if names, _ := filepath.Glob(filepath.Join(data, "backup", "*.db")); len(names) > 0 {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("no copy in a minute")
		}
	}
}

// Repairs at once do no harm, and all end well.
func TestRepairTwice(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	data := harmed(t, aFolder(t), everywhere...)
	messages := rows(t, data, "messages")
	var all sync.WaitGroup
	for range 3 {
		cmd := command(t, data, nil, "doctor", "--repair")
		all.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	if got := rows(t, data, "messages"); got != messages {
		t.Error("messages were touched")
	}
	goOn(t, data)
}

// A repair beside a server that writes holds neither up, and loses nothing of what
// the server acknowledges meanwhile.
func TestRepairBesideServer(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	data := aFolder(t)
	s := serve(t, data, nil)
	id := s.conversation()
	s.chat(id, "before it")
	raw(t, data, `DELETE FROM index_blocks`, `UPDATE receipts SET conversation_id = 'gone'`,
		`UPDATE branches SET head_seq = head_seq - 1 WHERE id = `+folded, `DELETE FROM mentions`)
	done := make(chan struct{})
	said := 1
	go func() {
		defer close(done)
		for ; said < 20; said++ {
			s.chat(id, fmt.Sprintf("while it is repaired, note %d", said))
		}
	}()
	code, c := checkup(t, data, "--repair")
	<-done
	if code != 0 || c.Copy == "" {
		t.Errorf("exit %d: %+v", code, c)
	}
	if got := len(s.log(id)); got != 2*said {
		t.Errorf("%d messages of %d", got, 2*said)
	}
	s.kill()
	goOn(t, data)
}
