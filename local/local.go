// Package local opens scrollback for a Go program: the database, the artifacts, the
// models and the engine over them, with one call.
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
//	for ev, err := range sb.Turn(ctx, ask) {
//		…
//	}
//
// It is the one place that knows concrete databases, object stores and providers; the
// program scrollback opens itself with it. It holds no rule of the product.
package local

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"
	"time"

	"gocloud.dev/blob"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/archive"
	"github.com/scrollback-ai/scrollback/bundle"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/token"
	transcripts "github.com/scrollback-ai/scrollback/transcript/all"
	"github.com/scrollback-ai/scrollback/transfer"
)

// Mode is how what is kept is opened.
type Mode int

// The modes.
const (
	Make     Mode = iota // what is not there is made
	Existing             // where nothing is kept, nothing is made and nothing found
	ReadOnly             // nothing is written at all; not_found where nothing is kept
)

// Options set everything up; nil and the zero value work, with a database and artifacts
// in the folder and the built-in offline model.
type Options struct {
	// Model is asked where a conversation names none, by its name as on the command
	// line: "openai/gpt-5", "ollama/qwen3", or one of Models. Empty is Engine.Model, or
	// else the offline model.
	Model string

	// Models are models of one's own, by name.
	Models map[string]model.Model

	// Env reads the variables that hold keys and addresses of providers; nil is the
	// environment of the process.
	Env func(name string) string

	// Database is a URL: sqlite:///PATH, or memory: for one that ends with the program.
	// Empty is scrollback.db in the folder.
	Database string

	// Objects is where the bytes of artifacts are kept: s3://BUCKET[/PREFIX][?region=…
	// &endpoint=…], file:///FOLDER, or memory: beside a database in memory. Empty is the folder
	// "objects" in the folder.
	Objects string

	Mode Mode

	// Known is what is known of models beside the catalog, by name: limits, prices.
	Known map[string]token.Facts

	// OfflinePace is how long the offline model takes for a word.
	OfflinePace time.Duration

	// Agent is how servers of models are told who asks; empty is "scrollback".
	Agent string

	Bundles bundle.Limits // of what is imported and exported

	// Engine is everything else. Its Models, ModelNames and Catalog are filled in.
	Engine engine.Options
}

// closeTime is how long Close waits for turns that still run to be stored.
const closeTime = 30 * time.Second

// Scrollback is everything opened. Its methods act for the operator, who may do
// everything; As of Engine is for others.
type Scrollback struct {
	*engine.View
	Engine   *engine.Engine
	Transfer *transfer.Transfer
	Store    *store.Store
	Archive  *archive.Archive

	bucket *blob.Bucket
	close  func() error
}

// Open opens what is kept in a folder. It returns unavailable if the folder or the
// database cannot be used, conflict or refused as the database says, and invalid for
// options that cannot be.
func Open(ctx context.Context, dir string, o *Options) (*Scrollback, error) {
	if o == nil {
		o = &Options{}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, "local.Open", err)
	}
	at, err := openPlaces(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	s, err := assemble(at, o)
	if err != nil {
		return nil, errors.Join(err, at.bucket.Close(), at.db.Close())
	}
	return s, nil
}

// assemble puts everything together over a database and a bucket.
func assemble(at places, o *Options) (*Scrollback, error) {
	kept, err := store.New(at.db, token.Count, &store.Options{Image: token.Image, Learn: token.Learn})
	if err != nil {
		return nil, err
	}
	s := &Scrollback{bucket: at.bucket, Store: kept}
	s.close = sync.OnceValue(s.closeAll)
	s.Archive = archive.New(s.Store, at.bucket, at.archive)
	e := o.Engine
	known := &known{options: o, catalog: token.NewCatalog(o.Known)}
	if o.Model != "" {
		e.Model = o.Model
	}
	if e.Model == "" {
		e.Model = offlineName
	}
	e.Models, e.ModelNames, e.Catalog = known.find, known.names, known.catalog
	s.Engine = engine.New(s.Store, s.Archive, e)
	s.View = s.Engine.As(scrollback.Operator())
	s.Transfer = transfer.New(s.Store, s.Archive, transfer.Options{Importers: transcripts.Importers(), Exporters: transcripts.Exporters(), Limits: o.Bundles})
	return s, nil
}

// Import reads a file of another tool, or a bundle, into conversations; see
// [transfer.Transfer.Import].
func (s *Scrollback) Import(ctx context.Context, r io.ReadSeeker, q transfer.ImportRequest) (transfer.ImportResult, error) {
	return s.Transfer.Import(ctx, s.View, r, q)
}

// Export writes a conversation; see [transfer.Transfer.Export].
func (s *Scrollback) Export(ctx context.Context, id scrollback.ConversationID, q transfer.ExportRequest, w io.Writer) error {
	return s.Transfer.Export(ctx, s.View, id, q, w)
}

// Close stops the turns that run, keeps what they have written, and closes everything.
// Closing again returns what the first call did.
func (s *Scrollback) Close() error { return s.close() }

func (s *Scrollback) closeAll() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return errors.Join(s.Engine.Close(ctx), s.bucket.Close(), s.Store.Close())
}
