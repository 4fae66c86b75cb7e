package main

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A server looks through what an older program stored for what is to be kept of it.
func TestServerFindsWhatIsKeptOfOlderMessages(t *testing.T) {
	data := t.TempDir()
	s := serve(t, data, nil)
	id := s.conversation()
	s.chat(id, "Never push to main.")
	s.settled(id)
	s.stop()
	db, err := sql.Open("sqlite", filepath.Join(data, "scrollback.db"))
	if err != nil {
		t.Fatal(err)
	}
	rows := func() (n int) {
		t.Helper()
		if err := db.QueryRow(`SELECT count(*) FROM kept`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if rows() == 0 {
		t.Fatal("nothing was kept when the message was stored")
	}
	for _, q := range []string{`DELETE FROM kept`,
		`UPDATE kept_filling SET conversation_id = '', branch = '', seq = 0, ended = 0`} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	s = serve(t, data, nil)
	for wait := time.Now().Add(30 * time.Second); rows() == 0; <-time.After(20 * time.Millisecond) {
		if time.Now().After(wait) {
			t.Fatal("the server has not looked through what was there before")
		}
	}
	var list struct{ Kept []struct{ Text string } }
	if status := s.do("GET", fmt.Sprintf("/api/conversations/%s/kept", id), nil, &list); status != 200 ||
		!strings.Contains(fmt.Sprint(list), "Never push to main.") {
		t.Errorf("%d %+v", status, list)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
