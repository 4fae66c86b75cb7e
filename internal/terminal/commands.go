package terminal

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/nearest"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
)

// command is a line of a chat that begins with a slash. To add one, add a line to
// commands and its help to the catalogue.
type command struct {
	name   string
	takes  i18n.ID // name of its argument; empty takes none
	needed bool    // the argument must be there
	names  bool    // its argument is a conversation
	about  bool    // it is about a conversation that must exist
	run    func(c *chat, ctx context.Context, w io.Writer, arg string) error
}

// commands returns the table, in the order /help lists them.
func commands() []command {
	return []command{
		{name: "/help", run: (*chat).printHelp},
		{name: "/new", run: (*chat).beginNew},
		{name: "/resume", takes: i18n.ChatTakesConversation, names: true, run: (*chat).resumeConversation},
		{name: "/rewind", takes: i18n.ChatTakesSeq, about: true, run: (*chat).rewindTo},
		{name: "/retry", about: true, run: (*chat).retryAnswer},
		{name: "/without", takes: i18n.ChatTakesSeq, about: true, run: (*chat).leaveOutMessage},
		{name: "/with", takes: i18n.ChatTakesSeq, needed: true, about: true,
			run: (*chat).takeBackMessage},
		{name: "/branches", takes: i18n.ChatTakesNumber, about: true, run: (*chat).listBranches},
		{name: "/fork", takes: i18n.ChatTakesSeq, about: true, run: (*chat).forkConversation},
		{name: "/add", takes: i18n.ChatTakesFolder, needed: true, run: (*chat).addFolder},
		{name: "/save", takes: i18n.ChatTakesFile, needed: true, about: true,
			run: (*chat).saveFile},
		{name: "/handoff", takes: i18n.ChatTakesAgent, needed: true, about: true,
			run: (*chat).handOver},
		{name: "/context", about: true, run: (*chat).showContext},
		{name: "/compact", about: true, run: func(c *chat, ctx context.Context, w io.Writer, _ string) error {
			return c.receiptPrinter(w)(c.o.View.Compact(ctx, c.id, engine.CompactRequest{Force: true}))
		}},
		{name: "/uncompact", about: true, run: func(c *chat, ctx context.Context, w io.Writer, _ string) error {
			return c.receiptPrinter(w)(c.o.View.Uncompact(ctx, c.id, ""))
		}},
		{name: "/clear", about: true, run: func(c *chat, ctx context.Context, w io.Writer, _ string) error {
			return c.receiptPrinter(w)(c.o.View.Compact(ctx, c.id, engine.CompactRequest{Clear: true}))
		}},
		{name: "/receipts", about: true, run: (*chat).listReceipts},
		{name: "/pin", takes: i18n.ChatTakesSeq, about: true, run: (*chat).pinMessage},
		{name: "/kept", takes: i18n.ChatTakesKept, about: true, run: (*chat).listKept},
		{name: "/refs", about: true, run: (*chat).listRefs},
		{name: "/grep", takes: i18n.ChatTakesPattern, needed: true, about: true,
			run: (*chat).grepLog},
		{name: "/search", takes: i18n.ChatTakesWords, needed: true, run: (*chat).searchLog},
		{name: "/model", takes: i18n.ChatTakesName, run: (*chat).setModel},
		{name: "/web", run: func(c *chat, _ context.Context, w io.Writer, _ string) error {
			c.web = !c.web
			_, err := fmt.Fprintln(w, c.o.Texts.WebState(c.web))
			return err
		}},
		{name: "/title", takes: i18n.ChatTakesTitle, needed: true, about: true,
			run: (*chat).setTitle},
		{name: "/quit", run: (*chat).leaveChat},
		{name: "/exit", run: (*chat).leaveChat},
	}
}

// runCommand runs a line that begins with a slash. What it prints is shown all at once
// when it is done.
func (c *chat) runCommand(ctx context.Context, line string) error {
	const op = "terminal.command"
	name, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
	arg = strings.TrimSpace(arg)
	for _, cmd := range commands() {
		if cmd.name != name {
			continue
		}
		if arg == "" && cmd.needed {
			return scrollback.ParamErrorf(op, "argument", i18n.ChatMissing, name, cmd.takes)
		}
		var b bytes.Buffer
		if cmd.about && c.id == "" {
			fmt.Fprintln(&b, c.o.Texts.Say(i18n.ChatNothing))
		} else if err := cmd.run(c, ctx, &b, arg); err != nil {
			return err
		}
		_, err := c.w.said.Write(b.Bytes())
		return err
	}
	if near := nearestCommand(name); near != "" {
		return scrollback.ParamErrorf(op, "command", i18n.ChatMeant, name, near)
	}
	return scrollback.ParamErrorf(op, "command", i18n.ChatUnknown, name)
}

// commandSynonyms are names that commands have in other programs.
var commandSynonyms = map[string]string{"/find": "/search", "/status": "/context", "/undo": "/rewind",
	"/back":    "/rewind",
	"/history": "/resume", "/list": "/resume", "/load": "/resume", "/export": "/save", "/reset": "/new",
	"/rename": "/title",
	"/redo":   "/retry", "/regenerate": "/retry", "/commands": "/help", "/bye": "/quit", "/q": "/quit"}

// nearestCommand returns the command that was probably meant, or empty.
func nearestCommand(typed string) string {
	if known := commandSynonyms[strings.ToLower(typed)]; known != "" {
		return known
	}
	var names []string
	for _, cmd := range commands() {
		names = append(names, strings.TrimPrefix(cmd.name, "/"))
	}
	if near := nearest.FindNearest(strings.TrimPrefix(typed, "/"), names); near != "" {
		return "/" + near
	}
	return ""
}

