package identity_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/identity"
)

// Keys that follow from a seed are an identity like any other.
func TestFromSeed(t *testing.T) {
	t.Parallel()
	for i := range byte(50) {
		k := identity.FromSeed([32]byte{7, i})
		own := ownOf(t, k)
		if own.Recipient != ownOf(t, identity.FromSeed([32]byte{7, i})).Recipient || own.Made || own.File != "" {
			t.Fatalf("%+v", own)
		}
		file := encrypt(t, k, []byte("text"))
		r, _, err := k.Open(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(r); string(text) != "text" || err != nil {
			t.Fatalf("%q, %v", text, err)
		}
		if other := ownOf(t, identity.FromSeed([32]byte{7, i + 1})); other.Recipient == own.Recipient {
			t.Error("another seed gives the same")
		}
	}
}

// Two identities agree on a secret that nobody else gets, another one for each purpose.
func TestAgree(t *testing.T) {
	t.Parallel()
	for range 20 {
		a := newKeys(t)
		b := newKeys(t)
		c := newKeys(t)
		ab, err := a.Agree(ownOf(t, b).Recipient, "one")
		if err != nil || len(ab) != 32 {
			t.Fatal(err)
		}
		ba, err := b.Agree(ownOf(t, a).Recipient, "one")
		if err != nil || !bytes.Equal(ab, ba) {
			t.Fatalf("they differ: %v", err)
		}
		for who, k := range map[string]identity.Keys{"c": c, "a": a, "b": b} {
			two, err := k.Agree(ownOf(t, a).Recipient, "two")
			if err != nil || bytes.Equal(two, ab) {
				t.Errorf("%s has it too: %v", who, err)
			}
		}
		if _, err := a.Agree(strings.Replace(ownOf(t, b).Recipient, "age1", "age1q", 1), "one"); err == nil {
			t.Error("it agrees with nobody")
		}
	}
}

func TestDerive(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	seen := map[string]bool{}
	for _, salt := range []string{"a", "b"} {
		for _, label := range []string{"x", "y"} {
			for _, who := range []identity.Keys{k, newKeys(t)} {
				out, err := who.Derive([]byte(salt), label)
				if err != nil || len(out) != 32 {
					t.Fatal(err)
				}
				seen[string(out)] = true
			}
		}
	}
	again, err := k.Derive([]byte("a"), "x")
	if err != nil || len(seen) != 8 || !seen[string(again)] {
		t.Errorf("%d secrets, %v", len(seen), err)
	}
}
