package clients_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// agent is a program, and how it is asked without a terminal.
type agent struct {
	name   string
	env    []string
	ask    func(prompt string) []string
	resume func(prompt string) []string // in the newest session
	// compact has it compact its history itself, at the latest when it is asked the next time; it returns the
	// arguments of such a run.
	compact func(r *run, prompt string) []string
	command bool // compact only compacts, and asks nothing
	instead bool // when it compacts, it sends words of its own in the place of the prompt

	// Why it cannot do something without a terminal; empty if it can.
	noAbort, noCompaction string

	// from is what an import calls it, if its requests say which of its sessions they are of.
	from string
}

func with(before ...string) func(prompt string) []string {
	return func(prompt string) []string { return append(append([]string{}, before...), prompt) }
}

// settings returns what writes a file of the home folder that makes the window small.
func settings(file, text string, ask func(prompt string) []string) func(r *run, prompt string) []string {
	return func(r *run, prompt string) []string {
		r.write(filepath.Join(r.home, file), text)
		return ask(prompt)
	}
}

var codexFlags = []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"}

var agents = []agent{
	{name: "codex", from: "codex", ask: with(codexFlags...), resume: with(append(codexFlags, "resume", "--last")...),
		compact: func(_ *run, prompt string) []string {
			return append(append([]string{"-c", "model_auto_compact_token_limit=1000"}, codexFlags...), "resume", "--last", prompt)
		}},
	{name: "claude", from: "claude-code", env: []string{"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
		ask:     with("--allowedTools=Read", "-p"),
		resume:  with("--allowedTools=Read", "--continue", "-p"),
		compact: func(*run, string) []string { return []string{"--continue", "-p", "/compact"} }, command: true},
	// On a machine with much memory it starts itself once more, and does not pass an interrupt on.
	{name: "gemini", env: []string{"GEMINI_CLI_TRUST_WORKSPACE=true", "NO_BROWSER=1", "GEMINI_CLI_NO_RELAUNCH=true"},
		ask: with("-m", "gemini-2.5-pro", "--yolo", "-p"), resume: with("-m", "gemini-2.5-pro", "--yolo", "--resume", "latest", "-p"),
		compact: settings(".gemini/settings.json", `{"model": {"compressionThreshold": 0.0001}}`,
			with("-m", "gemini-2.5-pro", "--yolo", "--resume", "latest", "-p"))},
	{name: "opencode", from: "opencode", env: []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"},
		ask: with("run"), resume: with("run", "--continue"),
		compact: settings(".config/opencode/opencode.json", `{"provider": {"scrollback": {"models": {"custom/scripted":
			{"limit": {"context": 100000, "output": 8000}}}}}}`, with("run", "--continue")), instead: true},
	{name: "qwen", ask: with("--yolo", "-p"), resume: with("--yolo", "--continue", "-p"),
		noAbort: "with -p it takes no notice of an interrupt and writes the answer to its end",
		compact: func(*run, string) []string { return []string{"--yolo", "--continue", "-p", "/compress"} }, command: true},
	{name: "pi", ask: with("--provider", "scrollback", "--model", "custom/scripted", "-p"),
		resume: with("--provider", "scrollback", "--model", "custom/scripted", "--continue", "-p"),
		compact: settings(".pi/agent/settings.json",
			`{"compaction": {"enabled": true, "keepRecentTokens": 10}}`,
			with("--provider", "scrollback", "--model", "custom/scripted", "--continue", "-p"))},
}

// impossible returns a row of the table for what a client cannot do.
func impossible(client, check, why string) string {
	return fmt.Sprintf("| %s | %s | not possible headless, because %s |", client, check, why)
}

// try has an agent read a file, go on in another process, be interrupted, compact, and remember.
func (a agent) try(t *testing.T, clients string) (rows []string) {
	r := start(t, clients)
	r.env = a.env
	row := func(check string, err error) { rows = append(rows, r.row(a.name, check, err)) }

	err := r.ask(askFile, a.name, a.ask(askFile)...)
	if err == nil && r.count("tool read") == 0 {
		err = fmt.Errorf("no file was read: %s", cut(r.said, 500))
	}
	row("tool round", err)
	r.write(r.up.file, "The notes are gone.\n") // some clients read files again when they have compacted

	prompt := "Good. Now the second step."
	err = r.ask(prompt, a.name, a.resume(prompt)...)
	if err == nil {
		err = r.checkStored()
	}
	row("resume in a new process", err)

	err = nil
	if a.noAbort == "" {
		err = r.abort(a.name, a.resume(askSlow)...)
	}
	if err == nil {
		err = r.ask(askFull, a.name, a.resume(askFull)...)
	}
	if err == nil {
		err = r.checkStored()
	}
	if a.noAbort != "" && err == nil {
		rows = append(rows, impossible(a.name, "an abort", a.noAbort))
	} else {
		row("an abort", err)
	}

	if a.from != "" {
		row("its own file, brought by an import", r.bring(a.from))
	}
	if a.noCompaction != "" {
		rows = append(rows, impossible(a.name, "its own compaction, and a fact from before it", a.noCompaction))
		row("log", r.checkStored())
		return rows
	}
	prompt = "And now the fourth step."
	before := r.count("summary")
	if a.command || a.instead {
		err = r.ask("", a.name, a.compact(r, prompt)...)
	} else {
		err = r.ask(prompt, a.name, a.compact(r, prompt)...)
	}
	if err == nil {
		err = r.ask(askFact, a.name, a.resume(askFact)...)
	}
	switch {
	case err != nil:
	case r.count("summary") == before:
		err = fmt.Errorf("it did not compact")
	case !strings.Contains(r.said, fact):
		err = fmt.Errorf("the fact is not known any more: %s", cut(r.said, 500))
	case r.count("recalled") == 0:
		err = fmt.Errorf("the fact was never gone")
	default:
		err = r.checkStored()
	}
	row("its own compaction, and a fact from before it", err)
	row("log", r.checkStored())
	if a.from != "" {
		row("its own file, once more", r.bring(a.from))
	}
	return rows
}
