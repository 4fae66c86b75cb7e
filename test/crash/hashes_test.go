package crash_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/doctor"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// unhashed returns how many messages the doctor says have no hash yet.
func unhashed(t *testing.T, c doctor.Checkup) (n int) {
	t.Helper()
	for _, note := range c.Notes {
		if note.Kind != "hash" {
			continue
		}
		if _, err := fmt.Sscanf(note.Detail, "%d have no hash yet", &n); err != nil {
			t.Fatalf("%q: %v", note.Detail, err)
		}
	}
	return n
}

// kill -9 at random moments while a server makes the hashes of messages that an older program stored:
// the doctor says how many have none yet, what was made stays and is right, the next server goes on
// there, and at last each message has one.
func TestKilledWhileHashesAreMade(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	const messages = 5000
	kills := testlength.Choose(3, 5, 60)
	data := t.TempDir()
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	var talk strings.Builder
	for i := range messages {
		fmt.Fprintf(&talk, `{"role":"%s","content":"berth %d is free"}`+"\n", []string{"user", "assistant"}[i%2], i)
	}
	if err := os.WriteFile(file, []byte(talk.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := inside(t, data, "import", file); code != 0 {
		t.Fatalf("import: exit %d: %s", code, errs)
	}
	forget := []string{`UPDATE messages SET hash = x''`, `DELETE FROM message_hashes`, `DELETE FROM claims`,
		`UPDATE message_hashing SET conversation_id = '', branch = '', seq = 0, ended = 0`}
	raw(t, data, forget...)
	rng := rand.New(rand.NewPCG(29, 5))
	left := messages
	amid := 0
	ends := 0
	for round := range kills {
		s := serve(t, data, nil)
		<-time.After(time.Duration(rng.IntN(300)) * time.Millisecond) // the moment is what is tested
		s.kill()
		raw(t, data, `DELETE FROM claims`) // the lease of the server that is gone has ended
		code, c := checkup(t, data)
		if code != 0 || !c.OK {
			t.Fatalf("after kill %d: %+v", round, c.Problems)
		}
		now := unhashed(t, c)
		if now > left {
			t.Fatalf("after kill %d: %d have no hash, and %d had none before", round, now, left)
		}
		if left = now; left > 0 && left < messages {
			amid++
		}
		if left == 0 && round < kills-1 {
			ends++
			raw(t, data, forget...)
			left = messages
		}
	}
	if amid == 0 {
		t.Error("no server was killed while it made hashes")
	}
	s := serve(t, data, nil)
	for until := time.Now().Add(5 * time.Minute); left > 0; {
		code, c := checkup(t, data)
		if code != 0 || time.Now().After(until) {
			t.Fatalf("exit %d, %d have no hash: %+v", code, left, c.Problems)
		}
		left = unhashed(t, c)
	}
	s.stop()
	if code, c := checkup(t, data); code != 0 || !c.OK || unhashed(t, c) > 0 {
		t.Errorf("at the end: %+v, %+v", c.Problems, c.Notes)
	}
	raw(t, data, `UPDATE messages SET parts = replace(parts, 'berth 77 is', 'berth 78 is') WHERE seq = 78`)
	changed := func(p doctor.Problem) bool { return p.Kind == "hash" && strings.HasSuffix(p.Where, "(#78)") }
	if code, c := checkup(t, data); code != 1 || !slices.ContainsFunc(c.Problems, changed) {
		t.Errorf("a change is not noticed by the hashes: exit %d, %+v", code, c.Problems)
	}
	t.Logf("%d kills: %d while hashes were made, %d behind the last one", kills, amid, ends)
}
