package restapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
)

// inlineTypes are the attachments a browser may show in place: raster images.
var inlineTypes = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// transfer adds import and export.
func (a *api) transfer() {
	a.raw(huma.Operation{OperationID: "import", Method: http.MethodPost, Path: "/api/import", Summary: "Import a transcript (the body); query: from, project, into"},
		func(w http.ResponseWriter, r *http.Request) error {
			q := r.URL.Query()
			req := engine.ImportRequest{Format: q.Get("from"), Project: q.Get("project")}
			if into := q.Get("into"); into != "" {
				id, err := a.resolve(r.Context(), into)
				if err != nil {
					return err
				}
				req.Into = id
			}
			f, err := spool(http.MaxBytesReader(w, r.Body, a.limits.Import))
			if err != nil {
				return err
			}
			defer f.Close()
			out, err := a.engine.Import(r.Context(), f, req)
			if err != nil {
				return err
			}
			w.Header().Set("Content-Type", "application/json")
			return marshal(w, out)
		})
	a.raw(huma.Operation{OperationID: "export", Method: http.MethodGet, Path: "/api/conversations/{id}/export",
		Summary: "Export a conversation; query: format (jsonl)", Parameters: []*huma.Param{pathParam("id", "Conversation")}},
		func(w http.ResponseWriter, r *http.Request) error {
			id, err := a.resolve(r.Context(), r.PathValue("id"))
			if err != nil {
				return err
			}
			format := r.URL.Query().Get("format")
			if format == "" {
				format = "jsonl"
			}
			out := &lazyWriter{w: w, begin: func() {
				w.Header().Set("Content-Type", "application/x-ndjson")
				w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": string(id) + "." + format}))
			}}
			err = a.engine.Export(r.Context(), id, format, out)
			if err != nil && out.begun {
				panic(http.ErrAbortHandler) // a cut-off file must not look whole
			}
			return err
		})
}

// lazyWriter sets headers when the first byte is written.
type lazyWriter struct {
	w     io.Writer
	begin func()
	begun bool
}

func (l *lazyWriter) Write(p []byte) (int, error) {
	if !l.begun {
		l.begun = true
		l.begin()
	}
	return l.w.Write(p)
}

// spooled is a temporary file that goes when it is closed.
type spooled struct{ *os.File }

func (s spooled) Close() error { return errors.Join(s.File.Close(), os.Remove(s.Name())) }

// spool keeps a body in a file, because an import reads it twice.
func spool(body io.Reader) (io.ReadSeekCloser, error) {
	f, err := os.CreateTemp("", "scrollback-import-*")
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Unavailable, "restapi.import", err)
	}
	s := spooled{f}
	if _, err = io.Copy(f, body); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(bodyError(err), s.Close())
	}
	return s, nil
}

// bodyError classifies what reading a body met.
func bodyError(err error) error {
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		return scrollback.ParamErrorf("restapi", "body", "the body is over the limit of %d bytes", big.Limit).Because(scrollback.ErrTooLarge)
	}
	return scrollback.Wrap(scrollback.Unavailable, "restapi", err)
}

// artifacts adds upload and fetch.
func (a *api) artifacts() {
	a.raw(huma.Operation{OperationID: "upload", Method: http.MethodPost, Path: "/api/artifacts",
		Summary: "Upload an attachment (the body) for a conversation; query: conversation, name"},
		func(w http.ResponseWriter, r *http.Request) error {
			id, err := a.resolve(r.Context(), r.URL.Query().Get("conversation"))
			if err != nil {
				return err
			}
			art, err := a.engine.Upload(r.Context(), id, limitedBody{http.MaxBytesReader(w, r.Body, a.limits.Upload)}, r.URL.Query().Get("name"))
			if err != nil {
				return err
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			return marshal(w, art)
		})
	a.raw(huma.Operation{OperationID: "fetch-artifact", Method: http.MethodGet, Path: "/api/artifacts/{artifact}",
		Summary: "Fetch an attachment; query: conversation, that mentions it, if only one may be asked", Parameters: []*huma.Param{pathParam("artifact", "Artifact id")}},
		func(w http.ResponseWriter, r *http.Request) error {
			name := scrollback.ArtifactID(strings.TrimPrefix(r.PathValue("artifact"), "artifact:"))
			id, err := a.mentioning(r, name)
			if err != nil {
				return err
			}
			art, f, err := a.engine.Artifact(r.Context(), id, name)
			if err != nil {
				return err
			}
			defer f.Close()
			how := "attachment"
			if inlineTypes[art.MediaType] {
				how = "inline"
			}
			h := w.Header()
			h.Set("Content-Type", art.MediaType)
			h.Set("Content-Length", strconv.FormatInt(art.Size, 10))
			h.Set("Content-Disposition", mime.FormatMediaType(how, map[string]string{"filename": art.Name}))
			h.Set("X-Content-Type-Options", "nosniff")
			h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
			h.Set("Cache-Control", "private, max-age=31536000, immutable")
			_, err = io.Copy(w, f)
			if err != nil {
				panic(http.ErrAbortHandler) // a cut-off file must not look whole
			}
			return nil
		})
}

// mentioning is the conversation through which an artifact is asked for: the one
// that is named, or else any.
func (a *api) mentioning(r *http.Request, art scrollback.ArtifactID) (scrollback.ConversationID, error) {
	if name := r.URL.Query().Get("conversation"); name != "" {
		return a.resolve(r.Context(), name)
	}
	return a.engine.Owner(r.Context(), scrollback.ArtifactRef(art))
}

// limitedBody gives the limit's error our shape.
type limitedBody struct{ r io.Reader }

func (l limitedBody) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = bodyError(err)
	}
	return n, err
}
