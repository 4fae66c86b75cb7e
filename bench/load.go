//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	_ "modernc.org/sqlite" // merges the index, and reads its size

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
	"github.com/scrollback-ai/scrollback/token"
)

// Words in a known share of the messages, of letters that the rest does not use.
const (
	commonEnglish, rareEnglish = "zyxwort", "qqxvale"
	commonChinese, rareChinese = "龘龖", "靐齉"
)

// writer makes text from a vocabulary as skewed as a language's, half English, half
// Chinese; the same for the same seed.
type writer struct {
	rng     *rand.Rand
	zipf    *rand.Zipf
	english []string
	chinese []string
}

func newWriter(seed uint64) *writer {
	w := &writer{rng: rand.New(rand.NewPCG(seed, 11))}
	w.zipf = rand.NewZipf(w.rng, 1.25, 2, 19_999)
	made := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		var b strings.Builder
		for range 2 + made.IntN(3) {
			b.WriteString(string("bdfgklmnprst"[made.IntN(12)]) + string("aeiou"[made.IntN(5)]))
		}
		w.english = append(w.english, b.String())
		w.chinese = append(w.chinese, string([]rune{rune(0x4e00 + made.IntN(2500)), rune(0x4e00 + made.IntN(2500))}))
	}
	return w
}

// makeText is about n bytes.
func (w *writer) makeText(n int) string {
	var b strings.Builder
	b.Grow(n + 16)
	words := w.english
	sep := " "
	if w.rng.IntN(2) == 0 {
		words = w.chinese
		sep = ""
	}
	for b.Len() < n {
		b.WriteString(words[w.zipf.Uint64()] + sep)
		if w.rng.IntN(12) == 0 {
			b.WriteString("。 ")
		}
	}
	return b.String()
}

// messageText returns the text of the n-th message, with the known words in their share.
func (w *writer) messageText(n int) string {
	t := w.makeText(900)
	switch {
	case n%10_000 == 77:
		t += " " + rareEnglish + " " + rareChinese
	case n%100 == 7:
		t += " " + commonEnglish + " " + commonChinese
	}
	return t
}

// conversation is the one in every loaded database.
const conversation = scrollback.ConversationID("01a00000-0000-7000-8000-000000000001")

// openDatabase opens a database in bench's folder. Tokens are counted by bytes: the tokenizer has
// its own figure.
func (b *bench) openDatabase(name string) (*store.Store, error) {
	if err := os.MkdirAll(filepath.Join(b.dir, name), 0o700); err != nil {
		return nil, err
	}
	db, err := sqlite.Open(b.ctx, b.databaseFile(name), nil)
	if err != nil {
		return nil, err
	}
	return store.New(db, func(text string) int { return (len(text) + 3) / 4 }, nil)
}

// openCounting returns open with the tokens counted as the program does.
func (b *bench) openCounting(name string) (*store.Store, error) {
	if err := os.MkdirAll(filepath.Join(b.dir, name), 0o700); err != nil {
		return nil, err
	}
	db, err := sqlite.Open(b.ctx, b.databaseFile(name), nil)
	if err != nil {
		return nil, err
	}
	return store.New(db, token.Count, &store.Options{Image: token.ImageTokens, Learn: token.LearnFactor})
}

func (b *bench) databaseFile(name string) string { return filepath.Join(b.dir, name, "scrollback.db") }

// openLoaded opens a database with one conversation of n messages, written through the store
// as an import would if it does not exist yet.
func (b *bench) openLoaded(n int) (*store.Store, error) {
	s, err := b.openDatabase(fmt.Sprint("messages-", n))
	if err != nil {
		return nil, err
	}
	c, _, err := s.CreateConversation(b.ctx, scrollback.Conversation{ID: conversation, Title: "bench"})
	if err == nil && c.Messages < int64(n) {
		if err = loadMessages(b.ctx, s, conversation, int(c.Messages), n); err == nil {
			err = s.Audit.RebuildIndex(b.ctx, func(int64, int64) {}) // whole, and tended to the end
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func loadMessages(ctx context.Context, s *store.Store, id scrollback.ConversationID, from, to int) error {
	const batch = 1000
	w := newWriter(uint64(from) + 1)
	head, err := s.ReadHead(ctx, id)
	if err != nil {
		return err
	}
	for n := from; n < to; {
		var in []store.IncomingMessage
		for len(in) < batch && n+len(in) < to {
			k := n + len(in)
			role := scrollback.RoleUser
			if k%2 == 1 {
				role = scrollback.RoleAssistant
			}
			in = append(in, newIncoming(role, w.messageText(k)))
		}
		done, err := s.AppendMessages(ctx, head, in)
		if err != nil {
			return err
		}
		n += len(in)
		head = done.Head
		if done.Head.Messages != int64(n) {
			return fmt.Errorf("%d messages were written, the log has %d", n, done.Head.Messages)
		}
	}
	return nil
}

func newIncoming(role scrollback.Role, text string) store.IncomingMessage {
	return store.IncomingMessage{Message: scrollback.Message{Role: role,
		Parts: scrollback.Parts{scrollback.Text{Text: text}}}}
}

// fileSystem names the kind of the file system that holds dir.
func fileSystem(dir string) string {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return "an unknown file system"
	}
	if name, ok := map[int64]string{0xef53: "ext4", 0x58465342: "xfs", 0x9123683e: "btrfs", 0x01021994: "tmpfs",
		0x794c7630: "overlayfs"}[st.Type]; ok {
		return name
	}
	return fmt.Sprintf("file system %#x", st.Type)
}
