// Package clients_test runs the real programs of others through the open door: agents by "scrollback run-with", client
// libraries by the address of a server, both unmodified, against a server of models that answers by rules. Where
// SCROLLBACK_TEST_CLIENTS names no folder with them, as .ci/door makes one, nothing runs.
package clients_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// patience is how long one run of a client may take; several share a slow machine.
const patience = 90 * time.Second

// run is one client with a server and a home folder of its own.
type run struct {
	t       *testing.T
	clients string // the folder with the programs of others
	program string // scrollback
	home    string
	work    string // the folder that agents work in
	config  string
	data    string
	address string
	up      *upstream
	prompts []string
	env     []string
	said    string // by the newest run of the client
}

// start starts a server for one client.
func start(t *testing.T, clients string) *run {
	dir := t.TempDir()
	r := &run{t: t, clients: clients, program: filepath.Join(clients, "scrollback"), home: filepath.Join(dir, "home"),
		work: filepath.Join(dir, "work"), config: filepath.Join(dir, "config.toml"), data: filepath.Join(dir, "data"),
		up: &upstream{file: filepath.Join(dir, "work", "notes.txt")}}
	for _, folder := range []string{r.home, r.work} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.write(r.up.file, words)
	models := httptest.NewServer(r.up)
	t.Cleanup(models.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	r.address = "http://" + at
	r.write(r.config, fmt.Sprintf(`addr = %q
model = "custom/scripted"
titles = "prompt"
[providers.custom]
base_url = "%[2]s/v1"
[providers.openai]
api_key = "k"
base_url = "%[2]s/v1"
[providers.anthropic]
api_key = "k"
base_url = "%[2]s/v1"
[providers.gemini]
api_key = "k"
base_url = "%[2]s/v1beta"
[providers.ollama]
base_url = "%[2]s"
`, at, models.URL))
	serve := r.command(context.Background(), r.program, "serve")
	var log bytes.Buffer
	serve.Stdout = &log
	serve.Stderr = &log
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Signal(os.Interrupt) // it may have ended
		_ = serve.Wait()                       // its log says why, if that matters
		if t.Failed() {
			t.Logf("models were asked:\n%s\nthe server said:\n%s", r.trace(), cut(log.String(), 3000))
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	waitUntil(ctx, func() bool {
		resp, err := http.Get(r.address + "/healthz")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	})
	if ctx.Err() != nil {
		t.Fatal("the server does not start")
	}
	return r
}

// waitUntil waits until something holds, or the context ends.
func waitUntil(ctx context.Context, holds func() bool) {
	often := time.NewTicker(50 * time.Millisecond)
	defer often.Stop()
	for !holds() {
		select {
		case <-often.C:
		case <-ctx.Done():
			return
		}
	}
}

func (r *run) write(file, text string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// command returns a program with nothing of the tester's environment.
func (r *run) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = r.work
	bins := filepath.Join(r.clients, "node_modules", ".bin")
	cmd.Env = append([]string{"HOME=" + r.home, "PATH=" + bins + ":/usr/local/bin:/usr/bin:/bin", "TERM=dumb",
		"SCROLLBACK_CONFIG=" + r.config, "SCROLLBACK_DATA=" + r.data}, r.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what it starts ends with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// ask lets an agent answer a prompt.
func (r *run) ask(prompt, client string, args ...string) error {
	if prompt != "" {
		r.prompts = append(r.prompts, prompt)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := r.command(ctx, r.program, append([]string{"run-with", client}, args...)...).CombinedOutput()
	r.said = string(out)
	if err != nil {
		return fmt.Errorf("%w: %s", err, cut(r.said, 800))
	}
	return nil
}

// abort interrupts an agent in the middle of an answer.
func (r *run) abort(client string, args ...string) error {
	r.prompts = append(r.prompts, askSlow)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := r.command(ctx, r.program, append([]string{"run-with", client}, args...)...)
	var out bytes.Buffer
	cmd.Stdout = &out
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		return err
	}
	began := make(chan struct{})
	go func() {
		defer close(began)
		waitUntil(ctx, func() bool { return r.up.slow.Load() > 10 })
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended, which the caller sees
	}()
	err := cmd.Wait()
	<-began
	r.said = out.String()
	if n := r.up.slow.Load(); n == 0 || n >= slowPieces || ctx.Err() != nil || errors.Is(err, exec.ErrWaitDelay) {
		return fmt.Errorf("it was not stopped: %v: %s", err, cut(r.said, 800))
	}
	return nil
}

// count returns how often a rule answered.
func (r *run) count(rule string) (n int) {
	for _, e := range r.up.exchanges() {
		if e.Rule == rule {
			n++
		}
	}
	return n
}

// trace returns what was asked for in the end of each request, and which rule answered.
func (r *run) trace() string {
	var out strings.Builder
	for _, e := range r.up.exchanges() {
		last := ""
		if n := len(e.Asked.Items); n > 0 {
			last = strings.Join(strings.Fields(e.Asked.Items[n-1].Text), " ")
		}
		fmt.Fprintf(&out, "%-10s %-22s %3d items, %3d tools, declared %q: %q\n", e.Rule, filepath.Base(e.Path),
			len(e.Asked.Items), len(e.Asked.Tools), e.Asked.Declared, cut(last, 100))
	}
	return out.String()
}

// get asks the API of the server.
func (r *run) get(path string, into any) error {
	resp, err := http.Get(r.address + path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

// stored returns the messages of the one conversation that should be there.
func (r *run) stored() ([]scrollback.Message, error) {
	var list struct {
		Conversations []struct{ ID, Title string }
	}
	if err := r.get("/api/conversations", &list); err != nil {
		return nil, err
	}
	if n := len(list.Conversations); n != 1 {
		return nil, fmt.Errorf("%d conversations: %+v", n, list.Conversations)
	}
	var page struct{ Messages []scrollback.Message }
	err := r.get("/api/conversations/"+list.Conversations[0].ID+"/messages?limit=200", &page)
	return page.Messages, err
}

// checkStored says what is wrong with what is kept: one conversation, each prompt once and nothing twice, and no
// summary or other side call as a turn.
func (r *run) checkStored() error {
	messages, err := r.stored()
	if err != nil {
		return err
	}
	seen := map[string]int{}
	answers := map[string]int{}
	for _, m := range messages {
		text := m.Parts.Text()
		for _, p := range r.prompts {
			if m.Role == scrollback.RoleUser && strings.Contains(text, p) {
				seen[p]++
			}
		}
		switch {
		case m.Role == scrollback.RoleAssistant && text != "":
			answers[text]++
			if answers[text] > 1 {
				return fmt.Errorf("twice: %q in %s", cut(text, 100), sketch(messages))
			}
			if strings.Contains(text, "what it says is left out") {
				return fmt.Errorf("a summary is a turn: %q", cut(text, 100))
			}
		case m.Role == scrollback.RoleUser && len(text) > 200 && compacting.MatchString(text):
			return fmt.Errorf("a side call is a turn: %q", cut(text, 200))
		}
	}
	for _, p := range r.prompts {
		if seen[p] != 1 {
			return fmt.Errorf("%q is there %d times in %s", p, seen[p], sketch(messages))
		}
	}
	return nil
}

// bring reads the sessions of an agent from its own files, and says what is wrong then: all that they have came through
// the door, so that nothing changes.
func (r *run) bring(from string) error {
	before, err := r.stored()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := r.command(ctx, r.program, "import", "--from", from).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, cut(string(out), 800))
	}
	after, err := r.stored()
	if err != nil {
		return fmt.Errorf("%w: %s", err, cut(string(out), 800))
	}
	if len(after) != len(before) {
		return fmt.Errorf("%d messages were %d: %s; before: %s; %s", len(after), len(before), sketch(after), sketch(before),
			cut(string(out), 400))
	}
	r.t.Logf("%s", out)
	return r.checkStored()
}

// sketch returns messages in a few words each.
func sketch(messages []scrollback.Message) string {
	var out []string
	for _, m := range messages {
		text := strings.Join(strings.Fields(m.Parts.Text()), " ")
		for _, c := range m.Parts.Calls() {
			text += " call " + c.Name
		}
		out = append(out, fmt.Sprintf("%s %s %q", m.Role, m.Status, cut(text, 60)))
	}
	return strings.Join(out, "; ")
}

// cut returns the end of a text.
func cut(text string, most int) string { return text[max(0, len(text)-most):] }

// TestClients prints a table of the clients and what they were asked to do.
func TestClients(t *testing.T) {
	clients := os.Getenv("SCROLLBACK_TEST_CLIENTS")
	if clients == "" {
		t.Skip("SCROLLBACK_TEST_CLIENTS is not set; .ci/door sets it")
	}
	var table []string
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) { table = append(table, a.try(t, clients)...) })
	}
	for _, name := range []string{"openai", "anthropic", "genai", "ollama", "ai"} {
		t.Run(name, func(t *testing.T) { table = append(table, tryLibrary(t, clients, name)...) })
	}
	fmt.Println("\n| client | check | |\n|---|---|---|\n" + strings.Join(table, "\n"))
}

// row returns a row of the table, and lets the test fail with an error.
func (r *run) row(client, check string, err error) string {
	r.t.Helper()
	if err != nil {
		r.t.Errorf("%s: %v", check, err)
		return fmt.Sprintf("| %s | %s | failed |", client, check)
	}
	return fmt.Sprintf("| %s | %s | ok |", client, check)
}

// tryLibrary has a program with a client library talk to the server.
func tryLibrary(t *testing.T, clients, name string) (rows []string) {
	r := start(t, clients)
	script := filepath.Join(clients, "libraries", "libraries.mjs")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := r.command(ctx, "node", script, name, r.address).CombinedOutput()
	for _, check := range []string{"streamed", "whole", "tool round"} {
		var failed error
		if !strings.Contains(string(out), check+": ok") {
			failed = fmt.Errorf("%v: %s", err, cut(string(out), 1500))
		}
		rows = append(rows, r.row(name, check, failed))
	}
	r.prompts = []string{"This is streamed.", "This is not.", askFile}
	return append(rows, r.row(name, "log", r.checkStored()))
}
