package main

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// A parent that leaves the program's standard input open is not waited for; a
// program that is told to stop stops.
func TestOpenInputDoesNotHang(t *testing.T) {
	open, w := io.Pipe()
	defer w.Close()
	var out, errs bytes.Buffer
	if code := runProgram(context.Background(), []string{"--data", t.TempDir(), "run", "ask"}, open, &out,
		&errs); code != 0 ||
		!strings.Contains(errs.String(), "only the prompt is sent") {
		t.Errorf("exit %d: %s%s", code, out.String(), errs.String())
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if code := runProgram(ctx, []string{"--data", t.TempDir(), "run", "--stdin", "wait", "ask"}, stopping{open, stop},
		&out,
		&errs); code != 130 {
		t.Errorf("stopped while it waits: exit %d", code)
	}
}

// Who says so is waited for, however long it takes: what comes late is not dropped.
func TestLateInputIsWaitedFor(t *testing.T) {
	for range 10 {
		synctest.Test(t, func(t *testing.T) {
			in, w := io.Pipe()
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			time.AfterFunc(2*patience, func() {
				_, err := io.WriteString(w, "late")
				w.CloseWithError(err)
			})
			g := &globals{ctx: ctx, stdin: in, stderr: io.Discard}
			if b, err := g.readStdinBeside(stdinWait, 100); string(b) != "late" || err != nil {
				t.Errorf("%q, %v", b, err)
			}
		})
	}
}

// stopping stops the program as soon as it reads.
type stopping struct {
	io.Reader
	stop func()
}

// Read implements io.Reader.
func (s stopping) Read(p []byte) (int, error) {
	s.stop()
	return s.Reader.Read(p)
}

// pixel returns an image of one pixel.
func pixel(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// An image on standard input is an image of the message, a text that is longer than a
// message may be is a file, and what is neither is refused before anything is stored.
func TestInputThatIsNoMessage(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("潮汐表在第三个系缆柱下面。\n", 20_000)
	for _, c := range []struct {
		name, input, says string
		code              int
		kind              string
	}{
		{"image", pixel(t), "", 0, "image"},
		{"no image", "\x89PNG\r\n\x1a\n and no more", "the image is damaged", 2, ""},
		{"long", long, "", 0, "file"},
		{"binary", "\x7fELF\x00\x01", "neither text in UTF-8 nor an image", 2, ""},
		{"latin", "caf\xe9", "neither text in UTF-8 nor an image", 2, ""},
		{"too long", strings.Repeat("x", 21<<20), "over the limit of 20971520 bytes", 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			args := []string{"--data", dir, "--json"}
			code := runProgram(context.Background(), append(args, "run", "--project", strings.ReplaceAll(c.name, " ", "-"),
				"what is it"),
				strings.NewReader(c.input), &out, &errs)
			if code != c.code || !strings.Contains(errs.String(), c.says) {
				t.Fatalf("exit %d: %s", code, errs.String())
			}
			out.Reset()
			runProgram(context.Background(), append(args, "list", "--project", strings.ReplaceAll(c.name, " ", "-")), nil, &out,
				&errs)
			var page struct{ Conversations []scrollback.Conversation }
			if err := json.Unmarshal(out.Bytes(), &page); err != nil {
				t.Fatal(err)
			}
			if c.code != 0 {
				if len(page.Conversations) != 0 {
					t.Errorf("it left %d conversations", len(page.Conversations))
				}
				return
			}
			out.Reset()
			runProgram(context.Background(), append(args, "show", string(page.Conversations[0].ID)), nil, &out, &errs)
			if want := `"text":"what is it"},{"type":"` + c.kind + `"`; !strings.Contains(out.String(), want) {
				t.Errorf("the message lacks %s:\n%s", want, out.String())
			}
		})
	}
}
