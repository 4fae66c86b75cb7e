package transfer

import (
	"context"
	"io"
	"path"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/bundle"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/mask"
)

// Survey is what a file has that an import of it would read, whether it is here already or not.
type Survey struct {
	Format        string
	Conversations int
	Messages      int64
	Skipped       []transcript.Bad
	MoreSkipped   int
	Left          map[string]int
	Masked        int

	sources map[string]bool // of conversations with messages
}

// Survey reads a file as [Transfer.Import] would, and says what it has. It writes nothing, and
// fails where the import would find nothing in the file.
func (t *Transfer) Survey(ctx context.Context, v *engine.View, r io.ReadSeeker, q ImportRequest) (Survey, error) {
	im := &importer{Transfer: t, view: v, q: q}
	s := Survey{sources: map[string]bool{}}
	format, err := chooseFormat(ctx, im, r)
	switch {
	case err != nil:
		return s, err
	case im.tool != nil:
		s.Format = im.tool.Name()
		err = s.surveyTool(ctx, im)
	case format == nil:
		s.Format = BundleFormat
		var m bundle.Manifest
		m, err = bundle.Walk(readSeeker{&ctxReader{ctx, r}, r}, t.o.Limits, bundle.Visit{})
		for _, c := range m.Conversations {
			s.Conversations += 1
			s.Messages += c.Messages
		}
		return s, err
	default:
		s.Format = format.Name()
		for entry, err := range format.Read(&ctxReader{ctx, r}) {
			if err != nil {
				return s, scrollback.Wrap(scrollback.Unavailable, "transfer.Survey", err)
			}
			s.countEntry(entry, q.Mask)
		}
	}
	if s.Conversations = len(s.sources); q.Into != "" {
		s.Conversations = min(s.Conversations, 1)
	}
	switch {
	case err != nil:
		return s, err
	case s.Messages == 0 && len(s.Skipped) > 0:
		return s, scrollback.ParamErrorf("transfer.Survey", "file", i18n.NothingCouldBeRead, s.Skipped[0].Line,
			s.Skipped[0].Reason)
	case s.Messages == 0:
		return s, scrollback.ParamErrorf("transfer.Survey", "file", i18n.FileHasNoTalk, s.Format)
	}
	return s, nil
}

// surveyTool reads the sessions of a tool's file.
func (s *Survey) surveyTool(ctx context.Context, im *importer) error {
	for one, err := range im.tool.Sessions(ctx, im.place) {
		if err != nil {
			return scrollback.Wrap(scrollback.Unavailable, "transfer.Survey", err)
		}
		if one.Bad != "" {
			s.addSkipped(transcript.Bad{Reason: path.Base(one.Name) + ": " + one.Bad})
			continue
		}
		for entry, err := range leaveOutTold(im.tool.Read(ctx, im.place, one)) {
			if err != nil {
				return scrollback.Wrap(scrollback.Unavailable, "transfer.Survey", err)
			}
			s.countEntry(entry, im.q.Mask)
		}
	}
	return nil
}

// countEntry counts an entry.
func (s *Survey) countEntry(e transcript.Entry, masked bool) {
	if masked {
		s.Masked += mask.MaskEntry(&e)
	}
	switch {
	case e.Bad != nil:
		s.addSkipped(*e.Bad)
	case e.End != nil:
		for kind, n := range e.End.Left {
			if s.Left == nil {
				s.Left = map[string]int{}
			}
			s.Left[kind] += n
		}
	case e.Conversation == nil && e.Rewind == nil && e.Without == nil:
		s.Messages++
		s.sources[e.Source] = true
	}
}

func (s *Survey) addSkipped(b transcript.Bad) {
	if len(s.Skipped) == maxSkipped {
		s.MoreSkipped++
		return
	}
	s.Skipped = append(s.Skipped, b)
}
