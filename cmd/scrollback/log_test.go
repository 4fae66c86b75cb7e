package main

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// A person reads sentences, once each and in their language, no lines of a log, and nothing that
// the receipt of a compaction says already.
func TestPlainLog(t *testing.T) {
	for _, c := range []struct{ lang, want string }{
		{"en_US.UTF-8", "scrollback: what a server taught was not kept: m/one: the disk is full\n" +
			"scrollback: a model for summaries is not available: m/two: it is not known\n"},
		{"zh_CN.UTF-8", "scrollback: 从服务器学到的信息未能保存：m/one：内部错误：the disk is full\n" +
			"scrollback: 用于摘要的模型不可用：m/two：请求有误：it is not known\n"},
	} {
		t.Setenv("LC_ALL", c.lang)
		var out strings.Builder
		log := slog.New(newPlain(&out, slog.LevelWarn)).With("turn", "t")
		for range 3 {
			log.Warn("what a server taught was not kept", "model", "m/one",
				"error", scrollback.Errorf(scrollback.Internal, "store.Put", "%w", errors.New("the disk\nis full")))
		}
		log.Info("nobody asked")
		log.Warn("a model for summaries is not available", "model", "m/two", "error",
			scrollback.ParamErrorf("x", "model", "it is not known"))
		log.Warn(receipted, "conversation", "01a2", "calls", 2, "reason", "it is slow")
		if out.String() != c.want {
			t.Errorf("%s: %q, want %q", c.lang, out.String(), c.want)
		}
	}
}
