package drivertest

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

// Bounds of the tests.
const (
	maxKeys = 4
	keysNow = int64(1_700_000_000_000)
)

// RunKeys runs the suite. Each call of open returns an empty driver.
func RunKeys(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for name, test := range map[string]func(*keysHarness){
		"Keys": testKeys, "KeyNames": testNames, "KeysBounded": testBounded, "KeyRevoked": testRevoked, "KeyUsed": testUsed,
		"SignIn": testSignIn, "SignInsBounded": testSignInsBounded, "KeyConcurrent": testConcurrent,
		"KeysClosed": testKeysClosed,
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			test(&keysHarness{t, checks{t}, d.Access, d})
		})
	}
}

// keysHarness is the keys of a driver under test.
type keysHarness struct {
	*testing.T
	checks
	driver.Access
	d *driver.Driver
}

// hashSecret returns the hash of a secret.
func hashSecret(secret string) driver.SecretHash { return sha256.Sum256([]byte(secret)) }

// addKey stores a key that has its name as its id and its secret.
func (b *keysHarness) addKey(name string, edits ...func(*scrollback.Key)) scrollback.Key {
	b.Helper()
	k, err := b.tryAddKey(name, edits...)
	b.wantOK(err)
	return k
}

func (b *keysHarness) tryAddKey(name string, edits ...func(*scrollback.Key)) (scrollback.Key, error) {
	k := scrollback.Key{ID: scrollback.KeyID(name), Name: name, Role: scrollback.AccessWrite, CreatedAt: keysNow}
	for _, edit := range edits {
		edit(&k)
	}
	return k, b.AddKey(b.Context(), driver.NewKey{Key: k, Hash: hashSecret(string(k.ID)), Now: keysNow, Most: maxKeys})
}

func (b *keysHarness) signIn(of scrollback.KeyID, cookie string, at, ends int64) {
	b.Helper()
	b.wantOK(b.SignIn(b.Context(),
		driver.NewSignIn{Hash: hashSecret(cookie), Key: of, Now: at, Ends: ends, Most: maxKeys}))
}

func (b *keysHarness) wantSame(want, got any) {
	b.Helper()
	if d := gocmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		b.Fatalf("(-want +got):\n%s", d)
	}
}

// A key comes back as it was stored, by its secret and in the list.
func testKeys(b *keysHarness) {
	first := b.addKey("first", func(k *scrollback.Key) {
		k.Projects = []string{"b", "a", `"`}
		k.ExpiresAt = keysNow + 5
	})
	second := b.addKey("second", func(k *scrollback.Key) {
		k.Role = scrollback.AccessRead
		k.CreatedAt = keysNow + 1
	})
	got, err := b.FindKey(b.Context(), hashSecret("first"))
	b.wantOK(err)
	b.wantSame(first, got)
	all, err := b.ListKeys(b.Context())
	b.wantOK(err)
	b.wantSame([]scrollback.Key{first, second}, all)
	for _, wrong := range []string{"", "firs", "First", "third"} {
		_, err := b.FindKey(b.Context(), hashSecret(wrong))
		b.wantCode(err, scrollback.NotFound)
	}
}

// A name is free again when its key has ended.
func testNames(b *keysHarness) {
	b.addKey("a")
	_, err := b.tryAddKey("a2", func(k *scrollback.Key) { k.Name = "a" })
	b.wantCode(err, scrollback.Conflict)
	_, err = b.RevokeKey(b.Context(), "a", keysNow)
	b.wantOK(err)
	b.addKey("a3", func(k *scrollback.Key) {
		k.Name = "a"
		k.ExpiresAt = keysNow
	})
	b.addKey("a4", func(k *scrollback.Key) { k.Name = "a" })
}

// Only a key that has ended makes room for another: the oldest.
func testBounded(b *keysHarness) {
	for i := range maxKeys {
		b.addKey(fmt.Sprint(i), func(k *scrollback.Key) { k.CreatedAt += int64(i) })
	}
	_, err := b.tryAddKey("one more")
	b.wantCode(err, scrollback.Refused)
	for _, id := range []scrollback.KeyID{"2", "1"} {
		_, err := b.RevokeKey(b.Context(), id, keysNow)
		b.wantOK(err)
	}
	b.addKey("one more", func(k *scrollback.Key) { k.CreatedAt += 9 })
	all, err := b.ListKeys(b.Context())
	b.wantOK(err)
	var ids []scrollback.KeyID
	for _, k := range all {
		ids = append(ids, k.ID)
	}
	b.wantSame([]scrollback.KeyID{"0", "2", "3", "one more"}, ids)
}

