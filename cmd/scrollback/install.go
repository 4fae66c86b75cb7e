package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/home"
	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/install"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/terminal"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

type installCmd struct {
	Agent   []string `help:"agents-to-set-up" placeholder:"A"`
	DryRun  bool     `help:"show-plan-with-differences-and-write-nothing"`
	NoHooks bool     `help:"set-up-mcp-server-and-no-hooks"`
	Trust   bool     `help:"write-what-agents-call-trust"`
	Here    bool     `help:"write-also-in-container-or-foreign-home"`
	Watch   bool     `help:"keep-collecting-as-service"`
}

type uninstallCmd struct {
	Agent  []string `help:"agents-to-take-it-out-of" placeholder:"A"`
	DryRun bool     `help:"show-plan-with-differences-and-write-nothing"`
}

// Run implements the command.
func (c *installCmd) Run(g *globals) error {
	o, err := g.installOptions(c.Agent)
	if err != nil {
		return err
	}
	if len(c.Agent) == 0 {
		o.Agents = slices.DeleteFunc(install.Agents(), func(name string) bool { return !isThere(name, o.Machine) })
	}
	if len(o.Agents) == 0 && !c.Watch {
		return scrollback.Errorf(scrollback.NotFound, "scrollback", i18n.InstallNobody, strings.Join(install.Agents(), ", "))
	}
	o.Hooks = !c.NoHooks
	o.Trust = c.Trust
	var notes []string
	if slices.Contains(o.Agents, agents.ClaudeCode) {
		is := askClaude(g.ctx)
		o.Old = is != nil && slices.Compare(is, leastClaude) < 0
		if is != nil && is[0] > newestClaude {
			notes = append(notes, g.localeTexts().Say(i18n.InstallNewer, agents.ClaudeCode, is[0], is[1], is[2]))
		}
	}
	if c.Watch {
		o.Agents = append(o.Agents, install.Service)
	}
	run := installRun{globals: g, o: o, dry: c.DryRun, diffs: c.DryRun, notes: notes}
	if install.IsElsewhere(o.Machine) && !c.Here && !c.DryRun {
		run.dry = true
		run.away = true
	}
	return run.do((*install.Run).Install)
}

// Run implements the command.
func (c *uninstallCmd) Run(g *globals) error {
	o, err := g.installOptions(c.Agent)
	if err != nil {
		return err
	}
	if len(c.Agent) == 0 {
		o.Agents = append(install.Agents(), install.Service)
	}
	run := installRun{globals: g, o: o, dry: c.DryRun, diffs: c.DryRun, out: true}
	return run.do((*install.Run).Uninstall)
}

// installOptions returns what agents are set up with, and those that are named.
func (g *globals) installOptions(names []string) (o install.Options, err error) {
	if o.Machine, err = thisMachine(); err != nil {
		return o, err
	}
	if o.Data, err = g.dataDir(); err != nil {
		return o, scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	own, err := home.UserFolders()
	if err != nil {
		return o, scrollback.Wrap(scrollback.NotFound, "scrollback", err)
	}
	o.NameData = o.Data != own.Data
	if o.Program, err = installedProgram(); err != nil {
		return o, scrollback.Wrap(scrollback.NotFound, "scrollback", err)
	}
	for _, name := range names {
		full := agents.Resolve(strings.TrimSpace(name))
		if !slices.Contains(install.Agents(), full) {
			return o, scrollback.ParamErrorf("scrollback", "agent", i18n.InstallUnknownAgent, name,
				strings.Join(install.Agents(), ", "))
		}
		if !slices.Contains(o.Agents, full) {
			o.Agents = append(o.Agents, full)
		}
	}
	return o, nil
}

// installedProgram returns the path by which agents are to start this program: the one on PATH, which stays when a
// package manager brings another version, if that is this program; else as it was started.
func installedProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	running, err := os.Stat(self)
	if err != nil {
		return "", err
	}
	var tried []string
	if found, err := exec.LookPath("scrollback"); err == nil {
		tried = append(tried, found)
	}
	if strings.ContainsRune(os.Args[0], filepath.Separator) {
		tried = append(tried, os.Args[0])
	}
	for _, name := range tried {
		name, err := filepath.Abs(name)
		if err != nil {
			continue
		}
		if info, err := os.Stat(name); err == nil && os.SameFile(info, running) {
			return name, nil
		}
	}
	return self, nil
}

