package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/home"
	"github.com/scrollback-ai/scrollback/internal/clients"
	"github.com/scrollback-ai/scrollback/internal/door"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/server/restapi/spec"
	"github.com/scrollback-ai/scrollback/local"
)

type runWithCmd struct {
	Client []string `arg:"" passthrough:"" name:"client" help:"program-to-start-and-its-arguments"`
}

// exitError is the exit code of a program that was started; it has said itself what went wrong.
type exitError int

// Error implements error.
func (e exitError) Error() string { return "" }

// Run implements the command.
func (c *runWithCmd) Run(g *globals) (err error) {
	words := c.Client
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		words = []string{""}
	}
	client, err := clients.Find(words[0])
	if err != nil {
		return err
	}
	program, err := exec.LookPath(client.Program)
	if err != nil {
		return scrollback.Errorf(scrollback.NotFound, "scrollback", i18n.ClientNotInstalled, client.Program, client.Name)
	}
	// What the server has to say is said when the program does not use the terminal any more.
	defer g.logs.HoldLines()()
	address := g.findServer()
	if address == "" {
		own, err := g.startServer()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, own.end()) }()
		address = own.address
	}
	on, err := thisMachine()
	if err != nil {
		return err
	}
	l := clients.Launch{Machine: on, Address: address, Model: g.set.Model, Placeholder: door.Placeholder,
		Arguments: words[1:]}
	if err := client.Prepare(&l); err != nil {
		return err
	}
	code, err := g.runProgramWith(program, &l)
	if err := errors.Join(err, l.Close()); err != nil {
		return err
	}
	if code != 0 {
		return exitError(code)
	}
	return nil
}

// thisMachine returns where settings of clients are.
func thisMachine() (clients.Machine, error) {
	own, err := home.HomeFolder()
	if err != nil {
		return clients.Machine{}, scrollback.Wrap(scrollback.NotFound, "scrollback", err)
	}
	here, err := os.Getwd()
	if err != nil {
		here = "" // it was removed; nothing is set there
	}
	return clients.Machine{System: runtime.GOOS, Home: own, Working: here, Getenv: os.Getenv}, nil
}

// runProgramWith runs a program with what a launch needs, to its end, and returns its exit code.
func (g *globals) runProgramWith(program string, l *clients.Launch) (code int, err error) {
	cmd := exec.Command(program, slices.Concat(l.Before, l.Arguments)...)
	cmd.Env = os.Environ()
	for variable, to := range l.Set {
		cmd.Env = append(cmd.Env, variable+"="+to)
	}
	return g.runAttached(cmd)
}

// runAttached runs a command that has this program's terminal or pipes to its end, and returns its exit code. Signals
// go on to it, and what it does with them is its own affair: this program ends when it has ended.
func (g *globals) runAttached(cmd *exec.Cmd) (code int, err error) {
	cmd.Stdin = g.stdin
	cmd.Stdout = g.stdout
	cmd.Stderr = g.stderr
	stop, pass := catchSignals()
	defer stop()
	if err := cmd.Start(); err != nil {
		return 0, scrollback.Errorf(scrollback.Refused, "scrollback", i18n.ClientCannotStart, cmd.Path, err)
	}
	ended := make(chan struct{})
	passing := make(chan struct{})
	go func() {
		defer close(passing)
		pass(cmd.Process, ended)
	}()
	err = cmd.Wait()
	close(ended)
	<-passing
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exitCode(exit.ProcessState), nil
	}
	return 0, scrollback.Wrap(scrollback.Internal, "scrollback", err)
}

// ownServer is a server within this process.
type ownServer struct {
	address string // http://HOST:PORT
	stop    context.CancelFunc
	ended   <-chan error
	app     *app
}

// startServer starts a server on a free port that only this machine reaches. It goes on through signals, which are for
// the program that uses it.
func (g *globals) startServer() (*ownServer, error) {
	if err := g.grantFolders(false); err != nil {
		return nil, err
	}
	if err := g.openSideCalls(); err != nil {
		return nil, err
	}
	a, err := g.openApp(local.Make)
	if err != nil {
		return nil, err
	}
	if err := a.StartObjects(g.ctx, true, g.newLogger()); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(g.ctx))
	started := make(chan string, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- server.Serve(ctx, a.Engine, a.Transfer, server.Options{Addr: "127.0.0.1:0", Version: programVersion(),
			Door: g.makeDoor(a, true), DoorBytes: g.set.Door.BodyBytes, Log: g.newLogger(), Rate: g.set.Rate,
			Limits: g.set.Limits.APILimits(), Keys: a.Store.Keys, Data: g.markData(),
			Started: func(url string) { started <- url }})
	}()
	select {
	case at := <-started:
		return &ownServer{address: at, stop: stop, ended: ended, app: a}, nil
	case err := <-ended:
		stop()
		return nil, errors.Join(err, a.Close())
	}
}

// end ends the server; answers on their way are kept.
func (s *ownServer) end() error {
	s.stop()
	return errors.Join(<-s.ended, s.app.Close())
}

// markData returns what says which data this program uses, and nothing else about it.
func (g *globals) markData() string {
	at := g.set.Store
	if u, err := url.Parse(at); at != "" && err == nil {
		u.User = url.User(u.User.Username())
		u.RawQuery = ""
		at = u.String()
	}
	if at == "" {
		dir, err := g.dataDir()
		if err != nil {
			return ""
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		at = dir
	}
	sum := sha256.Sum256([]byte("scrollback data\n" + at))
	return hex.EncodeToString(sum[:16])
}

// findTime is how long the server at the configured address may take to say which one it is.
const findTime = 2 * time.Second

// findServer returns the address of the server at the configured address, if it serves the data of this program, lets
// everybody on this machine in, and may change it; else nothing.
func (g *globals) findServer() string {
	at, err := localAddress(g.set.Addr)
	mark := g.markData()
	if err != nil || mark == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(g.ctx, findTime)
	defer cancel()
	address := "http://" + at
	var said spec.Health
	if !askJSON(ctx, address+"/healthz", &said) || said.Data != mark {
		return ""
	}
	var who struct {
		ReadOnly bool `json:"read_only"`
	}
	if !askJSON(ctx, address+"/api/session", &who) || who.ReadOnly {
		return ""
	}
	return address
}

// askJSON asks for a document, and reports whether it came.
func askJSON(ctx context.Context, address string, into any) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK &&
		json.NewDecoder(io.LimitReader(resp.Body, maxHealthBody)).Decode(into) == nil
}

// askWhoResponds returns what responds at the address of a server: "scrollback", "other", or nothing.
func askWhoResponds(ctx context.Context, address string) string {
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	var said spec.Health
	if askJSON(ctx, address+"/healthz", &said) && said.OK && said.Version != "" {
		return clients.Ours
	}
	u, err := url.Parse(address)
	if err != nil {
		return clients.Nobody
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return clients.Nobody
	}
	_ = conn.Close() // it was only asked whether somebody is there
	return clients.Other
}
