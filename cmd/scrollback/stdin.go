package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// maxPrompt bounds a prompt on standard input, in bytes.
const maxPrompt = 4 << 20

// patience is how long standard input beside a prompt may take to begin. The parent
// of the program may have left it open and never write to it.
const patience = 3 * time.Second

// How standard input is read beside a prompt.
const (
	stdinAuto   = "auto"   // if it is not a terminal, and begins soon
	stdinWait   = "wait"   // to its end, however long it takes to begin
	stdinIgnore = "ignore" // not at all
)

// readPrompt reads the prompt itself from standard input.
func (g *globals) readPrompt() (string, error) {
	if isTerminal(g.stdin) {
		g.turnPrinter().PrintNote("%s", g.localeTexts().Say(i18n.ChatTypePrompt))
	}
	b, err := readWhole(g.standardInput(), maxPrompt)
	if err == nil && !isText(b) {
		err = scrollback.ParamErrorf("scrollback", "message", i18n.InputIsNotText)
	}
	return strings.TrimRight(string(b), "\r\n"), err
}

// readStdinBeside reads what standard input holds in addition to a prompt, at most most bytes; nil if
// that is nothing.
func (g *globals) readStdinBeside(how string, most int64) ([]byte, error) {
	if file, ok := g.stdin.(*os.File); ok {
		info, err := file.Stat()
		if err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return nil, nil // it is closed, a terminal, or /dev/null
		}
	}
	if how == stdinIgnore {
		return nil, nil
	}
	in := bufio.NewReader(g.standardInput())
	begun := make(chan struct{})
	go func() {
		_, _ = in.Peek(1) // the error comes again when it is read
		close(begun)
	}()
	var late <-chan time.Time // never, for a caller that waits
	if how != stdinWait {
		late = time.After(patience)
	}
	select {
	case <-begun:
	case <-late:
		g.turnPrinter().PrintNote(g.localeTexts().Say(i18n.ChatNoInput), patience)
		return nil, nil
	}
	b, err := readWhole(in, most)
	if err != nil || len(bytes.TrimSpace(b)) == 0 {
		return nil, err
	}
	if !isText(b) && !isRaster(b) {
		return nil, scrollback.ParamErrorf("scrollback", "message",
			i18n.InputIsNeitherTextNorImage)
	}
	return b, nil
}

// readWhole reads to the end; what is longer than most bytes is not cut but refused.
func readWhole(r io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = scrollback.ParamErrorf("scrollback", "message", i18n.InputOverLimit,
			most).WithReason(scrollback.ErrTooLarge)
	}
	return b, scrollback.Wrap(scrollback.Invalid, "scrollback", err)
}

// stdinPart returns standard input as a part of a message: a text, or an attachment if it is
// an image or has more than room characters.
func (a *app) stdinPart(g *globals, id scrollback.ConversationID, b []byte, room int) (scrollback.Part, error) {
	image := !isText(b)
	if !image && utf8.RuneCount(b) <= room {
		return scrollback.Text{Text: string(b)}, nil
	}
	art, err := a.Upload(g.ctx, id, bytes.NewReader(b), "standard input")
	if image {
		return scrollback.Image{Artifact: art.ID, Name: art.Name}, err
	}
	return scrollback.File{Artifact: art.ID, Name: art.Name}, err
}
