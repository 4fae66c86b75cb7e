package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/meet"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/server/access"
)

// meetings are the peers that other stores meet here: one for each meeting, since it asks many questions, one after the
// other.
type meetings struct {
	open func(merge.Access) meet.Peer

	mu  sync.Mutex
	all map[string]*meeting
}

// meeting is a peer that is asked one question at a time.
type meeting struct {
	mu   sync.Mutex
	peer meet.Peer
	used time.Time
}

// Bounds of the meetings that a server remembers: one that is forgotten begins again with its next question.
const (
	mostMeetings = 64
	meetingIdle  = 10 * time.Minute
)

type meetingKey struct{}

// newMeetings answers other stores that meet this one.
func newMeetings(open func(merge.Access) meet.Peer) http.Handler {
	m := &meetings{open: open, all: map[string]*meeting{}}
	questions := meet.Handler(func(r *http.Request) (meet.Peer, error) {
		return r.Context().Value(meetingKey{}).(*meeting).peer, nil
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one := m.find(r)
		one.mu.Lock()
		defer one.mu.Unlock()
		questions.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), meetingKey{}, one)))
	})
}

// find returns the meeting that a request is part of.
func (m *meetings) find(r *http.Request) *meeting {
	c := access.CallerOf(r.Context())
	name := meet.MeetingOf(r)
	if name == "" {
		return &meeting{peer: m.open(accessOf(c))}
	}
	name = string(c.Key) + " " + name
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	oldest := ""
	for other, one := range m.all {
		if now.Sub(one.used) > meetingIdle {
			delete(m.all, other)
			continue
		}
		if oldest == "" || one.used.Before(m.all[oldest].used) {
			oldest = other
		}
	}
	one := m.all[name]
	if one == nil {
		if len(m.all) >= mostMeetings {
			delete(m.all, oldest)
		}
		one = &meeting{peer: m.open(accessOf(c))}
		m.all[name] = one
	}
	one.used = now
	return one
}

// accessOf returns what the store of a caller may here.
func accessOf(c scrollback.Caller) merge.Access {
	may := merge.Access{ReadOnly: c.Access < scrollback.AccessWrite, NoPurges: c.Access < scrollback.AccessAdmin}
	if !c.AllProjects {
		may.Projects = append([]string{""}, c.Projects...) // no project has no name: without any, it sees none
	}
	return may
}
