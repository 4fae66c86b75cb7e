package server_test

import (
	"context"
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
	"github.com/scrollback-ai/scrollback/internal/backups"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/server/restapi"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// someBackups are those of a store that does not exist.
type someBackups struct {
	mu    sync.Mutex
	state backups.BackupStanding
	err   error
	wait  chan struct{} // making one takes until it is closed; nil takes no time
}

const someBackup = "scrollback-20261130T030000Z.backup"

func newBackups() *someBackups {
	return &someBackups{state: backups.BackupStanding{To: "/mnt/disk/scrollback", KeepMS: 30 * scrollback.DayMS,
		At: "03:00", Backups: []backups.Backup{{Name: someBackup, Bytes: 48_234_117, MadeAt: 1796007600000},
			{Name: "scrollback-20261129T030000Z.backup.age", Bytes: 48_100_002, MadeAt: 1795921200000, Encrypted: true}}}}
}

// someContents are what is in each of them.
var someContents = backups.BackupContents{Head: backups.Head{Format: "scrollback-backup", Version: 1,
	MadeAt: 1796007600000, Program: "v1.0.0", Database: "sqlite", Conversations: 1204, Messages: 98_311},
	DatabaseBytes: 210_000_000, Objects: 512, ObjectBytes: 88_000_000}

func (s *someBackups) ListBackups(context.Context) (backups.BackupStanding, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.state
	out.Backups = slices.Clone(out.Backups)
	return out, s.err
}

func (s *someBackups) CreateBackup(context.Context) (backups.MadeBackup, error) {
	s.mu.Lock()
	wait := s.wait
	if s.err != nil {
		defer s.mu.Unlock()
		return backups.MadeBackup{}, s.err
	}
	s.state.Running = backups.Create
	s.mu.Unlock()
	if wait != nil {
		<-wait
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Running = ""
	made := backups.MadeBackup{BackupContents: someContents, Name: "scrollback-20261201T120000Z.backup", Bytes: 49_000_000}
	made.MadeAt = 1796126400000
	s.state.Backups = slices.Insert(s.state.Backups, 0,
		backups.Backup{Name: made.Name, Bytes: made.Bytes, MadeAt: made.MadeAt})
	return made, nil
}

func (s *someBackups) VerifyBackup(_ context.Context, name string) (backups.BackupContents, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.state.Backups, func(b backups.Backup) bool { return b.Name == name }) {
		return backups.BackupContents{}, scrollback.Errorf(scrollback.NotFound, "test", "there is no %s", name)
	}
	return someContents, s.err
}

// Backups are there for admins of all projects, and for nobody else; what cannot be is said by its code.
func TestBackupsAreForAdmins(t *testing.T) {
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
	handler := func(all restapi.Backups, readOnly bool) http.Handler {
		o := server.Options{Version: "test", Keys: r.Store.Keys, ReadOnly: readOnly, Log: slog.New(slog.DiscardHandler)}
		o.Backups = all
		return server.Handler(r.Engine, r.Transfer, o, false)
	}
	some := newBackups()
	busy := newBackups()
	busy.err = scrollback.Errorf(scrollback.Conflict, "test", "one is being made")
	const elsewhere = "192.0.2.1:9"
	for _, c := range []struct {
		what          string
		at            http.Handler
		key           string
		list, changes int
		offered       bool
	}{
		{"an admin", handler(some, false), "admin", 200, 200, true},
		{"an admin of one project", handler(some, false), "admin of one", 403, 403, false},
		{"a writer", handler(some, false), "writer", 403, 403, false},
		{"nobody", handler(some, false), "", 401, 401, false},
		{"without backups", handler(nil, false), "admin", 404, 404, false},
		{"while one is made", handler(busy, false), "admin", 409, 409, true},
		{"a server that changes nothing", handler(some, true), "admin", 403, 403, false},
	} {
		for path, want := range map[string]int{"GET /api/backups": c.list, "POST /api/backups": c.changes,
			"POST /api/backups/" + someBackup + "/verify": c.changes} {
			method, at, _ := strings.Cut(path, " ")
			w := sendFrom(c.at, method, at, "", secret[c.key], elsewhere, "")
			if w.Code != want || (w.Code == 200) != strings.Contains(w.Body.String(), `"made_at"`) {
				t.Errorf("%s, %s: %d %s", c.what, path, w.Code, w.Body)
			}
		}
		w := sendFrom(c.at, "GET", "/api/session", "", secret[c.key], elsewhere, "")
		if strings.Contains(w.Body.String(), `"backups":true`) != c.offered {
			t.Errorf("%s: %s", c.what, w.Body)
		}
	}
	w := sendFrom(handler(some, false), "POST", "/api/backups/..%2Fsecret/verify", "", secret["admin"], elsewhere, "")
	if w.Code != 404 {
		t.Errorf("another file: %d %s", w.Code, w.Body)
	}
}

// The settings show when the last backup was made, how large it is and which there are; one is made and verified there,
// with how it went, and a fault is said.
func TestPageBackups(t *testing.T) {
	t.Parallel()
	some := newBackups()
	some.wait = make(chan struct{})
	some.state.To = "/mnt/disk/<b>scrollback</b>"
	d := newShelf(t, shelf[:1], modeltest.Say("fine"))
	o := server.Options{Version: "test", Keys: d.rig.Store.Keys, Backups: some, Log: slog.New(slog.DiscardHandler)}
	srv := httptest.NewServer(server.Handler(d.rig.Engine, d.rig.Transfer, o, true))
	t.Cleanup(srv.Close)
	said := `document.querySelector('.preferences .paper').innerText`
	entry := `document.querySelector('[data-backup="` + someBackup + `"]').innerText`
	d.do("backups", chromedp.Navigate(srv.URL+"/#:settings/backups"), chromedp.WaitVisible(`.backups > li`))
	for _, part := range []string{"46 MB", "/mnt/disk/<b>scrollback</b>", "03:00", "30 days", someBackup, "Encrypted"} {
		d.until("the page says "+part, said+`.includes(`+jsText(part)+`)`)
	}
	d.is("what a path did", `document.querySelectorAll('.preferences .paper b b').length`, "0")
	axe(t, d.ctx, "backups")
	d.picture("backups-en-light")
	d.eval(`(document.documentElement.dataset.theme = 'dark', 1)`)
	axe(t, d.ctx, "backups in the dark")
	d.picture("backups-en-dark")
	d.eval(`(document.documentElement.dataset.theme = 'light', 1)`)
	d.press(`.preferences [data-do="create"]`)
	d.until("one is being made", said+`.includes('being made') && document.querySelector('[data-do="create"]').disabled`)
	close(some.wait)
	d.until("it was made", said+`.includes('20261201T120000Z') && document.querySelectorAll('.backups > li').length === 3`)
	d.until("and said", said+`.includes('1,204 conversations')`)
	d.press(`.backups [data-backup="` + someBackup + `"] button`)
	d.until("it is whole", entry+`.includes('98,311 messages')`)
	d.picture("backups-en-verified")
	some.mu.Lock()
	some.err = scrollback.Errorf(scrollback.Invalid, "test", "the backup was cut off")
	some.mu.Unlock()
	d.press(`.backups [data-backup="` + someBackup + `"] button`)
	d.until("a fault is said", entry+`.includes('was cut off')`)
	some.mu.Lock()
	some.err = nil
	some.mu.Unlock()
	d.do("backups in Chinese", chromedp.Click(`.sidebar [lang="zh-CN"]`), chromedp.WaitVisible(`html[lang="zh-CN"]`))
	d.until("in Chinese", said+`.includes('备份')`)
	d.picture("backups-zh-light")
	d.eval(`(document.documentElement.dataset.theme = 'dark', 1)`)
	d.picture("backups-zh-dark")
	d.do("backups on a phone", chromedp.EmulateViewport(390, 844), chromedp.WaitVisible(`.backups > li`))
	axe(t, d.ctx, "backups on a phone")
	d.is("wider than the phone", `document.documentElement.scrollWidth > innerWidth`, "false")
	some.mu.Lock()
	some.err = scrollback.Errorf(scrollback.NotFound, "test", "no backups are set up")
	some.mu.Unlock()
	d.do("none set up", chromedp.Reload(), chromedp.WaitVisible(`.preferences pre`))
	some.mu.Lock()
	some.err = nil
	some.state.Backups = []backups.Backup{}
	some.mu.Unlock()
	d.do("none yet", chromedp.Reload(), chromedp.WaitVisible(`.preferences .nothing`))
}
