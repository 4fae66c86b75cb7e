package main

import (
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
)

// A key's limits are set by its name or its id; a key that is not there has none.
func TestKeysLimit(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if code, _, errs := inside(t, data, "keys", "add", "--name", "laptop", "--role", "write"); code != 0 {
		t.Fatal(errs)
	}
	code, out, errs := inside(t, data, "keys", "limit", "laptop", "--chats", "100/h", "--tokens-per-day", "500")
	if code != 0 || !strings.Contains(out, "key laptop (") ||
		!strings.Contains(out, "chats: 100/h · tokens a day: 500 · money a day: unlimited") {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(out, "key laptop ("), ")")
	if _, again, _ := inside(t, data, "keys", "limit", id); again != out {
		t.Errorf("by its id it is\n%s, want\n%s", again, out)
	}
	for _, c := range []struct {
		code int
		args string
	}{{3, "limit phone --chats 1/h"}, {2, "limit laptop --chats often"}, {2, "limit laptop --tokens-per-day=-1"},
		{0, "revoke laptop"}, {3, "limit laptop"}, {0, "limit " + id}} {
		if code, out, errs := inside(t, data, append([]string{"keys"}, strings.Fields(c.args)...)...); code != c.code {
			t.Errorf("keys %s: exit %d, want %d\n%s%s", c.args, code, c.code, out, errs)
		}
	}
}

// A question that is refused leaves no conversation behind; one that was there stays.
func TestRefusedLeavesNothing(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for range 2 {
		code, out, errs := inside(t, data, "run", "--web-search", "What is new?")
		if code != 2 || !strings.Contains(errs, "searxng") || strings.Contains(out+errs, "(conversation ") {
			t.Errorf("exit %d\n%s%s", code, out, errs)
		}
		if _, list, _ := inside(t, data, "list"); !strings.Contains(list, "No conversations yet") {
			t.Fatalf("there are\n%s", list)
		}
	}
	inside(t, data, "run", "The key is under the mat.")
	inside(t, data, "run", "--web-search", "--conversation", "latest", "What is new?")
	if _, list, _ := inside(t, data, "list"); !strings.Contains(list, "under the mat") {
		t.Errorf("there are\n%s", list)
	}
}

// Usage by key names the keys; one whose name was given again has its id too, and one that is
// not known any more only its id.
func TestUsageNamesKeys(t *testing.T) {
	t.Parallel()
	names := keyNames([]scrollback.Key{{ID: "id-1", Name: "laptop"}, {ID: "id-2", Name: "phone"},
		{ID: "id-3", Name: "laptop"}})
	c := usageCmd{By: []string{"key"}}
	for id, want := range map[scrollback.KeyID]string{"id-1": "laptop (id-1)", "id-2": "phone",
		"id-3": "laptop (id-3)", "id-4": "id-4", "": "-"} {
		if got := c.formatRow(words.English, scrollback.UsageSum{Key: id}, names)[0]; got != want {
			t.Errorf("the key %q is shown as %q, want %q", id, got, want)
		}
	}
}
