// Package local opens scrollback inside a Go program: database, artifacts, models and
// the engine over them, with one call and one Close.
//
//	sb, err := local.Open(ctx, "data", nil)
//	if err != nil {
//		return err
//	}
//	defer sb.Close()
//	c, _, err := sb.Create(ctx, scrollback.Conversation{})
//	if err != nil {
//		return err
//	}
//	ask := engine.TurnRequest{Conversation: c.ID, Message: scrollback.Say("Where is the key?")}
//	reply, err := scrollback.ReplyOf(sb.Turn(ctx, ask))
//
// What can be done with it is in the methods of [engine.View], which a [Scrollback]
// embeds; the examples show the most common ones. Any number of goroutines, and of
// processes, may use one folder at the same time.
//
// Every error is, or wraps, a [*scrollback.Error]; [scrollback.CodeOf] gives its code.
//
// The package knows SQLite, files and the providers of models, and links no client of a
// database server or of an object store: those are in package cloud, whose Open does the same with
// them. The two are the only ones that know concrete databases and object stores.
package local

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/bundle"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	places "github.com/scrollback-ai/scrollback/internal/place/known"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/evidence"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/internal/websearch"
	"github.com/scrollback-ai/scrollback/local/objects"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/offline"
	"github.com/scrollback-ai/scrollback/token"
	transcripts "github.com/scrollback-ai/scrollback/transcript/all"
)

// Options set up what Open opens. Nil and the zero value work: database and artifacts
// are in the folder, and the model is the built-in offline one.
type Options struct {
	// Model is asked where a conversation names none, by its name as on the command
	// line: "openai/gpt-5", "ollama/qwen3", or one of Models. Empty is Engine.Model, or
	// else "offline". It is looked up when it is first needed: what needs to know a model
	// that does not exist is invalid, and what asks one whose key is missing is refused.
	Model string

	// Models are models of your own, by name. They come before all others. The name in
	// a model's Facts is the one here.
	Models map[string]model.Model

	// Env reads the variables that hold keys and addresses of providers, such as
	// OPENAI_API_KEY; nil reads the environment of the process.
	Env func(name string) string

	// Database is a URL: sqlite:///PATH, memory: for one that ends with the program, or,
	// with cloud.Open, postgres://USER:PASSWORD@HOST:PORT/DATABASE, which any number of
	// programs share. Empty is scrollback.db in the folder.
	Database string

	// Objects is where the bytes of artifacts are kept: file:///FOLDER, memory: beside a
	// database in memory, or, with cloud.Open, s3://BUCKET[/PREFIX][?region=…&endpoint=…];
	// in a program built with the tag allclouds, gs://BUCKET or azblob://CONTAINER as well. Empty
	// is the folder "objects" in the folder, or memory if the database is in memory. Programs
	// on several machines that share a database must share a bucket. It is first reached when
	// an artifact is, or by ProbeObjects.
	Objects string

	// SignedDownloads sends who fetches an artifact to the bucket, by a URL that is good
	// for some minutes, where the bucket can make one. Without it bytes pass through here.
	SignedDownloads bool

	// Services are the databases and buckets on servers that there are clients for. The zero
	// value has none; cloud.Open sets those of package cloud.
	Services Services

	Mode Mode // whether to create what is missing; the zero value does

	// Known adds to what the catalog knows of models, by name: limits, prices.
	Known map[string]token.Facts

	// OfflinePace is how long the offline model pauses between words; 0 for no pause.
	OfflinePace time.Duration

	// Agent is sent to servers of models as the User-Agent; empty is "scrollback".
	Agent string

	// SearXNG is the address of a SearXNG server that searches the web for requests which
	// ask for it, such as http://127.0.0.1:8888; empty leaves that to models' servers.
	SearXNG string

	// Lease is how long a turn, or work in the background, is kept for a process of which
	// nothing is heard before another takes it over: up to a minute; 0 is 15 seconds. Drafts
	// renew it, once a second: one of less than some seconds is lost on a busy machine.
	Lease time.Duration

	Bundles bundle.Limits // of bundles that are imported and exported; zero fields are the defaults

	// Engine has everything else: limits, compaction, projects, logging. Open sets its
	// Models, ModelNames, Catalog and Archive, and with SearXNG its Searcher.
	Engine engine.Options
}

// Services open what is on servers, by the scheme of its URL.
type Services struct {
	Databases map[string]DatabaseOpener
	Buckets   map[string]objects.Opener
}

// DatabaseOpener opens a database on a server. It may open one for reading only where mode is
// Existing, and says so.
type DatabaseOpener func(ctx context.Context, at string, mode Mode,
	log *slog.Logger) (db *driver.Driver, readOnly bool, err error)

// Mode selects what Open does where nothing is stored yet.
type Mode int

// The modes.
const (
	// Make creates what is missing.
	Make Mode = iota

	// Existing creates nothing where nothing is kept yet: an empty scrollback in memory
	// stands in, and whatever is written to it is lost when it is closed. What may only be
	// read is opened for reading only. A PostgreSQL database that is empty gets its tables.
	Existing

	// ReadOnly writes nothing at all: what would write is refused. Where nothing is kept
	// yet, Open returns not_found.
	ReadOnly
)

// Scrollback holds everything that Open opened. Its methods act for the operator, who may do
// everything; Engine.As gives the same methods to others, within their projects and
// access. It is safe for concurrent use. Open makes it.
type Scrollback struct {
	*engine.View
	Engine   *engine.Engine
	Transfer *transfer.Transfer
	Store    *store.Store
	Archive  *archive.Archive

	objects  *objects.Store
	evidence *evidence.Store
	close    func() error
}