// isThere reports whether an agent is on this machine: its program, or the folder of its settings.
func isThere(name string, m agents.Machine) bool {
	a, _ := agents.Find(name)
	if _, err := exec.LookPath(a.Program); err == nil {
		return true
	}
	info, err := os.Stat(a.Folder(m))
	return err == nil && info.IsDir()
}

// leastClaude is the first version of Claude Code that takes a folder of ours; newestClaude is the first number of the
// newest that was tried: what comes after it may want something else.
var (
	leastClaude  = []int{2, 1, 157}
	newestClaude = 2
)

var versionNumbers = lazyregexp.New(`(\d+)\.(\d+)\.(\d+)`)

// askClaude returns which version Claude Code says that it is; nil if it cannot be asked.
func askClaude(ctx context.Context) (is []int) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "claude", "--version")
	cmd.Env = append(os.Environ(), "DISABLE_AUTOUPDATER=1", "SCROLLBACK_HOOKS=off")
	cmd.WaitDelay = time.Second // what it has started may hold its output
	said, err := cmd.Output()
	found := versionNumbers().FindStringSubmatch(string(said))
	if err != nil || found == nil {
		return nil
	}
	for _, digits := range found[1:] {
		n, err := strconv.Atoi(digits)
		if err != nil {
			return nil
		}
		is = append(is, n)
	}
	return is
}

// installRun is one run of install or uninstall.
type installRun struct {
	*globals
	o     install.Options
	dry   bool
	diffs bool // the plan is shown with them
	away  bool // nothing is written because this is not where the person works
	out   bool // it takes out
	notes []string
}

// do plans, shows the plan, and does it.
func (r *installRun) do(plan func(*install.Run) (*install.Plan, error)) (err error) {
	write := !r.dry
	if r.out && write { // what was never installed leaves nothing behind
		_, err := os.Stat(r.o.Data)
		write = err == nil
	}
	run, err := install.Begin(r.ctx, r.o, write)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.End()) }()
	p, err := plan(run)
	if err != nil {
		return err
	}
	if !r.JSON {
		if err := r.showPlan(r.stdout, p); err != nil {
			return err
		}
	}
	ended := r.out && !r.dry && r.serviceChanges(p)
	if ended {
		r.call(r.serviceCommands().End)
	}
	if !r.out {
		r.noteGone(p)
	}
	if !r.dry {
		if err := p.Apply(); err != nil {
			return err
		}
		if !r.out {
			r.startService(p)
		}
	}
	r.addNotes(p)
	err = r.printResult(r.result(p), func(w io.Writer) error { return r.showEnd(w, p) })
	if err == nil && r.away {
		return scrollback.Errorf(scrollback.Refused, "scrollback", i18n.InstallElsewhere)
	}
	if failed := p.Failed(); err == nil && len(failed) > 0 {
		err = terminal.ShownError{Err: scrollback.Errorf(scrollback.Internal, "scrollback", i18n.InstallRefused,
			len(failed))}
	}
	return err
}

// noteGone names the agents that call a program that is gone: those that this run mends, and the others.
func (r *installRun) noteGone(p *install.Plan) {
	var mended []string
	for _, a := range p.Actions {
		if a.Changes() && !r.dry && !slices.Contains(mended, a.Agent) {
			mended = append(mended, a.Agent)
		}
	}
	for _, a := range p.Failed() {
		mended = slices.DeleteFunc(mended, func(name string) bool { return name == a.Agent })
	}
	r.notes = append(r.notes, r.describeGone(mended)...)
}

