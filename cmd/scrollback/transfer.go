package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/gather"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/terminal"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript/geminicli"
	"github.com/scrollback-ai/scrollback/transcript/mask"
)

type importCmd struct {
	Files  []string `arg:"" optional:"" help:"files-zips-or-folders-read-or-standard"`
	From   string   `help:"all-or-tool-whose-conversations-looked-where" placeholder:"F"`
	DryRun bool     `help:"say-what-would-imported-import-nothing"`
	gather.Flags
	Project   string `help:"project-import-into" placeholder:"P"`
	Into      string `help:"conversation-add" placeholder:"ID"`
	AsCopy    bool   `help:"import-bundle-under-new-ids-list-them"`
	Again     bool   `help:"bring-back-what-was-purged-under-other-ids"`
	Summarize bool   `help:"ask-models-summaries-what-compacted-on-way"`
}

// Run implements the command.
func (c *importCmd) Run(g *globals) error {
	c.From = gather.NameTools(c.From)
	if len(c.Files) == 0 {
		return c.importOne(g, gather.Place{})
	}
	var all []gather.Place
	more := false
	for _, name := range c.Files {
		p := gather.ExpandPlace(name)
		all = append(all, p)
		more = more || len(p.Packs)+len(p.Loose) > 0
	}
	if len(all) == 1 && len(all[0].Packs) == 0 {
		err := c.importOne(g, all[0])
		if all[0].IsNothing(err) {
			all[0].LookDeeper(g.ctx, c.From)
		}
		if !all[0].IsNothing(err) || !more && len(all[0].Deep) == 0 {
			return err
		}
	}
	if c.DryRun {
		return c.importSeveral(g, nil, all)
	}
	return g.withApp(func(a *app) error {
		defer a.waitFinished(g.ctx)
		return c.importSeveral(g, a, all)
	})
}

// importOne imports what was named alone.
func (c *importCmd) importOne(g *globals, p gather.Place) error {
	program := g.gatherProgram(nil)
	out, err := c.importSource(g, nil, p)
	if err != nil && out.IsEmpty() {
		return err
	}
	out.CloseSource(program, cmp.Or(p.Name, c.From), err)
	return cmp.Or(err, g.printResult(out, func(w io.Writer) error { return program.ShowResult(w, out) }))
}

// importSeveral imports one source after the other. One that fails does not stop the others.
//
//nolint:gocognit // what may end the loop stands beside what it does
func (c *importCmd) importSeveral(g *globals, a *app, all []gather.Place) error {
	program := g.gatherProgram(a)
	sum := gather.NewResult(c.DryRun)
	var first error
	told := 0 // files of a folder that were refused
	one := func(p *gather.Place) (brought bool, err error) {
		out, failed := c.importSource(g, a, *p)
		if g.ctx.Err() != nil {
			return false, failed
		}
		if failed != nil && p.IsNothing(failed) && !p.Found && len(p.Deep) == 0 {
			p.LookDeeper(g.ctx, c.From)
		}
		if failed != nil && p.IsNothing(failed) && (p.Found || len(p.Packs)+len(p.Loose)+len(p.Deep) > 0) {
			if p.Found {
				sum.SkipFile(program, p.Name, failed)
				g.printSourceError(p.Name, failed)
				told++
			}
			return false, nil
		}
		if out.CloseSource(program, p.Name, failed); failed != nil {
			if first = cmp.Or(first, failed); g.JSON || !out.IsExplained() {
				defer g.printSourceError(p.Name, failed)
			}
		}
		sum.AddResult(out)
		if g.JSON {
			return true, nil
		}
		if _, err := fmt.Fprintln(g.stdout, columns.StripControls(p.Name)); err != nil || out.IsEmpty() {
			return true, err
		}
		return true, program.ShowResult(g.stdout, out)
	}
	for i := range all {
		p := &all[i]
		told = 0
		brought, err := one(p)
		files := p.Packs
		if !brought {
			files = slices.Concat(p.Loose, p.Packs, p.Deep)
		}
		for _, f := range files {
			if err != nil {
				break
			}
			var more bool
			more, err = one(&f)
			brought = brought || more
		}
		if err != nil {
			return err
		}
		if !brought {
			var failed error = scrollback.ParamErrorf("scrollback", "file", i18n.NothingReadAsConversation,
				p.Name)
			empty := gather.NewResult(c.DryRun)
			empty.CloseSource(program, p.Name, failed)
			sum.AddResult(empty)
			if first = cmp.Or(first, failed); told == 0 { // else its files have told
				fmt.Fprintf(g.stderr, "%s\n", columns.StripControls(explainError(failed)))
			}
		}
	}
	err := g.printResult(sum, func(w io.Writer) error { return program.ShowSum(w, sum) })
	if n := sum.Failed(); err == nil && n > 0 {
		err = scrollback.Errorf(scrollback.CodeOf(first), "scrollback", i18n.SourcesNotImported, n,
			len(sum.Sources))
	}
	return err
}

