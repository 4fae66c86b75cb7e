package bundle

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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
// by branch, and its receipts.
type Writer struct {
	out    *seal.Writer
	zip    *zstd.Encoder
	tar    *tar.Writer
	limits Limits
	sum    Manifest
	log    hash.Hash // of the conversation

	at     scrollback.ConversationID
	kind   kind
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
	b := &Writer{out: out, zip: zip, tar: tar.NewWriter(zip), limits: limits.or(DefaultLimits())}
	header, err := marshal(Header{Format: Format, Version: Version, Conversation: of})
	if err != nil {
		return nil, err
	}
	return b, b.entry(headerName, int64(len(header)), bytes.NewReader(header))
}

// Artifact adds the bytes of an artifact.
func (b *Writer) Artifact(id scrollback.ArtifactID, size int64, r io.Reader) error {
	return b.entry(artifactFolder+string(id), size, r)
}

// Conversation begins a conversation.
func (b *Writer) Conversation(c Conversation) error {
	if err := b.endConversation(); err != nil {
		return err
	}
	b.at = c.ID
	b.kind = kindConversation
	b.number = 0
	b.log = sha256.New()
	b.sum.Conversations = append(b.sum.Conversations, Count{ID: c.ID})
	text, err := marshal(c)
	if err != nil {
		return err
	}
	if len(c.Ancestors) > maxAncestors {
		return tooMuch("conversation %s inherits from more than %d others", c.ID, maxAncestors)
	}
	if bound := b.limits.conversation(); int64(len(text)) > bound {
		return tooMuch("what conversation %s says of itself has %d bytes, at most %d are taken", c.ID, len(text), bound)
	}
	return b.entry(conversationPath+string(c.ID)+"/conversation.json", int64(len(text)), bytes.NewReader(text))
}

func (b *Writer) count() *Count { return &b.sum.Conversations[len(b.sum.Conversations)-1] }

// Segment adds a segment of the conversation.
func (b *Writer) Segment(s scrollback.Segment) error {
	b.count().Segments++
	return b.record(kindSegment, s)
}

// Branch adds a branch of the conversation.
func (b *Writer) Branch(r Branch) error {
	b.count().Branches++
	return b.record(kindBranch, r)
}

// Mention adds an artifact that the conversation mentions.
func (b *Writer) Mention(a scrollback.Artifact) error { return b.record(kindMention, a) }

// File adds the Markdown file of a segment.
func (b *Writer) File(s scrollback.Segment, text []byte) error {
	if err := b.flush(); err != nil {
		return err
	}
	b.kind = kindFile
	b.number = 0
	return b.entry(filePath(b.at, s), int64(len(text)), bytes.NewReader(text))
}

// Message adds the next message of a branch.
func (b *Writer) Message(m scrollback.Message) error {
	b.count().Messages++
	sum, err := scrollback.HashMessages([]scrollback.Message{m})
	if err != nil {
		return scrollback.Wrap(scrollback.Internal, "bundle.Message", err)
	}
	b.log.Write([]byte(sum + "\n"))
	return b.record(kindMessage, m)
}

// Fold adds what was folded in the conversation, oldest first.
func (b *Writer) Fold(f scrollback.StoredReceipt) error { return b.record(kindFold, f) }

func (b *Writer) endConversation() error {
	if b.at == "" {
		return nil
	}
	b.count().Log = hex.EncodeToString(b.log.Sum(nil))
	return b.flush()
}

// Close ends the bundle with its manifest and its seal; the caller closes w.
func (b *Writer) Close() error {
	if err := b.endConversation(); err != nil {
		return err
	}
	text, err := marshal(b.sum)
	if err == nil {
		err = b.entry(manifestName, int64(len(text)), bytes.NewReader(text))
	}
	if err != nil {
		return err
	}
	if err := b.tar.Close(); err != nil {
		return failed(err)
	}
	if err := b.zip.Close(); err != nil {
		return failed(err)
	}
	return failed(writeSeal(b.out, b.total+int64(len(b.sum.Entries)+2)*tarOverhead, b.limits))
}
