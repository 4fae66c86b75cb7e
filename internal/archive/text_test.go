package archive_test

import (
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
)

// Search reads the beginning of an artifact, cut between characters, and nothing of what is
// not text or not there.
func TestTextForSearch(t *testing.T) {
	b := bucket(t)
	a := archive.New(&book{}, b, nil)
	id := func(text string) scrollback.ArtifactID {
		id, _, err := a.PutArtifact(t.Context(), strings.NewReader(text), 1<<20)
		must(t, err)
		return id
	}
	for _, c := range []struct {
		id   scrollback.ArtifactID
		most int64
		want string
	}{
		{id("plain"), 100, "plain"}, {id("plain"), 5, "plain"}, {id("plain"), 3, "pla"}, {id("数据库"), 7, "数据"},
		{id("数据库"), 1, ""},
		{id("ab\xff"), 100, ""}, {id("ab\xff"), 2, "ab"}, {id(""), 100, ""}, {"no id", 9, ""},
		{scrollback.ArtifactID(strings.Repeat("0", 64)), 9, ""},
	} {
		if got, err := archive.NewTextReader(b, nil)(t.Context(), c.id, c.most); err != nil || got != c.want {
			t.Errorf("%s, at most %d: %q, %v, want %q", c.id, c.most, got, err, c.want)
		}
	}
	must(t, b.Close())
	_, err := archive.NewTextReader(b, nil)(t.Context(), scrollback.ArtifactID(strings.Repeat("0", 64)), 9)
	if scrollback.CodeOf(err) != scrollback.Unavailable {
		t.Errorf("from a closed bucket: %v", err)
	}
}