// printSourceError says on standard error what is wrong with a source.
func (g *globals) printSourceError(name string, err error) {
	said := columns.StripControls(explainError(err))
	if !strings.Contains(said, columns.StripControls(name)) {
		said = columns.StripControls(name) + ": " + said
	}
	fmt.Fprintln(g.stderr, said)
}

// importSource imports one source, or says what would be imported of it: into what is open, or else
// into what is opened for it.
func (c *importCmd) importSource(g *globals, open *app, p gather.Place) (gather.Result, error) {
	in := gather.Import{Flags: c.Flags, File: p.Name, From: c.From, Project: c.Project, DryRun: c.DryRun,
		Summarize: c.Summarize, Again: c.Again,
		Single: c.Into != "" || c.AsCopy}
	kept, err := in.IsPlace()
	out := gather.NewResult(c.DryRun)
	switch {
	case err != nil:
		return out, err
	case kept:
		return in.RunImport(g.gatherProgram(open))
	case c.DryRun:
		return c.surveyFile(g, p)
	}
	load := func(a *app) error {
		o, err := c.Options(g.gatherProgram(nil), gather.Every, c.Project)
		if err != nil {
			return err
		}
		q := o.Import
		q.Format = c.From
		q.Name = filepath.Base(p.Name)
		q.AsCopy = c.AsCopy
		q.Again = c.Again
		q.Summarize = c.Summarize
		if c.Into != "" {
			if q.Into, err = a.Resolve(g.ctx, c.Into); err != nil {
				return err
			}
		}
		brought, err := g.importFile(a, p.Name, q)
		if err == nil {
			out = gather.LoadedResult(p.Name, brought)
		}
		return err
	}
	if open != nil {
		err = load(open)
		return out, err
	}
	err = g.withApp(func(a *app) error {
		defer a.waitFinished(g.ctx)
		return load(a)
	})
	return out, err
}

// surveyFile returns what an import of a file would read.
func (c *importCmd) surveyFile(g *globals, p gather.Place) (gather.Result, error) {
	program := g.gatherProgram(nil)
	none := gather.NewResult(true)
	o, err := c.Options(program, gather.Every, c.Project)
	if err != nil {
		return none, err
	}
	q := o.Import
	q.Format = c.From
	q.Name = filepath.Base(p.Name)
	q.AsCopy = c.AsCopy
	q.Into = scrollback.ConversationID(c.Into)
	f, err := g.openInput(p.Name)
	if err != nil {
		return none, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return none, scrollback.Wrap(scrollback.Unavailable, "scrollback", err)
	}
	var found transfer.Survey
	if err = program.Open(false, func(t *transfer.Transfer, v *engine.View) (err error) {
		found, err = t.Survey(g.ctx, v, f, q)
		return err
	}); err != nil {
		return none, err
	}
	return gather.SurveyResult(p.Name, size, found), nil
}

// importFile imports one file, and shows how far it is on a terminal.
func (g *globals) importFile(a *app, name string, q transfer.ImportRequest) (transfer.ImportResult, error) {
	f, err := g.openInput(name)
	if err != nil {
		return transfer.ImportResult{}, err
	}
	defer f.Close()
	if info, err := os.Stat(name); err == nil && name != "-" {
		q.Changed = info.ModTime().UnixMilli()
	}
	if isTerminal(g.stderr) {
		counted := &countedFile{ReadSeeker: f}
		if size, err := f.Seek(0, io.SeekEnd); err == nil {
			counted.size = size
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return transfer.ImportResult{}, scrollback.Wrap(scrollback.Unavailable, "scrollback", err)
		}
		draw, wipe := terminal.DrawProgress(g.localeTexts(), g.stderr)
		defer wipe()
		q.Progress = func(n int64) {
			draw(g.localeTexts().Say(i18n.ImportFileProgress, columns.FormatThousands(n)), counted.at>>10,
				max(counted.size>>10, 1))
		}
		return a.Import(g.ctx, counted, q)
	}
	return a.Import(g.ctx, f, q)
}

