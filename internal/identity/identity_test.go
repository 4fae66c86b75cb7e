package identity_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/identity"
)

// newKeys returns the keys of a machine that has none yet.
func newKeys(t *testing.T) identity.Keys {
	return identity.Keys{File: filepath.Join(t.TempDir(), "config", identity.FileName)}
}

// ownOf returns the identity of a machine, made if need be.
func ownOf(t *testing.T, k identity.Keys) identity.Own {
	t.Helper()
	own, err := k.Own()
	if err != nil {
		t.Fatal(err)
	}
	return own
}

func encrypt(t *testing.T, k identity.Keys, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := k.Encrypt(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// openStream and openFile read a whole file in the two ways there are.
func openStream(k identity.Keys, file []byte) ([]byte, bool, error) {
	r, encrypted, err := k.Open(iotest.HalfReader(bytes.NewReader(file)))
	if err != nil {
		return nil, encrypted, err
	}
	text, err := io.ReadAll(r)
	return text, encrypted, err
}

func openFile(k identity.Keys, file []byte) ([]byte, bool, error) {
	f, encrypted, err := k.OpenFile(bytes.NewReader(file))
	if err != nil {
		return nil, encrypted, err
	}
	if _, err := io.Copy(io.Discard, f); err != nil { // it can be read again
		return nil, encrypted, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, encrypted, err
	}
	text, err := io.ReadAll(f)
	return text, encrypted, err
}

var ways = map[string]func(identity.Keys, []byte) ([]byte, bool, error){"Open": openStream, "OpenFile": openFile}

// randomText returns bytes of several chunks.
func randomText(n int) []byte {
	out := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(out) // it never fails
	return out
}

// The identity is made once, for its owner alone; the same one is used afterwards.
func TestOwn(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	var made [8]identity.Own
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() { made[i], _ = k.Own() })
	}
	all.Wait()
	n := 0
	for _, own := range made {
		if own.Recipient != made[0].Recipient || !strings.HasPrefix(own.Recipient, "age1") || own.File != k.File {
			t.Errorf("%+v beside %+v", own, made[0])
		}
		if own.Made {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d were made", n)
	}
	info, err := os.Stat(k.File)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	left, err := os.ReadDir(filepath.Dir(k.File))
	if err != nil || len(left) != 1 {
		t.Errorf("beside it: %v, %v", left, err)
	}
}

// What was encrypted is opened by each of those it is for, and by nobody else; what is not encrypted stays as it is.
func TestEncrypt(t *testing.T) {
	t.Parallel()
	laptop := newKeys(t)
	printed := newKeys(t)
	stranger := newKeys(t)
	ownOf(t, stranger)
	desk := newKeys(t)
	desk.Recipients = []string{ownOf(t, laptop).Recipient, " " + ownOf(t, printed).Recipient + "\n"}
	secret, err := os.ReadFile(printed.File)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(secret)), "\n")
	for name, open := range ways {
		for _, n := range []int{0, 1, 64 << 10, 200_001} {
			text := randomText(n)
			file := encrypt(t, desk, text)
			if !identity.Sniff(file) || n > 100 && bytes.Contains(file, text[:64]) {
				t.Errorf("%d bytes are not encrypted", n)
			}
			for who, k := range map[string]identity.Keys{"desk": desk, "laptop": laptop, "printed": printed,
				"given": {Given: lines[len(lines)-1]}, "a file": {File: "none", Given: printed.File}} {
				got, encrypted, err := open(k, file)
				if err != nil || !encrypted || !bytes.Equal(got, text) {
					t.Errorf("%s, %d bytes, %s: %d bytes, %v, %v", name, n, who, len(got), encrypted, err)
				}
			}
			if _, _, err := open(stranger, file); scrollback.CodeOf(err) != scrollback.Refused ||
				!strings.Contains(err.Error(), ownOf(t, stranger).Recipient) {
				t.Errorf("%s by a stranger: %v", name, err)
			}
			nobody := newKeys(t)
			if _, _, err := open(nobody, file); scrollback.CodeOf(err) != scrollback.Refused ||
				!strings.Contains(err.Error(), nobody.File) {
				t.Errorf("%s without an identity: %v", name, err)
			}
			if _, err := os.Stat(nobody.File); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s made an identity: %v", name, err)
			}
			if got, encrypted, err := open(identity.Keys{}, text); err != nil || encrypted || !bytes.Equal(got, text) {
				t.Errorf("%s of what is not encrypted: %v, %v", name, encrypted, err)
			}
		}
	}
}

