package store_test

import (
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// An unknown ref is told with the one that was probably meant: of this conversation
// and its ancestors, and of no other.
func TestNearestRef(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		parent, child, _, _ := family(b)
		stranger := b.create()
		leaf := b.leaf(parent.ID, 1, 4)
		leaf.ID = "01a1fb8d-0000-7000-8000-1234567890ab"
		b.fold(parent.ID, 4, nil, []scrollback.Segment{leaf}, leaf)
		sha := scrollback.ArtifactID(strings.Repeat("c0ffee42", 8))
		if err := b.Refs.PutArtifact(t.Context(), scrollback.Artifact{ID: sha, CreatedAt: b.Now()}, child.ID); err != nil {
			t.Fatal(err)
		}
		history := string(scrollback.HistoryRef(leaf.ID))
		artifact := string(scrollback.ArtifactRef(sha))
		for _, c := range []struct{ what, given, named string }{
			{"a digit wrong", "history:01a1fb8d-0000-7000-8000-1234567890aa", history},
			{"digits swapped", "history:01a1fb8d-0000-7000-8000-1324567890ab", history},
			{"a digit lost", "history:01a1fb8d-0000-7000-8000-123456789ab", history},
			{"cut off", "history:01a1fb8d-0000", history},
			{"without a kind", "01a1fb8d-0000-7000-8000-1234567890ab", history},
			{"of another kind", "artifact:01a1fb8d-0000-7000-8000-1234567890ab", history},
			{"in capitals", "HISTORY:01A1FB8D-0000-7000-8000-1234567890AB", history},
			{"in brackets", "[history:01a1fb8d-0000-7000-8000-1234567890ab]", history},
			{"an artifact", artifact[:len(artifact)-2] + "00", artifact},
			{"the beginning of an artifact", "artifact:c0ffee42c0ff", artifact},
			{"another altogether", "history:01a1fb8d-9999-7999-8999-9999999990ab", ""},
			{"too little of it", "history:01a1", ""},
			{"nothing like it", "nonsense", ""},
			{"nothing", "", ""},
		} {
			for who, err := range map[string]error{
				"child":    func() error { _, err := b.Refs.Get(t.Context(), child.ID, scrollback.Ref(c.given)); return err }(),
				"operator": func() error { _, err := b.Refs.FindOwner(t.Context(), scrollback.Ref(c.given)); return err }(),
				"stranger": func() error { _, err := b.Refs.Get(t.Context(), stranger.ID, scrollback.Ref(c.given)); return err }(),
			} {
				if code := scrollback.CodeOf(err); code != scrollback.NotFound && code != scrollback.Invalid {
					t.Fatalf("%s, %s: %v", c.what, who, err)
				}
				_, named, _ := strings.Cut(scrollback.PublicMessage(err), "; the nearest is ")
				if want := map[bool]string{false: c.named}[who == "stranger"]; named != want {
					t.Errorf("%s, %s: %q names %q, want %q", c.what, who, err, named, want)
				}
			}
		}
	})
}

// The end of an id stands for it, for callers that may resolve the ref, as long as it is the
// only one of its kind that ends so.
func TestRefByItsEnd(t *testing.T) {
	each(t, func(t *testing.T, b *bench) {
		parent, child, _, _ := family(b)
		stranger := b.create()
		leaf := b.leaf(parent.ID, 1, 4)
		leaf.ID = "01a1fb8d-0000-7000-8000-1234567890ab"
		b.fold(parent.ID, 4, nil, []scrollback.Segment{leaf}, leaf)
		zeros := strings.Repeat("0", 57)
		for _, sha := range []string{zeros + "0aaaaaa", zeros + "1bbbbbb", zeros + "2bbbbbb"} {
			for _, c := range []scrollback.ConversationID{parent.ID, child.ID} { // mentioned twice, it is still one
				if err := b.Refs.PutArtifact(t.Context(), scrollback.Artifact{ID: scrollback.ArtifactID(sha), CreatedAt: b.Now()},
					c); err != nil {
					t.Fatal(err)
				}
			}
		}
		for given, want := range map[scrollback.Ref]string{
			"history:7890ab":                 "history:01a1fb8d-0000-7000-8000-1234567890ab",
			"history:8000-1234567890ab":      "history:01a1fb8d-0000-7000-8000-1234567890ab",
			"artifact:aaaaaa":                "artifact:" + zeros + "0aaaaaa",
			"artifact:1bbbbbb":               "artifact:" + zeros + "1bbbbbb",
			"artifact:bbbbbb":                "could be",
			"artifact:7890ab":                "mentions no",
			"history:890ab":                  "mentions no",
			"history:01a1fb":                 "mentions no",
			"history:01a1fb8d-1234567890ab0": "mentions no",
		} {
			e, err := b.Refs.Get(t.Context(), child.ID, given)
			if err == nil && string(e.Ref) != want || err != nil && !strings.Contains(scrollback.PublicMessage(err), want) {
				t.Errorf("%s: %q, %v, want %q", given, e.Ref, err, want)
			}
			if _, err := b.Refs.Get(t.Context(), stranger.ID, given); scrollback.CodeOf(err) != scrollback.NotFound {
				t.Errorf("a stranger gets %s: %v", given, err)
			}
		}
	})
}