// countedFile knows how far it has been read.
type countedFile struct {
	io.ReadSeeker
	at, size int64
}

// Read implements io.Reader.
func (c *countedFile) Read(p []byte) (int, error) {
	n, err := c.ReadSeeker.Read(p)
	c.at += int64(n)
	return n, err
}

// Seek implements io.Seeker.
func (c *countedFile) Seek(offset int64, whence int) (int64, error) {
	at, err := c.ReadSeeker.Seek(offset, whence)
	c.at = at
	return at, err
}

// openInput opens a file to be imported. What is not one is copied into one, because an import reads it more than once;
// what is encrypted is opened, and nothing of it is written anywhere.
func (g *globals) openInput(name string) (io.ReadSeekCloser, error) {
	f, err := g.openPlain(name)
	if err != nil {
		return nil, err
	}
	in, encrypted, err := g.keys().OpenFile(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if !encrypted {
		return f, nil
	}
	return openedInput{in, f}, nil
}

// openedInput reads what is in an encrypted file.
type openedInput struct {
	io.ReadSeeker
	io.Closer
}

// openPlain opens a file as it is.
func (g *globals) openPlain(name string) (*os.File, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, scrollback.ParamErrorf("scrollback", "file", "%w", err)
		}
		info, err := f.Stat()
		if err == nil && info.Mode().IsRegular() {
			return f, nil
		}
		defer f.Close()
		if err == nil && info.IsDir() {
			return nil, scrollback.ParamErrorf("scrollback", "file", i18n.IsFolder, name)
		}
		return keepInput(f) // a pipe is read once
	}
	return keepInput(g.standardInput())
}

// keepInput copies what can be read only once into a nameless file.
func keepInput(r io.Reader) (*os.File, error) {
	f, err := os.CreateTemp("", "scrollback-*")
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Unavailable, "scrollback", err)
	}
	// The name can go at once where the system allows it.
	_ = os.Remove(f.Name())
	if _, err = io.Copy(f, r); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(scrollback.Wrap(scrollback.Unavailable, "scrollback", err), f.Close())
	}
	return f, nil
}

type exportCmd struct {
	oneConversation
	Output      string `short:"o" help:"file-write" placeholder:"FILE"`
	Format      string `help:"bundle-jsonl-claude-code-codex-gemini-cli" placeholder:"F"`
	Materialize bool   `help:"include-markdown-files-compacted-segments-bundle"`
	Encrypt     bool   `help:"encrypt-file-for-recipients"`
	Mask        bool   `help:"mask-what-is-written"`
}

// Run implements the command.
func (c *exportCmd) Run(g *globals) error {
	return c.withConversation(g, func(a *app, id scrollback.ConversationID) error {
		q := transfer.ExportRequest{Format: c.Format, Materialize: c.Materialize}
		if q.Format == "" {
			var err error
			if q.Format, err = fileFormat(c.Output); err != nil {
				return err
			}
		}
		if c.Encrypt {
			if q.Format != transfer.BundleFormat {
				return scrollback.ParamErrorf("scrollback", "encrypt", i18n.EncryptNeedsBundle, q.Format)
			}
			if err := g.showNewIdentity(); err != nil {
				return err
			}
		}
		if c.Mask {
			q.Mask = new(mask.Masker)
		}
		write := func(w io.Writer) error {
			err := a.Export(g.ctx, id, q, w)
			if err == nil {
				g.printMasked(q.Mask)
			}
			return err
		}
		if isTerminal(g.stderr) {
			draw, wipe := terminal.DrawProgress(g.localeTexts(), g.stderr)
			defer wipe()
			messages := g.localeTexts().Named("doctor-count", "messages")
			q.Progress = func(done, total int64) { draw(messages, done, total) }
		}
		if c.Output != "" && c.Output != "-" {
			return writeWhole(c.Output, func(w io.Writer) error { return g.encryptIf(c.Encrypt, w, write) })
		}
		if q.Format == transfer.BundleFormat && isTerminal(g.stdout) {
			return scrollback.ParamErrorf("scrollback", "output", i18n.BundleIsBinary)
		}
		return g.encryptIf(c.Encrypt, g.safeOutput(), write)
	})
}

