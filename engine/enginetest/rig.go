// Package enginetest sets an engine up for the tests of the rooms around it: over a
// driver in memory or another, with a scripted model and a clock that the test moves.
package enginetest

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/watch"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/internal/workspace"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/all"
)

// Rig is an engine, and what it stands on. A failure of its methods ends the test.
type Rig struct {
	*engine.View // the operator's
	*recall.Reader
	Engine   *engine.Engine
	Transfer *transfer.Transfer
	T        *testing.T
	Store    *store.Store
	Archive  *archive.Archive
	Driver   *driver.Driver
	Clock    *atomic.Int64 // Unix ms
	Script   *modeltest.Script
}

// Options are what a Rig may have otherwise than by default.
type Options struct {
	Driver    *driver.Driver // nil: in memory
	Limit     int64          // of the scripted model, in tokens; 0: 8000
	Clock     *atomic.Int64  // nil: one of its own
	SaveEvery time.Duration
	NoFolds   bool
	Wait      time.Duration // for summaries
	Wrap      func(model.Model) model.Model
	Summaries bool // the scripted model is asked for summaries too
	Importers []transcript.Importer
	Tools     []transcript.Tool
	Policy    string
	Folding   map[string]float64
	Projects  map[string]engine.PolicySettings
	Budgets   map[string]scrollback.SpendLimit // of projects, for a day
	NewID     func() string                    // nil: random
	Archive   *archive.Archive                 // nil: of its own
	Place     *workspace.Place
	Watch     *watch.Watch
	Models    func(name string) (model.Model, error) // nil: the scripted one
	Bounds    model.Bounds                           // of an answer
	Titles    engine.Titles

	TitleModel   string
	NoTitleCalls bool
	Searcher     engine.Searcher // of the web
	WebSearch    string          // as engine.Options has it
	Agents       engine.AgentOptions
	Embeddings   string // a model of Models

	RemoteImages bool // images at addresses are taken
}

// New returns a rig whose model plays the steps, the last of them again and again. It is
// closed when the test ends.
func New(t *testing.T, o Options, steps ...modeltest.Step) *Rig {
	t.Helper()
	r := &Rig{T: t, Driver: o.Driver, Clock: o.Clock}
	if r.Driver == nil {
		r.Driver = oracle.New()
	}
	if r.Clock == nil {
		r.Clock = &atomic.Int64{}
		r.Clock.Store(1_767_600_000_000)
	}
	if o.Limit == 0 {
		o.Limit = 8000
	}
	r.Script = modeltest.NewScript(model.Facts{Name: "script", Limit: o.Limit, MaxOutput: 2000, NoSummaries: !o.Summaries},
		steps...)
	var err error
	bucket := blob.NewMemory()
	texts := archive.NewTextReader(bucket, nil)
	if o.Archive != nil {
		texts = archive.TextReader(o.Archive)
	}
	r.Store, err = store.New(r.Driver, token.Count,
		&store.Options{Image: token.ImageTokens, Learn: token.LearnFactor, NewID: o.NewID,
			Now: func() time.Time { return time.UnixMilli(r.Clock.Load()) }, Text: texts})
	if err != nil {
		t.Fatal(err)
	}
	if r.Archive = o.Archive; r.Archive == nil {
		r.Archive = archive.New(r.Store, bucket, nil)
	}
	r.Transfer = transfer.New(r.Store, r.Archive, transfer.Options{Importers: append(o.Importers, all.Importers()...),
		Exporters: all.Exporters(), Tools: append(o.Tools, all.Tools()...)})
	opts := engine.Options{
		Models: func(name string) (model.Model, error) {
			if o.Models != nil {
				return o.Models(name)
			}
			if name != "script" {
				return nil, scrollback.ParamErrorf("test", "model", "unknown model %q", name)
			}
			if o.Wrap != nil {
				return o.Wrap(r.Script), nil
			}
			return r.Script, nil
		},
		Model: "script", Place: o.Place, Watch: o.Watch, SaveEvery: o.SaveEvery, NoBackgroundFolds: o.NoFolds,
		SummaryTimeout: o.Wait,
		Compaction:     engine.PolicySettings{Policy: o.Policy, Numbers: o.Folding}, Projects: o.Projects,
		ReplyBounds: o.Bounds,
		Archive:     transfer.OnCompact(r.Transfer),
		Embeddings:  o.Embeddings,
		Titles:      o.Titles, TitleModel: o.TitleModel, NoTitleCalls: o.NoTitleCalls,
		Searcher: o.Searcher, WebSearch: o.WebSearch, Agents: o.Agents,
		SpendLimits: engine.SpendLimitsFromConfig(o.Budgets),
	}
	opts.Incoming.RemoteImages = o.RemoteImages
	r.Engine = engine.New(r.Store, r.Archive, opts)
	r.View = r.Engine.As(scrollback.Operator())
	r.Reader = r.View.Recall()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := bucket.Close(); err != nil {
			t.Errorf("close the bucket: %v", err)
		}
	})
	return r
}

// Close ends the engine.
func (r *Rig) Close(ctx context.Context) error { return r.Engine.Close(ctx) }

// Import imports a file for the operator.
func (r *Rig) Import(ctx context.Context, f io.ReadSeeker, q transfer.ImportRequest) (transfer.ImportResult, error) {
	return r.Transfer.Import(ctx, r.View, f, q)
}

// Export exports a conversation for the operator.
func (r *Rig) Export(ctx context.Context, id scrollback.ConversationID, q transfer.ExportRequest, w io.Writer) error {
	return r.Transfer.Export(ctx, r.View, id, q, w)
}

// NewConversation makes an empty conversation.
func (r *Rig) NewConversation() scrollback.ConversationID {
	r.T.Helper()
	c, _, err := r.Create(context.Background(), scrollback.Conversation{})
	if err != nil {
		r.T.Fatal(err)
	}
	return c.ID
}

// Say returns a message of one text.
func Say(text string) scrollback.Parts { return scrollback.Parts{scrollback.Text{Text: text}} }

// WantCode wants an error of a code whose text contains some words; of the code "", none.
func WantCode(t *testing.T, err error, want scrollback.Code, text string) {
	t.Helper()
	if scrollback.CodeOf(err) != want || err != nil && !strings.Contains(err.Error(), text) {
		t.Fatalf("error %v (%s), want %s about %q", err, scrollback.CodeOf(err), want, text)
	}
}
