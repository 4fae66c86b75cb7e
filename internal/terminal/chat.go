package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
)

// Options set a chat up.
type Options struct {
	View         *engine.View
	Conversation scrollback.ConversationID // empty: one is created with the first message
	New          scrollback.Conversation   // what to create it with
	Overrides    engine.Overrides          // of every turn
	Without      *[]int64                  // what the conversation leaves out, from its next turn on; nil changes nothing
	Model        string                    // the default, for conversations that name none
	CheckModel   func(name string) error   // says what is wrong with a model's name
	// Save writes a conversation to a file, in the format that its name ends with.
	Save func(ctx context.Context, id scrollback.ConversationID, name string) error
	// HandOver lets another agent go on with a conversation, and returns what to tell of it.
	HandOver func(ctx context.Context, id scrollback.ConversationID, agent string) (string, error)
	// Listing is how a list of these conversations is written; nil writes whole ids.
	Listing func([]scrollback.Conversation) Listing

	// Listed is told which conversations a list showed, by its numbers; nil is not.
	Listed func([]scrollback.ConversationID)
	Files  Files // completes references on a screen; nil does not
	JSON   bool  // events as lines of JSON; only without a screen
	// Zone is the person's: times are shown in it, and the model is told the date there. nil is
	// that of the machine.
	Zone  *time.Location
	Texts words.Texts
	// Explain says an error in the language of the texts.
	Explain func(error) string
	Color   bool // styles may be used; only on a screen
	// Reflows says that the terminal breaks its rows again when it is made narrower.
	Reflows bool
	// Logs are those that are written to the same terminal; nil if none are. While something is
	// drawn there they go above it, or wait.
	Logs *Logs
}

// chatFace is where a chat is read from and shown.
type chatFace interface {
	// nextLine returns what the person says next, or io.EOF when they leave.
	nextLine(ctx context.Context) (string, error)
	// setBusy says that a line is being worked on, and how to stop that; nil ends it.
	setBusy(stop func())
	// setStatus shows where the conversation stands, on one line, and says what the next
	// line will be said to.
	setStatus(line string, at messagePlace)
	// textWriters are those of what is shown; nil reasoning is not shown.
	textWriters() faceWriters
}

type faceWriters struct {
	answer, reasoning io.Writer // what the model says and thinks
	said              io.Writer // what commands show
	notes, faults     io.Writer
}

// chat is a conversation at a face.
type chat struct {
	o    Options
	f    chatFace
	w    faceWriters
	p    *Printer
	id   scrollback.ConversationID
	web  bool // each question searches the web
	quit bool

	instead bool // the default model is asked because the conversation's own is gone

	typed  bool                        // lines are typed by a person, not read from a pipe
	listed []scrollback.ConversationID // by the newest list, which numbers name
	kept   []scrollback.KeptID         // by the newest list of what is kept
	keptOf scrollback.ConversationID   // whose that was
}

// RunPipe chats through plain streams: each line in is a message or a command. Only
// replies go to out; the rest goes to notes. The error is that of the newest line.
func RunPipe(ctx context.Context, o Options, in io.Reader, out, notes io.Writer) error {
	c := &chat{o: o, f: newPipe(in, out, notes)}
	last, err := c.runLoop(ctx)
	return errors.Join(err, last)
}

// maxLine bounds one line of a pipe, in bytes; the engine judges the message.
const maxLine = 4 << 20

// pipe is a face without a screen.
type pipe struct {
	lines      *bufio.Scanner
	out, notes io.Writer
}

func newPipe(in io.Reader, out, notes io.Writer) *pipe {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	return &pipe{lines: lines, out: out, notes: notes}
}