// printMasked says how much was masked; nothing for a nil one.
func (g *globals) printMasked(m *mask.Masker) {
	if m != nil {
		fmt.Fprintln(g.stderr, g.localeTexts().Count(int64(m.Count()), i18n.CountOneMasked, i18n.CountMasked))
	}
}

// encryptIf calls write with w, or with a writer that encrypts what goes there.
func (g *globals) encryptIf(encrypted bool, w io.Writer, write func(io.Writer) error) error {
	if !encrypted {
		return write(w)
	}
	out, err := g.keys().Encrypt(w)
	if err != nil {
		return err
	}
	if err := write(out); err != nil {
		return err
	}
	return scrollback.Wrap(scrollback.Unavailable, "scrollback", out.Close())
}

// formats are those that files are written in, by how their names end.
var formats = []struct{ ending, format string }{{".gemini.jsonl", geminicli.Name}, {".jsonl", "jsonl"},
	{".bundle", transfer.BundleFormat},
	{".mtm", "mtm"}, {".ipynb", "ipynb"}}

// fileEnding is what a person takes for the kind of a file, unlike the date in talk.2026-11-27.
var fileEnding = lazyregexp.New(`^\.[A-Za-z][A-Za-z0-9]*$`)

// fileFormat returns the format that a file's name stands for: a bundle if it has no ending. A person
// who gives it another ending does not expect a bundle in it.
func fileFormat(name string) (string, error) {
	var endings []string
	for _, f := range formats {
		if strings.HasSuffix(name, f.ending) {
			return f.format, nil
		}
		endings = append(endings, f.ending)
	}
	if ending := filepath.Ext(name); fileEnding().MatchString(ending) {
		return "", scrollback.ParamErrorf("scrollback", "output",
			i18n.FormatIsNotExported,
			ending, strings.Join(endings, ", "))
	}
	return transfer.BundleFormat, nil
}

// saveConversation writes a conversation to a file that appears whole or not at all.
func (a *app) saveConversation(ctx context.Context, id scrollback.ConversationID, name string) error {
	var endings []string
	for _, f := range formats {
		if strings.HasSuffix(name, f.ending) {
			return writeWhole(name, func(w io.Writer) error {
				return a.Export(ctx, id, transfer.ExportRequest{Format: f.format}, w)
			})
		}
		endings = append(endings, f.ending)
	}
	return scrollback.ParamErrorf("scrollback", "file", i18n.FileNameMustEndInOneOf, name,
		strings.Join(endings, ", "))
}

// writeWhole makes a file that appears whole or not at all. A link goes on leading
// where it led, and a pipe or a device is written to directly.
func writeWhole(name string, write func(io.Writer) error) error {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		return scrollback.ParamErrorf("scrollback", "output", i18n.IsFolder, name)
	}
	if err == nil {
		if !info.Mode().IsRegular() {
			return writeInto(name, write)
		}
		if to, err := filepath.EvalSymlinks(name); err == nil {
			name = to
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".scrollback-*")
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) { // its path means nothing to the user
			err = at.Err
		}
		return scrollback.ParamErrorf("scrollback", "output", i18n.CannotWriteTo, filepath.Dir(name), err)
	}
	if err = write(f); err == nil {
		err = scrollback.Wrap(scrollback.Unavailable, "scrollback", f.Sync())
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = scrollback.Wrap(scrollback.Unavailable, "scrollback", os.Rename(f.Name(), name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// writeInto writes to what already exists under a name.
func writeInto(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return scrollback.ParamErrorf("scrollback", "output", "%w", err)
	}
	return errors.Join(write(f), scrollback.Wrap(scrollback.Unavailable, "scrollback", f.Close()))
}
