package gather

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/all"
	"github.com/scrollback-ai/scrollback/transcript/geminicli"
)

// Import is an import of what tools keep.
type Import struct {
	Flags
	File, From, Project string
	DryRun, Summarize   bool
	Again               bool // brings back what was purged
	Single              bool // what it asks for is only possible with a single file
}

// IsPlace reports whether a file or folder is read as a place of tools, and not as one file
// of a format; without one whether it is known where to look.
func (c *Import) IsPlace() (bool, error) {
	names := collect.ToolNames(all.Tools())
	switch {
	case c.File == "" && c.From == "":
		return false, scrollback.ParamErrorf("scrollback", "file",
			i18n.NameFileOrTools)
	case c.File == "" && c.From != Every && !slices.Contains(names, strings.Split(c.From, ",")[0]):
		return false, scrollback.ParamErrorf("scrollback", "file", i18n.NameFileNotTool, c.From,
			strings.Join(names, ", "))
	case c.File == "":
		return true, nil
	case c.File == "-":
		return false, nil
	}
	info, err := statSource(c.File)
	if err != nil {
		return false, err
	}
	// A single file of this tool has always been read by its format.
	keepers := slices.DeleteFunc(all.Tools(), func(t transcript.Tool) bool { return t.Name() == geminicli.Name })
	switch {
	case info.IsDir():
		return true, nil
	case !info.Mode().IsRegular() || c.Single:
		return false, nil
	case c.From == "" || c.From == Every:
		tool, zip, err := collect.RecognizeTool(keepers, c.File)
		if tool != nil {
			c.From = tool.Name()
		}
		return tool != nil || zip, err
	}
	return slices.Contains(collect.ToolNames(keepers), c.From), nil
}

// RunImport imports, or says what would be imported. With an error the result is what came
// nevertheless.
func (c *Import) RunImport(p Program) (Result, error) {
	res := NewResult(c.DryRun)
	if c.Single {
		return res, scrollback.ParamErrorf("scrollback", "file",
			i18n.IntoAndAsCopyNeedSingleFile)
	}
	o, err := c.collectOptions(p)
	if err != nil {
		return res, err
	}
	res.shown = c.File == "" && c.From == geminicli.Name && !c.DryRun && !p.JSON // file by file, as its users know it
	var failed error
	o.Told = func(ch collect.Change) {
		if res.addSession(o.Path, ch); res.shown {
			failed = cmp.Or(failed, p.showFile(ch))
		}
	}
	if p.JSON && !c.DryRun {
		o.Same = func(ch collect.Change) { res.addSession(o.Path, ch) }
	}
	wipe := func() {}
	if f, ok := p.Stderr.(*os.File); ok && terminal.IsTerminal(f) {
		o.Step, wipe = progressSteps(p.Texts, f)
	}
	var found collect.Report
	err = p.Open(!c.DryRun, func(t *transfer.Transfer, v *engine.View) error {
		collector, err := collect.New(t, v, o)
		if err != nil {
			return err
		}
		if c.DryRun {
			found, err = collector.SurveyAll(p.Ctx)
		} else {
			found, err = collector.Import(p.Ctx)
		}
		return err
	})
	wipe()
	res.addSurvey(found)
	if err = cmp.Or(err, failed); err != nil {
		return res, err
	}
	if found.Sessions() == 0 && found.Failed() == 0 {
		return res, newNothingError(o)
	}
	if away := found.Away(); away != nil && c.isFile() {
		return res, away
	}
	if found.Failed() == 0 && c.File != "" && !c.DryRun && found.IsSilent() {
		err = scrollback.ParamErrorf("scrollback", "file", i18n.LooksLikeToolWithoutTalk, o.Path,
			found.Tools[0].Tool)
	}
	if n := found.Failed(); n > 0 {
		err = scrollback.Errorf(scrollback.Internal, "scrollback", i18n.SessionsCouldNotBeImported, n,
			max(found.Sessions(), n))
	}
	return res, err
}

// isFile reports whether a single file is named.
func (c *Import) isFile() bool {
	info, err := os.Stat(c.File)
	return err == nil && info.Mode().IsRegular()
}

// collectOptions returns what the collector is asked for.
func (c *Import) collectOptions(p Program) (o collect.Options, err error) {
	from := c.From
	if c.File != "" && from == "" {
		from = Every
	}
	if o, err = c.Options(p, from, c.Project); err == nil && c.File != "" {
		o.Path, err = absolutePath(c.File)
	}
	o.Import.Again = c.Again
	o.Import.Summarize = c.Summarize
	return o, err
}

// newNothingError returns which places were searched in vain.
func newNothingError(o collect.Options) error {
	names := o.From
	if len(names) == 0 {
		names = collect.ToolNames(o.Tools)
	}
	if info, err := os.Stat(o.Path); err == nil && !info.IsDir() {
		return scrollback.ParamErrorf("scrollback", "file", i18n.NothingIsConversationOf, o.Path,
			strings.Join(names, ", ")).WithReason(ErrNothing)
	}
	if o.Path != "" {
		return scrollback.ParamErrorf("scrollback", "file",
			i18n.NothingInFolderIsConversationOf, o.Path,
			strings.Join(names, ", "), collect.MaxDeep, strings.Join(looseEndings, ", ")).WithReason(ErrNothing)
	}
	if len(names) > 1 {
		return scrollback.Errorf(scrollback.NotFound, "scrollback",
			i18n.NoConversationsFoundForTools,
			strings.Join(names, ", "))
	}
	var where []string
	for _, tool := range o.Tools {
		if slices.Contains(names, tool.Name()) {
			where = append(where, tool.Homes(o.Machine)...)
		}
	}
	if len(where) == 0 {
		return scrollback.ParamErrorf("scrollback", "file", i18n.ToolKeepsNothingHere,
			strings.Join(names, ", "))
	}
	return scrollback.Errorf(scrollback.NotFound, "scrollback", i18n.NoConversationsInPlaces, strings.Join(names, ", "),
		strings.Join(where[:min(len(where), 20)], ", "))
}
