package server_test

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"
	"testing"
)

// A conversation's archive is written, listed, read and downloaded; nothing else can be
// reached by a key.
func TestArchives(t *testing.T) {
	r := newStrictRig(t)
	create := func(body string) string {
		var c struct{ ID string }
		if err := json.Unmarshal(r.send("POST", "/api/conversations", body).Body.Bytes(), &c); err != nil || c.ID == "" {
			t.Fatalf("%v", err)
		}
		return c.ID
	}
	id := create(`{"title": "钥匙: a/b \"c\"\n..\\d", "history": [{"role": "user", "content": "where <is> it?"}]}`)
	other := create(`{"title": "../..", "history": [{"role": "user", "content": "elsewhere"}]}`)
	at := "/api/conversations/" + id
	if got := r.send("GET", at+"/archive", ""); got.Code != http.StatusNotFound {
		t.Errorf("before there is one: %d %s", got.Code, got.Body)
	}
	type archive struct {
		Key       string
		Bytes     int64
		SHA256    string
		CreatedAt int64 `json:"created_at"`
	}
	write := func(id string) (made archive) {
		got := r.send("POST", "/api/conversations/"+id+"/archive", "{}")
		if err := json.Unmarshal(got.Body.Bytes(), &made); err != nil || got.Code != http.StatusOK ||
			len(made.SHA256) != 64 ||
			made.CreatedAt == 0 {
			t.Fatalf("%d %s (%v)", got.Code, got.Body, err)
		}
		return made
	}
	made := write(id)
	theirs := write(other)
	r.refuses("POST", at+"/archive", `{"key": "x"}`, "key", "unknown field")
	r.refuses("GET", at+"/archive?downlod=1", "", "downlod", `did you mean "download"?`)
	var list struct{ Archives []archive }
	err := json.Unmarshal(r.send("GET", at+"/archives", "").Body.Bytes(), &list)
	if err != nil || len(list.Archives) != 1 || list.Archives[0] != made {
		t.Errorf("%+v %v", list, err)
	}
	for path, how := range map[string]string{at + "/archive": "inline", at + "/archive?download=1": "attachment",
		at + "/archive/" + made.Key: "inline", at + "/archive/" + made.Key + "?download=1": "attachment"} {
		got := r.send("GET", path, "")
		h := got.Header()
		disposition, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
		if got.Code != http.StatusOK || int64(got.Body.Len()) != made.Bytes || h.Get("Cache-Control") != "no-store" ||
			h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Type") != "application/json" || err != nil ||
			disposition != how ||
			params["filename"] != `钥匙- a-b -c- ..-d.json` {
			t.Errorf("%s: %d %v (%v, %v)", path, got.Code, h, params, err)
		}
		if body := got.Body.String(); !json.Valid([]byte(body)) || !strings.Contains(body, "where <is> it?") {
			t.Errorf("%s: %s", path, body)
		}
	}
	got := r.send("GET", "/api/conversations/"+other+"/archive?download=1", "")
	_, params, err := mime.ParseMediaType(got.Header().Get("Content-Disposition"))
	if err != nil || params["filename"] != "conversation-"+other+".json" {
		t.Errorf("a title of dots becomes %v (%v)", params, err)
	}
	for _, key := range []string{theirs.Key, "%2e%2e%2f", "..%2f", "..%2f" + other + "%2f" + theirs.Key,
		"%2e%2e%2f" + other + "%2f" + theirs.Key, "..%5c" + theirs.Key, "../../" + other + "/" + theirs.Key,
		"%252e%252e%252f" + theirs.Key,
		made.Key + ".note", made.Key + "%00", made.Key + "/", made.Key + "%2f..", "%2fetc%2fpasswd", "x", "%20"} {
		got := r.send("GET", at+"/archive/"+key, "")
		if to := got.Header().Get("Location"); got.Code/100 == 3 {
			got = r.send("GET", to, "")
		}
		if got.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", key, got.Code, got.Body)
		}
	}
	if got := r.send("DELETE", at+"?purge=1", ""); got.Code != http.StatusOK {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	if got := r.send("GET", at+"/archive/"+made.Key, ""); got.Code != http.StatusNotFound {
		t.Errorf("after a purge: %d", got.Code)
	}
}
