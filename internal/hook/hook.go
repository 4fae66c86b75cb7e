package hook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/hook/ledger"
	"github.com/scrollback-ai/scrollback/internal/place"
	"github.com/scrollback-ai/scrollback/internal/store/evidence"
)

// StartAge is how old the newest talk in a place may be for something to be said at a start.
const StartAge = 30 * 24 * time.Hour

// ScopeAll lets conversations of all places speak.
const ScopeAll = "all"

// Evidence looks things up in what was said before; [evidence.Store] is the one that opens it.
type Evidence interface {
	Find(ctx context.Context, q evidence.Query) (evidence.Answer, error)
	Stand(ctx context.Context, p evidence.Place, of evidence.Session, since int64) ([]evidence.Found, error)
	HandBack(ctx context.Context, of evidence.Session, said string) ([]evidence.Found, error)
	Close() error
}

// Hook answers events. The zero value of what is optional is right.
type Hook struct {
	Ledger *ledger.Ledger
	Store  func(ctx context.Context) (Evidence, error)
	Now    time.Time // in the zone of the person

	Place func(folder string) place.Place // nil: what its folders say

	Off      bool                           // nothing is said
	Tell     bool                           // people are told that something was said
	Tokens   int                            // of a text at most; 0 is [Budget]
	Scope    string                         // [ScopeAll], or this place
	Excluded func(tool, folder string) bool // what is left out of imports or of hooks; nil for nothing
}

// reply is an answer with what is noted of it.
type reply struct {
	Answer
	told      []ledger.Told
	why       string
	terms     []string
	start     *string
	owed      *string
	compacted bool
}

// Answer returns what is said at an event, before ctx ends or not at all. What it notes in the ledger it notes before
// it returns. Errors are silence: nobody is there to read them.
func (h *Hook) Answer(ctx context.Context, in Input) Answer {
	began := time.Now()
	if h.Off || in.SubAgent || in.Model > 1 || in.Session == "" && in.Event != PreCompact {
		return Answer{}
	}
	here := h.findPlace(in.Folder)
	if h.Excluded != nil && (h.Excluded(in.Agent, in.Folder) || h.Excluded(in.Agent, here.Root)) {
		return Answer{}
	}
	if in.Event == Prompt {
		if _, quiet := isQuiet(in.Prompt); quiet && in.Agent != agents.GeminiCLI && in.Agent != agents.CopilotCLI {
			return Answer{}
		}
		if in.Prompt == "" {
			return Answer{}
		}
	}
	if h.Ledger == nil {
		if in.Event == PreCompact { // which needs nothing that was kept
			return h.answerCompact(ctx, in, ledger.Memory{}).Answer
		}
		return Answer{}
	}
	key := ledger.Key{Agent: in.Agent, Session: in.Session, Event: string(in.Event), ID: h.eventID(in)}
	known, err := h.Ledger.Begin(ctx, key,
		ledger.Where{Place: here.Key(), Folder: in.Folder,
			Silenced: [][2]string{{ledger.OffAgent, in.Agent}, {ledger.OffFolder, here.Key()}}}, h.Now)
	if err != nil || known.Repeated || known.Off {
		return Answer{}
	}
	var r reply
	switch in.Event {
	case SessionStart:
		r = h.answerStart(ctx, in, here, known)
	case Prompt:
		r = h.answerPrompt(ctx, in, here, known)
	case PreCompact:
		r = h.answerCompact(ctx, in, known)
	case Stop:
		r.why = "import"
		r.Import = true
	}
	if ctx.Err() != nil { // too late to be read
		r = reply{Answer: Answer{Import: r.Import}, why: "too late"}
	}
	r.Tell = h.Tell
	_ = h.Ledger.Note(context.WithoutCancel(ctx), ledger.Entry{At: h.Now, Agent: in.Agent, Session: in.Session,
		Event: string(in.Event), Folder: in.Folder, Took: time.Since(began), Told: r.told, Notes: r.Notes, Why: r.why,
		Terms: strings.Join(r.terms, " "), Start: r.start, Owed: r.owed, Compacted: r.compacted})
	return r.Answer
}

func (h *Hook) findPlace(folder string) place.Place {
	if h.Place == nil {
		return place.Find(folder)
	}
	return h.Place(folder)
}

// eventID tells an event from others of its kind in a session.
func (h *Hook) eventID(in Input) string {
	switch {
	case in.Event == Stop: // each counts, for the last one has what the others had not
		return strconv.FormatInt(h.Now.UnixNano(), 10)
	case in.Event == SessionStart:
		return in.Source
	case in.Turn != "":
		return in.Turn
	case in.Event == Prompt:
		sum := sha256.Sum256([]byte(in.Prompt))
		return hex.EncodeToString(sum[:8])
	}
	return ""
}

// evidencePlace returns the place as the store is asked about it.
func (h *Hook) evidencePlace(here place.Place, known ledger.Memory) evidence.Place {
	p := evidence.Place{Folders: here.Folders, Has: here.Has, Exclude: h.Excluded, Without: known.Projects}
	if h.Scope == ScopeAll {
		return evidence.Place{Folders: []string{""}, Exclude: h.Excluded, Without: known.Projects}
	}
	gone := map[string]bool{} // where a hook was called in this place that is no longer there
	for _, folder := range known.Folders {
		if !here.Has(folder) {
			gone[folder] = true
			p.Folders = append(p.Folders, folder)
		}
	}
	if len(gone) > 0 {
		p.Has = func(folder string) bool { return gone[folder] || here.Has(folder) }
	}
	return p
}

func (h *Hook) budget() int {
	if h.Tokens > 0 {
		return min(h.Tokens, Budget)
	}
	return Budget
}

