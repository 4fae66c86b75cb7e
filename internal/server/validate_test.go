package server_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// Each request that a chat server of before judged has its counterpart here. Where the
// verdict is another one, the row says why.
func TestRequestsAreJudged(t *testing.T) {
	b, err := os.ReadFile("testdata/cases/validate_request.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			ID       string
			Expected *string
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	r := newStrictRig(t)
	var c, art struct{ ID string }
	create := r.send("POST", "/api/conversations", "{}").Body.Bytes()
	gif := "GIF89a\x01\x00\x01\x00\x00\x00\x00!\xf9\x04\x01\n\x00\x01\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02L\x01\x00;"
	if err := json.Unmarshal(create, &c); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(r.send("POST", "/api/artifacts?conversation="+c.ID, gif).Body.Bytes(), &art); err != nil {
		t.Fatal(err)
	}
	image := `{"type":"image","artifact":"` + art.ID + `"}`
	images := func(n int) string { return image + strings.Repeat(","+image, n-1) }
	chat := "/api/conversations/" + c.ID + "/chat"
	const said = `{"role":"user","content":"x"}`
	type want struct {
		path, body string
		status     int
		says       string
		differs    string // why the verdict is another one
	}
	rows := map[string]want{
		"ok": {chat, `{"message":"x","stream":false}`, 200, "", ""},
		"61 messages": {"/api/conversations", `{"history":[` + said + strings.Repeat(","+said, 60) + `]}`, 201,
			`"messages":61`,
			"the number of messages has no limit"},
		"message 20001 chars": {chat, `{"message":"` + strings.Repeat("x", 200_001) + `"}`, 413, "limits.message_chars", ""},
		"total 120001":        {chat, `{"message":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "limits.body_bytes", ""},
		"role tool": {chat, `{"message":[{"type":"tool_result","call_id":"c","name":"n"}]}`, 400,
			"text, images and files", ""},
		"missing ids": {chat, `{"message":"x","message_id":7}`, 400, "message_id", ""},
		"no model":    {chat, `{"message":"x","model":"","stream":false}`, 200, "", "a conversation has a model of its own"},
		"5 images": {chat, `{"message":[{"type":"text","text":"x"},` + images(5) + `],"stream":false}`, 200, "",
			"there may be as many images as parts"},
		"gif on poloai": {chat, `{"message":[{"type":"text","text":"x"},` + image + `],"stream":false}`, 200, "", ""},
		"bad base64": {"/api/import?from=jsonl", `{"role":"user","content":[{"type":"image","data":"!!"}]}`, 400,
			"not base64", ""},
	}
	for _, one := range file.Cases {
		w, ok := rows[one.ID]
		if !ok {
			t.Errorf("%s has no counterpart", one.ID)
			continue
		}
		got := r.send("POST", w.path, w.body)
		if got.Code != w.status || !strings.Contains(got.Body.String(), w.says) {
			t.Errorf("%s: %d %.300s, want %d about %q", one.ID, got.Code, got.Body, w.status, w.says)
		}
		if refused := got.Code >= 400; refused == (one.Expected == nil) && w.differs == "" {
			t.Errorf("%s: %d, though the other server says %v", one.ID, got.Code, one.Expected)
		}
	}
	if got := r.send("POST", chat, `{"message":[`+images(101)+`]}`); got.Code != 413 ||
		!strings.Contains(got.Body.String(), "limits.parts") {
		t.Errorf("101 images: %d %s", got.Code, got.Body)
	}
}
