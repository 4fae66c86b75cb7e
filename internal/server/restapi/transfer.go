package restapi

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/handoff"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/access"
	"github.com/scrollback-ai/scrollback/internal/server/language"
	"github.com/scrollback-ai/scrollback/internal/server/restapi/spec"
	"github.com/scrollback-ai/scrollback/internal/server/tour"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/transcript/mask"
)

// addTransfer adds import and export.
func (a *api) addTransfer() {
	a.addRaw(huma.Operation{OperationID: "import", Method: http.MethodPost, Path: "/api/import",
		Summary: "Import a transcript or a bundle (the body)",
		Parameters: []*huma.Param{queryParam("from", huma.TypeString, "Its format. Default: as its content says."),
			queryParam("project", huma.TypeString, "Where it goes."),
			queryParam("into", huma.TypeString, "The conversation to extend."),
			queryParam("as_copy", huma.TypeBoolean, "Whether a bundle gets ids of its own."),
			queryParam("summarize", huma.TypeBoolean, "Whether models are asked for summaries of what is compacted."),
			queryParam("name", huma.TypeString, "The file's name, which helps to recognise its format."),
			queryParam("mask", huma.TypeBoolean,
				"Whether what looks like a key or a token is replaced before anything is stored.")},
		RequestBody: spec.RequestBody(spec.FileContent(spec.Binary)),
		Responses:   spec.Responses(http.StatusOK, spec.JSON[transfer.ImportResult](a.typeSchemas()))},
		func(w http.ResponseWriter, r *http.Request) error {
			q := r.URL.Query()
			req := transfer.ImportRequest{Format: q.Get("from"), Project: q.Get("project"), AsCopy: isSet(q, "as_copy"),
				Summarize: isSet(q, "summarize"),
				Name:      q.Get("name"), Mask: isSet(q, "mask"), Quota: access.QuotaOf(r.Context())}
			if into := q.Get("into"); into != "" {
				id, err := a.resolveID(r.Context(), into)
				if err != nil {
					return err
				}
				req.Into = id
			}
			f, err := spoolBody(newBoundedBody(w, r, a.limits.Import, "limits.import_bytes"))
			if err != nil {
				return err
			}
			defer f.Close()
			out, err := a.moves.Import(r.Context(), a.viewFor(r.Context()), f, req)
			if err != nil {
				return err
			}
			l := language.Of(r.Header.Get("Accept-Language"))
			for i := range out.Skipped {
				out.Skipped[i].Reason = l.Reason(out.Skipped[i].Reason)
			}
			w.Header().Set("Content-Type", "application/json")
			return writePlainJSON(w, out)
		})
	addSample(a)
	addBrief(a)
	a.addRaw(huma.Operation{OperationID: "export", Method: http.MethodGet, Path: "/api/conversations/{id}/export",
		Summary: "Export a conversation", Parameters: []*huma.Param{pathParam("id", "Conversation"),
			queryParam("format", huma.TypeString, "bundle (the default), jsonl, claude-code, codex, gemini-cli, opencode, pi, qwen-code, mtm or ipynb"),
			queryParam("materialize", huma.TypeBoolean, "Whether a bundle holds the files of its segments."),
			queryParam("mask", huma.TypeBoolean,
				"Whether what looks like a key or a token is taken out of the file; a bundle is then a copy with ids of its own.")},
		Responses: spec.Responses(http.StatusOK, spec.FileContent("application/zstd"),
			spec.FileContent("application/x-ndjson"),
			spec.FileContent("application/json"), spec.FileContent("application/x-ipynb+json"))},
		func(w http.ResponseWriter, r *http.Request) error {
			id, err := a.resolveID(r.Context(), r.PathValue("id"))
			if err != nil {
				return err
			}
			q := r.URL.Query()
			req := transfer.ExportRequest{Format: cmp.Or(q.Get("format"), transfer.BundleFormat),
				Materialize: isSet(q, "materialize")}
			if isSet(q, "mask") {
				req.Mask = new(mask.Masker)
			}
			out := &lazyWriter{w: w, begin: func() {
				media, ending := formatFile(req.Format)
				w.Header().Set("Content-Type", media)
				w.Header().Set("Content-Disposition",
					mime.FormatMediaType("attachment", map[string]string{"filename": string(id) + ending}))
			}}
			err = a.moves.Export(r.Context(), a.viewFor(r.Context()), id, req, out)
			if err != nil && out.begun {
				panic(http.ErrAbortHandler) // a cut-off file must not look whole
			}
			return err
		})
}

// agentBrief is what an agent is told first.
type agentBrief struct {
	Brief string `json:"brief" doc:"A first prompt of at most 1,500 tokens."`
}

// addBrief adds what another agent is told that goes on with a conversation.
func addBrief(a *api) {
	huma.Register(a.huma, huma.Operation{OperationID: "brief", Method: http.MethodGet,
		Path:    "/api/conversations/{id}/brief",
		Summary: "What another agent is told first that goes on with a conversation"},
		func(ctx context.Context, in *ConversationPath) (*body[agentBrief], error) {
			var out agentBrief
			id, err := a.resolveID(ctx, in.ID)
			if err != nil {
				return wrapBody(out, err)
			}
			talk, err := handoff.ReadTalk(ctx, a.viewFor(ctx), id)
			if err == nil {
				out.Brief, err = handoff.WriteBrief(talk)
			}
			return wrapBody(out, err)
		})
}

