package server

import (
	"net/http"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/meet"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/server/access"
)

// newMeetings answers other stores that meet this one, each as its key may.
func newMeetings(open func(merge.Access) meet.Peer) http.Handler {
	var all meet.Meetings
	return meet.Handler(func(r *http.Request) (meet.Peer, error) {
		c := access.CallerOf(r.Context())
		return all.Peer(r, string(c.Key), func() (meet.Peer, error) { return open(accessOf(c)), nil })
	})
}

// accessOf returns what the store of a caller may here.
func accessOf(c scrollback.Caller) merge.Access {
	may := merge.Access{ReadOnly: c.Access < scrollback.AccessWrite, NoPurges: c.Access < scrollback.AccessAdmin}
	if !c.AllProjects {
		may.Projects = append([]string{""}, c.Projects...) // no project has no name: without any, it sees none
	}
	return may
}
