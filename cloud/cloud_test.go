package cloud_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/local"
)

// What is on a server and cannot be opened says what is wrong with it.
func TestCannotOpen(t *testing.T) {
	for _, c := range []struct {
		o     local.Options
		param string
	}{
		{local.Options{Database: "postgres://name:pass/word@host/name"}, ""},
		{local.Options{Database: "postgresql://host/name", Objects: "memory:"}, "objects"},
		{local.Options{Database: "postgres://host/name", Objects: "%"}, "objects"},
		{local.Options{Objects: "s3://bucket?nope=1"}, "objects"},
		{local.Options{Objects: "s3://"}, "objects"},
		{local.Options{Objects: "s3://name@bucket"}, "objects"},
	} {
		sb, err := cloud.Open(t.Context(), t.TempDir(), &c.o)
		var known *scrollback.Error
		if sb != nil || !errors.As(err, &known) || known.Code != scrollback.Invalid || known.Param != c.param {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

// Where nothing is on a server, both doors open the same.
func TestOpensWhatLocalOpens(t *testing.T) {
	dir := t.TempDir()
	ctx := t.Context()
	sb, err := cloud.Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := sb.Create(ctx, scrollback.Conversation{Title: "tides"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := scrollback.ReplyOf(sb.Turn(ctx, engine.TurnRequest{Conversation: c.ID,
		Message: scrollback.Say("hello")})); err != nil {
		t.Fatal(err)
	}
	if err := sb.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "scrollback.db")); err != nil {
		t.Error(err)
	}
	again, err := local.Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got, err := again.Get(ctx, c.ID); err != nil || got.Title != "tides" {
		t.Errorf("%+v %v", got, err)
	}
}
