package request

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/window"
)

// SentRecord is what is to be stored of a request that is being sent.
type SentRecord struct {
	Mark  *scrollback.WindowMark
	Sent  scrollback.SentRequest
	Texts map[string]string // that Sent names, by hash
}

// RecordSent makes the note of a request from its account.
func RecordSent(l *Layout, fingerprint *window.Fingerprint, m scrollback.Manifest, settings *Settings) *SentRecord {
	in := &l.Input
	n := &SentRecord{Mark: fingerprint.Mark(), Texts: map[string]string{}}
	n.Sent = scrollback.SentRequest{Model: m.Model, Policy: m.Policy, Limit: m.Limit, LimitFrom: m.LimitFrom,
		Budget:     m.Budget,
		CompactsAt: m.CompactsAt,
		Tokens:     m.Tokens, Bytes: m.Bytes, Images: m.Images, Reused: m.Reused, Runs: listRuns(m),
		Dialect: in.Dialect.Name, ImageURLs: in.Dialect.ImageURLs, Factor: settings.Factor, PinnedTokens: in.PinnedTokens,
		Prompt: in.PromptSeq, FoldedAt: in.FoldedAt,
		Again: l.Again, Web: l.Web, Hash: fingerprint.Hash()}
	s := &n.Sent
	if in.Instructions != "" {
		s.Instructions = n.keepText(in.Instructions)
	}
	if tools, err := encodeTools(in.Tools); err == nil && len(in.Tools) > 0 {
		s.Tools = n.keepText(tools)
	}
	if in.Environment != "" {
		s.Environment = hashText(in.Environment)
	}
	for _, seg := range in.Segments {
		s.Segments = append(s.Segments, seg.ID)
	}
	if in.Summary != nil {
		s.Summary = &in.Summary.ViewSummary
	}
	s.NotCompacted = in.NotCompacted
	s.Carried = listSeqs(in.Carried)
	s.Pinned = listSeqs(in.Pinned)
	s.Without = in.Without
	s.Language = in.Language
	if in.IsCorrected() {
		for _, k := range in.Kept {
			s.Kept = append(s.Kept, k.Change)
		}
	}
	if len(s.Pinned) == 0 {
		s.PinnedTokens = 0
	}
	if live := in.Live; len(live) > 0 {
		s.First = live[0].Seq
		s.Last = live[len(live)-1].Seq
	}
	return n
}

// RecordForwarded makes the note of a request of so many bytes that goes on as its client wrote it: what is known of it
// is the path that it brought, the client's instructions, and its tools.
func (rs *Resolver) RecordForwarded(head *store.Head, settings *Settings, bytes int64) *SentRecord {
	n := &SentRecord{Texts: map[string]string{}}
	s := &n.Sent
	s.Model = settings.Facts.Name
	s.Policy = settings.Policy.Name
	s.Limit = settings.ModelBudget.Limit
	s.LimitFrom = settings.LimitFrom
	s.Budget = settings.ModelBudget.Tokens
	s.Dialect = settings.Facts.Dialect.Name
	s.Factor = settings.Factor
	s.Bytes = bytes
	s.Images = head.Branch.Sum.Images
	s.Forwarded = true
	s.Runs = []scrollback.SentRun{}
	add := func(run scrollback.SentRun, tokens int64) {
		run.Tokens = settings.ModelTokens(tokens)
		s.Tokens += run.Tokens
		s.Runs = append(s.Runs, run)
	}
	if head.Instructions != "" {
		s.Instructions = n.keepText(head.Instructions)
		add(scrollback.SentRun{Kind: scrollback.KindInstructions, Layer: scrollback.LayerInstructions},
			rs.WeighText(head.Instructions).Tokens)
	}
	if tools, err := encodeTools(head.Settings.Tools); err == nil && len(head.Settings.Tools) > 0 {
		s.Tools = n.keepText(tools)
		add(scrollback.SentRun{Kind: scrollback.KindTools, Layer: scrollback.LayerInstructions},
			rs.WeighTools(head.Settings.Tools).Tokens)
	}
	if last := head.Branch.HeadSeq; last > 0 {
		s.First = 1
		s.Last = last
		add(scrollback.SentRun{Kind: scrollback.KindMessage, Layer: scrollback.LayerMessages, Seq: 1, LastSeq: last},
			head.Branch.Sum.Tokens)
	}
	return n
}