// serviceChanges reports whether the file of the service is changed.
func (r *installRun) serviceChanges(p *install.Plan) bool {
	return slices.ContainsFunc(p.Actions, func(a install.Action) bool {
		return a.Agent == install.Service && a.Changes()
	})
}

func (r *installRun) serviceCommands() install.Commands {
	id := ""
	if u, err := user.Current(); err == nil {
		id = u.Uid
	}
	return install.ServiceCommands(r.o.Machine, r.o.Data, id)
}

// startService starts the service, if it is asked for.
func (r *installRun) startService(p *install.Plan) {
	switch {
	case !slices.Contains(r.o.Agents, install.Service):
	case r.serviceChanges(p):
		r.call(r.serviceCommands().Start)
	default:
		r.call(r.serviceCommands().Again)
	}
	if slices.Contains(r.o.Agents, install.Service) && runtime.GOOS != "linux" {
		r.notes = append(r.notes, r.localeTexts().Say(i18n.InstallNotTried, runtime.GOOS))
	}
}

// callTime is how long a command may take that tells another program of what was written.
const callTime = time.Minute

// call runs commands. The first that fails is said, with what it printed.
func (r *installRun) call(commands [][]string) {
	failed := false
	for _, words := range commands {
		ctx, cancel := context.WithTimeout(r.ctx, callTime)
		said, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput()
		cancel()
		if err != nil && !failed {
			failed = true
			first, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
			r.notes = append(r.notes, r.localeTexts().Say(i18n.InstallCallFailed, strings.Join(words, " "),
				columns.StripControls(strings.TrimSpace(err.Error()+" "+first))))
		}
	}
}

// addNotes adds what is left to the person.
func (r *installRun) addNotes(p *install.Plan) {
	t := r.localeTexts()
	for _, name := range p.Foreign {
		r.notes = append(r.notes, t.Say(i18n.InstallForeign, name))
	}
	if r.out {
		return
	}
	changed := func(name string) bool {
		return slices.ContainsFunc(p.Actions, func(a install.Action) bool { return a.Agent == name && a.Changes() })
	}
	if p.Calls[agents.Codex] && changed(agents.Codex) && !r.o.Trust {
		r.notes = append(r.notes, t.Say(i18n.InstallCodexTrust))
	}
	if p.Calls[agents.OpenClaw] && changed(agents.OpenClaw) {
		words := []string{"openclaw", "plugins", "install", "--link", install.OpenClawPlugin(r.o.Data), "--force",
			"--accept-capabilities"}
		if r.o.Trust && !r.dry {
			r.call([][]string{words})
			r.notes = append(r.notes, t.Say(i18n.InstallOpenClawRewrites))
		} else {
			r.notes = append(r.notes, t.Say(i18n.InstallOpenClaw, strings.Join(words, " "),
				"openclaw config set plugins.entries.scrollback.hooks.allowConversationAccess true"))
		}
	}
	if len(p.Calls) > 0 && !p.IsDone() && !r.dry {
		r.notes = append(r.notes, t.Say(i18n.InstallGoesOut), t.Say(i18n.InstallRestart))
	}
	for _, name := range []string{agents.Cursor, agents.VSCode, agents.Zed, agents.Goose} {
		if p.Serves[name] && changed(name) {
			r.notes = append(r.notes, t.Say(i18n.InstallNotTried, name))
		}
	}
}

// installResult is what a run did, as JSON.
type installResult struct {
	Written bool             `json:"written"`
	Program string           `json:"program"`
	Actions []install.Action `json:"actions"`
	Notes   []string         `json:"notes"`
}

func (r *installRun) result(p *install.Plan) installResult {
	return installResult{Written: !r.dry, Program: r.o.Program, Actions: shownActions(p),
		Notes: slices.Concat([]string{}, r.notes)}
}

