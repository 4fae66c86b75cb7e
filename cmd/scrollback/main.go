// Command scrollback is the program: flags, environment, wiring and exit codes. It
// is the only place that knows concrete databases and the environment, and that exits.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"
	_ "time/tzdata" // for time zones where the system knows none

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/config"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/home"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/line"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/migrate"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/usage"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// lookups are the commands that look something up and end. They are over before it pays to collect garbage: the first
// collection, at the usual 4 MB, is a sixth of what `list` costs. With one at 16 MB most of them have none.
var lookups = []string{"list", "search", "hook", "context", "branches", "projects", "models", "version", "help",
	"__complete"}

// isLookup reports whether a line begins with one of them. A hook that imports is none.
func isLookup(args []string) bool {
	if len(args) == 0 || !slices.Contains(lookups, args[0]) {
		return false
	}
	return len(args) < 2 || args[0] != "hook" || args[1] != "import"
}

// lookupGarbage is the percentage of garbage at which they collect it.
const lookupGarbage = 400

func main() {
	if isLookup(os.Args[1:]) {
		debug.SetGCPercent(lookupGarbage)
	}
	// A reader that went away is an error of its write, not the end of the program.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(runProgram(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// globals are the flags of every command, before or after its name.
type globals struct {
	Config         string   `help:"config-file" placeholder:"FILE"`
	Data           string   `help:"folder-holds-data" placeholder:"DIR"`
	Store          string   `help:"database" placeholder:"URL"`
	Objects        string   `help:"where-bytes-artifacts-kept" placeholder:"URL"`
	Model          string   `help:"model-ask" placeholder:"NAME"`
	Limit          int64    `help:"window-model-tokens-place-own" placeholder:"TOKENS"`
	Effort         string   `help:"how-much-model-thinks-before-answers" placeholder:"LEVEL"`
	SummaryTimeout string   `help:"how-long-request-does-not-fit-waits" placeholder:"TIME"`
	Root           []string `help:"folder-conversations-may-work" placeholder:"DIR" sep:"none"`
	TZ             string   `name:"tz" help:"time-zone-days-meant-times-shown" placeholder:"ZONE"`
	JSON           bool     `help:"print-json-as-api-does" name:"json"`
	Version        bool     `help:"print-version"`

	set   config.Settings
	zone  *time.Location // of --tz, or that of the machine
	roots []string       // granted to conversations
	watch *watch.Watch   // of turns; nil watches nothing

	sideCalls func() *threading.Table // of clients' requests; nil is the built-in one

	joining []string // those of --root, for a conversation that goes on
	brief   bool     // it ends after one turn, and asks no model for titles

	attended bool // what turns do is shown as it happens, failures too
	ctx      context.Context
	stdin    io.Reader
	stdout   io.Writer
	stderr   io.Writer
	logs     *terminal.Logs // to stderr
	command  string         // that runs, as it is typed
}

// commands are those of the command line.
type commands struct {
	globals

	Serve     serveCmd        `cmd:"" help:"serve-web-page-api"`
	RunWith   runWithCmd      `name:"run-with" cmd:"" help:"start-program-that-asks-here"`
	Install   installCmd      `cmd:"" help:"set-up-agents-of-this-machine"`
	Uninstall uninstallCmd    `cmd:"" help:"take-everything-out-of-agents-again"`
	Mcp       mcpCmd          `cmd:"" help:"speak-as-mcp-server-over-standard-input"`
	Chat      chatCmd         `cmd:"" help:"chat-terminal-or-through-pipe"`
	Run       runCmd          `cmd:"" help:"ask-once-print-answer"`
	Notebook  notebookCmd     `cmd:"" help:"run-cells-notebook-show-them"`
	List      listCmd         `cmd:"" help:"list-conversations-most-recently-changed-first"`
	Show      showCmd         `cmd:"" help:"print-conversation-messages"`
	Search    searchCmd       `cmd:"" help:"find-messages-words"`
	Context   contextCmd      `cmd:"" help:"show-what-next-request-sends"`
	Compact   compactCmd      `cmd:"" help:"compact-old-messages"`
	Uncompact uncompactCmd    `cmd:"" help:"undo-newest-compaction-or-all-back-segment"`
	Pin       pinCmd          `cmd:"" help:"keep-messages-sight-when-they-compacted"`
	Kept      keptCmd         `cmd:"" help:"list-what-kept-word-for-word"`
	Clear     clearCmd        `cmd:"" help:"compact-everything-so-far-start-afresh"`
	Fork      forkCmd         `cmd:"" help:"continue-from-message-new-conversation"`
	Rewind    rewindCmd       `cmd:"" help:"go-back-message-or-switch-another-branch"`
	Branches  branchesCmd     `cmd:"" help:"list-conversation-branches"`
	Rename    renameCmd       `cmd:"" help:"give-conversation-title"`
	Trash     trashCmd        `cmd:"" help:"put-conversation-trash"`
	Restore   restoreCmd      `cmd:"" help:"take-conversation-out-trash"`
	Purge     purgeCmd        `cmd:"" help:"remove-conversation-permanently"`
	Import    importCmd       `cmd:"" help:"import-transcript-copy-or-bundle-or-what"`
	Hook      hookCmd         `cmd:"" help:"answer-what-other-agents-ask"`
	Place     placeCmd        `cmd:"" help:"which-folders-are-one-place"`
	Watch     watchCmd        `cmd:"" help:"follow-what-other-tools-keep-on-machine"`
	Export    exportCmd       `cmd:"" help:"export-conversation"`
	Handoff   handoffCmd      `cmd:"" help:"let-another-agent-go-on"`
	Archive   archiveCmd      `cmd:"" help:"write-full-json-copy-conversation-beside-data"`
	Backup    backupCmd       `cmd:"" help:"make-verify-restore-backups"`
	Merge     mergeCmd        `cmd:"" help:"take-all-another-store-has"`
	Sync      syncCmd         `cmd:"" help:"one-history-on-every-machine"`
	SyncServe syncServeCmd    `cmd:"" name:"sync-serve" hidden:"" help:"answer-machine-that-meets-over-ssh"`
	Identity  identityCmd     `cmd:"" help:"show-identity-of-machine"`
	Migrate   migrate.Migrate `cmd:"" help:"copy-whole-store-another-database-while-use"`
	Projects  projectsCmd     `cmd:"" help:"list-projects"`
	Usage     usageCmd        `cmd:"" help:"show-what-calls-models-have-cost"`
	Models    modelsCmd       `cmd:"" help:"list-models-set-up"`
	Keys      keysCmd         `cmd:"" help:"make-list-limit-revoke-keys-others-use"`
	Doctor    doctorCmd       `cmd:"" help:"check-everything-stored-2"`
	Health    healthCmd       `cmd:"" help:"ask-server-on-machine-whether-can-keep"`
	VersionOf versionCmd      `name:"version" cmd:"" help:"print-version"`
	Help      helpCmd         `cmd:"" help:"explain-command"`

	Completion completionCmd `cmd:"" help:"print-what-shell-needs-complete-commands"`
	Man        manCmd        `cmd:"" help:"print-manual-page"`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:"" help:"what-line-may-go-on"`
}

// runProgram returns the program without the process. It returns the exit code.
func runProgram(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if answerHook(ctx, args, stdin, stdout) {
		return 0
	}
	var c commands
	c.ctx = ctx
	c.stdin = stdin
	c.stdout = stdout
	c.stderr = stderr
	c.logs = terminal.NewLogs(stderr)
	root := line.Read(&c, "scrollback")
	bare := len(args) == 0
	if bare {
		args = []string{"--help"}
	}
	parsed, err := root.Trace(args)
	switch {
	case err != nil:
	case parsed.Help:
		err = explainUsage(stdout, parsed)
		if bare {
			c.sayGone()
		}
		return exitOfText(err)
	case c.Version:
		_, err = fmt.Fprintln(stdout, versionLine())
		return exitOfText(err)
	default:
		err = parsed.Check()
	}
	if err != nil {
		texts := localeLanguage()
		fmt.Fprintf(stderr, "scrollback: %s\n%s\n", texts.Reason(usage.Meant(err)), texts.Say(i18n.HelpListsCommands))
		return scrollback.ExitCodeOf(&scrollback.Error{Code: scrollback.Invalid})
	}
	c.command = usage.Name(parsed.Selected())
	err = checkNotEmpty(parsed, c.Data)
	if err == nil {
		err = c.readConfig()
		if c.endService(err) {
			return 0
		}
	}
	if err == nil {
		err = c.run(parsed)
	}
	if code := exitError(0); errors.As(err, &code) {
		return int(code)
	}
	if terminal.IsUnread(err) && half[usage.Name(parsed.Selected())] {
		return scrollback.ExitCodeOf(&scrollback.Error{Code: scrollback.Canceled})
	}
	if terminal.IsUnread(err) {
		return 0 // the reader has stopped
	}
	if err != nil {
		if !errors.As(err, new(terminal.ShownError)) {
			fmt.Fprintln(stderr, "scrollback:", explainError(err))
		}
		return scrollback.ExitCodeOf(err)
	}
	return 0
}

// exitOfText returns the exit code of a text that was printed to be read: whoever has stopped reading has read it.
func exitOfText(err error) int {
	if err != nil && !terminal.IsUnread(err) {
		return 1
	}
	return 0
}

// run runs the command of a line.
func (g *globals) run(l *line.Line) error {
	switch command := l.Selected().Command().(type) {
	case interface{ Run(g *globals) error }:
		return command.Run(g)
	case interface {
		Run(g *globals, l *line.Line) error
	}:
		return command.Run(g, l)
	case *migrate.Migrate:
		return command.Run(migrate.Program{Ctx: g.ctx, JSON: g.JSON, Texts: g.localeTexts(), Stderr: g.stderr,
			Log: g.newLogger, Print: g.printResult})
	}
	return fmt.Errorf("%s is no command", usage.Name(l.Selected()))
}

// half are the commands that leave something half done when nobody reads their output any
// more: an answer that is not whole, a file that is cut off.
var half = map[string]bool{"run": true, "chat": true, "notebook run": true, "export": true, "archive": true,
	"mcp": true}

func (g *globals) newLogger() *slog.Logger {
	o := &slog.HandlerOptions{Level: g.set.LogLevel}
	switch {
	case g.set.LogJSON:
		return slog.New(slog.NewJSONHandler(g.logs, o))
	case !logged[g.command] && g.set.LogLevel >= slog.LevelWarn: // a log level was asked for
		return slog.New(newPlain(g.logs, g.set.LogLevel))
	}
	return slog.New(slog.NewTextHandler(g.logs, o))
}

// dataDir returns the folder that holds the data: the configured one, or the user's own.
func (g *globals) dataDir() (string, error) {
	if g.set.Data == "" {
		own, err := home.UserFolders()
		return own.Data, err
	}
	dir, err := filepath.Abs(g.set.Data)
	if err != nil {
		return "", err
	}
	return dir, home.CheckUsable(dir)
}

type versionCmd struct{}

func (versionCmd) Run(g *globals) error {
	v := map[string]string{"version": programVersion(), "go": runtime.Version(),
		"platform": runtime.GOOS + "/" + runtime.GOARCH}
	return g.printResult(v, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, versionLine())
		return err
	})
}
