package restapi

import (
	"cmp"
	"context"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/server/restapi/spec"
	"github.com/scrollback-ai/scrollback/internal/transfer"
)

type archiveList struct {
	Archives []transfer.Copy `json:"archives"`
}

// addCopies adds writing, listing and reading full copies of a conversation.
func (a *api) addCopies() {
	huma.Register(a.huma, huma.Operation{OperationID: "archive", Method: http.MethodPost,
		Path:         "/api/conversations/{id}/archive",
		Summary:      "Write a full copy of a conversation",
		MaxBodyBytes: a.limits.Body},
		func(ctx context.Context, in *ConversationPath) (*body[transfer.Copy], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(transfer.Copy{}, err)
			}
			return wrapBody(a.moves.Copies().Write(ctx, a.viewFor(ctx), id))
		})
	huma.Register(a.huma, huma.Operation{OperationID: "list-archives", Method: http.MethodGet,
		Path:    "/api/conversations/{id}/archives",
		Summary: "List the newest full copies of a conversation, newest first"},
		func(ctx context.Context, in *struct {
			ConversationPath
			Limit int `query:"limit" doc:"How many; 50 if it is left out."`
		}) (*body[archiveList], error) {
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(archiveList{}, err)
			}
			all, err := a.moves.Copies().List(ctx, a.viewFor(ctx), id, in.Limit)
			return wrapBody(archiveList{all}, err)
		})
	copied := func() map[string]*huma.Response {
		return spec.Responses(http.StatusOK, spec.JSON[object](a.typeSchemas()))
	}
	download := queryParam("download", huma.TypeBoolean, "Whether a browser saves it as a file.")
	a.addRaw(huma.Operation{OperationID: "read-newest-archive", Method: http.MethodGet,
		Path:       "/api/conversations/{id}/archive",
		Summary:    "Read the newest full copy of a conversation",
		Parameters: []*huma.Param{pathParam("id", "Conversation"), download}, Responses: copied()}, a.sendCopy)
	a.addRaw(huma.Operation{OperationID: "read-archive", Method: http.MethodGet,
		Path:    "/api/conversations/{id}/archive/{key}",
		Summary: "Read a full copy of a conversation", Parameters: []*huma.Param{pathParam("id", "Conversation"),
			pathParam("key", "Its key, as the list has it."), download}, Responses: copied()}, a.sendCopy)
}

// sendCopy writes the full copy that a path names, or else the newest.
func (a *api) sendCopy(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	id, err := a.resolveID(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	c, err := a.viewFor(ctx).Get(ctx, id)
	if err != nil {
		return err
	}
	made, f, err := a.moves.Copies().Open(ctx, a.viewFor(ctx), id, r.PathValue("key"))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read-only
	how := "inline"
	if isSet(r.URL.Query(), "download") {
		how = "attachment"
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.FormatInt(made.Bytes, 10))
	h.Set("Content-Disposition", mime.FormatMediaType(how, map[string]string{"filename": fileName(c, ".json")}))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", "no-store")
	if _, err := io.Copy(w, f); err != nil {
		panic(http.ErrAbortHandler) // a cut-off file must not look whole
	}
	return nil
}

// maxFileName bounds the name of a download, in characters.
const maxFileName = 80

// fileName returns a name for a download of a conversation: its title, or else its id.
func fileName(c scrollback.Conversation, ending string) string {
	name := []rune(safeFileName(c.Title))
	return cmp.Or(strings.TrimRight(string(name[:min(len(name), maxFileName)]), " .-"), "conversation-"+string(c.ID)) +
		ending
}

// attachmentName returns a name for a download of an attachment: its own, whose ending stays
// when it is cut short.
func attachmentName(own string) string {
	name := []rune(safeFileName(own))
	if len(name) <= maxFileName {
		return cmp.Or(string(name), "attachment")
	}
	ending := path.Ext(string(name))
	if len(ending) > maxEnding {
		ending = ""
	}
	return string(name[:maxFileName]) + ending
}

// maxEnding bounds what is kept of a long name as its ending, in bytes.
const maxEnding = 16

// safeFileName returns a text as a file name that every system takes, in whatever script, without
// what means something in a path.
func safeFileName(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(`/\:*?"<>|`, r):
			return '-'
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, name), " .-")
}
