package install

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/agents"
)

// The service of each system is what stands in testdata. Only that of Linux has been tried.
func TestService(t *testing.T) {
	for system, file := range map[string]string{"linux": "systemd.service", "darwin": "launchd.plist", "windows": "task.xml"} {
		m := agents.Machine{System: system, Home: "/home/me", Getenv: func(string) string { return "" }}
		s := shape{program: `/opt/a & "b"/scrollback`, data: "/home/me/my data", windows: system == "windows"}
		all := targetsOf(Service, place{Machine: m, data: "/home/me/my data"}, s)
		if len(all) != 1 || !strings.HasPrefix(all[0].path, "/home/me/") {
			t.Fatalf("%s: %+v", system, all)
		}
		want, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil || string(want) != string(all[0].whole) {
			t.Errorf("%s: %v\n%s\nwant\n%s", system, err, all[0].whole, want)
		}
		for name, list := range map[string][][]string{"start": ServiceCommands(m, "/d", "501").Start,
			"end": ServiceCommands(m, "/d", "501").End, "again": ServiceCommands(m, "/d", "501").Again} {
			if len(list) == 0 {
				t.Errorf("%s: nothing to %s it", system, name)
			}
		}
		if system == "linux" {
			continue
		}
		for dec := xml.NewDecoder(strings.NewReader(string(all[0].whole))); ; {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", system, err)
			}
		}
	}
}

// systemd takes the service.
func TestSystemdTakesService(t *testing.T) {
	program, err := exec.LookPath("systemd-analyze")
	if err != nil && os.Getenv("SCROLLBACK_REQUIRE_SERVICES") == "" {
		t.Skip("systemd-analyze is not installed")
	} else if err != nil {
		t.Fatal(err)
	}
	p := newPerson(t, Service)
	own, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	p.o.Program = own
	p.o.NameData = true
	p.install()
	cmd := exec.Command(program, "verify", "--user", filepath.Join(p.home, ".config/systemd/user/scrollback-watch.service"))
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	if said, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(said), "scrollback-watch.service:") {
		t.Errorf("systemd says %s, %v", said, err)
	}
	p.uninstall()
}

// A person has one service, whichever data it is for; what it is restarted after is a failure.
func TestOneService(t *testing.T) {
	p := newPerson(t, Service)
	p.o.NameData = true
	was := p.tree()
	p.install()
	p.o.Data = filepath.Join(p.home, "other data")
	p.install()
	units, err := filepath.Glob(filepath.Join(p.home, ".config/systemd/user/*"))
	if err != nil || len(units) != 1 {
		t.Fatalf("units are %v, %v", units, err)
	}
	text, err := os.ReadFile(units[0])
	if err != nil || !strings.Contains(string(text), "Restart=on-failure") || !strings.Contains(string(text), p.o.Data) ||
		!strings.Contains(string(text), `"--service"`) {
		t.Errorf("the unit is %s, %v", text, err)
	}
	p.uninstall()
	p.o.Data = filepath.Join(p.home, "data")
	p.uninstall()
	_ = os.RemoveAll(filepath.Join(p.home, "other data"))
	p.same(was, "and back")
}
