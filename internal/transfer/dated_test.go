package transfer_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/transfer"
)

// A message without a time was said near the nearest that has one, behind it or before it, or
// when its file was last changed; coming again changes nothing.
func TestTimesOfNeighbours(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		at   []string // of messages, or empty
		want []int64
	}{
		"behind":   {[]string{"", "", "5000", "6000"}, []int64{5000, 5000, 5000, 6000}},
		"before":   {[]string{"5000", "", "6000", ""}, []int64{5000, 5000, 6000, 6000}},
		"the file": {[]string{"", ""}, []int64{9000, 9000}},
	} {
		h := newHome(t)
		file := ""
		for i, at := range c.at {
			if at != "" {
				at = `,"created_at":` + at
			}
			file += fmt.Sprintf(`{"role":%q,"content":"m%d"%s}`, []string{"user", "assistant"}[i%2], i, at) + "\n"
		}
		for range 2 {
			out, err := h.Import(ctx, strings.NewReader(file), transfer.ImportRequest{Name: "talk.jsonl", Changed: 9000})
			if err != nil || len(out.Conversations) != 1 {
				t.Fatalf("%s: %+v, %v", name, out, err)
			}
			var got []int64
			for _, m := range h.Log(out.Conversations[0].ID) {
				got = append(got, m.CreatedAt)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
	}
}
