package restapi

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/internal/server/restapi/spec"
)

// inlineTypes are the attachments that a browser may show inline: raster images.
var inlineTypes = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// maxAttachmentName bounds the name of an attachment, which models see, in characters.
const maxAttachmentName = 255

// addArtifacts adds upload and fetch, and what a message can refer to in the folders.
func (a *api) addArtifacts() {
	a.addRaw(huma.Operation{OperationID: "upload", Method: http.MethodPost, Path: "/api/artifacts",
		Summary: "Upload an attachment (the body) for a conversation", Parameters: []*huma.Param{
			queryParam("conversation", huma.TypeString, "The conversation that may then use it."),
			queryParam("name", huma.TypeString, "Its name.")},
		RequestBody: spec.RequestBody(spec.FileContent(spec.Binary)),
		Responses:   spec.Responses(http.StatusCreated, spec.JSON[scrollback.Artifact](a.typeSchemas()))},
		func(w http.ResponseWriter, r *http.Request) error {
			id, err := a.resolveID(r.Context(), r.URL.Query().Get("conversation"))
			if err != nil {
				return err
			}
			name := r.URL.Query().Get("name")
			if utf8.RuneCountInString(name) > maxAttachmentName {
				return scrollback.ParamErrorf("restapi", "name", i18n.AttachmentNameTooLong,
					maxAttachmentName)
			}
			art, err := a.viewFor(r.Context()).Upload(r.Context(), id,
				newBoundedBody(w, r, a.limits.Upload, "limits.attachment_bytes"),
				name)
			if err != nil {
				return err
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			return writePlainJSON(w, art)
		})
	huma.Register(a.huma, huma.Operation{OperationID: "list-files", Method: http.MethodGet,
		Path:    "/api/conversations/{id}/files",
		Summary: "List paths in a conversation's folders that continue what was typed"},
		func(ctx context.Context, in *filesQuery) (*body[fileList], error) { return listFiles(ctx, a, in) })
	a.addRaw(huma.Operation{OperationID: "fetch-artifact", Method: http.MethodGet, Path: "/api/artifacts/{artifact}",
		Summary: "Fetch an attachment", Parameters: []*huma.Param{pathParam("artifact", "Artifact id"),
			queryParam("conversation", huma.TypeString, "A conversation that mentions it. Default: any.")},
		Responses: spec.Responses(http.StatusOK, spec.FileContent("*/*"))},
		func(w http.ResponseWriter, r *http.Request) error { return sendArtifact(a, w, r) })
}

// sendArtifact sends the bytes of an artifact, or where they are fetched from. A signed URL
// is good for GET only, so HEAD is always answered here.
func sendArtifact(a *api, w http.ResponseWriter, r *http.Request) error {
	name := scrollback.ArtifactID(strings.TrimPrefix(r.PathValue("artifact"), "artifact:"))
	id, err := a.findMentioning(r, name)
	if err != nil {
		return err
	}
	from := a.viewFor(r.Context()).Recall()
	h := w.Header()
	if r.Method == http.MethodGet {
		at, err := from.SignedArtifact(r.Context(), id, name, contentDisposition)
		if err != nil {
			return err
		}
		if at != "" {
			h.Set("Location", at)
			h.Set("Referrer-Policy", "no-referrer")
			// so that it is still good when it is followed
			h.Set("Cache-Control", "private, max-age="+strconv.Itoa(int(recall.SignedFor.Seconds())/2))
			w.WriteHeader(http.StatusFound)
			return nil
		}
	}
	art, f, err := from.Artifact(r.Context(), id, name)
	if err != nil {
		return err
	}
	defer f.Close()
	h.Set("Content-Type", art.MediaType)
	h.Set("Content-Disposition", contentDisposition(art))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	h.Set("ETag", `"`+string(art.ID)+`"`)
	whole := &checkedReader{ReadSeeker: f}
	http.ServeContent(w, r, "", time.Time{}, whole)
	if whole.err != nil {
		panic(http.ErrAbortHandler) // a cut-off file must not look whole
	}
	return nil
}

// checkedReader remembers why a file could not be read to its end.
type checkedReader struct {
	io.ReadSeeker
	err error
}

// Read implements io.Reader.
func (c *checkedReader) Read(p []byte) (int, error) {
	n, err := c.ReadSeeker.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// contentDisposition says whether a browser shows an attachment, and what it is saved as.
func contentDisposition(art scrollback.Artifact) string {
	how := "attachment"
	if inlineTypes[art.MediaType] {
		how = "inline"
	}
	return mime.FormatMediaType(how, map[string]string{"filename": attachmentName(art.Name)})
}

// fileEntry is a path that a reference may name. A folder's ends in "/".
type fileEntry struct {
	Path   string `json:"path"`
	Folder bool   `json:"folder,omitempty"`
}

type fileList struct {
	Files []fileEntry `json:"files"`
}

type filesQuery struct {
	ConversationPath
	Prefix string `query:"prefix" maxLength:"4096"`
	Limit  int    `query:"limit" minimum:"0"`
}

// listFiles lists paths for an @ that is being written.
func listFiles(ctx context.Context, a *api, in *filesQuery) (*body[fileList], error) {
	out := fileList{Files: []fileEntry{}}
	id, err := a.resolveID(ctx, in.ID)
	if err != nil {
		return wrapBody(out, err)
	}
	found, err := a.viewFor(ctx).Files(ctx, id, in.Prefix, in.Limit)
	for _, f := range found {
		out.Files = append(out.Files, fileEntry(f))
	}
	return wrapBody(out, err)
}

// findMentioning returns the conversation through which an artifact is requested: the one that
// is named, or else any that mentions it.
func (a *api) findMentioning(r *http.Request, art scrollback.ArtifactID) (scrollback.ConversationID, error) {
	if name := r.URL.Query().Get("conversation"); name != "" {
		return a.resolveID(r.Context(), name)
	}
	ref := scrollback.ArtifactRef(art)
	if _, _, err := ref.Split(); err != nil {
		return "", scrollback.ParamErrorf("restapi", "artifact", "%w", err)
	}
	id, err := a.viewFor(r.Context()).Recall().Owner(r.Context(), ref)
	if scrollback.CodeOf(err) == scrollback.NotFound { // that error may name what others mention
		err = scrollback.Errorf(scrollback.NotFound, "restapi", i18n.NoSuchArtifact)
	}
	return id, err
}
