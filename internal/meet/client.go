package meet

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/merge"
)

// remote is a peer that is asked over HTTP.
type remote struct {
	client  *http.Client
	base    *url.URL
	shown   string // what a person knows it by
	key     string
	meeting string
	access  merge.Access
}

// Dial returns the peer behind the address of a server, which is asked with a key; without one where that is empty.
// Nothing is sent yet. The address is https, or http on this machine. No redirect is followed.
func Dial(client *http.Client, base *url.URL, key string) (Peer, error) {
	if base.Scheme != "https" && (base.Scheme != "http" || !isLoopback(base.Hostname())) || base.Host == "" {
		return nil, scrollback.Errorf(scrollback.Invalid, op, i18n.SyncNeedsHTTPS, base.Redacted())
	}
	bare := *base
	bare.User = nil
	bare.RawQuery = ""
	bare.Fragment = ""
	return newRemote(client, &bare, bare.String(), key), nil
}

func newRemote(client *http.Client, base *url.URL, shown, key string) *remote {
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	own.Jar = nil
	return &remote{client: &own, base: base, shown: shown, key: key, meeting: rand.Text()}
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	at, err := netip.ParseAddr(host)
	return err == nil && at.IsLoopback()
}

// retries are the pauses before a small question is asked again whose answer was cut off.
var retries = []time.Duration{100 * time.Millisecond, 500 * time.Millisecond}

// ask asks a question, again where that may help.
func (p *remote) ask(ctx context.Context, name string, q, a any) error {
	err := p.askOnce(ctx, name, q, a)
	for _, pause := range retries {
		if !errors.Is(err, errCut) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		err = p.askOnce(ctx, name, q, a)
	}
	return err
}

func (p *remote) askOnce(ctx context.Context, name string, q, a any) error {
	text, err := json.Marshal(q)
	if err != nil {
		return err
	}
	r, err := p.send(ctx, name, nil, "application/json", bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return err
	}
	defer func() { _ = r.Body.Close() }() // read-only
	body, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer+1))
	switch {
	case err != nil:
		return p.cut(ctx, err)
	case len(body) > maxAnswer:
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.SyncBatchTooLarge, maxAnswer>>20).
			WithReason(scrollback.ErrTooLarge)
	}
	if err := json.Unmarshal(body, a); err != nil {
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.SyncNotUnderstood, err)
	}
	return nil
}

// send sends a request, and returns its answer if that is one.
func (p *remote) send(ctx context.Context, name string, query url.Values, media string, body io.Reader,
	size int64) (*http.Response, error) {
	to := p.base.JoinPath(Prefix, name)
	to.RawQuery = query.Encode()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), body)
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, op, err)
	}
	q.ContentLength = size
	if size == 0 {
		q.Body = http.NoBody
	}
	q.Header.Set("Content-Type", media)
	q.Header.Set(protocolHeader, strconv.Itoa(Protocol))
	q.Header.Set(meetingHeader, p.meeting)
	if p.key != "" {
		q.Header.Set("Authorization", "Bearer "+p.key)
	}
	r, err := p.client.Do(q)
	if err != nil {
		return nil, p.cut(ctx, err)
	}
	if err := p.check(r); err != nil {
		_ = r.Body.Close()
		return nil, err
	}
	return r, nil
}

// cut is the error of a connection that was not made, or ended too early.
func (p *remote) cut(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return scrollback.Wrap(scrollback.Canceled, op, ctx.Err())
	}
	var given *scrollback.Error // of what is sent
	if errors.As(err, &given) {
		return given
	}
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	e := scrollback.Errorf(scrollback.Unavailable, op, i18n.SyncUnreachable, p.shown, err)
	var dialled *net.OpError
	if errors.As(err, &dialled) && dialled.Op == "dial" {
		return e
	}
	return e.WithReason(errCut)
}

// check returns why an answer is none.
func (p *remote) check(r *http.Response) error {
	switch {
	case r.StatusCode == http.StatusRequestEntityTooLarge:
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.SyncStatus, p.shown, r.Status).
			WithReason(scrollback.ErrTooLarge)
	case isCut(r.StatusCode):
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.SyncStatus, p.shown, r.Status).WithReason(errCut)
	case r.StatusCode >= 300 && r.StatusCode < 400:
		return scrollback.Errorf(scrollback.Refused, op, i18n.SyncRedirected, p.shown, redirectedTo(r)).
			WithReason(scrollback.ErrNoKey)
	}
	switch given := r.Header.Get(protocolHeader); given {
	case strconv.Itoa(Protocol):
	case "":
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.SyncNotSpoken, p.shown, r.Status)
	default:
		return differs(given)
	}
	if r.StatusCode == http.StatusOK {
		return nil
	}
	var f scrollback.Failure
	text, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	if err != nil || json.Unmarshal(text, &f) != nil || f.Code == "" {
		return scrollback.Errorf(scrollback.Unavailable, op, i18n.SyncStatus, p.shown, r.Status)
	}
	e := f.Err(op)
	if r.StatusCode == http.StatusUnauthorized {
		return e.WithReason(scrollback.ErrNoKey)
	}
	return e
}

// redirectedTo returns where an answer leads, without what may be secret in it.
func redirectedTo(r *http.Response) string {
	to, err := r.Location()
	if err != nil {
		return r.Status
	}
	return to.Scheme + "://" + to.Host
}

// Ping returns why the other side cannot be reached.
func (p *remote) Ping(ctx context.Context) error { return p.ask(ctx, askPing, nothing{}, &nothing{}) }

