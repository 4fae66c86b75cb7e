package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/cloud/backup"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/config"
)

// A person makes a backup beside a running chat, looks at it, and has the talk again in another folder.
func TestBackupCommands(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	shelf := t.TempDir()
	output(t, data, "--data", data, "run", "The key is under the third stone.")
	var made backup.Made
	decodeOutput(t, &made, data, "backup", "create", shelf, "--keep", "30d", "--json")
	if made.Conversations != 1 || made.Messages != 2 || !strings.HasSuffix(made.Name, ".backup") {
		t.Errorf("made %+v", made)
	}
	var list struct{ Backups []backup.Entry }
	if decodeOutput(t, &list, data, "backup", "list", shelf, "--json"); len(list.Backups) != 1 ||
		list.Backups[0].Name != made.Name {
		t.Errorf("listed %+v", list)
	}
	file := filepath.Join(shelf, made.Name)
	said := output(t, data, "--data", data, "backup", "verify", file)
	if !strings.Contains(said, "1 conversation and 2 messages") {
		t.Errorf("verified: %s", said)
	}
	other := filepath.Join(t.TempDir(), "other")
	output(t, other, "--data", other, "backup", "restore", file)
	if said := output(t, other, "--data", other, "show", "latest"); !strings.Contains(said, "third stone") {
		t.Errorf("restored: %s", said)
	}
	for _, c := range []struct {
		code int
		args []string
	}{{4, []string{"backup", "restore", file}}, {4, []string{"backup", "create", file}},
		{2, []string{"backup", "create"}},
		{2, []string{"backup", "create", filepath.Join(shelf, "x.backup"), "--keep", "3d"}},
		{2, []string{"backup", "create", shelf, "--keep", "soon"}}} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"--data", data}, c.args...)
		if code := runProgram(context.Background(), args, strings.NewReader(""), &stdout, &stderr); code != c.code {
			t.Errorf("%v: exit %d, %s", c.args, code, stderr.String())
		}
	}
}

func decodeOutput(t *testing.T, out any, data string, args ...string) {
	t.Helper()
	if err := json.Unmarshal([]byte(output(t, data, append([]string{"--data", data}, args...)...)), out); err != nil {
		t.Fatal(err)
	}
}

// A server makes a backup when the newest is older than the last time that one was due, and not before.
func TestBackUpIfDue(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	output(t, data, "--data", data, "run", "Hello.")
	g := &globals{ctx: t.Context(), stderr: new(bytes.Buffer), zone: time.UTC}
	g.set.Data = data
	g.set.Backup = config.Backup{To: t.TempDir(), Keep: 30 * 24 * time.Hour, At: 3 * time.Hour}
	now := time.Now()
	soon := now.Add(time.Minute)
	for i, c := range []struct {
		now  time.Time
		made bool
	}{{now, true}, {soon, g.set.Backup.LastDue(soon.UTC()).After(now)}, {now.Add(48 * time.Hour), true}} {
		made, err := g.backUpIfDue(t.Context(), c.now, slog.New(slog.DiscardHandler))
		if err != nil || (made.Name != "") != c.made {
			t.Errorf("%d: %+v, %v", i, made, err)
		}
	}
	if err := os.RemoveAll(g.set.Backup.To); err != nil {
		t.Fatal(err)
	}
	if _, err := g.backUpIfDue(t.Context(), now.Add(96*time.Hour), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a folder that is not there was made")
	}
}
