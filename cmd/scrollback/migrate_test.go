package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

func sqliteURL(data string) string {
	return "sqlite://" + filepath.ToSlash(filepath.Join(data, "scrollback.db"))
}

// What cannot be is said before anything is opened or made, and no password with it.
func TestMigrateRefused(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	data := t.TempDir()
	output(t, data, "run", "hello")
	other := t.TempDir()
	output(t, other, "run", "hello")
	empty := postgrestest.NewDatabase(t)
	for _, c := range []struct {
		args  []string
		wants string
	}{
		{[]string{"--from", sqliteURL(t.TempDir()), "--to", sqliteURL(t.TempDir())}, "there is no database at"},
		{[]string{"--from", sqliteURL(data), "--to", "sqlite://" + filepath.ToSlash(other)}, "is a folder"},
		{[]string{"--from", empty, "--to", sqliteURL(t.TempDir())}, "there is nothing in the database yet"},
		{[]string{"--from", empty, "--cancel"}, "there is nothing in the database yet"}, // it was not made either
		{[]string{"--from", "mysql://u:secret@x/y", "--to", sqliteURL(t.TempDir())},
			"--from is sqlite:///PATH or postgres://"},
		{[]string{"--from", sqliteURL(data), "--to", "postgres://u:secret@127.0.0.1:1/db?connect_timeout=1"}, "127.0.0.1"},
		{[]string{"--from", sqliteURL(data), "--to", sqliteURL(other)}, "is not empty"},
		{[]string{"--from", sqliteURL(data)}, "name the database to copy to"},
		{[]string{"--from", sqliteURL(data), "--to", sqliteURL(other), "--cancel"}, "--cancel takes nothing but --from"},
		{[]string{"--from", sqliteURL(data), "--to", sqliteURL(t.TempDir()), "--objects-from", "file:///x"},
			"name where the objects go"},
	} {
		cmd := command(t, t.TempDir(), nil, append([]string{"migrate"}, c.args...)...)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.wants) || strings.Contains(string(out), "secret") {
			t.Errorf("%v: %v, %s", c.args, err, out)
		}
	}
	output(t, data, "run", "again")
}
