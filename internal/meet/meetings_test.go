package meet

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback/internal/merge"
)

// A meeting has one peer, which no other key gets at; questions at the same time are answered one after the other.
func TestMeetings(t *testing.T) {
	var m Meetings
	opened := 0
	ask := func(owner, meeting string) Peer {
		t.Helper()
		r := httptest.NewRequest(http.MethodPost, Prefix+askHead, nil)
		r.Header.Set(meetingHeader, meeting)
		p, err := m.Peer(r, owner, func() (Peer, error) {
			opened++
			s := newStore()
			s.may.Projects = []string{owner}
			return s, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := ask("a", "1")
	if ask("a", "1") != first || ask("b", "1") == first || ask("a", "2") == first || opened != 3 {
		t.Errorf("%d peers were opened", opened)
	}
	if ask("a", "") == ask("a", "") {
		t.Error("requests of no meeting share a peer")
	}
	may, err := first.(Limited).Access(t.Context())
	if err != nil || !may.Sees("a") || may.Sees("b") {
		t.Errorf("%+v, %v", may, err)
	}
	for i := range 3 * mostMeetings {
		ask("c", fmt.Sprint("of many ", i))
	}
	if len(m.all) > mostMeetings {
		t.Errorf("%d meetings are kept", len(m.all))
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			set := merge.Set{Projects: []merge.Project{{Name: fmt.Sprint(i),
				Fields: map[string]merge.Field{"title": {Value: []byte(`"x"`)}}}}}
			if _, err := first.Put(t.Context(), set, merge.Terms{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// A server that keeps its peers answers a meeting as one that has a single store.
func TestMeetThroughMeetings(t *testing.T) {
	a, b := pair()
	var m Meetings
	server := httptest.NewServer(Handler(func(r *http.Request) (Peer, error) {
		return m.Peer(r, "owner", func() (Peer, error) { return b, nil })
	}))
	defer server.Close()
	p, err := Dial(server.Client(), parse(t, server.URL), "key")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Meet(t.Context(), a, p, Options{}); err != nil {
		t.Fatal(err)
	}
	wantSame(t, a, b)
	if len(m.all) != 1 {
		t.Errorf("%d meetings", len(m.all))
	}
}