// outputWidth returns the width of what commands show; 0 where it is not drawn on a screen.
func (c *chat) outputWidth() int {
	if r, ok := c.w.said.(*rowWriter); ok {
		return r.width()
	}
	return 0
}

// beginNew leaves the conversation: the next message begins another one.
func (c *chat) beginNew(_ context.Context, w io.Writer, _ string) error {
	if c.id != "" {
		fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatEnded, c.id))
	}
	c.id = ""
	_, err := fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatNewThread))
	return err
}

func (c *chat) leaveChat(context.Context, io.Writer, string) error {
	c.quit = true
	return nil
}

// help returns what a command does.
func help(t words.Texts, cmd command) string {
	return t.Named("chat-help", strings.TrimPrefix(cmd.name, "/"))
}

func (c *chat) printHelp(_ context.Context, w io.Writer, _ string) error {
	var rows [][]string
	for _, cmd := range commands() {
		name := cmd.name
		if cmd.takes != "" {
			name += " " + c.o.Texts.Say(cmd.takes)
		}
		rows = append(rows, []string{name, help(c.o.Texts, cmd)})
	}
	if err := columns.WriteFitted(w, rows, c.outputWidth()); err != nil {
		return err
	}
	fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatKeys))
	if c.modelName(scrollback.Conversation{}) == "offline" {
		fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatOffline))
	}
	return nil
}

func (c *chat) showContext(ctx context.Context, w io.Writer, _ string) error {
	m, err := c.o.View.Context(ctx, c.id)
	if err != nil {
		return err
	}
	return WriteContext(w, c.o.Texts, m)
}

// receiptPrinter writes what a compaction did, unless it failed.
func (c *chat) receiptPrinter(w io.Writer) func(scrollback.Receipt, error) error {
	return func(r scrollback.Receipt, err error) error {
		if err != nil {
			return err
		}
		return WriteReceipt(w, c.o.Texts, r)
	}
}

// shownReceipts is how many compactions a chat lists.
const shownReceipts = 20

func (c *chat) listReceipts(ctx context.Context, w io.Writer, _ string) error {
	rs, err := c.o.View.Receipts(ctx, c.id, shownReceipts)
	if err != nil {
		return err
	}
	return WriteReceipts(w, c.o.Texts, rs, c.o.Zone)
}

// pinMessage pins or unpins a message, and lists what is pinned.
func (c *chat) pinMessage(ctx context.Context, w io.Writer, arg string) error {
	if arg != "" {
		seq, err := strconv.ParseInt(strings.TrimPrefix(arg, "#"), 10, 64)
		if err != nil {
			return scrollback.ParamErrorf("terminal.pin", "seq", i18n.ChatMissing, "/pin", i18n.ChatTakesSeq)
		}
		_, err = c.o.View.Patch(ctx, c.id, 0, func(v *scrollback.Conversation) error {
			if i := slices.Index(v.PinnedSeqs, seq); i >= 0 {
				v.PinnedSeqs = slices.Delete(slices.Clone(v.PinnedSeqs), i, i+1)
			} else {
				v.PinnedSeqs = append(slices.Clone(v.PinnedSeqs), seq)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	ms, err := c.o.View.Recall().PinnedMessages(ctx, c.id)
	if err != nil {
		return err
	}
	return WritePinned(w, c.o.Texts, ms)
}

func (c *chat) listRefs(ctx context.Context, w io.Writer, _ string) error {
	refs, next, err := c.o.View.Recall().Refs(ctx, c.id, scrollback.RefQuery{})
	if err != nil {
		return err
	}
	if err := WriteRefs(w, c.o.Texts, refs, c.o.Zone); err != nil || next == "" {
		return err
	}
	_, err = fmt.Fprintln(w, "…")
	return err
}

func (c *chat) grepLog(ctx context.Context, w io.Writer, pattern string) error {
	found, err := c.o.View.Recall().Grep(ctx, c.id, scrollback.GrepQuery{Pattern: pattern})
	if err != nil {
		return err
	}
	return WriteMatches(w, c.o.Texts, found)
}

func (c *chat) searchLog(ctx context.Context, w io.Writer, words string) error {
	found, err := c.o.View.Recall().Search(ctx, scrollback.SearchQuery{Query: words, Zone: c.o.Zone})
	if err != nil {
		return err
	}
	return WriteHits(w, c.o.Texts, found, c.o.Zone)
}

// setModel shows the model, or sets another for the conversation, which then overrides
// the one from the command line.
func (c *chat) setModel(ctx context.Context, w io.Writer, name string) error {
	var conv scrollback.Conversation
	var err error
	switch {
	case name == "" && c.id != "":
		conv, err = c.o.View.Get(ctx, c.id)
	case name != "" && c.id != "":
		conv, err = c.o.View.Patch(ctx, c.id, 0, func(v *scrollback.Conversation) error { v.Model = name; return nil })
	case name != "":
		if err = c.o.CheckModel(name); err == nil {
			c.o.New.Model = name
		}
	}
	if err != nil {
		return err
	}
	if name != "" {
		c.o.Overrides.Model = ""
	}
	_, err = fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatModel, columns.StripControls(c.modelName(conv))))
	return err
}

func (c *chat) setTitle(ctx context.Context, w io.Writer, title string) error {
	conv, err := c.o.View.Patch(ctx, c.id, 0, func(v *scrollback.Conversation) error { v.Title = title; return nil })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, c.o.Texts.Say(i18n.ChatTitled, columns.StripControls(conv.Title)))
	return err
}
