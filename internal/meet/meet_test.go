package meet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/merge/mergetest"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// pair returns two stores that have something in common, and something each.
func pair() (a, b *store) {
	a = newStore()
	b = newStore()
	for _, s := range []*store{a, b} {
		s.talk("both", 1, 20)
	}
	a.talk("mine", 1, 30)
	a.talk("both", 21, 25)
	b.talk("theirs", 1, 30)
	b.mem.Apply(merge.Set{Conversations: []merge.Conversation{{ID: "fork", CreatedAt: 5,
		Parent: &merge.Parent{Conversation: "theirs", Message: messageID("theirs", 9)}}},
		Stones: []merge.Stone{{ID: "gone", Project: "p0", Stamp: stamp.Stamp{At: 7, By: "n"}}}}, merge.Spared)
	return a, b
}

// meetPlain lets two stores meet over a network without faults, twice, and checks that they are equal then.
func meetPlain(t *testing.T, a, b *store) Result {
	t.Helper()
	n := &network{}
	p, closed := n.overHTTP(t, b)
	defer closed()
	result, err := Meet(t.Context(), a, p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	n.requests = 0
	if again, err := Meet(t.Context(), a, p, Options{}); err != nil || n.requests != 1 {
		t.Fatalf("meeting again: %d requests, %+v, %v", n.requests, again, err)
	}
	wantSame(t, a, b)
	return result
}

func wantSame(t *testing.T, a, b *store) {
	t.Helper()
	if a.mem.Describe() != b.mem.Describe() {
		t.Fatalf("two stores differ:\n%s", difference(a.mem, b.mem))
	}
	for _, s := range []*store{a, b} {
		if err := errors.Join(s.mem.Check(), s.fault); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMeet(t *testing.T) {
	a, b := pair()
	got := meetPlain(t, a, b)
	if got.Pulled.Conversations != 2 || got.Pulled.New != 2 || got.Pulled.Messages != 30 ||
		got.Pushed.Conversations != 2 || got.Pushed.New != 1 || got.Pushed.Messages != 35 || a.artifacts != 4 ||
		b.artifacts != 5 || len(got.Uncarried)+len(got.Pulled.Waiting)+len(got.Pushed.Waiting) > 0 {
		t.Errorf("%+v, %d and %d artifacts", got, a.artifacts, b.artifacts)
	}
}

// Each direction is left out when the other one is asked for, and a look changes nothing.
func TestDirections(t *testing.T) {
	for _, test := range []struct {
		o            Options
		here, there  bool
		pull, pushed int64
	}{
		{Options{Pull: true}, true, false, 30, 0},
		{Options{Push: true}, false, true, 0, 35},
		{Options{Terms: merge.Terms{Look: true}}, false, false, 30, 35},
	} {
		a, b := pair()
		here := a.mem.Describe()
		there := b.mem.Describe()
		p, closed := (&network{}).overPipes(t, b)
		got, err := Meet(t.Context(), a, p, test.o)
		closed()
		if err != nil || got.Pulled.Messages != test.pull || got.Pushed.Messages != test.pushed {
			t.Errorf("%+v: %+v, %v", test.o, got, err)
		}
		if (a.mem.Describe() != here) != test.here || (b.mem.Describe() != there) != test.there {
			t.Errorf("%+v: what changed is something else", test.o)
		}
	}
}

// Wherever a connection is cut, both stores are sound, and the next meeting ends what that one began.
func TestCutAtAnyByte(t *testing.T) {
	t.Parallel()
	whole := &network{}
	a, b := pair()
	p, closed := whole.overHTTP(t, b)
	if _, err := Meet(t.Context(), a, p, Options{}); err != nil {
		t.Fatal(err)
	}
	closed()
	step := testlength.Choose[int64](997, 149, 7)
	failed := 0
	for at := int64(1); at < whole.total(); at += step {
		for _, pipes := range []bool{false, true} {
			n := &network{cutAt: at + 40} // behind the mark
			a, b := pair()
			dial := n.overHTTP
			if pipes {
				dial = n.overPipes
			}
			p, closed := dial(t, b)
			_, err := Meet(t.Context(), a, p, Options{})
			closed()
			if err != nil {
				failed++
			}
			if err := errors.Join(a.mem.Check(), b.mem.Check()); err != nil {
				t.Fatalf("cut at %d: %v", at, err)
			}
			meetPlain(t, a, b)
		}
	}
	if failed < 10 {
		t.Errorf("only %d meetings were cut", failed)
	}
}

// So it is when a meeting is stopped before any of its requests.
func TestStoppedAnywhere(t *testing.T) {
	t.Parallel()
	for at, requests := 1, 1; at <= requests; at++ {
		a, b := pair()
		ctx, cancel := context.WithCancel(t.Context())
		n := &network{before: func(i int) {
			if i == at {
				cancel()
			}
		}}
		p, closed := n.overHTTP(t, b)
		_, err := Meet(ctx, a, p, Options{})
		closed()
		cancel()
		if n.requests >= at && scrollback.CodeOf(err) != scrollback.Canceled {
			t.Errorf("stopped before request %d: %v", at, err)
		}
		if n.requests >= at {
			requests = at + 1
		}
		meetPlain(t, a, b)
	}
}

// A proxy that takes small bodies only gets small ones; what is larger by itself is named once, with the conversation
// that waits for it, and holds up nothing else.
func TestBatchesShrink(t *testing.T) {
	for _, pushing := range []bool{true, false} {
		for _, status := range []int{408, 413, 502, 504} {
			a, b := pair()
			from := a
			into := b
			id := scrollback.ConversationID("mine")
			if !pushing {
				from = b
				into = a
				id = "theirs"
			}
			from.most = 1000
			from.long = 2000
			into.long = 2000
			n := &network{poison: string(from.says(mustMessage(t, from, messageID(id, 12)))[:40]), status: status}
			p, closed := n.overHTTP(t, b)
			got, err := Meet(t.Context(), a, p, Options{Push: pushing, Pull: !pushing})
			closed()
			if err != nil || len(got.Uncarried) != 1 || got.Uncarried[0].Record != "message "+string(messageID(id, 12)) {
				t.Errorf("%t %d: %+v, %v", pushing, status, got, err)
				continue
			}
			out := got.Pushed
			if !pushing {
				out = got.Pulled
			}
			if !slices.Equal(out.Waiting, []scrollback.ConversationID{id}) {
				t.Errorf("%t %d: waiting are %v", pushing, status, out.Waiting)
			}
			if _, _, ok := into.mem.Message(messageID(id, 11)); !ok {
				t.Errorf("%t %d: what is before it has not come", pushing, status)
			}
			if pushing {
				if _, _, ok := into.mem.Message(messageID("both", 25)); !ok {
					t.Errorf("%d: another conversation has not come", status)
				}
			}
			meetPlain(t, a, b)
		}
	}
}

func mustMessage(t *testing.T, s *store, id scrollback.MessageID) merge.Message {
	t.Helper()
	m, _, ok := s.mem.Message(id)
	if !ok {
		t.Fatalf("no message %s", id)
	}
	return m
}

// A body of more than a proxy takes is halved until it fits.
func TestSmallBodies(t *testing.T) {
	a, b := pair()
	a.long = 1000
	b.long = 1000
	n := &network{tooLarge: 6000}
	p, closed := n.overHTTP(t, b)
	defer closed()
	if got, err := Meet(t.Context(), a, p, Options{}); err != nil || len(got.Uncarried) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
	wantSame(t, a, b)
}

// More than ten purges are held back and named until somebody accepts them; all else goes on.
func TestManyPurges(t *testing.T) {
	a := newStore()
	b := newStore()
	for i := range 14 {
		id := scrollback.ConversationID(fmt.Sprintf("c%02d", i))
		a.talk(id, 1, 3)
		b.talk(id, 1, 3)
		b.mem.Apply(merge.Set{Stones: []merge.Stone{{ID: id, Project: "p0", Stamp: stamp.Stamp{At: 7, By: "n"}}}},
			merge.Spared)
	}
	b.talk("more", 1, 3)
	p, closed := (&network{}).overHTTP(t, b)
	defer closed()
	got, err := Meet(t.Context(), a, p, Options{Pull: true})
	if err != nil || len(got.Pulled.Held) != 14 || got.Pulled.Purged != 0 || got.Pulled.Messages != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = Meet(t.Context(), a, p, Options{Pull: true, Terms: merge.Terms{Purges: true}})
	if err != nil || len(got.Pulled.Held) != 0 || got.Pulled.Purged != 14 {
		t.Errorf("accepted: %+v, %v", got, err)
	}
	wantSame(t, a, b)
}

// Where stones do not fit one body, the parts are judged together.
func TestManyPurgesInParts(t *testing.T) {
	a := newStore()
	b := newStore()
	for i := range 14 {
		id := scrollback.ConversationID(fmt.Sprintf("c%02d", i))
		a.talk(id, 1, 3)
		b.talk(id, 1, 3)
		a.mem.Apply(merge.Set{Stones: []merge.Stone{{ID: id, Project: "p0", Stamp: stamp.Stamp{At: 7, By: "n"}}}},
			merge.Spared)
	}
	n := &network{tooLarge: 600}
	p, closed := n.overHTTP(t, b)
	defer closed()
	got, err := Meet(t.Context(), a, p, Options{Push: true})
	if err != nil || len(got.Pushed.Held) != 14 || got.Pushed.Purged != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = Meet(t.Context(), a, p, Options{Push: true, Terms: merge.Terms{Purges: true}})
	if err != nil || got.Pushed.Purged != 14 {
		t.Errorf("accepted: %+v, %v", got, err)
	}
	wantSame(t, a, b)
}

// A key that may not do everything is offered what it may bring, and the rest is counted.
func TestLimits(t *testing.T) {
	a, b := pair()
	a.mem.Apply(merge.Set{Conversations: []merge.Conversation{{ID: "other", CreatedAt: 1,
		Fields: map[string]merge.Field{"project": {Value: []byte(`"p1"`)}}}},
		Stones:   []merge.Stone{{ID: "purged", Project: "p0", Stamp: stamp.Stamp{At: 7, By: "n"}}},
		Projects: []merge.Project{{Name: "p0", Fields: map[string]merge.Field{"title": {Value: []byte(`"x"`)}}}},
	}, merge.Spared)
	b.may = merge.Access{Projects: []string{"p0"}, NoPurges: true}
	p, closed := (&network{}).overHTTP(t, b)
	defer closed()
	got, err := Meet(t.Context(), a, p, Options{})
	if err != nil || got.Pushed.Denied != (merge.Denied{Conversations: 1, Purges: 1, Projects: 1}) ||
		got.Pushed.Messages != 35 || b.mem.Conversation("other") != nil {
		t.Errorf("%+v, %v", got, err)
	}
	b.may = merge.Access{ReadOnly: true}
	if got, err = Meet(t.Context(), a, p, Options{}); err != nil || !got.ReadOnly || got.Pushed.Messages > 0 {
		t.Errorf("reads only: %+v, %v", got, err)
	}
}

// A meeting of some projects brings these, with what their forks go on from.
func TestProjects(t *testing.T) {
	a := newStore()
	b := newStore()
	b.talk("above", 1, 5)
	b.talk("aside", 1, 5)
	b.mem.Apply(merge.Set{Conversations: []merge.Conversation{{ID: "a fork", CreatedAt: 5,
		Fields: map[string]merge.Field{"project": {Value: []byte(`"p7"`)}},
		Parent: &merge.Parent{Conversation: "above", Message: messageID("above", 3)}}}}, merge.Spared)
	p, closed := (&network{}).overHTTP(t, b)
	defer closed()
	got, err := Meet(t.Context(), a, p, Options{Projects: func(name string) bool { return name == "p7" }})
	if err != nil || got.Pulled.New != 2 || a.mem.Conversation("aside") != nil || a.mem.Conversation("above") == nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// What a newer version says is carried on as it came, through a store that does not know it.
func TestNewerRecords(t *testing.T) {
	a := newStore()
	var set merge.Set
	text := `{"conversations": [{"id": "c", "created_at": 1, "newer": 1, "unknown": {"tags": ["x", {"y": 1}]},
		"fields": {"mood.of": {"value": {"deep": [1]}, "at": 5, "by": "n", "newer": 2}}}],
		"projects": [{"name": "p", "unknown": {"colour": "blue"}}],
		"stones": [{"id": "s", "project": "p", "at": 3, "by": "n", "unknown": {"why": "said"}}],
		"unknown": {"people": [1, 2]}}`
	if err := json.Unmarshal([]byte(text), &set); err != nil {
		t.Fatal(err)
	}
	a.merge(set)
	b := newStore()
	c := newStore()
	meetPlain(t, b, a)
	meetPlain(t, c, b)
	wantSame(t, a, c)
	got := c.mem.Conversation("c")
	stone, _ := c.mem.Stone("s")
	if string(got.Unknown["tags"]) != `["x",{"y":1}]` || string(got.Fields["mood.of"].Value) != `{"deep":[1]}` ||
		string(c.mem.Project("p").Unknown["colour"]) != `"blue"` || string(c.mem.Unknown("people")) != `[1,2]` ||
		string(stone.Unknown["why"]) != `"said"` {
		t.Errorf("%+v, %+v, %+v", got, stone, c.mem.Project("p"))
	}
}

// The key goes to its host only, and never in clear.
func TestKey(t *testing.T) {
	given := 0
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { given++ }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("the key is %q", r.Header.Get("Authorization"))
		}
		http.Redirect(w, r, other.URL+r.URL.Path+"?key=x", http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	base, _ := url.Parse(server.URL)
	p, err := Dial(server.Client(), base, "secret")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Head(t.Context()); err == nil || given > 0 || !strings.Contains(err.Error(), other.URL) ||
		strings.Contains(err.Error(), "key=x") {
		t.Errorf("%d requests to the other host: %v", given, err)
	}
	for text, ok := range map[string]bool{"https://host": true, "http://127.0.0.1:1": true, "http://[::1]": true,
		"http://localhost:8080/x": true, "http://host": false, "http://localhost.evil.org": false, "ftp://127.0.0.1": false,
		"https:": false, "http://10.0.0.1": false} {
		base, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Dial(http.DefaultClient, base, "k"); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Another number of the protocol is refused on both sides, with both named, and nothing is changed.
func TestProtocolDiffers(t *testing.T) {
	for _, number := range []string{"2", "0", ""} {
		b := newStore()
		b.talk("c", 1, 3)
		h := Handler(func(*http.Request) (Peer, error) { return b, nil })
		r := httptest.NewRequest(http.MethodPost, Prefix+askHead, strings.NewReader("{}"))
		r.Header.Set(protocolHeader, number)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusForbidden || w.Header().Get(protocolHeader) != "1" || len(b.asked) > 0 ||
			!strings.Contains(w.Body.String(), "by 1") {
			t.Errorf("%q: %d %s", number, w.Code, w.Body)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(protocolHeader, "2")
	}))
	defer server.Close()
	base, _ := url.Parse(server.URL)
	p, err := Dial(server.Client(), base, "")
	if err != nil {
		t.Fatal(err)
	}
	a := newStore()
	const want = "protocol 2, and this one by 1"
	if _, err := Meet(t.Context(), a, p, Options{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a newer server: %v", err)
	}
}

// Errors of the other side keep their codes; what is no scrollback is named as that.
func TestErrorsTravel(t *testing.T) {
	refuse := scrollback.Errorf(scrollback.Refused, "x", "no").WithReason(scrollback.ErrNoKey)
	server := httptest.NewServer(Handler(func(*http.Request) (Peer, error) { return nil, refuse }))
	defer server.Close()
	base, _ := url.Parse(server.URL)
	p, err := Dial(server.Client(), base, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Head(t.Context())
	if scrollback.CodeOf(err) != scrollback.Refused || !errors.Is(err, scrollback.ErrNoKey) {
		t.Errorf("without a key: %v", err)
	}
	page := httptest.NewServer(http.NotFoundHandler())
	defer page.Close()
	base, _ = url.Parse(page.URL)
	if p, err = Dial(page.Client(), base, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Head(t.Context()); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("something else: %v", err)
	}
}

// A first meeting sends little more than what was missing, in few requests.
func TestCost(t *testing.T) {
	a := newStore()
	b := newStore()
	b.most = 1000
	b.long = 600
	a.long = 600
	for i := range 300 {
		b.talk(scrollback.ConversationID(fmt.Sprintf("c%04d", i)), 1, 4)
	}
	b.talk("long", 1, 2000)
	n := &network{}
	p, closed := n.overHTTP(t, b)
	defer closed()
	if _, err := Meet(t.Context(), a, p, Options{}); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	var all []merge.Wanted
	for id := range summaries(t, b.mem) {
		all = append(all, merge.Wanted{ID: id, All: true})
	}
	b.most = 1 << 20
	set, err := b.Records(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(&text).Encode(set); err != nil {
		t.Fatal(err)
	}
	artifacts := 0
	for _, c := range set.Conversations {
		for _, m := range c.Mentions {
			artifacts += len(bytesOf(m.Artifact))
		}
	}
	want := text.Len() + artifacts
	if most := int64(want)*12/10 + 64<<10; n.total() > most {
		t.Errorf("%d bytes for %d", n.total(), want)
	}
	t.Logf("%d requests, %d bytes for %d", n.requests, n.total(), want)
	wantSame(t, a, b)
}

func summaries(t *testing.T, m *mergetest.Memory) map[scrollback.ConversationID]bool {
	t.Helper()
	out := map[scrollback.ConversationID]bool{}
	for _, s := range m.Summaries() {
		out[s.ID] = true
	}
	return out
}

// What comes before the mark is left out, however it ends, and bounded.
func TestMark(t *testing.T) {
	for noise, ok := range map[string]bool{"": true, "a banner\n": true, "no end": true, "\nscrollback-sync 1\n": true,
		strings.Repeat("x", 60<<10): true, strings.Repeat("line\n", 20<<10): false, strings.Repeat("x", 80<<10): false} {
		var out bytes.Buffer
		if err := ServePipe(t.Context(), strings.NewReader(""), &out, http.NotFoundHandler()); err != nil {
			t.Fatal(err)
		}
		_, err := DialPipe(strings.NewReader(noise+out.String()), &bytes.Buffer{}, "x", func() {})
		if (err == nil) != ok {
			t.Errorf("%.20q: %v", noise, err)
		}
	}
	if _, err := DialPipe(strings.NewReader("only noise"), &bytes.Buffer{}, "x", func() {}); err == nil {
		t.Error("a talk without a mark")
	}
}
