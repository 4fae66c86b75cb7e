package gather

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/clients"
	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/internal/hook/ledger"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/install"
	"github.com/scrollback-ai/scrollback/internal/standing"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Doctor looks at the tools of this machine.
type Doctor struct {
	Exclude []string `help:"leave-out-tool-or-what-was-worked" placeholder:"X" sep:"none"`
}

// ReportAgents returns what is found of each tool.
func (c *Doctor) ReportAgents(p Program) error {
	agents, here, o, noStore := p.listTools(Flags{Exclude: c.Exclude})
	if agents == nil {
		agents = []collect.Agent{} // how they are set up is said without a store too
	}
	setups, err := p.Standing()
	if err != nil {
		return err
	}
	for i := range agents {
		noteSetup(&agents[i], setups)
	}
	pointers := p.findPointers(o.Machine, here)
	server := p.HookServer()
	err = p.Print(map[string]any{"agents": agents, "setups": setups, "hook_server": server, "pointers": pointers.Found,
		"pointer_problems": pointers.Problems},
		func(w io.Writer) error {
			if err := p.drawAgents(w, agents); err != nil {
				return err
			}
			if err := p.drawSetups(w, setups); err != nil {
				return err
			}
			if err := p.drawHookServer(w, setups, server); err != nil {
				return err
			}
			return p.drawPointers(w, pointers)
		})
	return errors.Join(noStore, err)
}

// listTools returns what is found of each tool, and how that was looked for: here is the folder that was worked in.
func (p Program) listTools(f Flags) (found []collect.Agent, here string, o collect.Options, err error) {
	if o, err = f.Options(p, Every, ""); err != nil {
		return nil, "", o, err
	}
	if here, err = os.Getwd(); err != nil {
		here = "" // it was removed; nothing is set there
	}
	err = p.Open(false, func(t *transfer.Transfer, v *engine.View) error {
		collector, err := collect.New(t, v, o)
		if err != nil {
			return err
		}
		found, err = collector.ListAgents(p.Ctx, here)
		return err
	})
	return found, here, o, err
}

// CountSessions returns what is found of each tool, by its name.
func CountSessions(p Program) (map[string]collect.Agent, error) {
	found, _, _, err := p.listTools(Flags{})
	out := map[string]collect.Agent{}
	for _, a := range found {
		out[a.Tool] = a
	}
	return out, err
}

// describeAsked says what the hooks of an agent did: the only proof that it calls them.
func (p Program) describeAsked(a ledger.HookRuns) []string {
	t := p.Texts
	if a.Asked == 0 {
		return []string{t.Say(i18n.SetupNeverAsked)}
	}
	out := []string{t.Say(i18n.SetupAsked, a.Asked, formatTime(a.Last, p.Zone), a.Spoke, int64(a.MedianMS))}
	if a.Slow > 0 {
		out = append(out, t.Say(i18n.SetupSlow, a.Slow, a.Asked))
	}
	return out
}

// noteSetup says of an agent that it has the server, if install has set it up: in files that are no settings.
func noteSetup(a *collect.Agent, setups []standing.MachineAgent) {
	for _, s := range setups {
		if s.Agent == a.Tool && s.Installed && a.MCP != nil {
			a.MCP.Registered = true
		}
	}
}

