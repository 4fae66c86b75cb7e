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
	"syscall"
	"time"
	_ "time/tzdata" // for time zones where the system knows none

	"github.com/alecthomas/kong"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/config"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/home"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/migrate"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/usage"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/terminal"
)

func main() {
	// A reader that went away is an error of its write, not the end of the program.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// globals are the flags of every command, before or after its name.
type globals struct {
	Config         string           `help:"Config file ($$SCROLLBACK_CONFIG). Default: the user's own, if there is one." placeholder:"FILE"`
	Data           string           `help:"Folder that holds the data ($$SCROLLBACK_DATA)." placeholder:"DIR"`
	Store          string           `help:"Database ($$SCROLLBACK_STORE): postgres://USER:PASSWORD@HOST:PORT/DATABASE, which any number of servers share, or sqlite:///PATH. Default: scrollback.db in the data folder." placeholder:"URL"`
	Objects        string           `help:"Where the bytes of artifacts are kept ($$SCROLLBACK_OBJECTS): s3://BUCKET[/PREFIX][?region=…&endpoint=…] or file:///FOLDER. Default: a folder beside the data." placeholder:"URL"`
	Model          string           `help:"Model to ask ($$SCROLLBACK_MODEL where a conversation names none)." placeholder:"NAME"`
	Limit          int64            `help:"Window of the model in tokens, in place of its own ($$SCROLLBACK_LIMIT). For commands that list or read: how many." placeholder:"TOKENS"`
	Effort         string           `help:"How much the model thinks before it answers: none, minimal, low, medium, high, xhigh or max. Default: the conversation's setting, else the model's." placeholder:"LEVEL"`
	SummaryTimeout string           `help:"How long a request that does not fit waits for a summary, such as 30s or 2m; 0s for not at all ($$SCROLLBACK_SUMMARY_TIMEOUT)." placeholder:"TIME"`
	Root           []string         `help:"Folder that conversations may work in ($$SCROLLBACK_ROOT); may be repeated. For mcp: where the client works. Default: the current folder for chat and run, none for serve." placeholder:"DIR" sep:"none"`
	TZ             string           `name:"tz" help:"Time zone of the days that are meant and of the times that are shown, such as Europe/Madrid. Default: this machine's." placeholder:"ZONE"`
	JSON           bool             `help:"Print JSON, as the API does." name:"json"`
	Version        kong.VersionFlag `help:"Print the version."`

	set     config.Settings
	zone    *time.Location // of --tz, or that of the machine
	roots   []string       // granted to conversations
	watch   *watch.Watch   // of turns; nil watches nothing
	joining []string       // those of --root, for a conversation that goes on
	brief   bool           // it ends after one turn, and asks no model for titles

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

	Serve     serveCmd        `cmd:"" help:"Serve the web page and the API."`
	Mcp       mcpCmd          `cmd:"" help:"Speak as an MCP server over standard input and output."`
	Chat      chatCmd         `cmd:"" help:"Chat, in this terminal or through a pipe."`
	Run       runCmd          `cmd:"" help:"Ask once and print the answer."`
	Notebook  notebookCmd     `cmd:"" help:"Run the cells of a notebook (.ipynb, .mtm), and show them."`
	List      listCmd         `cmd:"" help:"List conversations, most recently changed first."`
	Show      showCmd         `cmd:"" help:"Print a conversation's messages."`
	Search    searchCmd       `cmd:"" help:"Find messages by words."`
	Context   contextCmd      `cmd:"" help:"Show what the next request sends; read what is compacted."`
	Compact   compactCmd      `cmd:"" help:"Compact old messages; refs lead back to them."`
	Uncompact uncompactCmd    `cmd:"" help:"Undo the newest compaction, or all back to a segment."`
	Pin       pinCmd          `cmd:"" help:"Keep messages in sight when they are compacted."`
	Clear     clearCmd        `cmd:"" help:"Compact everything so far and start afresh."`
	Fork      forkCmd         `cmd:"" help:"Continue from a message in a new conversation."`
	Rewind    rewindCmd       `cmd:"" help:"Go back to a message, or switch to another branch."`
	Branches  branchesCmd     `cmd:"" help:"List a conversation's branches."`
	Rename    renameCmd       `cmd:"" help:"Give a conversation a title."`
	Trash     trashCmd        `cmd:"" help:"Put a conversation in the trash."`
	Restore   restoreCmd      `cmd:"" help:"Take a conversation out of the trash."`
	Purge     purgeCmd        `cmd:"" help:"Remove a conversation permanently."`
	Import    importCmd       `cmd:"" help:"Import a transcript, an archive or a bundle, or what other tools keep on this machine."`
	Watch     watchCmd        `cmd:"" help:"Follow what other tools keep on this machine, and import what changes."`
	Export    exportCmd       `cmd:"" help:"Export a conversation."`
	Archive   archiveCmd      `cmd:"" help:"Write a full JSON copy of a conversation beside its data; list and read such copies."`
	Migrate   migrate.Migrate `cmd:"" help:"Copy the whole store to another database while it is in use, check the copy, and move there."`
	Projects  projectsCmd     `cmd:"" help:"List projects; store what their conversations inherit."`
	Usage     usageCmd        `cmd:"" help:"Show what calls to models have cost."`
	Models    modelsCmd       `cmd:"" help:"List the models that are set up."`
	Keys      keysCmd         `cmd:"" help:"Make, list, limit and revoke the keys that others use a server with."`
	Doctor    doctorCmd       `cmd:"" help:"Check everything that is stored; --repair fixes what it can. Or look at other tools."`
	Health    healthCmd       `cmd:"" help:"Ask the server on this machine whether it can keep what it is given."`
	VersionOf versionCmd      `name:"version" cmd:"" help:"Print the version."`
	Help      helpCmd         `cmd:"" help:"Explain a command."`

	Completion completionCmd `cmd:"" help:"Print what a shell needs to complete the commands."`
	Man        manCmd        `cmd:"" help:"Print the manual page."`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:"" help:"What the line may go on with."`
}

// run is the program without the process. It returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var c commands
	c.ctx = ctx
	c.stdin = stdin
	c.stdout = stdout
	c.stderr = stderr
	c.logs = terminal.NewLogs(stderr)
	exited := -1
	parser, err := kong.New(&c, kong.Name("scrollback"), kong.Writers(stdout, stderr),
		kong.Vars{"version": versionLine()}, kong.Help(explainUsage),
		kong.Description("What scrolls out of the context window is never lost."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Exit(func(code int) { exited = code }))
	if err != nil {
		fmt.Fprintln(stderr, "scrollback:", err)
		return 1
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 {
		return exited // --help
	}
	if terminal.Unread(err) {
		return 0
	}
	if err != nil {
		if inChinese() {
			fmt.Fprintf(stderr, "scrollback: %s\n（scrollback help 列出命令）\n", usage.Misread(usage.Meant(err)))
		} else {
			fmt.Fprintf(stderr, "scrollback: %s\n(scrollback help lists the commands)\n", usage.Meant(err))
		}
		return scrollback.ExitCodeOf(&scrollback.Error{Code: scrollback.Invalid})
	}
	c.command = usage.Name(parsed.Selected())
	err = given(parsed, c.Data)
	if err == nil {
		err = c.configure()
	}
	if err == nil {
		err = parsed.Run(&c.globals, migrate.Program{Ctx: ctx, JSON: c.JSON, Stderr: stderr, Log: c.logger, Print: c.print})
	}
	if terminal.Unread(err) && half[usage.Name(parsed.Selected())] {
		return scrollback.ExitCodeOf(&scrollback.Error{Code: scrollback.Canceled})
	}
	if terminal.Unread(err) {
		return 0 // the reader has stopped
	}
	if err != nil {
		if !errors.As(err, new(terminal.Shown)) {
			fmt.Fprintln(stderr, "scrollback:", explain(err))
		}
		return scrollback.ExitCodeOf(err)
	}
	return 0
}

// half are the commands that leave something half done when nobody reads their output any
// more: an answer that is not whole, a file that is cut off.
var half = map[string]bool{"run": true, "chat": true, "notebook run": true, "export": true, "archive": true,
	"mcp": true}

func (g *globals) logger() *slog.Logger {
	o := &slog.HandlerOptions{Level: g.set.LogLevel}
	switch {
	case g.set.LogJSON:
		return slog.New(slog.NewJSONHandler(g.logs, o))
	case !logged[g.command] && g.set.LogLevel >= slog.LevelWarn: // a log level was asked for
		return slog.New(newPlain(g.logs, g.set.LogLevel))
	}
	return slog.New(slog.NewTextHandler(g.logs, o))
}

// dataDir is the folder that holds the data: the configured one, or the user's own.
func (g *globals) dataDir() (string, error) {
	if g.set.Data == "" {
		own, err := home.Of()
		return own.Data, err
	}
	dir, err := filepath.Abs(g.set.Data)
	if err != nil {
		return "", err
	}
	return dir, home.Usable(dir)
}

type versionCmd struct{}

func (versionCmd) Run(g *globals) error {
	v := map[string]string{"version": version(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
	return g.print(v, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, versionLine())
		return err
	})
}
