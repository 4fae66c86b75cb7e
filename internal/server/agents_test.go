package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/hook/ledger"
	"github.com/scrollback-ai/scrollback/internal/install"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/server/restapi"
	"github.com/scrollback-ai/scrollback/internal/standing"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// someAgents are the agents of a machine that does not exist.
type someAgents struct {
	mu  sync.Mutex
	all []standing.MachineAgent
	err error
}

func newAgents() *someAgents {
	codex := standing.MachineAgent{Title: "Codex", Found: true, Sessions: 31, Behind: 1,
		Asked: &ledger.HookRuns{Asked: 14, Spoke: 2, Last: 1795404453293, MedianMS: 41}}
	codex.Setup = install.Setup{Agent: "codex", Installed: true, Hooks: []string{"session-start", "prompt"},
		Files:    []string{"/home/ann/.codex/config.toml", "/home/ann/.codex/hooks.json"},
		Program:  "/home/ann/bin/scrollback",
		Problems: []install.SetupProblem{{Kind: install.Untrusted, File: "/home/ann/.codex/config.toml"}}}
	return &someAgents{all: []standing.MachineAgent{codex}}
}

func (s *someAgents) ListAgents(context.Context) ([]standing.MachineAgent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all), s.err
}

func (s *someAgents) SilenceAgent(_ context.Context, agent string, off bool) (standing.MachineAgent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.all {
		if s.all[i].Agent == agent && s.err == nil {
			s.all[i].Off = off
			out := s.all[i]
			out.Sessions = 0
			out.Behind = 0
			return out, nil
		}
	}
	err := scrollback.Errorf(scrollback.NotFound, "test", "no agent %q", agent)
	return standing.MachineAgent{}, errors.Join(s.err, err)
}

func (s *someAgents) isOff(agent string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.all, func(a standing.MachineAgent) bool { return a.Agent == agent && a.Off })
}

