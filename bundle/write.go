package bundle

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/seal"
)

// Bounds of an entry of records; one record may be bigger by itself.
const (
	chunkRecords = 512
	chunkBytes   = 1 << 20
)

// Writer writes a bundle. Its calls come in the order of the file: artifacts by id,
// then for each conversation, those that others inherit from first, itself, its
// segments, its branches (parents first), mentions and files, its messages branch
// by branch, its receipts, and what people say about kept sentences.
type Writer struct {
	out    *seal.Writer
	zip    *zstd.Encoder
	tar    *tar.Writer
	limits Limits
	header Header
	sum    Manifest
	log    hash.Hash // of the conversation

	at     scrollback.ConversationID
	kind   recordKind
	number int // of entries of that kind
	chunk  bytes.Buffer
	lines  int
	total  int64
}

// NewWriter begins a bundle of a conversation.
func NewWriter(w io.Writer, of scrollback.ConversationID, limits Limits) (*Writer, error) {
	out := seal.NewWriter(w)
	zip, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Internal, "bundle.NewWriter", err)
	}
	b := &Writer{out: out, zip: zip, tar: tar.NewWriter(zip), limits: limits.withDefaults(DefaultLimits())}
	b.header = Header{Format: Format, Version: plainVersion, Conversation: of}
	return b, nil
}

// ExpectKept says that [Writer.AddKept] will be called. It comes before anything else.
func (b *Writer) ExpectKept() { b.header.Version = Version }

// writeHeader writes the first entry, once.
func (b *Writer) writeHeader() error {
	if len(b.sum.Entries) > 0 {
		return nil
	}
	header, err := marshalLine(b.header)
	if err != nil {
		return err
	}
	return b.writeEntry(headerName, int64(len(header)), bytes.NewReader(header))
}

// AddArtifact adds the bytes of an artifact.
func (b *Writer) AddArtifact(id scrollback.ArtifactID, size int64, r io.Reader) error {
	if err := b.writeHeader(); err != nil {
		return err
	}
	return b.writeEntry(artifactFolder+string(id), size, r)
}

// BeginConversation begins a conversation.
func (b *Writer) BeginConversation(c Conversation) error {
	if err := errors.Join(b.writeHeader(), b.endConversation()); err != nil {
		return err
	}
	b.at = c.ID
	b.kind = kindConversation
	b.number = 0
	b.log = sha256.New()
	b.sum.Conversations = append(b.sum.Conversations, Count{ID: c.ID})
	text, err := marshalLine(c)
	if err != nil {
		return err
	}
	if len(c.Ancestors) > maxAncestors {
		return newLimitError("conversation %s inherits from more than %d others", c.ID, maxAncestors)
	}
	if bound := b.limits.maxConversationBytes(); int64(len(text)) > bound {
		return newLimitError("what conversation %s says of itself has %d bytes, at most %d are taken", c.ID, len(text), bound)
	}
	return b.writeEntry(conversationPath+string(c.ID)+"/conversation.json", int64(len(text)), bytes.NewReader(text))
}

func (b *Writer) currentCount() *Count { return &b.sum.Conversations[len(b.sum.Conversations)-1] }

// AddSegment adds a segment of the conversation.
func (b *Writer) AddSegment(s scrollback.Segment) error {
	b.currentCount().Segments++
	return b.writeRecord(kindSegment, s)
}

// AddBranch adds a branch of the conversation.
func (b *Writer) AddBranch(r Branch) error {
	b.currentCount().Branches++
	return b.writeRecord(kindBranch, r)
}

// AddMention adds an artifact that the conversation mentions.
func (b *Writer) AddMention(a scrollback.Artifact) error { return b.writeRecord(kindMention, a) }

// AddFile adds the Markdown file of a segment.
func (b *Writer) AddFile(s scrollback.Segment, text []byte) error {
	if err := b.flushRecords(); err != nil {
		return err
	}
	b.kind = kindFile
	b.number = 0
	return b.writeEntry(segmentPath(b.at, s), int64(len(text)), bytes.NewReader(text))
}

// AddMessage adds the next message of a branch.
func (b *Writer) AddMessage(m scrollback.Message) error {
	b.currentCount().Messages++
	sum, err := scrollback.HashMessages([]scrollback.Message{m})
	if err != nil {
		return scrollback.Wrap(scrollback.Internal, "bundle.Message", err)
	}
	b.log.Write([]byte(sum + "\n"))
	return b.writeRecord(kindMessage, m)
}

// AddReceipt adds what was folded in the conversation, oldest first.
func (b *Writer) AddReceipt(f scrollback.StoredReceipt) error { return b.writeRecord(kindFold, f) }

// AddKept adds what people say about sentences of the conversation, or of those before it, oldest first.
func (b *Writer) AddKept(k KeptChange) error { return b.writeRecord(kindKept, k) }

func (b *Writer) endConversation() error {
	if b.at == "" {
		return nil
	}
	b.currentCount().Log = hex.EncodeToString(b.log.Sum(nil))
	return b.flushRecords()
}

// Close ends the bundle with its manifest and its seal; the caller closes w.
func (b *Writer) Close() error {
	if err := errors.Join(b.writeHeader(), b.endConversation()); err != nil {
		return err
	}
	text, err := marshalLine(b.sum)
	if err == nil {
		err = b.writeEntry(manifestName, int64(len(text)), bytes.NewReader(text))
	}
	if err != nil {
		return err
	}
	if err := b.tar.Close(); err != nil {
		return wrapWriteError(err)
	}
	if err := b.zip.Close(); err != nil {
		return wrapWriteError(err)
	}
	return wrapWriteError(writeSeal(b.out, b.total+int64(len(b.sum.Entries)+2)*tarOverhead, b.limits))
}
