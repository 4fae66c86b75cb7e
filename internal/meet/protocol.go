package meet

import (
	"errors"
	"net/http"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
)

// Prefix is where the questions of a meeting are, below the address of a server: a POST each.
const Prefix = "/api/sync/"

// Protocol is the number of what two programs say to each other, which both send with everything. It changes when the
// other one would misunderstand something; what it would only not know needs no new number.
const Protocol = 1

const (
	protocolHeader = "Scrollback-Sync"
	meetingHeader  = "Scrollback-Meeting"
)

// Bounds of one request and of one answer, in bytes of JSON. Artifacts are bounded by the peer that takes them.
const (
	maxQuestion = 64 << 20
	maxAnswer   = 64 << 20
)

const op = "sync"

// errCut is the reason of an error where a smaller batch, or the same again, may get through.
var errCut = errors.New("meet: cut off")

// canShrink reports whether less of it may get through.
func canShrink(err error) bool {
	return errors.Is(err, errCut) || errors.Is(err, scrollback.ErrTooLarge)
}

// isReadOnly reports whether a peer takes nothing from the key that asks.
func isReadOnly(err error) bool {
	return scrollback.CodeOf(err) == scrollback.Refused && !errors.Is(err, scrollback.ErrNoKey)
}

// MeetingOf returns what names the meeting that a request is part of: different for each, and nothing that is secret.
// It is empty where the request is none of [Dial]'s.
func MeetingOf(r *http.Request) string { return r.Header.Get(meetingHeader) }

var statuses = map[scrollback.Code]int{
	scrollback.Invalid:     http.StatusBadRequest,
	scrollback.Refused:     http.StatusForbidden,
	scrollback.NotFound:    http.StatusNotFound,
	scrollback.Conflict:    http.StatusConflict,
	scrollback.OverBudget:  http.StatusUnprocessableEntity,
	scrollback.RateLimited: http.StatusTooManyRequests,
	scrollback.Unavailable: http.StatusServiceUnavailable,
	scrollback.Internal:    http.StatusInternalServerError,
}

func statusOf(err error) int {
	switch {
	case errors.Is(err, scrollback.ErrTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, scrollback.ErrNoKey):
		return http.StatusUnauthorized
	}
	if status, ok := statuses[scrollback.CodeOf(err)]; ok {
		return status
	}
	return http.StatusServiceUnavailable
}

// isCut reports whether a status is one of what stands between two programs, and says nothing about the question.
func isCut(status int) bool {
	return slices.Contains([]int{http.StatusRequestTimeout, http.StatusBadGateway, http.StatusGatewayTimeout}, status)
}

// What is asked, and answered where that is not a value of package merge.
type (
	nothing struct{}

	headAnswer struct {
		Head   merge.Head   `json:"head"`
		Access merge.Access `json:"access,omitzero"`
	}
	levelQuestion struct {
		Below merge.Prefix `json:"below"`
	}
	inventoriesQuestion struct {
		IDs []scrollback.ConversationID `json:"ids"`
	}
	inventoriesAnswer struct {
		Inventories []merge.Inventory `json:"inventories"`
	}
	rangesQuestion struct {
		ID     scrollback.ConversationID `json:"id"`
		Ranges []merge.Range             `json:"ranges"`
	}
	rangesAnswer struct {
		Ranges []merge.Range `json:"ranges"`
	}
	listsQuestion struct {
		Lists []merge.Listing `json:"lists"`
	}
	listsAnswer struct {
		Lists []merge.Listed `json:"lists"`
	}
	recordsQuestion struct {
		Wanted []merge.Wanted `json:"wanted"`
	}
	putQuestion struct {
		Set   merge.Set   `json:"set"`
		Terms merge.Terms `json:"terms,omitzero"`
	}
	artifacts struct {
		IDs []scrollback.ArtifactID `json:"ids"`
	}
	artifactQuestion struct {
		ID scrollback.ArtifactID `json:"id"`
	}
)

// Names of the questions, below [Prefix].
const (
	askPing        = "ping"
	askHead        = "head"
	askLevel       = "level"
	askInventories = "inventories"
	askRanges      = "ranges"
	askLists       = "lists"
	askSome        = "records"
	askProjects    = "projects"
	askPut         = "put"
	askLacks       = "lacks-artifacts"
	askArtifact    = "artifact"
	askPutArtifact = "put-artifact"
)