// Head implements [merge.Side].
func (p *remote) Head(ctx context.Context) (merge.Head, error) {
	var a headAnswer
	err := p.ask(ctx, askHead, nothing{}, &a)
	p.access = a.Access
	return a.Head, err
}

// Access implements [Limited].
func (p *remote) Access(context.Context) (merge.Access, error) { return p.access, nil }

// Level implements [merge.Side].
func (p *remote) Level(ctx context.Context, below merge.Prefix) (a merge.Level, err error) {
	err = p.ask(ctx, askLevel, levelQuestion{below}, &a)
	return a, err
}

// Inventory implements [merge.Side].
func (p *remote) Inventory(ctx context.Context, id scrollback.ConversationID) (merge.Inventory, error) {
	a, err := merge.Inventories(ctx, p, []scrollback.ConversationID{id})
	if err != nil {
		return merge.Inventory{}, err
	}
	return a[0], nil
}

// Inventories implements [merge.Bulk].
func (p *remote) Inventories(ctx context.Context, ids []scrollback.ConversationID) ([]merge.Inventory, error) {
	var a inventoriesAnswer
	err := p.ask(ctx, askInventories, inventoriesQuestion{ids}, &a)
	return a.Inventories, err
}

// Ranges implements [merge.Side].
func (p *remote) Ranges(ctx context.Context, id scrollback.ConversationID, of []merge.Range) ([]merge.Range, error) {
	var a rangesAnswer
	err := p.ask(ctx, askRanges, rangesQuestion{id, of}, &a)
	return a.Ranges, err
}

// Lists implements [merge.Bulk].
func (p *remote) Lists(ctx context.Context, of []merge.Listing) ([]merge.Listed, error) {
	var a listsAnswer
	err := p.ask(ctx, askLists, listsQuestion{of}, &a)
	return a.Lists, err
}

func (p *remote) list(ctx context.Context, of merge.Listing) (merge.Listed, error) {
	a, err := merge.Lists(ctx, p, []merge.Listing{of})
	if err != nil {
		return merge.Listed{}, err
	}
	return a[0], nil
}

// Messages implements [merge.Side].
func (p *remote) Messages(ctx context.Context, id scrollback.ConversationID,
	of []merge.Range) ([]scrollback.MessageID, error) {
	a, err := p.list(ctx, merge.Listing{ID: id, Ranges: of})
	return a.Messages, err
}

// Lacks implements [merge.Side].
func (p *remote) Lacks(ctx context.Context, id scrollback.ConversationID,
	keys []scrollback.MessageID) ([]scrollback.MessageID, error) {
	a, err := p.list(ctx, merge.Listing{ID: id, Keys: keys})
	return a.Lacks, err
}

// Rest implements [merge.Side].
func (p *remote) Rest(ctx context.Context, id scrollback.ConversationID, buckets []uint8) ([]merge.Hash, error) {
	a, err := p.list(ctx, merge.Listing{ID: id, Buckets: buckets})
	return a.Rest, err
}

// Records implements [merge.Side]. It asks once: how much goes at once is up to the meeting.
func (p *remote) Records(ctx context.Context, wanted []merge.Wanted) (a merge.Set, err error) {
	err = p.askOnce(ctx, askSome, recordsQuestion{wanted}, &a)
	return a, err
}

// Projects implements [merge.Side].
func (p *remote) Projects(ctx context.Context) (a merge.Set, err error) {
	err = p.ask(ctx, askProjects, nothing{}, &a)
	return a, err
}

// Put implements [Peer]. It asks once, as Records does.
func (p *remote) Put(ctx context.Context, set merge.Set, on merge.Terms) (a merge.Outcome, err error) {
	err = p.askOnce(ctx, askPut, putQuestion{set, on}, &a)
	return a, err
}

// LacksArtifacts implements [Peer].
func (p *remote) LacksArtifacts(ctx context.Context, ids []scrollback.ArtifactID) ([]scrollback.ArtifactID, error) {
	var a artifacts
	err := p.ask(ctx, askLacks, artifacts{ids}, &a)
	return a.IDs, err
}

// OpenArtifact implements [Peer].
func (p *remote) OpenArtifact(ctx context.Context, id scrollback.ArtifactID) (io.ReadCloser, int64, error) {
	text, err := json.Marshal(artifactQuestion{id})
	if err != nil {
		return nil, 0, err
	}
	r, err := p.send(ctx, askArtifact, nil, "application/json", bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, 0, err
	}
	if r.ContentLength < 0 {
		_ = r.Body.Close()
		return nil, 0, scrollback.Errorf(scrollback.Unavailable, op, i18n.SyncNotUnderstood, "no Content-Length")
	}
	return &download{r.Body, ctx, p}, r.ContentLength, nil
}

// download is the bytes of an artifact on their way. What cuts them off is an error of the meeting.
type download struct {
	io.ReadCloser
	ctx context.Context
	of  *remote
}

func (d *download) Read(b []byte) (int, error) {
	n, err := d.ReadCloser.Read(b)
	if err != nil && err != io.EOF { //nolint:errorlint // the end of a body is io.EOF itself
		err = d.of.cut(d.ctx, err)
	}
	return n, err
}

// PutArtifact implements [Peer].
func (p *remote) PutArtifact(ctx context.Context, id scrollback.ArtifactID, r io.Reader, size int64) error {
	a, err := p.send(ctx, askPutArtifact, url.Values{"id": {string(id)}}, "application/octet-stream", r, size)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, a.Body)
	_ = a.Body.Close()
	if err != nil {
		return p.cut(ctx, err)
	}
	return nil
}