// encodeTools is JSON as it is sent, without HTML escapes.
func encodeTools(tools []scrollback.Tool) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(tools)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func (n *SentRecord) keepText(text string) string {
	hash := hashText(text)
	n.Texts[hash] = text
	return hash
}

func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

func listSeqs(ms []scrollback.Message) (out []int64) {
	for i := range ms {
		out = append(out, ms[i].Seq)
	}
	return out
}

// listRuns returns the items of a manifest, neighbours of one kind as one.
func listRuns(m scrollback.Manifest) []scrollback.SentRun {
	out := []scrollback.SentRun{}
	for _, l := range m.Layers {
		for i, it := range l.Items {
			r := scrollback.SentRun{Kind: it.Kind, Layer: l.Name, Seq: it.Seq, LastSeq: max(it.Seq, it.LastSeq),
				Tokens: it.Tokens}
			if i > 0 && continuesRun(out[len(out)-1], r) {
				last := &out[len(out)-1]
				last.LastSeq = r.LastSeq
				last.Tokens += r.Tokens
				continue
			}
			out = append(out, r)
		}
	}
	return out
}

// continuesRun reports whether a run of messages goes on.
func continuesRun(a, b scrollback.SentRun) bool {
	return a.Kind == scrollback.KindMessage && b.Kind == a.Kind && b.Seq == a.LastSeq+1
}

// buildPastManifest returns the manifest of a request as its account has it.
func buildPastManifest(c scrollback.ConversationID, s *scrollback.SentRequest) scrollback.Manifest {
	m := scrollback.Manifest{ConversationID: c, Model: s.Model, Policy: s.Policy, Limit: s.Limit, LimitFrom: s.LimitFrom,
		Budget:     s.Budget,
		CompactsAt: s.CompactsAt, Tokens: s.Tokens, Bytes: s.Bytes, Images: s.Images, Reused: s.Reused, Step: s.Step,
		SentAt: s.At, Forwarded: s.Forwarded,
		Over: max(0, s.Tokens-s.Budget), Excluded: []scrollback.Excluded{}}
	if s.Tokens > 0 {
		m.CacheReuse = math.Round(float64(s.Reused)/float64(s.Tokens)*1e4) / 1e4
	}
	for _, seq := range s.Without {
		m.Excluded = append(m.Excluded, scrollback.Excluded{FirstSeq: seq, LastSeq: seq, Reason: scrollback.ExcludedLeftOut})
	}
	segments := s.Segments
	for _, name := range scrollback.Layers() {
		l := scrollback.ManifestLayer{Name: name, Items: []scrollback.ManifestItem{}}
		for _, r := range s.Runs {
			if r.Layer != name {
				continue
			}
			it := scrollback.ManifestItem{Kind: r.Kind, Seq: r.Seq, Tokens: r.Tokens}
			if r.LastSeq > r.Seq || r.Kind == scrollback.KindPlaceholder || r.Kind == scrollback.KindSummary {
				it.LastSeq = r.LastSeq
			}
			switch {
			case r.Kind == scrollback.KindSummary && s.Summary != nil:
				it.Ref = scrollback.HistoryRef(s.Summary.Segment)
			case r.Kind == scrollback.KindPlaceholder && len(segments) > 0:
				it.Ref = scrollback.HistoryRef(segments[0])
				segments = segments[1:]
				m.Excluded = append(m.Excluded, scrollback.Excluded{FirstSeq: r.Seq, LastSeq: r.LastSeq, Ref: &it.Ref,
					Reason: "folded"})
			}
			l.Tokens += r.Tokens
			l.Items = append(l.Items, it)
		}
		m.Layers = append(m.Layers, l)
	}
	if r := s.NotCompacted; r != nil {
		m.Excluded = append(m.Excluded, scrollback.Excluded{FirstSeq: r.First, LastSeq: r.Last,
			Reason: scrollback.ExcludedNotCompacted})
	}
	return m
}
