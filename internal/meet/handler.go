package meet

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/merge"
)

// Handler answers the questions of a meeting below [Prefix]. Open returns the peer that a request asks, which is what
// its key may see: requests of one meeting (see [MeetingOf]) come one after the other, but one whose connection was cut
// may still be answered when the next one comes. [Meetings] keeps such peers.
func Handler(open func(*http.Request) (Peer, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(protocolHeader, strconv.Itoa(Protocol))
		name, _ := strings.CutPrefix(r.URL.Path, Prefix)
		answer, known := answers[name]
		if given := r.Header.Get(protocolHeader); given != strconv.Itoa(Protocol) {
			writeError(w, differs(given))
			return
		}
		if !known || r.Method != http.MethodPost {
			writeError(w, scrollback.Errorf(scrollback.NotFound, op, i18n.SyncUnknownQuestion, name))
			return
		}
		p, err := open(r)
		if err == nil {
			err = answer(w, r, p)
		}
		if err != nil {
			writeError(w, err)
		}
	})
}

// differs is the error of a program that speaks another protocol.
func differs(theirs string) error {
	if theirs == "" {
		theirs = "0"
	}
	return scrollback.Errorf(scrollback.Refused, op, i18n.SyncProtocolDiffers, theirs, Protocol)
}

// answers are how questions are answered, by their names.
var answers = map[string]func(http.ResponseWriter, *http.Request, Peer) error{
	askPing: answer(func(context.Context, Peer, nothing) (nothing, error) { return nothing{}, nil }),
	askHead: answer(func(ctx context.Context, p Peer, _ nothing) (out headAnswer, err error) {
		if out.Head, err = p.Head(ctx); err != nil {
			return out, err
		}
		if l, ok := p.(Limited); ok {
			out.Access, err = l.Access(ctx)
		}
		return out, err
	}),
	askLevel: answer(func(ctx context.Context, p Peer, q levelQuestion) (merge.Level, error) {
		return p.Level(ctx, q.Below)
	}),
	askInventories: answer(func(ctx context.Context, p Peer, q inventoriesQuestion) (out inventoriesAnswer, err error) {
		out.Inventories, err = merge.Inventories(ctx, p, q.IDs)
		return out, err
	}),
	askRanges: answer(func(ctx context.Context, p Peer, q rangesQuestion) (out rangesAnswer, err error) {
		out.Ranges, err = p.Ranges(ctx, q.ID, q.Ranges)
		return out, err
	}),
	askLists: answer(func(ctx context.Context, p Peer, q listsQuestion) (out listsAnswer, err error) {
		out.Lists, err = merge.Lists(ctx, p, q.Lists)
		return out, err
	}),
	askSome: answer(func(ctx context.Context, p Peer, q recordsQuestion) (merge.Set, error) {
		return p.Records(ctx, q.Wanted)
	}),
	askProjects: answer(func(ctx context.Context, p Peer, _ nothing) (merge.Set, error) { return p.Projects(ctx) }),
	askPut: answer(func(ctx context.Context, p Peer, q putQuestion) (merge.Outcome, error) {
		return p.Put(ctx, q.Set, q.Terms)
	}),
	askLacks: answer(func(ctx context.Context, p Peer, q artifacts) (out artifacts, err error) {
		out.IDs, err = p.LacksArtifacts(ctx, q.IDs)
		return out, err
	}),
	askArtifact:    sendArtifact,
	askPutArtifact: takeArtifact,
}

// answer reads a question and writes its answer, both as JSON.
func answer[Q, A any](ask func(context.Context, Peer, Q) (A, error)) func(http.ResponseWriter, *http.Request,
	Peer) error {
	return func(w http.ResponseWriter, r *http.Request, p Peer) error {
		q, err := readQuestion[Q](w, r)
		if err != nil {
			return err
		}
		a, err := ask(r.Context(), p, q)
		if err != nil {
			return err
		}
		text, err := json.Marshal(a)
		if err != nil {
			return err
		}
		writeJSON(w, http.StatusOK, text)
		return nil
	}
}

// readQuestion reads the JSON of a request. Fields that are not known here are of a newer version that does without
// them.
func readQuestion[Q any](w http.ResponseWriter, r *http.Request) (q Q, err error) {
	err = json.NewDecoder(http.MaxBytesReader(w, r.Body, maxQuestion)).Decode(&q)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return q, scrollback.Errorf(scrollback.Invalid, op, i18n.SyncBatchTooLarge, maxQuestion>>20).
			WithReason(scrollback.ErrTooLarge)
	case err != nil:
		return q, scrollback.Errorf(scrollback.Invalid, op, i18n.SyncNotUnderstood, err)
	}
	return q, nil
}

// sendArtifact answers with the bytes of an artifact. Where they end too early, so does the connection.
func sendArtifact(w http.ResponseWriter, r *http.Request, p Peer) error {
	q, err := readQuestion[artifactQuestion](w, r)
	if err != nil {
		return err
	}
	body, size, err := p.OpenArtifact(r.Context(), q.ID)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // read-only
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	if _, err := io.CopyN(w, body, size); err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// maxUnread bounds what is read of bytes that were refused.
const maxUnread = 8 << 20

func takeArtifact(w http.ResponseWriter, r *http.Request, p Peer) error {
	if r.ContentLength < 0 {
		return scrollback.Errorf(scrollback.Invalid, op, i18n.SyncNotUnderstood, "no Content-Length")
	}
	id := scrollback.ArtifactID(r.URL.Query().Get("id"))
	if err := p.PutArtifact(r.Context(), id, r.Body, r.ContentLength); err != nil {
		// One who is still sending would see a broken connection in place of why.
		_, _ = io.CopyN(io.Discard, r.Body, maxUnread)
		return err
	}
	writeJSON(w, http.StatusOK, []byte("{}"))
	return nil
}

func writeJSON(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // the other side is gone
}

func writeError(w http.ResponseWriter, err error) {
	text, failed := json.Marshal(scrollback.FailureOf(err))
	if failed != nil {
		text = []byte("{}")
	}
	writeJSON(w, statusOf(err), text)
}
