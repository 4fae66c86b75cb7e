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
	"github.com/scrollback-ai/scrollback/terminal"
	"github.com/scrollback-ai/scrollback/terminal/columns"
)

// Program is what the command needs of the rest of the program.
type Program struct {
	Ctx    context.Context
	JSON   bool
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
			_, err := fmt.Fprintln(w, "The database can be changed again. What was copied stays where it is.")
			return err
		})
	case c.To == "":
		return scrollback.ParamErrorf("scrollback", "to", i18n.NameDatabaseToCopyTo)
	}
	t := &teller{w: p.Stderr, json: p.JSON}
	if f, ok := p.Stderr.(*os.File); ok && terminal.Is(f) {
		t.draws = !p.JSON
	}
	r, err := moving.Move(p.Ctx, moving.Options{From: c.From, To: c.To, ObjectsFrom: c.ObjectsFrom, ObjectsTo: c.ObjectsTo,
		Finish: c.Finish, Told: t.told, Log: p.Log()})
	t.wipe()
	if err != nil {
		return err
	}
	return p.Print(r, func(w io.Writer) error { return c.report(w, r) })
}

// report says what became of it.
func (c *Migrate) report(w io.Writer, r moving.Report) error {
	fmt.Fprintf(w, "Copied %s messages and %s other rows, %s in %s (%s).\n", columns.Thousands(r.Messages),
		columns.Thousands(r.Rows),
		size(r.Bytes), span(r.Seconds), rate(r.Bytes, r.Seconds))
	if c.ObjectsTo != "" {
		fmt.Fprintf(w, "Copied %s objects, %s; %s were there already.\n", columns.Thousands(r.Objects), size(r.ObjectBytes),
			columns.Thousands(r.ObjectsSame))
	}
	if r.Damaged > 0 {
		fmt.Fprintf(w, "%s artifacts are damaged where they are, and were copied as they are: the log names them.\n",
			columns.Thousands(r.Damaged))
	}
	fmt.Fprintf(w, "Compared: %s conversations with %s messages are the same on both sides.\n",
		columns.Thousands(r.Verified), columns.Thousands(r.Compared))
	if r.Finished {
		_, err := fmt.Fprintf(w, "%s was closed %s ago and can only be read; all of it is on %s. Start the servers there.\n",
			r.From, span(float64(r.StopMS)/1000), r.To)
		return err
	}
	_, err := fmt.Fprintf(w,
		"%s stays in use, and notes what changes. Run the command again to go on, and with --finish to close it.\n", r.From)
	return err
}

// teller says how far it is: in one row of a terminal, else now and then in a line.
type teller struct {
	w     io.Writer
	json  bool
	draws bool
	last  time.Time
	drawn bool
}

// sayEvery is how often a line is written where nobody watches.
const sayEvery = 10 * time.Second

var doing = map[string]string{"seed": "noting what there is", "copy": "copying", "verify": "comparing",
	"finish": "copying the last changes", "objects": "copying objects"}

func (t *teller) told(p moving.Progress) {
	does := doing[string(p.Stage)]
	if does == "" || t.json {
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
	line := fmt.Sprintf("%s: %s of %s conversations, %s messages, %s, %s", does, columns.Thousands(p.Conversations),
		columns.Thousands(max(p.Of, p.Conversations)),
		columns.Thousands(p.Messages), size(p.Bytes+p.ObjectBytes), rate(p.Bytes+p.ObjectBytes, p.Seconds))
	if left := remaining(p); left > 0 {
		line += ", about " + span(left) + " left"
	}
	if t.draws {
		fmt.Fprintf(t.w, "\r%s\x1b[K", line)
		t.drawn = true
		return
	}
	fmt.Fprintln(t.w, line)
}

func (t *teller) wipe() {
	if t.drawn {
		fmt.Fprint(t.w, "\r\x1b[K")
	}
}

// remaining is about how many seconds a stage still takes, if it has come far enough to say.
func remaining(p moving.Progress) float64 {
	if p.Conversations < 50 || p.Conversations >= p.Of {
		return 0
	}
	return p.StageSeconds * float64(p.Of-p.Conversations) / float64(p.Conversations)
}

func size(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
}

func rate(n int64, seconds float64) string {
	if seconds <= 0 {
		return size(0) + "/s"
	}
	return size(int64(float64(n)/seconds)) + "/s"
}

func span(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