// Open opens what is kept in a folder, and creates it if it is missing. It returns
// invalid for options that cannot be, unavailable if the folder or the database cannot
// be used, and refused for a database of another program or of a newer scrollback. A
// database in memory needs no folder: dir may be empty.
func Open(ctx context.Context, dir string, o *Options) (*Scrollback, error) {
	const op = "local.Open"
	if o == nil {
		o = &Options{}
	}
	if file, err := databaseFile(dir, o.Database); dir == "" && (err != nil || file != "") {
		return nil, scrollback.ParamErrorf(op, "dir", i18n.NameAFolder)
	}
	given := dir
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, op, err)
	}
	at, err := openPlaces(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	if given != "" {
		at.folder = dir
	}
	s, err := assemble(at, o)
	if err != nil {
		return nil, errors.Join(err, at.objects.Bucket.Close(), at.db.Close())
	}
	return s, nil
}

// assemble builds the program over a database and a bucket.
func assemble(at storePlaces, o *Options) (*Scrollback, error) {
	kept, err := store.New(at.db, token.Count, &store.Options{Image: token.ImageTokens, Learn: token.LearnFactor,
		Text: archive.NewTextReader(at.objects.Bucket, at.objects.ExplainError), ReadOnly: at.readOnly, Lease: o.Lease})
	if err != nil {
		return nil, err
	}
	s := &Scrollback{objects: at.objects, Store: kept, evidence: evidence.New(at.db)}
	s.Archive = archive.New(s.Store, at.objects.Bucket, archiveOptions(at, o))
	e := o.Engine
	known := &knownModels{options: o, catalog: token.NewCatalog(o.Known)}
	if o.Model != "" {
		e.Model = o.Model
	}
	if e.Model == "" {
		e.Model = offline.Name
	}
	e.Models = known.findModel
	e.ModelNames = known.listModels
	e.Catalog = known.catalog
	s.Transfer = transfer.New(s.Store, s.Archive,
		transfer.Options{Importers: transcripts.Importers(), Exporters: transcripts.Exporters(), Tools: transcripts.Tools(),
			Limits: o.Bundles, Repository: places.Open(at.folder).FindRepository})
	e.Archive = transfer.OnCompact(s.Transfer)
	if o.SearXNG != "" {
		searcher, err := websearch.New(o.SearXNG, cmp.Or(o.Agent, "scrollback"))
		if err != nil {
			return nil, err
		}
		e.Searcher = searcher
	}
	s.Engine = engine.New(s.Store, s.Archive, e)
	s.View = s.Engine.As(scrollback.Operator())
	s.close = sync.OnceValue(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		return errors.Join(s.Engine.Close(ctx), s.objects.Bucket.Close(), s.Store.Close())
	})
	return s, nil
}

// archiveOptions returns how originals are read from the place of objects.
func archiveOptions(at storePlaces, o *Options) *archive.Options {
	out := at.archive
	if out == nil {
		out = &archive.Options{}
	}
	out.Explain = at.objects.ExplainError
	if o.SignedDownloads {
		out.Sign = func(ctx context.Context, key string, d archive.Download) (string, error) {
			return at.objects.SignURL(ctx, key, objects.Download{MediaType: d.MediaType, Disposition: d.Disposition,
				Cache: d.Cache,
				For:   d.For})
		}
	}
	return out
}

// ProbeObjects tries the bucket of a service: it reads and lists, and if it is to be written
// to it writes a small object and removes it. Artifacts in a folder or in memory are not tried.
// Errors are unavailable with the reason scrollback.ErrObjects, and say what is wrong.
func (s *Scrollback) ProbeObjects(ctx context.Context, write bool) error {
	return s.objects.ProbeStore(ctx, write)
}

// StartObjects is ProbeObjects for a server that starts: only what stays wrong until somebody
// changes it is an error. What may pass, such as a bucket that cannot be reached, goes to the
// log, and the server is not ready until it has passed.
func (s *Scrollback) StartObjects(ctx context.Context, write bool, log *slog.Logger) error {
	err := s.ProbeObjects(ctx, write)
	if err == nil || objects.IsLasting(err) || scrollback.CodeOf(err) == scrollback.Canceled {
		return err
	}
	log.Warn("the object store does not work now; /readyz says when it does again", "error", err)
	return nil
}

// DownloadsFrom returns where artifacts are fetched from by signed URLs, as https://host; empty
// if they are not.
func (s *Scrollback) DownloadsFrom(ctx context.Context) (string, error) {
	if !archive.CanSign(s.Archive) {
		return "", nil
	}
	return s.objects.SignedOrigin(ctx)
}

// Import reads a file of another tool, or a bundle, into conversations; see
// [transfer.Transfer.Import].
func (s *Scrollback) Import(ctx context.Context, r io.ReadSeeker,
	q ImportRequest) (ImportResult, error) {
	return s.Transfer.Import(ctx, s.View, r, q)
}

// Export writes a conversation; see [transfer.Transfer.Export].
func (s *Scrollback) Export(ctx context.Context, id scrollback.ConversationID, q ExportRequest,
	w io.Writer) error {
	return s.Transfer.Export(ctx, s.View, id, q, w)
}

// closeTime is how long Close waits for turns that still run to be stored.
const closeTime = 30 * time.Second

// Close stops the turns that run, keeps what they have written, and closes everything.
// Closing again does nothing more and returns the same error.
func (s *Scrollback) Close() error {
	if s.close == nil {
		return nil // not from Open
	}
	return s.close()
}
