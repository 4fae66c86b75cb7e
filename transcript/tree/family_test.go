package tree_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scrollback-ai/scrollback/transcript/tree"
)

func TestFamilies(t *testing.T) {
	above := map[string]string{"b": "a", "c": "b", "d": "a", "e": "gone", "f": "f", "x": "y", "y": "z", "z": "x", "w": "y"}
	got := tree.GroupFamilies([]string{"d", "c", "x", "a", "b", "y", "e", "z", "f", "w"},
		func(id string) string { return above[id] })
	want := [][]string{{"a", "d", "b", "c"}, {"e"}, {"f"}, {"x", "z", "y", "w"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := tree.GroupFamilies(nil, nil); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}
