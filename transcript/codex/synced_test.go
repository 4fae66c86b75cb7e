package codex

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/scrollback-ai/scrollback/transcript"
)

// A copy that a program which syncs folders left in the sessions changes nothing if it is older,
// and is a branch if it went on; what goes on the longest is current.
func TestSyncConflicts(t *testing.T) {
	const thread = "019ca000-0091-7000-8000-0000000000aa"
	record := func(minute int, kind, payload string) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-02T00:%02d:00.000Z","type":%q,"payload":%s}`+"\n", minute, kind, payload)
	}
	say := func(minute int, role, text string) string {
		kind := map[string]string{"user": "input_text", "assistant": "output_text"}[role]
		return record(minute, "response_item",
			fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":%q,"text":%q}]}`, role, kind, text))
	}
	begin := record(0, "session_meta", `{"id":"`+thread+`","timestamp":"2026-01-02T00:00:00.000Z","cwd":"/w"}`) +
		say(1, "user", "one") + say(2, "assistant", "two")
	name := "sessions/2026/01/02/rollout-2026-01-02T00-00-00-" + thread
	for _, c := range []struct{ what, own, copied, path, all string }{
		{"an older copy", begin + say(3, "user", "three") + say(4, "assistant", "four"), begin, "one two three four",
			"one two three four"},
		{"the same", begin, begin, "one two", "one two"},
		{"a copy that went on", begin, begin + say(3, "user", "three") + say(4, "assistant", "four"), "one two three four",
			"one two three four"},
		{"both, the own later", begin + say(5, "user", "five") + say(6, "assistant", "six"),
			begin + say(3, "user", "three") + say(4, "assistant", "four"),
			"one two five six", "one two three four five six"},
		{"both, the copy later", begin + say(3, "user", "three") + say(4, "assistant", "four"),
			begin + say(5, "user", "five") + say(6, "assistant", "six"),
			"one two five six", "one two three four five six"},
	} {
		at := time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)
		place := transcript.Place{Name: ".", Now: at.UnixMilli() + 1<<40, FS: fstest.MapFS{
			name + ".jsonl": {Data: []byte(c.own), ModTime: at},
			name + ".sync-conflict-20260303-101500-ABCDEFG.jsonl": {Data: []byte(c.copied), ModTime: at.Add(time.Hour)},
		}}
		var path, all []string
		sessions := 0
		for s, err := range (Tool{}).Sessions(context.Background(), place) {
			if err != nil || s.ID != thread {
				t.Fatal(s, err)
			}
			sessions++
			for e, err := range (Tool{}).Read(context.Background(), place, s) {
				switch {
				case err != nil || e.Bad != nil:
					t.Fatal(c.what, err, e.Bad)
				case e.Rewind != nil:
					path = path[:*e.Rewind]
				case e.Conversation == nil && e.End == nil:
					path = append(path, e.Message.Parts.Text())
					all = append(all, e.Message.Parts.Text())
				}
			}
		}
		if got := strings.Join(path, " "); sessions != 1 || got != c.path || strings.Join(all, " ") != c.all {
			t.Errorf("%s: %d sessions, %q of %q", c.what, sessions, got, all)
		}
	}
}

// A packed rollout that is longer than what is read of one says so, behind what was read.
func TestUnpackedBound(t *testing.T) {
	text := `{"timestamp":"2026-01-02T00:00:00.000Z","type":"session_meta","payload":{"id":"x"}}` + "\n"
	for left, want := range map[int64]string{int64(len(text)): "", int64(len(text)) - 4: errUnpacked.Error(),
		int64(len(text)) + 9: ""} {
		got := ""
		lines := 0
		err := eachLine(&boundedReader{bytes.NewReader([]byte(text)), left}, true, func(l line) bool {
			lines++
			got = l.bad
			return true
		})
		if err != nil || got != want || lines == 0 {
			t.Errorf("with %d bytes: %q, %v after %d lines, want %q", left, got, err, lines, want)
		}
	}
	if n, err := io.Copy(io.Discard, &boundedReader{strings.NewReader(text), 10}); n != 10 || err != errUnpacked {
		t.Errorf("%d bytes, then %v", n, err)
	}
}