// A key is revoked once, and its sign-ins end with it; those of others do not.
func testRevoked(b *keysHarness) {
	k := b.addKey("a")
	b.addKey("b")
	b.signIn("a", "cookie a", keysNow, keysNow+100)
	b.signIn("b", "cookie b", keysNow, keysNow+100)
	k.RevokedAt = keysNow + 1
	for _, at := range []int64{keysNow + 1, keysNow + 2} {
		got, err := b.RevokeKey(b.Context(), "a", at)
		b.wantOK(err)
		b.wantSame(k, got)
	}
	got, err := b.FindKey(b.Context(), hashSecret("a"))
	b.wantOK(err)
	b.wantSame(k, got)
	_, _, err = b.FindSignIn(b.Context(), hashSecret("cookie a"), keysNow)
	b.wantCode(err, scrollback.NotFound)
	_, _, err = b.FindSignIn(b.Context(), hashSecret("cookie b"), keysNow)
	b.wantOK(err)
	_, err = b.RevokeKey(b.Context(), "c", keysNow)
	b.wantCode(err, scrollback.NotFound)
}

// When a key was used is noted now and then, and never goes back.
func testUsed(b *keysHarness) {
	b.addKey("a")
	for _, c := range []struct{ at, want int64 }{{keysNow, keysNow}, {keysNow + 59, keysNow}, {keysNow + 60, keysNow + 60},
		{keysNow + 30, keysNow + 60},
		{keysNow + 119, keysNow + 60}} {
		b.wantOK(b.UseKey(b.Context(), "a", c.at, 60))
		k, err := b.FindKey(b.Context(), hashSecret("a"))
		b.wantOK(err)
		b.wantSame(c.want, k.LastUsedAt)
	}
	b.wantOK(b.UseKey(b.Context(), "of nobody", keysNow, 60))
}

// A sign-in leads to its key until it expires or is ended.
func testSignIn(b *keysHarness) {
	k := b.addKey("a", func(k *scrollback.Key) { k.Projects = []string{"p"} })
	b.signIn("a", "one", keysNow, keysNow+100)
	b.signIn("a", "two", keysNow+1, keysNow+200)
	got, ends, err := b.FindSignIn(b.Context(), hashSecret("one"), keysNow+99)
	b.wantOK(err)
	b.wantSame(k, got)
	b.wantSame(keysNow+100, ends)
	for _, c := range []struct {
		cookie string
		at     int64
	}{{"one", keysNow + 100}, {"three", keysNow}, {"a", keysNow}} {
		_, _, err := b.FindSignIn(b.Context(), hashSecret(c.cookie), c.at)
		b.wantCode(err, scrollback.NotFound)
	}
	b.wantOK(b.SignOut(b.Context(), hashSecret("two")))
	b.wantOK(b.SignOut(b.Context(), hashSecret("two")))
	_, _, err = b.FindSignIn(b.Context(), hashSecret("two"), keysNow)
	b.wantCode(err, scrollback.NotFound)
	err = b.SignIn(
		b.Context(),
		driver.NewSignIn{Hash: hashSecret("x"), Key: "of nobody", Now: keysNow, Ends: keysNow + 1, Most: maxKeys},
	)
	b.wantCode(err, scrollback.NotFound)
	b.signIn("a", "three", keysNow+150, keysNow+300) // which drops what has expired
	_, _, err = b.FindSignIn(b.Context(), hashSecret("one"), keysNow)
	b.wantCode(err, scrollback.NotFound)
}

// The oldest sign-ins of a key make room for new ones, and other keys' stay.
func testSignInsBounded(b *keysHarness) {
	b.addKey("a")
	b.addKey("b")
	b.signIn("b", "of b", keysNow-1, keysNow+100)
	for i := range maxKeys + 2 {
		b.signIn("a", fmt.Sprint(i), keysNow+int64(i), keysNow+100)
	}
	for i := range maxKeys + 2 {
		_, _, err := b.FindSignIn(b.Context(), hashSecret(fmt.Sprint(i)), keysNow+10)
		if i < 2 {
			b.wantCode(err, scrollback.NotFound)
		} else {
			b.wantOK(err)
		}
	}
	_, _, err := b.FindSignIn(b.Context(), hashSecret("of b"), keysNow+10)
	b.wantOK(err)
}

// Of those who make keys with one name at the same time one succeeds.
func testConcurrent(b *keysHarness) {
	var wg sync.WaitGroup
	made := make([]error, 8)
	for i := range made {
		wg.Go(func() { _, made[i] = b.tryAddKey(fmt.Sprint("id", i), func(k *scrollback.Key) { k.Name = "same" }) })
	}
	wg.Wait()
	good := 0
	for _, err := range made {
		if err == nil {
			good++
			continue
		}
		b.wantCode(err, scrollback.Conflict)
	}
	b.wantSame(1, good)
}

// A closed driver reports that it is gone.
func testKeysClosed(b *keysHarness) {
	b.addKey("a")
	b.wantOK(b.d.Close())
	_, err := b.FindKey(b.Context(), hashSecret("a"))
	b.wantCode(err, scrollback.Unavailable)
	_, err = b.tryAddKey("b")
	b.wantCode(err, scrollback.Unavailable)
}