// drawSetups prints which agents are set up, and what is wrong with that.
func (p Program) drawSetups(w io.Writer, setups []standing.MachineAgent) error {
	t := p.Texts
	var lines []string
	for _, s := range setups {
		if !s.Installed {
			continue
		}
		var events []string
		for _, event := range s.Hooks {
			events = append(events, t.Named("install-event", event))
		}
		said := t.Say(i18n.SetupServerOnly)
		if s.Agent == install.Service {
			said = t.Say(i18n.SetupService)
		} else if len(events) > 0 {
			said = t.Say(i18n.SetupHooks, strings.Join(events, ", "))
		}
		lines = append(lines, t.Say(i18n.ImportToolNotes, s.Agent, said))
		if s.Off {
			lines = append(lines, t.Say(i18n.ImportToolNotes, s.Agent, t.Say(i18n.SetupSilenced, s.Agent)))
		}
		if s.Asked != nil {
			for _, said := range p.describeAsked(*s.Asked) {
				lines = append(lines, t.Say(i18n.ImportToolNotes, s.Agent, said))
			}
		}
		for _, bad := range s.Problems {
			file := columns.StripControls(bad.File)
			if bad.Kind == install.GaveUp {
				why := columns.ClipText(columns.StripControls(bad.Why), maxShownLine)
				lines = append(lines, t.Say(i18n.ImportToolNotes, s.Agent,
					t.Say(i18n.SetupGaveUp, formatTime(bad.At, p.Zone), why)))
				continue
			}
			if bad.Line > 0 {
				file = fmt.Sprintf("%s:%d", file, bad.Line)
			}
			lines = append(lines, t.Say(i18n.ImportToolNotes, s.Agent, t.Say(setupProblems[bad.Kind], file)))
		}
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// drawHookServer prints who looks things up for hooks, if an agent has any.
func (p Program) drawHookServer(w io.Writer, setups []standing.MachineAgent, server HookServer) error {
	if !slices.ContainsFunc(setups, func(s standing.MachineAgent) bool { return s.Installed && len(s.Hooks) > 0 }) {
		return nil
	}
	said := i18n.HooksLookUpAlone
	if server.Answers {
		said = i18n.HooksAskServer
	} else if server.Needed {
		said = i18n.HooksNeedServer
	}
	_, err := fmt.Fprintln(w, p.Texts.Say(said))
	return err
}

// setupProblems are the sentences of problems, by their kind.
var setupProblems = map[string]i18n.ID{install.Moved: i18n.SetupMoved, install.Other: i18n.SetupOther,
	install.Untrusted: i18n.SetupUntrusted, install.Doubled: i18n.SetupDoubled, install.Off: i18n.SetupOff,
	install.Unreadable: i18n.SetupUnreadable}

// maxAsked bounds how many addresses are asked who responds there.
const maxAsked = 32

// findPointers returns which settings of clients point at a server of this machine, and who responds there.
func (p Program) findPointers(m transcript.Machine, here string) clients.Pointers {
	found := clients.FindPointers(clients.Machine{System: m.System, Home: m.Home, Working: here, Getenv: m.Getenv}, p.Addr)
	said := map[string]string{}
	var wait sync.WaitGroup
	var mu sync.Mutex
	for _, f := range found.Found {
		if _, asked := said[f.Address]; asked || len(said) == maxAsked {
			continue
		}
		said[f.Address] = ""
		wait.Go(func() {
			who := p.Responds(p.Ctx, f.Address)
			mu.Lock()
			defer mu.Unlock()
			said[f.Address] = who
		})
	}
	wait.Wait()
	for i, f := range found.Found {
		found.Found[i].Answers = said[f.Address]
	}
	return found
}

// drawPointers prints which clients ask a server of this machine, and which settings lead nowhere.
func (p Program) drawPointers(w io.Writer, found clients.Pointers) error {
	t := p.Texts
	var lines []string
	for _, f := range found.Found {
		where := t.Say(i18n.PointerInEnvironment, f.Setting)
		if f.File != "" {
			where = t.Say(i18n.PointerInFile, f.Setting, columns.StripControls(f.File), f.Line)
		}
		said := map[string]i18n.ID{clients.Ours: i18n.PointerToScrollback, clients.Other: i18n.PointerToOther,
			clients.Nobody: i18n.PointerToNobody}[f.Answers]
		if said == "" {
			continue
		}
		lines = append(lines, t.Say(i18n.ImportToolNotes, f.Client, t.Say(said, columns.StripControls(f.Address), where)))
		if f.Answers == clients.Nobody && f.Text != "" {
			lines = append(lines, "  "+columns.ClipText(columns.StripControls(f.Text), maxShownLine))
		}
	}
	for _, bad := range found.Problems {
		lines = append(lines, t.Say(i18n.AgentSettings, columns.StripControls(bad.File)+": "+t.Reason(bad.Reason)))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// maxShownLine is how much of a line of settings is shown, in columns.
const maxShownLine = 160

// drawAgents prints a table of what was found, what stands in the way, and how to register
// this program.
func (p Program) drawAgents(w io.Writer, agents []collect.Agent) error {
	t := p.Texts
	rows := [][]string{t.Head(i18n.ColumnTool, i18n.ColumnSessions, i18n.ColumnBehind, i18n.ColumnSize,
		i18n.ColumnNewestThere, i18n.ColumnNewestHere, i18n.ColumnHere, i18n.ColumnMCP)}
	var absent, notes []string
	for _, a := range agents {
		var found, looked []string
		for _, place := range a.Places {
			if looked = append(looked, columns.StripControls(place.Path)); place.Found {
				found = append(found, columns.StripControls(place.Path))
			}
		}
		registered := ""
		if a.MCP != nil {
			if registered = t.Say(i18n.AgentNotRegistered); a.MCP.Registered {
				registered = t.Say(i18n.AgentRegistered)
			}
		}
		if len(found) == 0 && a.Here == 0 && len(a.Problems) == 0 && (a.MCP == nil || len(a.MCP.Files) == 0) {
			absent = append(absent, a.Tool)
			continue
		}
		rows = append(rows, []string{a.Tool, columns.FormatThousands(int64(a.Sessions)),
			columns.FormatThousands(int64(a.Behind)),
			formatSize(a.Bytes),
			formatTime(a.Newest, p.Zone), formatTime(a.NewestHere, p.Zone), columns.FormatThousands(int64(a.Here)), registered})
		notes = append(notes, notesOfAgent(t, a, found, looked)...)
	}
	if len(rows) > 1 {
		if err := columns.WriteTable(w, rows, 1, 2, 3, 6); err != nil {
			return err
		}
	}
	for _, line := range notes {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	if len(absent) > 0 {
		_, err := fmt.Fprintln(w, t.Say(i18n.AgentsNotFound, strings.Join(absent, ", ")))
		return err
	}
	return nil
}

// notesOfAgent returns what the table does not say of a tool.
func notesOfAgent(t words.Texts, a collect.Agent, found, looked []string) (notes []string) {
	say := func(text i18n.ID, args ...any) {
		notes = append(notes, t.Say(i18n.ImportToolNotes, a.Tool, t.Say(text, args...)))
	}
	if len(found) > 0 {
		say(i18n.AgentIn, strings.Join(found[:min(len(found), maxNamed)], ", "))
	} else if len(looked) > 0 {
		say(i18n.AgentNothingIn, strings.Join(looked[:min(len(looked), maxNamed)], ", "))
	}
	if a.Gone > 0 {
		say(i18n.AgentGone, t.Count(int64(a.Gone), i18n.CountOneIsGone, i18n.CountAreGone))
	}
	for _, p := range a.Problems[:min(len(a.Problems), maxNamed)] {
		say(i18n.AgentProblem, columns.StripControls(p.Place), columns.StripControls(p.Session),
			columns.ClipText(t.Reason(p.Reason), 300))
	}
	if a.Behind > 0 {
		say(i18n.AgentBehind, t.Count(int64(a.Behind), i18n.CountOneSessionIs, i18n.CountSessionsAre), a.Tool)
	}
	m := a.MCP
	if m == nil {
		return notes
	}
	for _, p := range m.Problems {
		say(i18n.AgentSettings, columns.StripControls(p))
	}
	switch {
	case m.Registered:
	case m.Where != "":
		say(i18n.AgentRegisterIn, columns.StripControls(m.Where), m.How)
	default:
		say(i18n.AgentRegister, m.How)
	}
	return notes
}

// formatTime returns a time for a person in a zone, or a dash.
func formatTime(ms int64, zone *time.Location) string {
	if ms == 0 {
		return "-"
	}
	return time.UnixMilli(ms).In(zone).Format("2006-01-02 15:04")
}
