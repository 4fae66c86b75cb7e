package backup_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud/backup"
	"github.com/scrollback-ai/scrollback/cloud/objectstest"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/identity"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres/postgrestest"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
)

// place is a store that may be backed up and restored to, and how its database is opened.
type place struct {
	backup.Store
	open func(t *testing.T) *driver.Driver
}

func onSQLite(t *testing.T) place {
	dir := t.TempDir()
	return place{backup.Store{Dir: dir, Program: "test"}, func(t *testing.T) *driver.Driver {
		d, err := sqlite.Open(t.Context(), filepath.Join(dir, "scrollback.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		return d
	}}
}

func onPostgres(t *testing.T) place {
	dsn := postgrestest.NewDatabase(t)
	return place{backup.Store{Dir: t.TempDir(), Database: dsn, Program: "test"}, func(t *testing.T) *driver.Driver {
		d, err := postgres.Open(t.Context(), dsn, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		return d
	}}
}

// fill does many things to a store, and puts objects beside it; it returns them by their keys.
func (p place) fill(t *testing.T, seed uint64) (*driver.Driver, map[string]string) {
	t.Helper()
	d := p.open(t)
	drivertest.RunWalk(t, seed, 300, oracle.New(), d)
	want := map[string]string{"artifacts/ab/cd": strings.Repeat("object ", 50_000), "archives/c/1.json": "{}", "empty": ""}
	b := p.bucket(t)
	for key, text := range want {
		if err := blob.WriteAll(t.Context(), b, key, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return d, want
}

func (p place) bucket(t *testing.T) blob.Bucket {
	t.Helper()
	dir := filepath.Join(p.Dir, "objects")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	b, err := blob.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wantObjects compares the objects beside a store.
func (p place) wantObjects(t *testing.T, want map[string]string) {
	t.Helper()
	for key, text := range want {
		if got, err := blob.ReadAll(t.Context(), p.bucket(t), key); err != nil || string(got) != text {
			t.Errorf("%s came back as %d bytes, %v", key, len(got), err)
		}
	}
}

// What was backed up of a store in use is what is restored, on either database.
func TestBackup(t *testing.T) {
	t.Parallel()
	for i, way := range []struct {
		name     string
		from, to func(t *testing.T) place
		begun    bool // the target was opened before
	}{{"SQLite", onSQLite, onSQLite, false}, {"SQLiteThatIsThere", onSQLite, onSQLite, true},
		{"SQLiteToPostgres", onSQLite, onPostgres, false}, {"PostgresToSQLite", onPostgres, onSQLite, false}} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			from := way.from(t)
			source, objects := from.fill(t, uint64(i+1))
			file := filepath.Join(t.TempDir(), "b.backup")
			made, err := from.CreateFile(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(file)
			if err != nil || info.Mode().Perm() != 0o600 || info.Size() != made.Bytes || made.Objects != 3 ||
				made.Conversations == 0 || made.Messages == 0 {
				t.Errorf("%v, %+v, %v", info, made, err)
			}
			seen, err := backup.Verify(t.Context(), file, from.Keys)
			if err != nil || seen != made.BackupContents {
				t.Errorf("verified %+v, made %+v, %v", seen, made.BackupContents, err)
			}
			to := way.to(t)
			if way.begun {
				_ = to.open(t).Close() // there is an empty database then
			}
			if _, err := to.Restore(t.Context(), file); err != nil {
				t.Fatal(err)
			}
			target := to.open(t)
			drivertest.WantEqual(t, source, target)
			drivertest.CheckInvariants(t, target)
			to.wantObjects(t, objects)
			if _, err := to.Restore(t.Context(), file); scrollback.CodeOf(err) != scrollback.Conflict {
				t.Errorf("once more: %v", err)
			}
			if _, err := from.CreateFile(t.Context(), file); scrollback.CodeOf(err) != scrollback.Conflict {
				t.Errorf("over a file: %v", err)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".scrollback*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// A file that was cut off anywhere, or changed anywhere, is refused, and nothing is restored of it.
func TestDamaged(t *testing.T) {
	t.Parallel()
	from := onSQLite(t)
	from.fill(t, 9)
	file := filepath.Join(t.TempDir(), "b.backup")
	if _, err := from.CreateFile(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	to := onSQLite(t)
	bad := filepath.Join(t.TempDir(), "bad.backup")
	refused := func(what string, text []byte) {
		t.Helper()
		if err := os.WriteFile(bad, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := to.Restore(t.Context(), bad); scrollback.CodeOf(err) != scrollback.Invalid {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range 40 {
		at := len(whole) * i / 40
		refused("cut off", whole[:at])
		changed := slices.Clone(whole)
		changed[at] ^= 0x10
		if _, err := func() (backup.Contents, error) {
			if err := os.WriteFile(bad, changed, 0o600); err != nil {
				t.Fatal(err)
			}
			return backup.Verify(t.Context(), bad, from.Keys)
		}(); err == nil {
			t.Errorf("byte %d of %d was changed, and nobody noticed", at, len(whole))
		}
	}
	refused("nothing", nil)
	refused("something else", []byte(strings.Repeat("PK\x03\x04", 1000)))
	if _, err := os.Stat(filepath.Join(to.Dir, "scrollback.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was restored: %v", err)
	}
}

// A shelf lists its backups, keeps the newest, and leaves alone what else is there; in a folder and in a bucket.
func TestShelf(t *testing.T) {
	folder := t.TempDir()
	bucket := objectstest.StartLenient(t).URL("a/b")
	for _, at := range []string{folder, "file://" + filepath.ToSlash(t.TempDir()), bucket} {
		shelf, err := backup.OpenShelf(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		defer shelf.Close()
		from := onSQLite(t)
		source, objects := from.fill(t, 4)
		first, err := from.CreateOn(t.Context(), shelf, 0)
		if err != nil {
			t.Fatal(err)
		}
		if at == folder {
			for _, name := range []string{"scrollback-20200101T000000Z.backup", "holiday.jpg", "scrollback-.backup"} {
				if err := os.WriteFile(filepath.Join(folder, name), []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		second, err := from.CreateOn(t.Context(), shelf, time.Hour)
		if err != nil || first.Name == second.Name || at == folder &&
			!slices.Equal(second.Removed, []string{"scrollback-20200101T000000Z.backup"}) {
			t.Fatalf("%+v, %v", second, err)
		}
		all, err := shelf.List(t.Context())
		if err != nil || len(all) != 2 || all[0].Name != second.Name || all[1].Name != first.Name ||
			all[0].Bytes != second.Bytes {
			t.Errorf("%s has %+v, %v", at, all, err)
		}
		third, err := from.CreateOn(t.Context(), shelf, time.Nanosecond)
		if err != nil || len(third.Removed) < 1 {
			t.Errorf("%+v, %v", third, err)
		}
		to := onSQLite(t)
		if _, err := to.Restore(t.Context(), join(at, third.Name)); err != nil {
			t.Fatal(err)
		}
		drivertest.WantEqual(t, source, to.open(t))
		to.wantObjects(t, objects)
	}
	if _, err := os.Stat(filepath.Join(folder, "holiday.jpg")); err != nil {
		t.Error(err)
	}
}

// join returns where a backup of a shelf is.
func join(at, name string) string {
	before, after, found := strings.Cut(at, "?")
	out := strings.TrimSuffix(before, "/") + "/" + name
	if found {
		out += "?" + after
	}
	return out
}

// What cannot be is said, and nothing is made.
func TestRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := backup.Store{Dir: dir}
	for what, c := range map[string]struct {
		code scrollback.Code
		do   func(ctx context.Context) error
	}{
		"no store": {scrollback.NotFound, func(ctx context.Context) error {
			_, err := empty.CreateFile(ctx, filepath.Join(dir, "x"))
			return err
		}},
		"in memory": {scrollback.Refused, func(ctx context.Context) error {
			_, err := backup.Store{Dir: dir, Database: "memory:"}.CreateFile(ctx, filepath.Join(dir, "x"))
			return err
		}},
		"no folder": {scrollback.NotFound, func(ctx context.Context) error {
			_, err := backup.OpenShelf(ctx, filepath.Join(dir, "none"))
			return err
		}},
		"no backup": {scrollback.NotFound, func(ctx context.Context) error {
			_, err := backup.Verify(ctx, filepath.Join(dir, "none"), identity.Keys{})
			return err
		}},
		"a folder": {scrollback.Invalid, func(ctx context.Context) error {
			_, err := backup.Verify(ctx, dir, identity.Keys{})
			return err
		}},
	} {
		if err := c.do(t.Context()); scrollback.CodeOf(err) != c.code {
			t.Errorf("%s: %v", what, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
