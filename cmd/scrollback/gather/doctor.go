package gather

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback/collect"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/terminal/columns"
	"github.com/scrollback-ai/scrollback/transfer"
)

// Doctor looks at the tools of this machine.
type Doctor struct {
	Exclude []string `help:"leave-out-tool-or-what-was-worked" placeholder:"X" sep:"none"`
}

// Look says what is found of each tool.
func (c *Doctor) Look(p Program) error {
	o, err := Flags{Exclude: c.Exclude}.Options(p, Every, "")
	if err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		here = "" // it was removed; nothing is set there
	}
	var agents []collect.Agent
	err = p.Open(false, func(t *transfer.Transfer, v *engine.View) error {
		collector, err := collect.New(t, v, o)
		if err != nil {
			return err
		}
		agents, err = collector.Agents(p.Ctx, here)
		return err
	})
	if err != nil {
		return err
	}
	return p.Print(map[string]any{"agents": agents}, func(w io.Writer) error { return drawAgents(w, agents, p.Zone) })
}

// drawAgents prints a table of what was found, what stands in the way, and how to register
// this program. Times are in a zone.
func drawAgents(w io.Writer, agents []collect.Agent, zone *time.Location) error {
	rows := [][]string{{"tool", "sessions", "behind", "size", "newest there", "newest here", "here", "mcp"}}
	var absent, notes []string
	for _, a := range agents {
		var found, looked []string
		for _, p := range a.Places {
			if looked = append(looked, columns.Plain(p.Path)); p.Found {
				found = append(found, columns.Plain(p.Path))
			}
		}
		registered := ""
		if a.MCP != nil {
			if registered = "not registered"; a.MCP.Registered {
				registered = "registered"
			}
		}
		if len(found) == 0 && a.Here == 0 && len(a.Problems) == 0 && (a.MCP == nil || len(a.MCP.Files) == 0) {
			absent = append(absent, a.Tool)
			continue
		}
		rows = append(rows, []string{a.Tool, columns.Thousands(int64(a.Sessions)), columns.Thousands(int64(a.Behind)),
			sizeOf(a.Bytes),
			when(a.Newest, zone), when(a.NewestHere, zone), columns.Thousands(int64(a.Here)), registered})
		notes = append(notes, notesOfAgent(a, found, looked)...)
	}
	if len(rows) > 1 {
		if err := columns.Table(w, rows, 1, 2, 3, 6); err != nil {
			return err
		}
	}
	for _, line := range notes {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	if len(absent) > 0 {
		_, err := fmt.Fprintf(w, "not found: %s\n", strings.Join(absent, ", "))
		return err
	}
	return nil
}

// notesOfAgent is what the table does not say of a tool.
func notesOfAgent(a collect.Agent, found, looked []string) (notes []string) {
	say := func(format string, args ...any) { notes = append(notes, a.Tool+": "+fmt.Sprintf(format, args...)) }
	if len(found) > 0 {
		say("in %s", strings.Join(found[:min(len(found), maxNamed)], ", "))
	} else if len(looked) > 0 {
		say("nothing in %s", strings.Join(looked[:min(len(looked), maxNamed)], ", "))
	}
	if a.Gone > 0 {
		say("%s here and not there any more", counted(a.Gone, "conversation is", "conversations are"))
	}
	for _, p := range a.Problems[:min(len(a.Problems), maxNamed)] {
		say("%s %s: %s", columns.Plain(p.Place), columns.Plain(p.Session), columns.Clip(p.Reason, 300))
	}
	if a.Behind > 0 {
		say("%s behind: scrollback import --from %s, or scrollback watch", counted(a.Behind, "session is", "sessions are"),
			a.Tool)
	}
	m := a.MCP
	if m == nil {
		return notes
	}
	for _, p := range m.Problems {
		say("settings %s", columns.Plain(p))
	}
	switch {
	case m.Registered:
	case m.Where != "":
		say("to register: in %s: %s", columns.Plain(m.Where), m.How)
	default:
		say("to register: %s", m.How)
	}
	return notes
}

// when is a time for a person in a zone, or a dash.
func when(ms int64, zone *time.Location) string {
	if ms == 0 {
		return "-"
	}
	return time.UnixMilli(ms).In(zone).Format("2006-01-02 15:04")
}
