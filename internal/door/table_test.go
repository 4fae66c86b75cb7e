package door_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// TestTableFile reads a table again when its file changes, and keeps the last one that could be read.
func TestTableFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "side.toml")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	write := func(text string) {
		t.Helper()
		at = at.Add(time.Minute)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	row := func(pattern string) string { return "[[side_call]]\nname = \"mine\"\npattern = '" + pattern + "'\n" }
	write(row("^("))
	quiet := slog.New(slog.DiscardHandler)
	if _, err := door.OpenTable(name, quiet); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a broken file: %v", err)
	}
	if _, err := door.OpenTable(name+".not", quiet); err == nil {
		t.Error("a file that is not there is no error")
	}
	write(row("^Ping"))
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		f, err := door.OpenTable(name, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		recognises := func(text string) bool {
			t.Helper()
			m := &threading.Matcher{Index: threading.NewMemory(), Table: f.Table()}
			got, err := m.Match(context.Background(), threading.Scope{Project: "p"}, &threading.Request{Dialect: threading.Chat,
				Items: []threading.Item{{Role: threading.User, Kind: threading.Text, Text: text}}}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			return got.Side == "mine"
		}
		if !recognises("Ping") || recognises("Pong") {
			t.Error("the table that was opened is not used")
		}
		write(row("^Pong"))
		time.Sleep(2 * time.Second)
		if recognises("Ping") || !recognises("Pong") {
			t.Error("a change is not seen")
		}
		write("[[side_call")
		for range 3 {
			time.Sleep(2 * time.Second)
			if !recognises("Pong") {
				t.Error("a broken file took the table away")
			}
		}
		if n := strings.Count(log.String(), "cannot be read"); n != 1 || !strings.Contains(log.String(), "line 1") {
			t.Errorf("said %d times:\n%s", n, log.String())
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if !recognises("Pong") {
			t.Error("a file that is gone took the table away")
		}
		write(row("^Pang"))
		time.Sleep(2 * time.Second)
		if !recognises("Pang") {
			t.Error("a file that is mended is not read")
		}
	})
}