// answerStart answers the start of a session, or its return.
func (h *Hook) answerStart(ctx context.Context, in Input, here place.Place, known ledger.Memory) reply {
	switch in.Source {
	case "resume", "fork":
		switch in.Agent {
		case agents.CopilotCLI, agents.QwenCode, agents.GeminiCLI, agents.OpenClaw, agents.Cline:
			if known.Start != "" {
				return reply{Answer: Answer{Text: known.Start}, why: "the same as at its start"}
			}
		}
		return reply{why: "the session has it"}
	case "compact":
		return h.handBack(ctx, in, known)
	}
	store, err := h.Store(ctx)
	if err != nil {
		return reply{why: "no store"}
	}
	defer func() { _ = store.Close() }() // it was only read
	var found []evidence.Found
	at := h.evidencePlace(here, known)
	session := evidence.Session{Tool: in.Agent, ID: in.Session}
	query := ""
	if _, quiet := isQuiet(in.Prompt); !quiet { // Copilot knows the question already
		a, err := store.Find(ctx, evidence.Query{Prompt: in.Prompt, Place: at, Session: session})
		if err != nil {
			return reply{why: "not found in time"}
		}
		found = a.Found
		query = in.Prompt
	}
	stood, err := store.Stand(ctx, at, session, h.Now.Add(-StartAge).UnixMilli())
	if err != nil {
		return reply{why: "not found in time"}
	}
	r := h.render(append(found, stood...), query)
	if r.why = "where work stood"; r.Text == "" {
		r.why = "nothing was said here of late"
	}
	text := r.Text
	r.start = &text
	if in.Agent == agents.GeminiCLI && in.Source == "clear" { // it drops what is said now
		r.owed = &text
		r.Text = ""
	}
	return r
}

// handBack answers the start of a session behind its own compaction.
func (h *Hook) handBack(ctx context.Context, in Input, known ledger.Memory) reply {
	r := reply{compacted: true, why: "nothing is kept of it"}
	if store, err := h.Store(ctx); err == nil {
		defer func() { _ = store.Close() }() // it was only read
		if found, err := store.HandBack(ctx, evidence.Session{Tool: in.Agent, ID: in.Session}, in.Summary); err == nil {
			r = h.render(found, "")
			r.compacted = true
			r.why = "handed back"
		}
	}
	if in.Agent == agents.QwenCode { // what is said now takes the place of what was said at the start
		if r.Text == "" {
			r.Text = known.Start
			return r
		}
		text := r.Text
		r.start = &text
	}
	return r
}

// answerPrompt answers a prompt.
func (h *Hook) answerPrompt(ctx context.Context, in Input, here place.Place, known ledger.Memory) reply {
	r := h.lookUp(ctx, in, here, known)
	if known.Owed != "" {
		r.Text = strings.TrimSuffix(known.Owed+"\n\n"+r.Text, "\n\n")
		r.Notes++
		none := ""
		r.owed = &none
	}
	return r
}

// lookUp returns what answers a prompt.
func (h *Hook) lookUp(ctx context.Context, in Input, here place.Place, known ledger.Memory) reply {
	if why, quiet := isQuiet(in.Prompt); quiet {
		return reply{why: why}
	}
	store, err := h.Store(ctx)
	if err != nil {
		return reply{why: "no store"}
	}
	defer func() { _ = store.Close() }() // it was only read
	told := map[evidence.Seen]bool{}
	for t := range known.Told {
		told[evidence.Seen{Conversation: t.Conversation, Seq: t.Seq}] = true
	}
	a, err := store.Find(ctx, evidence.Query{Prompt: in.Prompt, Place: h.evidencePlace(here, known), Told: told,
		Session: evidence.Session{Tool: in.Agent, ID: in.Session}})
	switch {
	case err != nil:
		return reply{why: "not found in time"}
	case len(a.Found) == 0:
		return reply{why: a.Why}
	case known.Since >= 0 && known.Since < 2 && !a.Facts.Identifier:
		return reply{why: "something was told shortly before"}
	}
	r := h.render(a.Found, in.Prompt)
	r.why = a.Why
	r.terms = a.Terms
	return r
}

// answerCompact asks the summary of an agent to keep what matters. Copilot only tells that it compacts: it gets with
// its next prompt what others get behind their compaction.
func (h *Hook) answerCompact(ctx context.Context, in Input, known ledger.Memory) reply {
	switch in.Agent {
	case agents.ClaudeCode, agents.QwenCode, agents.Opencode, agents.Kilo:
		return reply{Answer: Answer{Text: CompactText}, why: "compaction"}
	case agents.CopilotCLI:
		if h.Ledger == nil {
			return reply{}
		}
		r := h.handBack(ctx, in, known)
		owed := r.Text
		if owed == "" {
			owed = known.Start
		}
		r.owed = &owed
		r.Answer = Answer{}
		return r
	}
	return reply{why: "compaction"}
}

// render makes a reply of what was found.
func (h *Hook) render(found []evidence.Found, query string) reply {
	items := make([]Item, 0, len(found))
	for _, f := range found {
		items = append(items, Item{At: time.UnixMilli(f.At).In(h.Now.Location()), Tool: f.Tool, Role: f.Role, Kind: f.Kind,
			Says: f.Text, Query: query, Conversation: f.Conversation, Seq: f.Seq})
	}
	var r reply
	var used []Item
	r.Text, used = RenderText(items, h.budget())
	r.Notes = len(used)
	for _, i := range used {
		r.told = append(r.told, ledger.Told{Conversation: i.Conversation, Seq: i.Seq})
	}
	return r
}
