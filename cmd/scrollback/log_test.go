package main

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// A person reads sentences, once each and in their language, and no lines of a log.
func TestPlainLog(t *testing.T) {
	for _, c := range []struct{ lang, want string }{
		{"en_US.UTF-8", "scrollback: what a server taught was not kept: m/one: the disk is full\n" +
			"scrollback: no model gave a summary; compacting without one: it is slow\n"},
		{"zh_CN.UTF-8", "scrollback: 从服务器学到的信息未能保存：m/one：内部错误：the disk is full\n" +
			"scrollback: 没有模型给出摘要；不用摘要进行压缩：it is slow\n"},
	} {
		t.Setenv("LC_ALL", c.lang)
		var out strings.Builder
		log := slog.New(newPlain(&out, slog.LevelWarn)).With("turn", "t")
		for range 3 {
			log.Warn("what a server taught was not kept", "model", "m/one",
				"error", scrollback.Errorf(scrollback.Internal, "store.Put", "%w", errors.New("the disk\nis full")))
		}
		log.Info("nobody asked")
		log.Warn("no model gave a summary; compacting without one", "conversation", "01a2", "calls", 2, "reason", "it is slow")
		if out.String() != c.want {
			t.Errorf("%s: %q, want %q", c.lang, out.String(), c.want)
		}
	}
}
