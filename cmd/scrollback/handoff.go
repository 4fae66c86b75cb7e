package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/handoff"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	places "github.com/scrollback-ai/scrollback/internal/place/known"
	"github.com/scrollback-ai/scrollback/internal/recall/catchup"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript"
)

// The ways to hand over.
const (
	asSession = "native"
	asBrief   = "brief"
)

// listTime bounds the wait for an agent that lists its sessions, and takeTime for one that takes one over: some make a
// database first.
const (
	listTime = 20 * time.Second
	takeTime = 2 * time.Minute
)

type handoffCmd struct {
	Conversation string `arg:"" optional:"" help:"conversation-to-hand-over"`
	To           string `required:"" help:"agent-that-goes-on" placeholder:"AGENT"`
	As           string `help:"native-or-brief" placeholder:"native|brief"`
	Folder       string `help:"folder-where-agent-goes-on" placeholder:"DIR"`
	Exec         bool   `help:"start-agent-at-once"`
	Print        bool   `help:"print-brief-write-nothing"`
}

// handedOver is what a handoff has done.
type handedOver struct {
	Agent        string                    `json:"agent"`
	Conversation scrollback.ConversationID `json:"conversation_id"`
	Title        string                    `json:"title,omitempty"`
	As           string                    `json:"as"`
	Folder       string                    `json:"folder"`
	File         string                    `json:"file,omitempty"`
	Before       []string                  `json:"before,omitempty"` // a command that runs first
	Command      []string                  `json:"command,omitempty"`
	Proven       bool                      `json:"proven"` // the agent lists the session
	Brief        string                    `json:"brief,omitempty"`
	Notes        []string                  `json:"notes,omitempty"`

	talk   catchup.Talk
	agent  agents.Agent
	native handoff.Session
	isNew  bool // File was written now
}

// Run implements the command.
func (c *handoffCmd) Run(g *globals) error {
	agent, err := c.findAgent()
	if err != nil {
		return err
	}
	if c.As != "" && c.As != asSession && c.As != asBrief {
		return scrollback.ParamErrorf("scrollback", "as", i18n.HandedOverAs, c.As)
	}
	var out handedOver
	err = g.withExisting(func(a *app) error {
		var err error
		out, err = c.handOver(g, a, agent)
		return err
	})
	if err != nil {
		return err
	}
	if c.Print {
		return g.printResult(out, func(w io.Writer) error { _, err := fmt.Fprintln(w, out.Brief); return err })
	}
	if err := g.printResult(out, func(w io.Writer) error { return g.showHandOver(w, &out) }); err != nil || !c.Exec {
		return err
	}
	return g.startAgent(&out)
}

// handOverTo hands a conversation over to an agent, and returns what a person is told of it.
func (g *globals) handOverTo(a *app, id scrollback.ConversationID, to string) (string, error) {
	c := &handoffCmd{Conversation: string(id), To: to}
	agent, err := c.findAgent()
	if err != nil {
		return "", err
	}
	out, err := c.handOver(g, a, agent)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = g.showHandOver(&b, &out)
	return b.String(), err
}

// findAgent returns the agent that goes on.
func (c *handoffCmd) findAgent() (agents.Agent, error) {
	agent, ok := agents.Find(c.To)
	if !ok || agent.Program == "" && handoff.BriefCommand(agent.Name, "") == nil {
		return agent, scrollback.ParamErrorf("scrollback", "to", i18n.AgentIsOneOf, c.To,
			strings.Join(agents.Names(), ", "))
	}
	return agent, nil
}

// handOver writes what the agent goes on from.
func (c *handoffCmd) handOver(g *globals, a *app, agent agents.Agent) (handedOver, error) {
	out := handedOver{Agent: agent.Name, agent: agent, As: asBrief}
	id, err := c.find(g, a)
	if err != nil {
		return out, err
	}
	if out.talk, err = handoff.ReadTalk(g.ctx, a.View, id); err != nil {
		return out, err
	}
	out.Conversation = id
	out.Title = out.talk.Title
	if err := c.choosePlace(g, &out); err != nil {
		return out, err
	}
	if out.Brief, err = handoff.WriteBrief(out.talk); err != nil {
		return out, err
	}
	if c.Print {
		return out, nil
	}
	if c.As != asBrief {
		switch done, err := c.writeSession(g, a, &out); {
		case err != nil:
			return out, err
		case done:
			return out, nil
		case c.As == asSession:
			return out, scrollback.ParamErrorf("scrollback", "as", i18n.NoSessionsFor, agent.Title,
				strings.Join(handoff.Natives(), ", "))
		}
	}
	out.Command = handoff.BriefCommand(agent.Name, out.Brief)
	return out, nil
}

