package recall

import (
	"context"
	"strconv"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/kept"
)

// briefKept is a kept sentence as a model gets it.
type briefKept struct {
	Kind  scrollback.KeptKind  `json:"kind"`
	Seq   int64                `json:"seq"`
	Text  string               `json:"text"`
	State scrollback.KeptState `json:"state,omitempty"` // of what no longer stands
}

func runKept(ctx context.Context, c toolCall) (string, error) {
	type args struct {
		All    bool
		Cursor string
	}
	a, err := DecodeArguments[args](c.arguments)
	if err != nil {
		return "", err
	}
	from := 0
	if a.Cursor != "" {
		if from, err = strconv.Atoi(a.Cursor); err != nil || from < 0 {
			return "", scrollback.ParamErrorf("recall", "cursor", i18n.NotACursorOfOurs)
		}
	}
	head, err := c.access.Head(ctx, c.conversation)
	if err != nil {
		return "", err
	}
	entries, err := c.store.Kept.List(ctx, head, head.Branch, head.Branch.HeadSeq)
	if err != nil {
		return "", err
	}
	all := []briefKept{}
	for _, k := range kept.Arrange(entries, a.All) {
		brief := briefKept{Kind: k.Kind, Seq: k.Seq, Text: k.Text}
		if k.State != scrollback.KeptOpen {
			brief.State = k.State
		}
		all = append(all, brief)
	}
	all = all[min(from, len(all)):]
	type answer struct {
		Kept []briefKept `json:"kept"`
		Next string      `json:"next,omitempty"`
	}
	return FitRoom(c.room, func(try int) (any, bool) {
		n, more := halve(len(all), try)
		out := answer{Kept: all[:min(n, len(all))]}
		if n < len(all) {
			out.Next = strconv.Itoa(from + n)
		}
		return out, more
	})
}