// nextLine implements face. A line that ends in a backslash continues on the next.
func (p *pipe) nextLine(context.Context) (string, error) {
	var b strings.Builder
	for p.lines.Scan() {
		head, more := strings.CutSuffix(p.lines.Text(), `\`)
		b.WriteString(head)
		if !more {
			return b.String(), nil
		}
		b.WriteByte('\n')
	}
	if err := p.lines.Err(); err != nil {
		return "", scrollback.Wrap(scrollback.Invalid, "terminal.Pipe", err)
	}
	if b.Len() > 0 {
		return strings.TrimSuffix(b.String(), "\n"), nil
	}
	return "", io.EOF
}

func (p *pipe) setBusy(func())                 {}
func (p *pipe) setStatus(string, messagePlace) {}

func (p *pipe) textWriters() faceWriters {
	return faceWriters{answer: p.out, said: p.out, notes: p.notes, faults: p.notes}
}

// runLoop reads lines and replies until the person leaves. last is why the newest line
// failed, nil if it did not.
func (c *chat) runLoop(ctx context.Context) (last, err error) {
	c.id = c.o.Conversation
	c.w = c.f.textWriters()
	c.p = &Printer{Answer: c.w.answer, Reasoning: c.w.reasoning, Notes: c.w.notes, Faults: c.w.faults, JSON: c.o.JSON,
		Texts: c.o.Texts, Again: words.RetryInChat, Ways: words.WaysInChat}
	if c.id != "" {
		c.checkModel(ctx)
	}
	for !c.quit {
		c.f.setStatus(c.statusLine(ctx), messagePlace{c.id, c.o.New.Roots})
		line, err := c.f.nextLine(ctx)
		if errors.Is(err, io.EOF) {
			return last, nil
		}
		if err != nil {
			return last, err
		}
		if last = c.handleLine(ctx, line); last == nil {
			continue
		}
		if ctx.Err() != nil || IsUnread(last) {
			return last, nil
		}
		fmt.Fprintln(c.w.faults, columns.StripControls(c.o.Explain(last)))
		last = ShownError{last}
	}
	return last, nil
}

// handleLine handles one message or command; Ctrl-C stops it.
func (c *chat) handleLine(ctx context.Context, line string) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c.f.setBusy(stop)
	defer c.f.setBusy(nil)
	line = withSlash(line)
	if word := strings.TrimSpace(line); c.typed && (word == "exit" || word == "quit") {
		return c.leaveChat(ctx, nil, "")
	}
	if strings.HasPrefix(line, "/") && !strings.HasPrefix(line, "//") {
		return c.runCommand(ctx, line)
	}
	if strings.HasPrefix(line, "//") {
		line = line[1:]
	}
	return c.sendMessage(ctx, line)
}

// sendMessage runs a turn. A message that is refused leaves no conversation behind.
func (c *chat) sendMessage(ctx context.Context, line string) error {
	message := scrollback.Parts{scrollback.Text{Text: line}}
	if err := c.o.View.Limits().Check(message); err != nil {
		return err
	}
	if c.id == "" {
		made, _, err := c.o.View.Create(ctx, c.o.New)
		if err != nil {
			return err
		}
		c.id = made.ID
	}
	return c.runTurn(ctx, engine.TurnRequest{Conversation: c.id, Message: message, PlainMarks: true, WebSearch: c.web,
		Zone: c.o.Zone, Overrides: c.o.Overrides})
}

// runTurn runs a turn, with what is to be left out from now on.
func (c *chat) runTurn(ctx context.Context, r engine.TurnRequest) error {
	if c.id == c.o.Conversation {
		r.Without = c.o.Without
		c.o.Without = nil
	}
	return c.p.RunTurn(ctx, c.o.View, r)
}

// leaveOutMessage leaves a message out from the next turn on, or lists what is left out.
func (c *chat) leaveOutMessage(ctx context.Context, w io.Writer, arg string) error {
	return c.changeLeftOut(ctx, w, arg, false)
}

// takeBackMessage takes a message back from the next turn on.
func (c *chat) takeBackMessage(ctx context.Context, w io.Writer, arg string) error {
	return c.changeLeftOut(ctx, w, arg, true)
}

func (c *chat) changeLeftOut(ctx context.Context, w io.Writer, arg string, back bool) error {
	var more, taken []int64
	if c.id == c.o.Conversation && c.o.Without != nil {
		more = *c.o.Without
	}
	if arg != "" {
		seq, err := parseSeq(arg)
		if err != nil {
			return err
		}
		if back {
			taken = []int64{seq}
		} else {
			more = append(more[:len(more):len(more)], seq)
		}
	}
	out, err := c.o.View.LeavingOut(ctx, c.id, more, taken)
	if err != nil {
		return err
	}
	if arg != "" {
		c.o.Conversation = c.id
		c.o.Without = &out
	}
	list := c.o.Texts.Say(i18n.TroubleNobody)
	if len(out) > 0 {
		list = strings.Trim(fmt.Sprint(out), "[]")
	}
	_, err = fmt.Fprintln(w, c.o.Texts.Say(i18n.TroubleLeftOut, list))
	return err
}

// statusLine returns where the conversation stands: model, tokens of budget, title.
func (c *chat) statusLine(ctx context.Context) string {
	if c.id == "" {
		return columns.ClipText(c.modelName(scrollback.Conversation{})+" · "+c.o.Texts.Say(i18n.ChatNewThread), 200)
	}
	m, err := c.o.View.Context(ctx, c.id)
	if err != nil {
		return ""
	}
	conv, err := c.o.View.Get(ctx, c.id)
	if err != nil {
		return ""
	}
	line := (c.o.Texts.Say(i18n.ChatStatus, m.Model, columns.FormatThousands(m.Tokens), columns.FormatThousands(m.Budget)))
	if conv.Title != "" {
		line += " · " + columns.ClipText(conv.Title, 30)
	}
	return columns.ClipText(line+" · "+string(c.id)[:min(idShown, len(c.id))], 200)
}

// idShown is how many characters of an id the status shows: those that hold the
// millisecond in which it was made.
const idShown = 13

// checkModel says so if the model of a conversation that goes on is gone, and goes on with
// the default one. A model whose key is missing is not gone: it is what the person chose, and
// its turns say what it lacks.
func (c *chat) checkModel(ctx context.Context) {
	if c.instead {
		c.o.Overrides.Model = ""
		c.instead = false
	}
	conv, err := c.o.View.Get(ctx, c.id)
	if err != nil || conv.Model == "" || c.o.Overrides.Model != "" || c.o.CheckModel == nil {
		return
	}
	why := c.o.CheckModel(conv.Model)
	if scrollback.CodeOf(why) != scrollback.Invalid {
		return
	}
	c.o.Overrides.Model = c.o.Model
	c.instead = true
	fmt.Fprintln(c.w.notes, c.o.Texts.Say(i18n.ChatGone, columns.StripControls(conv.Model),
		columns.StripControls(c.o.Explain(why)),
		columns.StripControls(c.o.Model)))
}

// modelName returns the model that the conversation's next turn asks.
func (c *chat) modelName(conv scrollback.Conversation) string {
	for _, name := range []string{c.o.Overrides.Model, conv.Model, c.o.New.Model} {
		if name != "" {
			return name
		}
	}
	return c.o.Model
}

// IsUnread reports whether err is that nobody reads the standard output, such as head when it
// has enough.
func IsUnread(err error) bool {
	var failed *fs.PathError
	return errors.As(err, &failed) && failed.Path == os.Stdout.Name() && errors.Is(failed, syscall.EPIPE)
}

// ShownError is an error that the person has already seen.
type ShownError struct{ Err error }

func (s ShownError) Error() string { return s.Err.Error() }

// Unwrap serves errors.Is and errors.As.
func (s ShownError) Unwrap() error { return s.Err }

// ExplainError returns an error for the person at the terminal. They own the data, so unlike
// over HTTP they see all of it.
func ExplainError(err error) string {
	var known *scrollback.Error
	if errors.As(err, &known) && known.Err != nil {
		return columns.StripControls(withoutOperations(known.Err))
	}
	return columns.StripControls(err.Error())
}

// withoutOperations returns the text of err without the operations of the errors that it wraps, which are for logs.
func withoutOperations(err error) string {
	text := err.Error()
	for known := (*scrollback.Error)(nil); errors.As(err, &known) && known.Err != nil; err = known.Err {
		text = strings.Replace(text, known.Op+": ", "", 1)
	}
	return text
}