// find returns the conversation that is meant: without a name the newest that was held here.
func (c *handoffCmd) find(g *globals, a *app) (scrollback.ConversationID, error) {
	if c.Conversation != "" && c.Conversation != "latest" {
		return a.Resolve(g.ctx, c.Conversation)
	}
	here, err := os.Getwd()
	if err != nil {
		return "", scrollback.Wrap(scrollback.NotFound, "scrollback", err)
	}
	dir, err := g.dataDir()
	if err != nil {
		return "", scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	known := places.Open(dir)
	known.FindRepository(g.ctx, here) // it may be the first time that anybody asks here
	r, err := a.Recall().WithFolders(known.Find(here).Folders)
	if err != nil {
		return "", err
	}
	all, err := r.LocalConversations(g.ctx)
	if err == nil && len(all) == 0 {
		err = scrollback.Errorf(scrollback.NotFound, "scrollback", i18n.NothingSaidInFolder, here)
	}
	if err != nil {
		return "", err
	}
	return all[0].ID, nil
}

// choosePlace chooses the folder where the agent goes on: the conversation's own if it is on this machine.
func (c *handoffCmd) choosePlace(g *globals, o *handedOver) error {
	here, err := os.Getwd()
	if err != nil {
		here = ""
	}
	own := handoff.WorkFolder(&o.talk.Conversation, o.talk.Origin)
	switch {
	case c.Folder != "":
		if own, err = filepath.Abs(c.Folder); err != nil || !isFolder(own) {
			return scrollback.ParamErrorf("scrollback", "folder", i18n.IsNotAFolder, c.Folder)
		}
		o.Folder = own
	case own != "" && isFolder(own):
		o.Folder = own
	default:
		o.Folder = here
		if own != "" {
			o.Notes = append(o.Notes, g.localeTexts().Say(i18n.FolderIsNotHere, own, here))
			if c.Exec {
				return scrollback.Errorf(scrollback.Refused, "scrollback", i18n.SayWhereToGoOn, own)
			}
		}
	}
	return nil
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// writeSession hands over as a session of the agent's own, unless it has none, or has one that does not know what was
// said here since.
func (c *handoffCmd) writeSession(g *globals, a *app, o *handedOver) (done bool, err error) {
	newest := o.talk.Messages[len(o.talk.Messages)-1]
	if from := o.talk.Origin; from != nil && from.Tool == o.Agent && transcript.MarkOf(newest.Meta) != "" {
		if o.Command = handoff.Resume(o.Agent, from.ID); o.Command != nil { // its own, and nothing was said here since
			o.As = asSession
			return true, nil
		}
	}
	on, err := thisMachine()
	if err != nil {
		return false, err
	}
	data, err := g.dataDir()
	if err != nil {
		return false, err
	}
	s, ok := handoff.NewSession(on, o.Agent, handoff.Target{Conversation: o.Conversation, Folder: o.Folder,
		Data: data, At: time.Now()})
	if !ok {
		return false, nil
	}
	switch there, err := os.Stat(s.File); {
	case err == nil && newest.CreatedAt > there.ModTime().UnixMilli():
		o.Notes = append(o.Notes, g.localeTexts().Say(i18n.SessionIsBehind, s.File))
		return false, nil
	case errors.Is(err, os.ErrNotExist):
		if err := c.export(g, a, o, &s); err != nil {
			return false, err
		}
		o.isNew = true
	case err != nil:
		return false, scrollback.Wrap(scrollback.Unavailable, "scrollback", err)
	}
	o.As = asSession
	o.File = s.File
	o.Before = s.Before
	o.Command = s.Command
	o.native = s
	return c.prove(g, o), nil
}

// export writes the session's file, whole or not at all.
func (c *handoffCmd) export(g *globals, a *app, o *handedOver, s *handoff.Session) error {
	if err := os.MkdirAll(filepath.Dir(s.File), 0o700); err != nil {
		return scrollback.Wrap(scrollback.Unavailable, "scrollback", err)
	}
	return writeWhole(s.File, func(w io.Writer) error {
		return a.Export(g.ctx, o.Conversation, transfer.ExportRequest{Format: s.Format, Folder: o.Folder}, w)
	})
}

// prove asks the agent whether it lists the session. One that does not see it does not get it: the file is taken back.
// Where nobody can be asked the session stays, and is not proven.
func (c *handoffCmd) prove(g *globals, o *handedOver) bool {
	texts := g.localeTexts()
	if _, err := exec.LookPath(o.Command[0]); err != nil {
		o.Notes = append(o.Notes, texts.Say(i18n.ProgramIsNotHere, o.Command[0]))
		return true
	}
	if o.Before != nil {
		if said, err := runIn(g.ctx, o.Folder, o.Before, takeTime); err != nil {
			return o.takeBack(texts, firstLine(said, err))
		}
		o.Proven = true
		return true
	}
	if o.native.List == nil {
		return true
	}
	said, err := runIn(g.ctx, o.Folder, o.native.List, listTime)
	s := &o.native
	answers := err == nil || s.Missing != ""
	switch {
	case answers && strings.Contains(said, s.ID):
		o.Proven = true
	case answers && strings.Contains(said, s.Missing):
		return o.takeBack(texts, s.ID)
	default:
		o.Notes = append(o.Notes, texts.Say(i18n.SessionNotProven, o.agent.Title))
	}
	return true
}

// takeBack removes the session, unless it was written before: the agent may have gone on in it.
func (o *handedOver) takeBack(texts words.Texts, why string) bool {
	note := texts.Say(i18n.SessionNotProven, o.agent.Title)
	if o.isNew {
		_ = os.Remove(o.File) // nobody reads it
		note = texts.Say(i18n.SessionNotTaken, o.agent.Title, why)
	}
	o.Notes = append(o.Notes, note)
	o.As = asBrief
	o.File = ""
	o.Before = nil
	o.Command = nil
	return false
}

// runIn runs a command in a folder, without input, and returns what it says.
func runIn(ctx context.Context, folder string, command []string, atMost time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "SCROLLBACK_HOOKS=off")
	said, err := cmd.CombinedOutput()
	return string(said), err
}

func firstLine(said string, err error) string {
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" {
			return columns.StripControls(line)
		}
	}
	return err.Error()
}