// The agents of a machine are shown on that machine, to whoever runs the server, and to nobody else.
func TestAgentsAreShownOnTheirMachine(t *testing.T) {
	t.Parallel()
	r := enginetest.New(t, enginetest.Options{NoFolds: true})
	secret := map[string]string{}
	for name, k := range map[string]scrollback.Key{"admin": {Role: scrollback.AccessAdmin},
		"writer":       {Role: scrollback.AccessWrite},
		"admin of one": {Role: scrollback.AccessAdmin, Projects: []string{"harbour"}}} {
		k.Name = name
		_, s, err := r.Store.Keys.Add(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		secret[name] = s
	}
	handler := func(agents restapi.MachineAgents, local bool, change func(o *server.Options)) http.Handler {
		o := server.Options{Version: "test", Keys: r.Store.Keys, Agents: agents, Log: slog.New(slog.DiscardHandler)}
		if change != nil {
			change(&o)
		}
		return server.Handler(r.Engine, r.Transfer, o, local)
	}
	some := newAgents()
	const here, elsewhere = "127.0.0.1:9", "192.0.2.1:9"
	for _, c := range []struct {
		what    string
		at      http.Handler
		key     string
		peer    string
		header  string
		want    int
		offered bool
	}{
		{"the operator", handler(some, true, nil), "", here, "", 200, true},
		{"the operator behind a proxy", handler(some, true, nil), "", here, "X-Forwarded-For", 403, false},
		{"an admin on this machine", handler(some, false, nil), "admin", here, "", 200, true},
		{"an admin elsewhere", handler(some, false, nil), "admin", elsewhere, "", 403, false},
		{"an admin behind a proxy", handler(some, false, nil), "admin", here, "Forwarded", 403, false},
		{"an admin of one project", handler(some, true, nil), "admin of one", here, "", 403, false},
		{"a writer", handler(some, true, nil), "writer", here, "", 403, false},
		{"nobody", handler(some, false, nil), "", here, "", 401, false},
		{"a server without agents", handler(nil, true, nil), "", here, "", 404, false},
		{"a server that changes nothing", handler(some, true, func(o *server.Options) { o.ReadOnly = true }), "", here, "",
			403, false},
	} {
		for _, method := range []string{"GET", "PATCH"} {
			path := "/api/agents"
			body := ""
			if method == "PATCH" {
				path += "/codex"
				body = `{"off":true}`
			}
			w := sendFrom(c.at, method, path, body, secret[c.key], c.peer, c.header)
			if w.Code != c.want || (w.Code == 200) != strings.Contains(w.Body.String(), `"agent":"codex"`) {
				t.Errorf("%s, %s: %d %s", c.what, method, w.Code, w.Body)
			}
			if some.isOff("codex") != (c.want == 200 && method == "PATCH") {
				t.Errorf("%s, %s: off is %v", c.what, method, some.isOff("codex"))
			}
		}
		_, _ = some.SilenceAgent(t.Context(), "codex", false)
		w := sendFrom(c.at, "GET", "/api/session", "", secret[c.key], c.peer, c.header)
		if strings.Contains(w.Body.String(), `"agents":true`) != c.offered {
			t.Errorf("%s: %s", c.what, w.Body)
		}
	}
	at := handler(some, true, nil)
	for path, body := range map[string]string{"/api/agents/emacs": `{"off":true}`, "/api/agents/codex": `{}`} {
		want := map[string]int{"/api/agents/emacs": 404, "/api/agents/codex": 400}[path]
		if w := sendFrom(at, "PATCH", path, body, "", here, ""); w.Code != want {
			t.Errorf("%s %s: %d %s", path, body, w.Code, w.Body)
		}
	}
	some.err = scrollback.Errorf(scrollback.Refused, "test", "the ledger cannot be opened")
	w := sendFrom(at, "GET", "/api/agents", "", "", here, "")
	if w.Code != 403 || !strings.Contains(w.Body.String(), "ledger") {
		t.Errorf("a fault: %d %s", w.Code, w.Body)
	}
}

// sendFrom sends a request from an address, with a key and a header of proxies, if they are not empty.
func sendFrom(at http.Handler, method, path, body, key, peer, header string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
	r.RemoteAddr = peer
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	if header != "" {
		r.Header.Set(header, "for=198.51.100.7")
	}
	w := httptest.NewRecorder()
	at.ServeHTTP(w, r)
	return w
}

// manyAgents have everything that can be in the way.
func manyAgents() *someAgents {
	s := newAgents()
	add := func(a standing.MachineAgent, set install.Setup) {
		a.Found = true
		a.Setup = set
		s.all = append(s.all, a)
	}
	add(standing.MachineAgent{Title: "Claude Code", Asked: &ledger.HookRuns{Asked: 40, Spoke: 9, Last: 1795404453293,
		MedianMS: 38.4, Slow: 9}}, install.Setup{Agent: "claude-code", Installed: true, Hooks: []string{"prompt", "stop"},
		Files: []string{"/home/ann/.claude/skills/scrollback/.mcp.json"}, Program: "/old/scrollback",
		Problems: []install.SetupProblem{{Kind: install.Moved, File: "/old/scrollback"},
			{Kind: install.Unreadable, File: "/home/ann/.claude/settings.json", Line: 3},
			{Kind: install.Doubled, File: "/home/ann/.claude.json"}}})
	add(standing.MachineAgent{Title: "Gemini CLI", Asked: &ledger.HookRuns{}}, install.Setup{Agent: "gemini-cli",
		Installed: true, Hooks: []string{"session-start"}, Files: []string{"/home/ann/.gemini/<b>x</b>"},
		Program: "/home/ann/bin/scrollback",
		Problems: []install.SetupProblem{{Kind: install.Off, File: "/home/ann/.gemini/settings.json"},
			{Kind: install.Other, File: "/x/scrollback"}, {Kind: "stranger", File: "/y"}}})
	add(standing.MachineAgent{Title: "crush"}, install.Setup{Agent: "crush", Installed: true,
		Files: []string{"/home/ann/crush.json"}})
	add(standing.MachineAgent{Title: "opencode"}, install.Setup{Agent: "opencode"})
	add(standing.MachineAgent{}, install.Setup{Agent: install.Service, Installed: true,
		Problems: []install.SetupProblem{{Kind: install.GaveUp, At: 1795404453293, Why: "the store is damaged"}}})
	return s
}

// The settings show the agents of this machine: how each is set up, what its hooks did, what is in the way, and a
// switch for its hooks; what writes into other programs' files is shown as a command.
func TestPageMachineAgents(t *testing.T) {
	t.Parallel()
	some := manyAgents()
	d := newShelf(t, shelf[:1], modeltest.Say("fine"))
	o := server.Options{Version: "test", Keys: d.rig.Store.Keys, Agents: some, Log: slog.New(slog.DiscardHandler)}
	srv := httptest.NewServer(server.Handler(d.rig.Engine, d.rig.Transfer, o, true))
	t.Cleanup(srv.Close)
	switchOf := func(agent string) string {
		return `document.querySelector('.agents [data-agent="` + agent + `"] [role="switch"]')`
	}
	card := func(agent string) string { return `.agents [data-agent="` + agent + `"]` }
	said := func(agent string) string { return `document.querySelector('` + card(agent) + `').innerText` }
	d.do("agents", chromedp.Navigate(srv.URL+"/#:settings/agents"), chromedp.WaitVisible(card("codex")))
	for agent, want := range map[string]string{
		"codex": `MCP server, hooks at start, prompt|spoke 2 of 14 times|41 ms|does not trust|` +
			`1 session is not here yet|of 31`,
		"claude-code": `/old/scrollback|is not there any more|scrollback install --agent claude-code|` +
			`settings.json:3|.claude.json|9 of 40`,
		"gemini-cli": "never asked|switched off in /home/ann/.gemini/settings.json|/x/scrollback|stranger",
		"crush":      "MCP server", "opencode": "Not set up|scrollback install --agent opencode",
		"watch": "Collecting|gave up: the store is damaged|scrollback install --watch",
	} {
		for part := range strings.SplitSeq(want, "|") {
			d.until(agent+" says "+part, said(agent)+".includes("+jsText(part)+")")
		}
	}
	d.is("who has a switch", `[...document.querySelectorAll('.agents > li')].filter(x => `+
		`x.querySelector('[role="switch"]')).map(x => x.dataset.agent).join()`, "codex,claude-code,gemini-cli")
	d.is("what a path did", `document.querySelectorAll('.agents b b').length`, "0")
	d.is("hooks are on", switchOf("codex")+".checked", "true")
	d.eval("(" + switchOf("codex") + ".focus(), 1)")
	axe(t, d.ctx, "agents")
	d.do("silenced by the keyboard", chromedp.KeyEvent(" "),
		chromedp.WaitVisible(card("codex")+` [role="switch"]:not(:checked)`))
	// A switch shows its new place before the server has answered; what the card says comes with the answer.
	d.until("it says so", said("codex")+`.includes('told nothing') && `+said("codex")+`.includes('of 31')`)
	if !some.isOff("codex") {
		t.Error("the switch changed nothing")
	}
	d.do("on again", chromedp.KeyEvent(" "), chromedp.WaitVisible(card("codex")+` [role="switch"]:checked`))
	d.until("it says that too", `!`+said("codex")+`.includes('told nothing')`)
	if some.isOff("codex") {
		t.Error("the switch does not switch back")
	}
	some.mu.Lock()
	some.err = scrollback.Errorf(scrollback.Refused, "test", "the ledger cannot be opened")
	some.mu.Unlock()
	d.press(card("codex") + ` [role="switch"]`)
	d.until("a fault is said", `document.body.innerText.includes('the ledger cannot be opened')`)
	d.until("and nothing is switched", switchOf("codex")+".checked")
	some.mu.Lock()
	some.err = nil
	some.mu.Unlock()
	d.do("agents in Chinese", chromedp.Click(`.sidebar [lang="zh-CN"]`),
		chromedp.WaitVisible(`html[lang="zh-CN"]`))
	d.until("in Chinese", said("codex")+`.includes('钩子')`)
	d.do("agents on a phone", chromedp.EmulateViewport(390, 844), chromedp.WaitVisible(card("codex")))
	axe(t, d.ctx, "agents on a phone")
	d.is("wider than the phone", `document.documentElement.scrollWidth > innerWidth`, "false")
	// Where the server has none, or somebody else asks, the page offers none.
	d.do("without", chromedp.Navigate(d.url+"/#:settings/agents"), chromedp.Reload(), chromedp.WaitVisible(".pick"))
	d.is("a link to them", `document.querySelectorAll('.preferences a[href$="settings/agents"]').length`, "0")
}

// jsText returns a text as JavaScript.
func jsText(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(raw)
}
