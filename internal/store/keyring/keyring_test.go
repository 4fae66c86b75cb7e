package keyring_test

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/store/keyring"
)

func open(t *testing.T) (*keyring.Ring, *driver.Driver, *time.Time) {
	t.Helper()
	d := oracle.New()
	now := time.UnixMilli(1_700_000_000_000)
	return keyring.New(d.Access, func() time.Time { return now }, uuid.NewString), d, &now
}

// A key is found by its secret, of which only the hash is stored.
func TestAdd(t *testing.T) {
	r, d, now := open(t)
	k, secret, err := r.Add(t.Context(), scrollback.Key{Name: " laptop ", Role: scrollback.AccessWrite,
		Projects: []string{"b", "a", "b"}})
	if err != nil || k.Name != "laptop" || len(k.Projects) != 2 || k.Projects[0] != "b" ||
		k.CreatedAt != now.UnixMilli() || k.ID == "" {
		t.Fatalf("%+v, %v", k, err)
	}
	if !strings.HasPrefix(secret, "sbk_") || len(secret) < 40 || strings.Contains(secret, string(k.ID)) {
		t.Errorf("the secret is %q", secret)
	}
	found, err := r.Find(t.Context(), secret)
	if err != nil || found.ID != k.ID {
		t.Errorf("found %+v, %v", found, err)
	}
	if _, err := d.Access.FindKey(t.Context(), sha256.Sum256([]byte(secret))); err != nil {
		t.Errorf("by its hash: %v", err)
	}
	_, again, err := r.Add(t.Context(), scrollback.Key{Name: "other", Role: scrollback.AccessRead})
	if err != nil || again == secret {
		t.Errorf("two keys have the secrets %q and %q, %v", secret, again, err)
	}
	short := secret[:len(secret)-1]
	long := secret + "A"
	for _, wrong := range []string{"", "sbk_", short, long, strings.ToUpper(secret), "x" + secret, "../" + secret[3:]} {
		if _, err := r.Find(t.Context(), wrong); scrollback.CodeOf(err) != scrollback.NotFound {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

func TestAddRefuses(t *testing.T) {
	r, _, now := open(t)
	for param, k := range map[string]scrollback.Key{
		"name":    {Name: " ", Role: scrollback.AccessRead},
		"name ":   {Name: strings.Repeat("x", 101), Role: scrollback.AccessRead},
		"name  ":  {Name: "a\nb", Role: scrollback.AccessRead},
		"role":    {Name: "a"},
		"role ":   {Name: "a", Role: scrollback.AccessAdmin + 1},
		"project": {Name: "a", Role: scrollback.AccessRead, Projects: []string{""}},
		"door":    {Name: "a", Role: scrollback.AccessRead, Door: "ajar"},
		"expires": {Name: "a", Role: scrollback.AccessRead, ExpiresAt: now.UnixMilli()},
	} {
		_, secret, err := r.Add(t.Context(), k)
		if known, ok := err.(*scrollback.Error); !ok || known.Param != strings.TrimSpace(param) || secret != "" {
			t.Errorf("%+v: %v", k, err)
		}
	}
}

// A key is revoked by its id or its name; a name is that of the key that can be used.
func TestRevoke(t *testing.T) {
	r, _, _ := open(t)
	add := func(name string) scrollback.Key {
		k, _, err := r.Add(t.Context(), scrollback.Key{Name: name, Role: scrollback.AccessRead})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	first := add("a")
	if k, err := r.Revoke(t.Context(), "a"); err != nil || k.ID != first.ID || k.RevokedAt == 0 {
		t.Errorf("%+v, %v", k, err)
	}
	second := add("a")
	if n, err := r.CountUsable(t.Context()); n != 1 || err != nil {
		t.Errorf("%d keys can be used, %v", n, err)
	}
	if k, err := r.Revoke(t.Context(), "a"); err != nil || k.ID != second.ID {
		t.Errorf("%+v, %v", k, err)
	}
	if k, err := r.Revoke(t.Context(), string(first.ID)); err != nil || k.ID != first.ID {
		t.Errorf("again by its id: %+v, %v", k, err)
	}
	for _, name := range []string{"a", "", "nobody"} {
		if _, err := r.Revoke(t.Context(), name); scrollback.CodeOf(err) != scrollback.NotFound {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A sign-in ends by itself, and with its key.
func TestSignIn(t *testing.T) {
	r, _, now := open(t)
	ends := now.Add(time.Hour)
	k, _, err := r.Add(t.Context(), scrollback.Key{Name: "a", Role: scrollback.AccessRead, ExpiresAt: ends.UnixMilli()})
	if err != nil {
		t.Fatal(err)
	}
	cookie, until, err := r.SignIn(t.Context(), k)
	if err != nil || until != ends.UnixMilli() {
		t.Fatalf("until %d, %v", until, err)
	}
	if got, _, err := r.FindSignIn(t.Context(), cookie); err != nil || got.ID != k.ID {
		t.Errorf("%+v, %v", got, err)
	}
	*now = ends
	if _, _, err := r.FindSignIn(t.Context(), cookie); scrollback.CodeOf(err) != scrollback.NotFound {
		t.Errorf("after its end: %v", err)
	}
}
