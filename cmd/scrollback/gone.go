package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/install"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
)

// goneFile, in the data folder, was written when a bare scrollback last named agents that call a program that is gone.
const goneFile = "agents-named"

// goneRest is how long it names none then.
const goneRest = 24 * time.Hour

// sayGone names the agents that call a program that is gone, at most once a day. It is said beside the help, and what
// goes wrong is nobody's concern there. Where there is no data folder nothing is said, and nothing made.
func (g *globals) sayGone() {
	if g.readConfig() != nil {
		return
	}
	dir, err := g.dataDir()
	if err != nil {
		return
	}
	mark := filepath.Join(dir, goneFile)
	if info, err := os.Stat(mark); err == nil && time.Since(info.ModTime()).Abs() < goneRest {
		return
	}
	lines := g.describeGone(nil)
	if len(lines) == 0 || os.WriteFile(mark, nil, 0o600) != nil {
		return
	}
	now := time.Now()
	if os.Chtimes(mark, now, now) != nil {
		return
	}
	for _, line := range lines {
		fmt.Fprintln(g.stderr, "scrollback:", line)
	}
}

// describeGone says which agents call a program that is gone; those that are mended call this one from now on.
func (g *globals) describeGone(mended []string) (lines []string) {
	setups, err := g.inspectSetups()
	if err != nil {
		return nil
	}
	t := g.localeTexts()
	for _, s := range setups {
		for _, bad := range s.Problems {
			file := columns.StripControls(bad.File)
			flag := "--agent " + s.Agent
			if s.Agent == install.Service {
				flag = "--watch"
			}
			switch {
			case bad.Kind != install.Moved:
			case slices.Contains(mended, s.Agent):
				lines = append(lines, t.Say(i18n.InstallMended, s.Agent, file))
			default:
				lines = append(lines, t.Say(i18n.InstallGone, s.Agent, file, flag))
			}
		}
	}
	return lines
}
