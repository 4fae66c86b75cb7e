package crash_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

func sqliteURL(data string) string {
	return "sqlite://" + filepath.ToSlash(filepath.Join(data, "scrollback.db"))
}

// migrated is what the command reports.
type migrated struct {
	Finished           bool
	Conversations      int64
	Messages, Verified int64
	Objects            int64
	ObjectsSame        int64 `json:"objects_same"`
}

func migrateTo(t *testing.T, from, to string, more ...string) (r migrated) {
	t.Helper()
	out := output(t, t.TempDir(), append([]string{"migrate", "--json", "--from", from, "--to", to}, more...)...)
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return r
}

// A server goes on while its store is copied; after --finish it says where the store is, and a
// server on what was copied there and back has all that was acknowledged.
func TestMigrate(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	dsn := postgrestest.NewDatabase(t)
	data := t.TempDir()
	back := t.TempDir()
	bucket := "file://" + filepath.ToSlash(t.TempDir())
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	long, err := json.Marshal(map[string]any{"role": "user",
		"content": strings.Repeat("The pump is number 4711.\n", 40_000)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(long, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	output(t, data, "import", file)
	s := serve(t, data, nil)
	id := s.conversation()
	s.chat(id, fact)
	p := &promises{messages: map[scrollback.ConversationID]map[scrollback.MessageID]bool{}, acts: map[string]int{}}
	talking := make(chan struct{})
	said := sync.WaitGroup{}
	said.Go(func() { keepTalking(s.url, p, talking) })
	<-talking
	first := migrateTo(t, sqliteURL(data), dsn, "--objects-to", bucket)
	if first.Finished || first.Verified < 2 || first.Objects != 1 {
		t.Errorf("at first %+v", first)
	}
	last := migrateTo(t, sqliteURL(data), dsn, "--objects-to", bucket, "--finish")
	said.Wait()
	if !last.Finished || last.Objects != 0 || last.ObjectsSame != 1 {
		t.Errorf("at last %+v", last)
	}
	var refused struct{ Message string }
	if status := s.do("POST", "/api/conversations", map[string]any{}, &refused); status != http.StatusServiceUnavailable {
		t.Errorf("a store that was moved takes a conversation: %d", status)
	}
	if log := s.log(id); len(log) != 2 {
		t.Errorf("%d messages can still be read", len(log))
	}
	s.stop()
	objects := "file://" + filepath.ToSlash(filepath.Join(back, "objects"))
	migrateTo(t, dsn, sqliteURL(back), "--objects-from", bucket, "--objects-to", objects, "--finish")
	s = serve(t, back, nil)
	p.kept(t, s)
	p.found(t, s, 20)
	s.chat(id, question)
	if len(p.messages) == 0 || len(s.log(id)) != 4 {
		t.Errorf("%d conversations, and %d messages", len(p.messages), len(s.log(id)))
	}
	if found := get[struct{ Hits []any }](s, "/api/search", "q", "pump 4711"); len(found.Hits) == 0 {
		t.Error("search finds nothing")
	}
	s.stop()
	if got := output(t, back, "doctor"); !strings.Contains(got, "All is well") {
		t.Errorf("doctor says %s", got)
	}
}

// keepTalking begins conversations and talks in them until the server takes none any more; what was
// acknowledged is noted.
func keepTalking(url string, p *promises, talking chan struct{}) {
	c := client{url: url, p: p, rng: rand.New(rand.NewPCG(1, 2))}
	begun := sync.OnceFunc(func() { close(talking) })
	defer begun()
	pace := time.NewTicker(20 * time.Millisecond) // a slow machine copies more slowly
	defer pace.Stop()
	for n := 0; ; n++ {
		<-pace.C
		var made scrollback.Conversation
		if _, ok := c.post("/api/conversations", map[string]any{}, &made); !ok {
			return
		}
		c.chat(made.ID)
		if n == 10 {
			begun()
		}
	}
}

// kill -9 at any moment: the next run goes on, and at the end both sides are the same.
func TestMigrateKilled(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	dsn := postgrestest.NewDatabase(t)
	data := t.TempDir()
	opened := func(d *driver.Driver, err error) *driver.Driver {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	}
	source := opened(sqlite.Open(t.Context(), filepath.Join(data, "scrollback.db"), nil))
	for c := range testlength.Choose(60, 60, 150) {
		b := scrollback.Branch{ID: scrollback.BranchID(fmt.Sprintf("%08d-b", c)),
			Conversation: scrollback.ConversationID(fmt.Sprintf("%08d", c))}
		conv := scrollback.Conversation{ID: b.Conversation, Project: "p", Version: 1, Branch: b.ID, CreatedAt: 1,
			UpdatedAt: int64(c)}
		if _, _, err := source.Log.CreateConversation(t.Context(), conv, b); err != nil {
			t.Fatal(err)
		}
		var entries []driver.Entry
		for m := range 1 + c%40 {
			entries = append(entries, driver.Entry{Message: scrollback.Message{ID: scrollback.MessageID(fmt.Sprintf("%d-%d", c,
				m)),
				Role: scrollback.RoleUser, Status: scrollback.StatusComplete, CreatedAt: 1,
				Weight: scrollback.Weight{Tokens: 1, Bytes: 4000},
				Parts:  scrollback.Parts{scrollback.Text{Text: strings.Repeat("word ", 800)}}}})
		}
		said := driver.Append{Conversation: conv.ID, Now: int64(c), IfHead: -1, Entries: entries}
		if _, err := source.Log.AppendEntries(t.Context(), said); err != nil {
			t.Fatal(err)
		}
	}
	killed := 0
	moment := 100 * time.Millisecond
	for n := 0; ; n++ {
		cmd := command(t, t.TempDir(), nil, "migrate", "--from", sqliteURL(data), "--to", dsn, "--finish")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Later each time, so that it is killed in other places and comes to an end.
		timer := time.AfterFunc(moment, func() { cmd.Process.Kill() })
		moment += time.Duration(testlength.Choose(int(moment), int(moment)/2, int(150*time.Millisecond)))
		err := cmd.Wait()
		timer.Stop()
		if err == nil {
			break
		}
		var exit *exec.ExitError
		if strings.Contains(errs.String(), "was moved to") && killed > 0 { // killed when all was done
			break
		}
		if !errors.As(err, &exit) || exit.Exited() {
			t.Fatalf("run %d ended with %v: %s", n, err, errs.String())
		}
		killed++
	}
	if killed < 3 {
		t.Errorf("it was killed %d times", killed)
	}
	drivertest.WantEqual(t, source, opened(postgres.Open(t.Context(), dsn, nil)))
}