// A file that was changed or cut off anywhere is refused before its end.
func TestDamaged(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	text := randomText(150_000)
	file := encrypt(t, k, text)
	random := rand.New(rand.NewPCG(3, 4))
	for name, open := range ways {
		for i := range 200 {
			at := random.IntN(len(file))
			if i < 20 {
				at = i * 12 // in its head
			}
			changed := slices.Clone(file)
			changed[at] ^= 1 << random.IntN(8)
			got, encrypted, err := open(k, changed)
			if err == nil && (encrypted || bytes.Equal(got, text)) {
				t.Errorf("%s: byte %d was changed, and nobody noticed", name, at)
			}
			if err != nil && scrollback.CodeOf(err) != scrollback.Invalid && scrollback.CodeOf(err) != scrollback.Refused {
				t.Errorf("%s: byte %d: %v", name, at, err)
			}
			cut := random.IntN(len(file))
			if i < 4 {
				cut = len(file) - []int{1, 16, 64 << 10, 64<<10 + 16}[i]
			}
			if _, encrypted, err := open(k, file[:cut]); encrypted && err == nil {
				t.Errorf("%s: cut off at %d of %d, and nobody noticed", name, cut, len(file))
			}
		}
		if _, _, err := open(k, append(slices.Clone(file), 'x')); err == nil {
			t.Errorf("%s: something stands behind it, and nobody noticed", name)
		}
	}
}

// A file that was named and cannot be used is said, never replaced; only who asks for it gets it made.
func TestNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, []byte("# nothing\nAGE-SECRET-KEY-1HALF\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	for what, c := range map[string]struct {
		k    identity.Keys
		code scrollback.Code
	}{"missing": {identity.Keys{File: filepath.Join(dir, "x"), Given: missing}, scrollback.NotFound},
		"empty":      {identity.Keys{Given: empty}, scrollback.Invalid},
		"half a key": {identity.Keys{Given: "AGE-SECRET-KEY-1HALF"}, scrollback.Invalid},
		"nothing":    {identity.Keys{}, scrollback.NotFound},
		"damaged":    {identity.Keys{File: empty}, scrollback.Invalid}} {
		if _, err := c.k.Encrypt(io.Discard); scrollback.CodeOf(err) != c.code || strings.Contains(err.Error(), "HALF") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	k := identity.Keys{Given: missing}
	if own, err := k.Make(); err != nil || !own.Made || own.File != missing {
		t.Errorf("%+v, %v", own, err)
	}
	if again, err := k.Make(); err != nil || again.Made {
		t.Errorf("%+v, %v", again, err)
	}
	k.Recipients = []string{"age1nobody"}
	if _, err := k.Encrypt(io.Discard); scrollback.CodeOf(err) != scrollback.Invalid {
		t.Errorf("for nobody: %v", err)
	}
	if identity.CheckRecipient("age1nobody") == nil || identity.CheckRecipient(ownOf(t, k).Recipient) != nil {
		t.Error("recipients are not told from what is none")
	}
}

// What the reader says is what was wrong with the disk, not with the file.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	file := encrypt(t, k, randomText(200_000))
	broken := scrollback.Errorf(scrollback.Unavailable, "disk", "it went away")
	r, _, err := k.Open(io.MultiReader(bytes.NewReader(file[:100_000]), iotest.ErrReader(broken)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, r); scrollback.CodeOf(err) != scrollback.Unavailable {
		t.Error(err)
	}
}