// addSample adds the conversation that shows a newcomer what this is.
func addSample(a *api) {
	huma.Register(a.huma, huma.Operation{OperationID: "sample", Method: http.MethodPost, Path: "/api/sample",
		MaxBodyBytes: a.limits.Body,
		Summary:      "Make the sample conversation, or find the one of today"},
		func(ctx context.Context, in *struct {
			Body *struct {
				Lang    string `json:"lang,omitempty" doc:"zh, or English"`
				Project string `json:"project,omitempty" doc:"Where it goes; sample unless named."`
			} `required:"false"`
		}) (*body[scrollback.Conversation], error) {
			lang := ""
			project := ""
			if in.Body != nil {
				lang = in.Body.Lang
				project = in.Body.Project
			}
			v := a.viewFor(ctx)
			if project == "" && v.Caller().SeesProject(tour.Project) {
				project = tour.Project
			}
			var made bytes.Buffer
			if err := tour.WriteSample(&made, lang, time.Now()); err != nil {
				return wrapBody(scrollback.Conversation{}, err)
			}
			out, err := a.moves.Import(ctx, v, bytes.NewReader(made.Bytes()),
				transfer.ImportRequest{Format: "jsonl", Project: project})
			if err != nil {
				return wrapBody(scrollback.Conversation{}, err)
			}
			return wrapBody(v.Get(ctx, out.Conversations[0].ID))
		})
}

// isSet reports whether a switch in the query, which was checked, is on.
func isSet(q url.Values, name string) bool {
	on, err := strconv.ParseBool(q.Get(name))
	return err == nil && on
}

// formatFile returns the media type of a format, and the extension of its files.
func formatFile(format string) (media, ending string) {
	switch format {
	case transfer.BundleFormat:
		return "application/zstd", ".bundle"
	case "mtm":
		return "application/json", ".mtm"
	case "opencode":
		return "application/json", ".json"
	case "ipynb":
		return "application/x-ipynb+json", ".ipynb"
	}
	return "application/x-ndjson", ".jsonl"
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

// spooledFile is a temporary file that is removed when it is closed, if it is not yet gone.
type spooledFile struct {
	*os.File
	gone bool
}

// Close implements io.Closer.
func (s spooledFile) Close() error {
	if s.gone {
		return s.File.Close()
	}
	return errors.Join(s.File.Close(), os.Remove(s.Name()))
}

// spoolBody keeps a body in a file, because an import reads it more than once.
func spoolBody(body io.Reader) (io.ReadSeekCloser, error) {
	f, err := os.CreateTemp("", "scrollback-import-*")
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Unavailable, "restapi.import", err)
	}
	// The name can go at once where the system allows it: then a server that is
	// killed leaves nothing behind.
	gone := os.Remove(f.Name()) == nil
	s := spooledFile{f, gone}
	if _, err = io.Copy(f, body); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(scrollback.Wrap(scrollback.Unavailable, "restapi.import", err), s.Close())
	}
	return s, nil
}

// bodyError classifies an error of reading a body.
func bodyError(err error) error {
	var known *scrollback.Error
	if errors.As(err, &known) {
		return err
	}
	return scrollback.ParamErrorf("restapi", "body", i18n.BodyEndedEarly)
}

// overLimit returns the error of a body that is too long, and the setting that says so.
func overLimit(limit int64, setting string) error {
	return scrollback.ParamErrorf("restapi", "body", i18n.BodyOverLimit, limit,
		setting).WithReason(scrollback.ErrTooLarge)
}

// boundedBody is a body that may be long: it is bounded, and errors are ours.
type boundedBody struct {
	r       io.Reader
	limit   int64
	setting string
	over    bool      // it says itself that it is too long
	rest    io.Reader // what is read of it all the same, if it is too long
}

// newBoundedBody returns the body of a request. setting names its limit.
func newBoundedBody(w http.ResponseWriter, r *http.Request, limit int64, setting string) *boundedBody {
	s := &boundedBody{r: http.MaxBytesReader(w, r.Body, limit), limit: limit, setting: setting,
		over: r.ContentLength > limit,
		rest: io.LimitReader(r.Body, maxDrained)}
	if s.over && (r.ContentLength > maxDrained || r.Header.Get("Expect") != "") {
		s.rest = http.NoBody // the rest is not worth reading
		w.Header().Set("Connection", "close")
	}
	return s
}

// maxDrained is how much of a body that is refused is read all the same, in bytes: a client that
// is still sending when the connection is closed does not see the response.
const maxDrained = 64 << 20

func (s *boundedBody) Read(p []byte) (int, error) {
	if s.over {
		return 0, s.refuseTooLong()
	}
	n, err := s.r.Read(p)
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		err = s.refuseTooLong()
	case err != nil && !errors.Is(err, io.EOF):
		err = bodyError(err)
	}
	return n, err
}

// refuseTooLong reads what is read of a body that is too long, and returns its error.
func (s *boundedBody) refuseTooLong() error {
	_, _ = io.Copy(io.Discard, s.rest) // it is refused either way
	return overLimit(s.limit, s.setting)
}
