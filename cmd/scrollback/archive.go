package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript/mask"
)

type archiveCmd struct {
	oneConversation
	Archives bool   `help:"list-newest-copies-write-none"`
	Key      string `help:"copy-there" placeholder:"KEY"`
	Output   string `short:"o" help:"file-write-copy-as-well" placeholder:"FILE"`
	Encrypt  bool   `help:"encrypt-file-for-recipients"`
	Mask     bool   `help:"mask-what-is-written"`
}

// Run implements the command.
func (c *archiveCmd) Run(g *globals) error {
	if (c.Encrypt || c.Mask) && (c.Output == "" || c.Archives) {
		return scrollback.ParamErrorf("scrollback", "output", i18n.EncryptNeedsFile)
	}
	if c.Mask && c.Key != "" {
		return scrollback.ParamErrorf("scrollback", "key", i18n.MaskNeedsNewCopy)
	}
	if c.Encrypt {
		if c.Output == "-" && isTerminal(g.stdout) {
			return scrollback.ParamErrorf("scrollback", "output", i18n.EncryptedIsBinary)
		}
		if err := g.showNewIdentity(); err != nil {
			return err
		}
	}
	return c.withConversation(g, func(a *app, id scrollback.ConversationID) error {
		all := a.Transfer.Copies()
		if c.Archives {
			list, err := all.List(g.ctx, a.View, id, g.listLimit(0))
			if err != nil {
				return err
			}
			return g.printResult(map[string]any{"archives": list}, func(w io.Writer) error {
				for _, one := range list {
					if err := g.printCopy(w, one); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if c.Mask {
			return c.writeMasked(g, a, id)
		}
		made := transfer.Copy{Key: c.Key}
		if c.Key == "" {
			var err error
			if made, err = all.Write(g.ctx, a.View, id); err != nil {
				return err
			}
		}
		made, f, err := all.Open(g.ctx, a.View, id, made.Key)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // read-only
		copied := func(w io.Writer) error {
			return g.encryptIf(c.Encrypt, w, func(w io.Writer) error {
				_, err := io.Copy(w, f)
				return scrollback.Wrap(scrollback.Unavailable, "scrollback", err)
			})
		}
		switch c.Output {
		case "-":
			return copied(g.safeOutput())
		case "":
		default:
			if err := writeWhole(c.Output, copied); err != nil {
				return err
			}
		}
		return g.printResult(made, func(w io.Writer) error { return g.printCopy(w, made) })
	})
}

// writeMasked writes a full copy without keys and passwords, to the file alone: one beside the data would be the newest
// that is read there, and lack what was said.
func (c *archiveCmd) writeMasked(g *globals, a *app, id scrollback.ConversationID) error {
	var m mask.Masker
	write := func(w io.Writer) error {
		return g.encryptIf(c.Encrypt, w, func(w io.Writer) error {
			return a.Transfer.Copies().WriteMasked(g.ctx, a.View, id, w, &m)
		})
	}
	var err error
	if c.Output == "-" {
		err = write(g.safeOutput())
	} else {
		err = writeWhole(c.Output, write)
	}
	if err == nil {
		g.printMasked(&m)
	}
	return err
}

// finishTime is how long a command waits for the full copies of its compactions.
const finishTime = 10 * time.Minute

// waitFinished waits for what compactions have left to be written: full copies, where conversations
// ask for them.
func (a *app) waitFinished(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, finishTime)
	defer cancel()
	_ = a.Engine.Settle(ctx) // closing breaks it off
}

// printCopy prints a full copy as a line.
func (g *globals) printCopy(w io.Writer, a transfer.Copy) error {
	_, err := fmt.Fprintln(w, g.localeTexts().Say(i18n.CopyLine, a.Key,
		time.UnixMilli(a.CreatedAt).In(g.zone).Format("2006-01-02 15:04:05"), columns.FormatThousands(a.Bytes)))
	return err
}