// showHandOver says what is handed over, and how one goes on with it.
func (g *globals) showHandOver(w io.Writer, o *handedOver) error {
	texts := g.localeTexts()
	tool := "scrollback"
	branch := ""
	if o.talk.Origin != nil {
		tool = o.talk.Origin.Tool
		branch = o.talk.Origin.GitBranch
	}
	newest := o.talk.Messages[len(o.talk.Messages)-1]
	about := []string{tool, time.UnixMilli(newest.CreatedAt).Format("2006-01-02 15:04")}
	for _, more := range []string{handoff.WorkFolder(&o.talk.Conversation, o.talk.Origin), branch} {
		if more != "" {
			about = append(about, more)
		}
	}
	lines := []string{texts.Say(i18n.HandsOver, columns.StripControls(cmp.Or(o.Title, string(o.Conversation))),
		columns.StripControls(strings.Join(about, ", ")), o.talk.Conversation.Messages)}
	for _, n := range o.Notes {
		lines = append(lines, columns.StripControls(n))
	}
	switch {
	case o.File != "":
		lines = append(lines, texts.Say(i18n.WrittenAsSession, o.agent.Title, o.File))
	case o.As == asSession:
		lines = append(lines, texts.Say(i18n.SessionIsItsOwn, o.agent.Title))
	}
	switch {
	case o.As == asBrief && o.Command == nil:
		lines = append(lines, texts.Say(i18n.PasteBrief, o.agent.Title), "", o.Brief)
	case o.As == asBrief:
		shown := append(slices.Clone(o.Command[:len(o.Command)-1]),
			fmt.Sprintf(`"$(scrollback handoff %s --to %s --print)"`, o.Conversation, o.Agent))
		lines = append(lines, texts.Say(i18n.GoesOnWith), "  "+changeTo(o.Folder)+strings.Join(shown, " "))
	default:
		line := changeTo(o.Folder)
		if o.Before != nil && !o.Proven {
			line += quoteWords(o.Before) + " && "
		}
		lines = append(lines, texts.Say(i18n.GoesOnWith), "  "+line+quoteWords(o.Command))
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// changeTo returns how a shell goes to a folder, unless it is there.
func changeTo(folder string) string {
	if here, err := os.Getwd(); folder == "" || err == nil && here == folder {
		return ""
	}
	return "cd " + quoteWords([]string{folder}) + " && "
}

// plainWord is a word that no shell changes.
var plainWord = lazyregexp.New(`^[A-Za-z0-9_./:=@%+-]+$`)

// quoteWords writes words as a shell reads them.
func quoteWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		switch {
		case plainWord().MatchString(w):
			out[i] = w
		case runtime.GOOS == "windows":
			out[i] = `"` + w + `"`
		default:
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// startAgent starts the agent where it goes on.
func (g *globals) startAgent(o *handedOver) error {
	if o.Command == nil {
		return scrollback.Errorf(scrollback.Refused, "scrollback", i18n.AgentTakesNoPrompt, o.agent.Title)
	}
	program, err := exec.LookPath(o.Command[0])
	if err != nil {
		return scrollback.Errorf(scrollback.NotFound, "scrollback", i18n.ClientNotInstalled, o.Command[0], o.Agent)
	}
	cmd := exec.Command(program, o.Command[1:]...)
	cmd.Dir = o.Folder
	code, err := g.runAttached(cmd)
	if err == nil && code != 0 {
		err = exitError(code)
	}
	return err
}