// shownActions leaves out files that have nothing of ours, and need nothing.
func shownActions(p *install.Plan) []install.Action {
	return slices.DeleteFunc(slices.Clone(p.Actions), func(a install.Action) bool { return !a.IsShown() })
}

// showPlan prints what will be done, file by file.
func (r *installRun) showPlan(w io.Writer, p *install.Plan) error {
	t := r.localeTexts()
	var rows [][]string
	for _, a := range shownActions(p) {
		path := columns.StripControls(a.Path)
		if a.Line > 0 {
			path = fmt.Sprintf("%s:%d", path, a.Line)
		}
		why := ""
		switch {
		case a.Err != nil && a.Line == 0:
			why = explainError(a.Err)
		case a.Why != "":
			why = t.Reason(a.Why)
		}
		rows = append(rows, []string{a.Agent, t.Named("install", string(a.Kind)), path, columns.ClipText(why, maxWhy)})
	}
	if err := columns.WriteTable(w, rows); err != nil {
		return err
	}
	if r.diffs {
		for _, a := range p.Actions {
			if a.Changes() {
				if err := showDifference(w, a); err != nil {
					return err
				}
			}
		}
	}
	for _, name := range r.o.Agents {
		if gets := r.gets(p, name); len(gets) > 0 && !r.out {
			if _, err := fmt.Fprintln(w, t.Say(i18n.InstallGets, name, strings.Join(gets, ", "))); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxWhy is how much of a reason is shown, in columns.
const maxWhy = 200

// gets lists what an agent will have.
func (r *installRun) gets(p *install.Plan, name string) (out []string) {
	t := r.localeTexts()
	if p.Serves[name] {
		out = append(out, t.Say(i18n.InstallMCP))
	}
	if p.Calls[name] {
		var events []string
		for _, event := range install.Events(name) {
			events = append(events, t.Named("install-event", event))
		}
		out = append(out, t.Say(i18n.InstallHooks, strings.Join(events, ", ")))
	}
	return out
}

// showEnd prints what is left to the person.
func (r *installRun) showEnd(w io.Writer, p *install.Plan) error {
	t := r.localeTexts()
	lines := r.notes
	for _, a := range p.Failed() { // those that failed only while they were written
		if a.Line == 0 {
			lines = append(lines, explainError(a.Err))
		}
	}
	switch {
	case r.dry:
		lines = append(lines, t.Say(i18n.InstallNothingWritten))
	case p.IsDone() && len(p.Failed()) == 0 && r.out:
		lines = append(lines, t.Say(i18n.InstallNothingOut))
	case p.IsDone() && len(p.Failed()) == 0:
		lines = append(lines, t.Say(i18n.InstallNothingToDo))
	case r.out:
		lines = append(lines, t.Say(i18n.InstallTakenOut))
	default:
		lines = append(lines, t.Say(i18n.InstallDone))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// showDifference prints the lines of a file that change.
func showDifference(w io.Writer, a install.Action) error {
	was := strings.SplitAfter(string(a.Before), "\n")
	is := strings.SplitAfter(string(a.After), "\n")
	same := 0
	for same < min(len(was), len(is)) && was[same] == is[same] {
		same++
	}
	end := 0
	for end < min(len(was), len(is))-same && was[len(was)-1-end] == is[len(is)-1-end] {
		end++
	}
	lines := []string{"--- " + a.Path, fmt.Sprintf("@@ %d @@", same+1)}
	for _, line := range was[same : len(was)-end] {
		lines = append(lines, "-"+line)
	}
	for _, line := range is[same : len(is)-end] {
		lines = append(lines, "+"+line)
	}
	for _, line := range lines {
		if line == "-" || line == "+" {
			continue
		}
		if _, err := fmt.Fprintln(w, columns.StripControls(strings.TrimRight(line, "\r\n"))); err != nil {
			return err
		}
	}
	return nil
}
