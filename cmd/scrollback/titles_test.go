package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// titling returns a server that answers, and gives titles, which it counts; none comes before
// the gate opens.
func titling(t *testing.T) (env []string, asked *atomic.Int64, gate chan struct{}) {
	t.Helper()
	asked = &atomic.Int64{}
	gate = make(chan struct{})
	s := &modeltest.Server{Model: modeltest.NewScript(model.Facts{},
		modeltest.Step{Reply: func(r model.Request) []model.Delta {
			if strings.Contains(r.Items[0].Parts.Text(), "You name conversations") {
				asked.Add(1)
				<-gate
				return []model.Delta{{Text: "标题：《港口的潮汐》"}}
			}
			return []model.Delta{{Text: "Twice a day."}}
		}})}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	env = []string{"SCROLLBACK_BASE_URL=" + srv.URL, "SCROLLBACK_MODEL=custom/m", "SCROLLBACK_LIMIT=8000",
		"SCROLLBACK_TITLES=model"}
	return env, asked, gate
}

// run asks for no title and waits for none; a server does so behind its next answer, once,
// and the books count the call.
func TestTitlesOfRunAndServe(t *testing.T) {
	t.Parallel()
	env, asked, gate := titling(t)
	data := t.TempDir()
	if out, err := command(t, data, env, "run", "港口的潮汐？").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := serve(t, data, env)
	list := get[struct{ Conversations []scrollback.Conversation }](s, "/api/conversations").Conversations
	if len(list) != 1 || list[0].Title != "港口的潮汐？" || asked.Load() != 0 {
		t.Fatalf("after run: %+v, %d requests for a title", list, asked.Load())
	}
	s.chat(list[0].ID, "and now?")
	close(gate)
	at := "/api/conversations/" + string(list[0].ID)
	until(t, time.Minute, func() bool { return get[scrollback.Conversation](s, at).Title == "港口的潮汐" })
	s.chat(list[0].ID, "and then?")
	usage := get[struct{ Total []scrollback.UsageSum }](s, "/api/usage")
	if asked.Load() != 1 || usage.Total[0].Calls != 4 {
		t.Errorf("%d requests for a title, %d calls in the books", asked.Load(), usage.Total[0].Calls)
	}
}

// Projects over HTTP: stored whole, by version, with names of any form.
func TestProjectsOverHTTP(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), nil)
	send := func(method, path, ifMatch, body string) (int, string, string) {
		t.Helper()
		req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if ifMatch != "" {
			req.Header.Set("If-Match", ifMatch)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, res.Header.Get("ETag"), string(text)
	}
	const at = "/api/projects/a%2Fb%20%E6%B8%AF"
	full := `{"title":"Harbour","instructions":"Mind the tides.","policy":"rolling","limit":9000,` +
		`"settings":{"recall_scope":"project","compaction":{"keep_messages":3},"thinking":false},` +
		`"budget":{"tokens_per_day":10,"money_per_day":1,"currency":"USD"}}`
	for _, c := range []struct {
		method, path, ifMatch, body string
		status                      int
		tag, says                   string
	}{
		{"GET", at, "", "", 404, "", "no project"},
		{"PUT", at, `"1"`, full, 412, "", "version 0"},
		{"PUT", at, "", full, 201, `"1"`, `"recall_scope":"project"`},
		{"GET", at, "", "", 200, `"1"`, `"budget":{"tokens_per_day":10,"money_per_day":1,"currency":"USD"}`},
		{"PUT", at, `"1"`, `{"title":"Only a title"}`, 200, `"2"`, `"title":"Only a title","version":2`},
		{"PUT", at, `"1"`, full, 412, "", "version 2"},
		{"PUT", at, `"x"`, full, 412, "", "If-Match"},
		{"PUT", at, "", `{"titel":"x"}`, 400, "", `did you mean \"title\"`},
		{"PUT", at, "", `{"version":3}`, 400, "", "not for a request to set"},
		{"PUT", at, "", `{"settings":{"pinned":true}}`, 400, "", "pinned"},
		{"PUT", at, "", `{"limit":"many"}`, 400, "", "limit"},
		{"PUT", at, "", `{"model":"nobody/knows"}`, 400, "", `"param":"model"`},
		{"PUT", at, "", `{"budget":{"tokens_per_day":-1}}`, 400, "", `"param":"tokens_per_day"`},
		{"PUT", at, "", `{"instructions":"` + strings.Repeat("x", 200_001) + `"}`, 400, "", `"param":"instructions"`},
		{"PUT", at, "", "", 400, "", "body"},
		{"PUT", "/api/projects/" + strings.Repeat("x", 101), "", `{}`, 400, "", `"param":"project"`},
		{"GET", "/api/projects", "", "", 200, "", `{"name":"a/b 港","conversations":0,"title":"Only a title","version":2`},
		{"DELETE", at, `"1"`, "", 412, "", "version 2"},
		{"DELETE", at, `"2"`, "", 200, "", `"deleted":true`},
		{"DELETE", at, "", "", 404, "", "nothing is stored"},
		{"GET", "/api/projects/default", "", "", 200, `"0"`, `"version":0`},
	} {
		status, tag, text := send(c.method, c.path, c.ifMatch, c.body)
		if status != c.status || tag != c.tag || !strings.Contains(text, c.says) {
			t.Errorf("%s %s %s %.60s: %d, tag %s, %.300s; want %d, %s, %s", c.method, c.path, c.ifMatch, c.body, status, tag,
				text,
				c.status, c.tag, c.says)
		}
	}
	// Two who read the same version: the second is told.
	_, first, _ := send("PUT", at, "", full)
	for i, want := range []int{200, 412} {
		if status, _, text := send("PUT", at, first, fmt.Sprintf(`{"title":"writer %d"}`, i)); status != want {
			t.Errorf("writer %d: %d %s", i, status, text)
		}
	}
}
