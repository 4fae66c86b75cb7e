package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
)

// Two machines with folders of their own share what is in a PostgreSQL database.
func TestStoreOnAServer(t *testing.T) {
	dsn := postgrestest.NewDatabase(t)
	objects := "file://" + filepath.ToSlash(t.TempDir())
	here := t.TempDir()
	there := t.TempDir()
	at := func(data string, args ...string) (code int, said, failed string) {
		var out, errs bytes.Buffer
		args = append([]string{"--data", data, "--store", dsn, "--objects", objects}, args...)
		code = runProgram(context.Background(), args, strings.NewReader(""), &out, &errs)
		return code, out.String(), errs.String()
	}
	if code, _, failed := at(here, "doctor"); code != 3 ||
		!strings.Contains(failed, "there is nothing in the database yet") {
		t.Errorf("doctor of an empty database: %d, %q", code, failed)
	}
	if code, _, failed := at(here, "run", "where is the blue key?"); code != 0 {
		t.Fatalf("run: %d, %q", code, failed)
	}
	for _, args := range [][]string{{"search", "blue"}, {"list"}, {"show", "latest"}, {"doctor"},
		{"run", "--conversation", "latest", "and the red one?"}} {
		if code, _, failed := at(there, args...); code != 0 {
			t.Errorf("%s: %d, %q", args, code, failed)
		}
	}
	if _, said, _ := at(here, "show", "latest"); !strings.Contains(said, "the red one?") ||
		!strings.Contains(said, "the blue key?") {
		t.Errorf("the conversation is %q", said)
	}
	for _, dir := range []string{here, there} {
		if _, err := os.Stat(filepath.Join(dir, "scrollback.db")); err == nil {
			t.Error("there is a database in the folder, too")
		}
	}
}

func TestStoreMisnamed(t *testing.T) {
	for _, bad := range []string{"postgres://u:SeCrEt/9@127.0.0.1/x", "mysql://u:SeCrEt@127.0.0.1/x",
		"postgres://u:SeCrEt@127.0.0.1:1/x"} {
		var out, errs bytes.Buffer
		code := runProgram(context.Background(), []string{"--data", t.TempDir(), "--store", bad, "run", "hello"},
			strings.NewReader(""), &out, &errs)
		if code == 0 || strings.Contains(errs.String(), "SeCrEt") || !strings.Contains(errs.String(), "scrollback: ") {
			t.Errorf("%q: %d, %q", bad, code, errs.String())
		}
	}
}
