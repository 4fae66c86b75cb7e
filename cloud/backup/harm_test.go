package backup_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud/backup"
	"github.com/scrollback-ai/scrollback/cloud/objectstest"
	"github.com/scrollback-ai/scrollback/internal/identity"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest"
)

// encrypted returns a place whose backups are encrypted.
func encrypted(t *testing.T, p place) place {
	p.Keys = identity.Keys{File: filepath.Join(t.TempDir(), identity.FileName)}
	p.Encrypt = true
	return p
}

// An encrypted backup is restored by who has the identity, from a folder and a bucket, and refused to everybody else;
// nothing is left beside it.
func TestEncrypted(t *testing.T) {
	from := encrypted(t, onSQLite(t))
	source, objects := from.fill(t, 5)
	target := t.TempDir()
	for _, at := range []string{target, objectstest.StartLenient(t).URL("a/b")} {
		shelf, err := backup.OpenShelf(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		defer shelf.Close()
		made, err := from.CreateOn(t.Context(), shelf, 0)
		if err != nil || !made.Encrypted {
			t.Fatalf("%+v, %v", made, err)
		}
		all, err := shelf.List(t.Context())
		if err != nil || len(all) != 1 || !all[0].Encrypted || all[0].Bytes != made.Bytes {
			t.Errorf("listed %+v, %v", all, err)
		}
		if seen, err := shelf.Verify(t.Context(), made.Name, from.Keys); err != nil || seen != made.BackupContents {
			t.Errorf("%+v, %v", seen, err)
		}
		stranger := identity.Keys{File: filepath.Join(t.TempDir(), identity.FileName)}
		for range 2 { // without an identity, and with another one
			if _, err := shelf.Verify(t.Context(), made.Name, stranger); scrollback.CodeOf(err) != scrollback.Refused {
				t.Errorf("by a stranger: %v", err)
			}
			if _, err := stranger.Own(); err != nil {
				t.Fatal(err)
			}
		}
		to := onSQLite(t)
		to.Keys = stranger
		if _, err := to.Restore(t.Context(), join(at, made.Name)); scrollback.CodeOf(err) != scrollback.Refused {
			t.Errorf("restored without the identity: %v", err)
		}
		to.Keys = from.Keys
		if _, err := to.Restore(t.Context(), join(at, made.Name)); err != nil {
			t.Fatal(err)
		}
		drivertest.WantEqual(t, source, to.open(t))
		to.wantObjects(t, objects)
	}
	for _, dir := range []string{target, from.Dir} {
		if left, _ := filepath.Glob(filepath.Join(dir, ".scrollback-backup*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	for _, name := range []string{"../scrollback.db", "holiday.jpg", "", "scrollback-20200101T000000Z.backup"} {
		shelf, err := backup.OpenShelf(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := shelf.Verify(t.Context(), name, from.Keys); scrollback.CodeOf(err) != scrollback.NotFound {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Of 200 bits that change, in a plain and in an encrypted backup, each is refused, and so is each end that is missing
// and everything that stands behind the end.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	for _, from := range []place{onSQLite(t), encrypted(t, onSQLite(t))} {
		from.fill(t, 11)
		file := filepath.Join(t.TempDir(), "b.backup")
		if _, err := from.CreateFile(t.Context(), file); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		bad := filepath.Join(t.TempDir(), "bad.backup")
		refused := func(what string, at int, text []byte) {
			t.Helper()
			if err := os.WriteFile(bad, text, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := backup.Verify(t.Context(), bad, from.Keys)
			if code := scrollback.CodeOf(err); code != scrollback.Invalid && code != scrollback.Refused {
				t.Errorf("encrypted %v, %s %d of %d: %v", from.Encrypt, what, at, len(whole), err)
			}
		}
		random := rand.New(rand.NewPCG(20, 26))
		for i := range 200 {
			changed := slices.Clone(whole)
			at := random.IntN(len(whole))
			changed[at] ^= 1 << random.IntN(8)
			refused("a bit of byte", at, changed)
			if i < 40 {
				cut := len(whole) - 1 - random.IntN(min(len(whole), 4<<i))
				refused("cut off at", max(cut, 0), whole[:max(cut, 0)])
			}
		}
		refused("something behind byte", len(whole), append(slices.Clone(whole), 'x'))
		refused("itself behind byte", len(whole), append(slices.Clone(whole), whole...))
	}
}
