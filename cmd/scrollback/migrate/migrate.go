// Package migrate is the command that copies a store to another database, and says how far it is.
//
// It knows neither databases nor object stores: [moving] does.
package migrate

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud/moving"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
)

// Program is what the command needs of the rest of the program.
type Program struct {
	Ctx    context.Context
	JSON   bool
	Texts  words.Texts
	Stderr io.Writer
	Log    func() *slog.Logger
	Print  func(v any, human func(w io.Writer) error) error
}

// Migrate copies a store.
type Migrate struct {
	From        string `required:"" help:"database-copy" placeholder:"URL"`
	To          string `help:"database-copy-empty-or-from-earlier-run" placeholder:"URL"`
	ObjectsFrom string `name:"objects-from" help:"where-bytes-artifacts-as-objects" placeholder:"URL"`
	ObjectsTo   string `name:"objects-to" help:"where-bytes-artifacts-go-as-objects" placeholder:"URL"`
	Finish      bool   `help:"close-source-changes-when-nearly-everything-copied"`
	Cancel      bool   `help:"copy-nothing"`
}

// Run implements the command.
func (c *Migrate) Run(p Program) error {
	switch {
	case c.Cancel && (c.Finish || c.To != "" || c.ObjectsFrom != "" || c.ObjectsTo != ""):
		return scrollback.ParamErrorf("scrollback", "cancel", i18n.CancelTakesOnlyFrom)
	case c.Cancel:
		if err := moving.Cancel(p.Ctx, c.From, p.Log()); err != nil {
			return err
		}
		return p.Print(map[string]bool{"canceled": true}, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, p.Texts.Say(i18n.MoveCanChangeAgain))
			return err
		})
	case c.To == "":
		return scrollback.ParamErrorf("scrollback", "to", i18n.NameDatabaseToCopyTo)
	}
	t := &progressWriter{w: p.Stderr, texts: p.Texts, json: p.JSON}
	if f, ok := p.Stderr.(*os.File); ok && terminal.IsTerminal(f) {
		t.draws = !p.JSON
	}
	r, err := moving.Move(p.Ctx, moving.Options{From: c.From, To: c.To, ObjectsFrom: c.ObjectsFrom, ObjectsTo: c.ObjectsTo,
		Finish: c.Finish, Told: t.showProgress, Log: p.Log()})
	t.wipeRow()
	if err != nil {
		return err
	}
	return p.Print(r, func(w io.Writer) error { return c.printReport(w, p.Texts, r) })
}

// printReport returns what became of it.
func (c *Migrate) printReport(w io.Writer, t words.Texts, r moving.Report) error {
	fmt.Fprintln(w, t.Say(i18n.MoveCopied, columns.FormatThousands(r.Messages), columns.FormatThousands(r.Rows),
		columns.FormatSize(r.Bytes),
		formatSpan(r.Seconds), formatRate(r.Bytes, r.Seconds)))
	if c.ObjectsTo != "" {
		fmt.Fprintln(w, t.Say(i18n.MoveCopiedObjects, columns.FormatThousands(r.Objects), columns.FormatSize(r.ObjectBytes),
			columns.FormatThousands(r.ObjectsSame)))
	}
	if r.Damaged > 0 {
		fmt.Fprintln(w, t.Say(i18n.MoveDamaged, columns.FormatThousands(r.Damaged)))
	}
	fmt.Fprintln(w, t.Say(i18n.MoveCompared, columns.FormatThousands(r.Verified), columns.FormatThousands(r.Compared)))
	if r.Finished {
		_, err := fmt.Fprintln(w, t.Say(i18n.MoveClosed, r.From, formatSpan(float64(r.StopMS)/1000), r.To))
		return err
	}
	_, err := fmt.Fprintln(w, t.Say(i18n.MoveStays, r.From))
	return err
}

// progressWriter says how far it is: in one row of a terminal, else now and then in a line.
type progressWriter struct {
	w     io.Writer
	texts words.Texts
	json  bool
	draws bool
	last  time.Time
	drawn bool
}

// sayEvery is how often a line is written where nobody watches.
const sayEvery = 10 * time.Second

func (t *progressWriter) showProgress(p moving.Progress) {
	if i18n.Under("migration", string(p.Stage)) == "" || t.json {
		return
	}
	if !t.draws && time.Since(t.last) < sayEvery {
		return
	}
	if t.last.IsZero() && !t.draws { // short ones end before anybody asks
		t.last = time.Now()
		return
	}
	t.last = time.Now()
	line := t.texts.Say(i18n.MoveProgress, t.texts.Named("migration", string(p.Stage)),
		columns.FormatThousands(p.Conversations),
		columns.FormatThousands(max(p.Of, p.Conversations)), columns.FormatThousands(p.Messages),
		columns.FormatSize(p.Bytes+p.ObjectBytes),
		formatRate(p.Bytes+p.ObjectBytes, p.Seconds))
	if left := secondsLeft(p); left > 0 {
		line += t.texts.Say(i18n.MoveLeft, formatSpan(left))
	}
	if t.draws {
		fmt.Fprintf(t.w, "\r%s\x1b[K", line)
		t.drawn = true
		return
	}
	fmt.Fprintln(t.w, line)
}

func (t *progressWriter) wipeRow() {
	if t.drawn {
		fmt.Fprint(t.w, "\r\x1b[K")
	}
}

// secondsLeft is about how many seconds a stage still takes, if it has come far enough to say.
func secondsLeft(p moving.Progress) float64 {
	if p.Conversations < 50 || p.Conversations >= p.Of {
		return 0
	}
	return p.StageSeconds * float64(p.Of-p.Conversations) / float64(p.Conversations)
}

func formatRate(n int64, seconds float64) string {
	if seconds <= 0 {
		return columns.FormatSize(0) + "/s"
	}
	return columns.FormatSize(int64(float64(n)/seconds)) + "/s"
}

func formatSpan(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
