package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback/cmd/scrollback/config"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/home"
	"github.com/scrollback-ai/scrollback/internal/agents"
	"github.com/scrollback-ai/scrollback/internal/hook"
	"github.com/scrollback-ai/scrollback/internal/hook/ledger"
	"github.com/scrollback-ai/scrollback/internal/hook/socket"
	places "github.com/scrollback-ai/scrollback/internal/place/known"
	"github.com/scrollback-ai/scrollback/local"
)

// Times of a hook: how long it waits for what an agent hands in, and how long the answer may take from then on; an
// agent waits for it at each prompt. Who does not stop in time is left behind.
const (
	hookInputTime  = 300 * time.Millisecond
	hookAnswerTime = 60 * time.Millisecond
	hookGrace      = 10 * time.Millisecond

	hookGreetingShare = 6 // of that time, in which a server greets
)

// hookTime returns how long an answer may take; tests give more where the machine is busy.
func hookTime() time.Duration { return cmp.Or(testTime("SCROLLBACK_HOOK_TIME"), hookAnswerTime) }

// hookValueFlags are the flags of all commands that take a value.
var hookValueFlags = []string{"agent", "config", "data", "store", "objects", "model", "limit", "effort", "summary-timeout",
	"root", "tz"}

// hookLine is the command line of a hook.
type hookLine struct {
	event string
	flags map[string]string
}

// parseHookLine reads a command line. ok says that it is an event of a hook, whether known or not: what agents run
// prints nothing but the answer, whatever they hand in.
func parseHookLine(args []string) (l hookLine, ok bool) {
	l.flags = map[string]string{}
	var words []string
	for i := 0; i < len(args); i++ {
		name, isFlag := strings.CutPrefix(args[i], "--")
		if !isFlag {
			if args[i] == "-h" {
				return l, false
			}
			words = append(words, args[i])
			continue
		}
		name, value, given := strings.Cut(name, "=")
		if name == "help" || name == "version" {
			return l, false
		}
		if !given && slices.Contains(hookValueFlags, name) && i+1 < len(args) {
			i++
			value = args[i]
		}
		l.flags[name] = value
	}
	if len(words) < 2 || words[0] != "hook" || slices.Contains([]string{"log", "off", "on", "import"}, words[1]) {
		return l, false
	}
	l.event = words[1]
	return l, true
}

// answerHook answers an agent, if a command line is of a hook. It never fails: there is nobody to read why.
func answerHook(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) (done bool) {
	line, ok := parseHookLine(args)
	if !ok {
		return false
	}
	began := time.Now()
	agent, known := agents.Find(line.flags["agent"])
	event := hook.Event(line.event)
	if !known || !slices.Contains(hook.Events, event) {
		return true
	}
	waiting, stop := context.WithTimeout(ctx, hookInputTime)
	defer stop()
	value, err := hook.ReadValue(waiting, stdin)
	if err != nil {
		return true
	}
	if waited := time.Since(began); waited > hookGrace { // it was not there when the program began
		began = time.Now()
	}
	in, err := hook.ParseInput(agent.Name, event, value)
	if err != nil {
		return true
	}
	answering, stop := context.WithDeadline(ctx, began.Add(hookTime()))
	defer stop()
	out := make(chan []byte, 1)
	go func() {
		defer func() {
			if recover() != nil { // an agent goes on without us
				out <- nil
			}
		}()
		out <- line.answer(answering, in)
	}()
	late := time.After(time.Until(began.Add(hookTime() + hookGrace)))
	select {
	case text := <-out:
		if len(text) > 0 && answering.Err() == nil {
			_, _ = stdout.Write(text) // who does not read it goes on without
		}
	case <-late:
	}
	return true
}

// answer returns what is printed to an agent.
func (l hookLine) answer(ctx context.Context, in hook.Input) []byte {
	g := &globals{Config: l.flags["config"], ctx: ctx, stderr: io.Discard}
	file, err := g.configFile()
	if err != nil {
		return nil
	}
	g.set, err = config.Read(file, config.Flags{Data: l.flags["data"], Store: l.flags["store"]}, io.Discard)
	if err != nil { // what is left out is not known
		return nil
	}
	if g.set.Hooks.Off || slices.Contains([]string{"sdk-ts", "sdk-py"}, os.Getenv("CLAUDE_CODE_ENTRYPOINT")) {
		return nil
	}
	dir, err := g.dataDir()
	if err != nil {
		return nil
	}
	if in.Event == hook.Stop { // the first of all, perhaps
		_ = home.MakeDataFolder(dir) // if not, nothing is imported
	}
	h := newHook(g.set, dir)
	if _, err := os.Stat(dir); err == nil {
		if h.Ledger, err = ledger.Open(ctx, dir); err == nil {
			defer func() { _ = h.Ledger.Close() }() // what it holds is committed
		} else {
			h.Ledger = nil
		}
	}
	a := h.Answer(ctx, in)
	if a.Import {
		l.importStopped(dir, in)
	}
	return hook.WriteEnvelope(in.Agent, in.Event, a)
}

// openEvidence returns what looks things up in the store of a data folder: a server that has it open, or else this
// program. One that does not greet soon is left alone, unless it is the only one that can.
func openEvidence(ctx context.Context, dir, store string) (hook.Evidence, error) {
	wait := hookTime() / hookGreetingShare
	if needsServer(store) {
		wait = hookTime()
	}
	return socket.Open(ctx, dir, local.NameDatabase(dir, store), wait, func(ctx context.Context) (hook.Evidence, error) {
		alone, err := local.OpenInPassing(ctx, dir, store)
		if err != nil {
			return nil, err
		}
		return alone, nil
	})
}

// needsServer reports whether hooks find nothing in a store unless a server looks it up for them: to connect to a
// database server takes longer than a hook has.
func needsServer(store string) bool { return strings.HasPrefix(store, "postgres") }

// newHook returns what answers over a data folder.
func newHook(set config.Settings, dir string) *hook.Hook {
	h := &hook.Hook{Now: time.Now(), Place: places.Open(dir).Find, Tell: !set.Hooks.Quiet, Tokens: set.Hooks.Tokens,
		Store: func(ctx context.Context) (hook.Evidence, error) { return openEvidence(ctx, dir, set.Store) }}
	if set.Hooks.All {
		h.Scope = hook.ScopeAll
	}
	out := slices.Concat(set.Import.Exclude, set.Hooks.Exclude)
	h.Excluded = func(tool, folder string) bool {
		return slices.ContainsFunc(out, func(x string) bool {
			if !filepath.IsAbs(x) {
				return agents.Resolve(x) == tool
			}
			rel, err := filepath.Rel(filepath.Clean(x), folder)
			return folder != "" && err == nil && filepath.IsLocal(rel)
		})
	}
	return h
}
